//go:build upgrade && linux

package upgrade

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite"
)

// dump writes the database of the stopped server as SQL text. Paths of this
// machine become /machine; what sessions wrote is left out.
func (w *world) dump(file, commit string) {
	w.T.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.State, "coppice.db")+"?mode=ro")
	if err != nil {
		w.T.Fatal(err)
	}
	defer db.Close()
	var b strings.Builder
	fmt.Fprintf(&b, "-- The state that the server of %s left, with everything that can be open.\n-- Made by scripts/upgrade-state.sh; do not edit.\n", commit)
	w.rows(db, "SELECT 'PRAGMA application_id = ' || application_id || ';' FROM pragma_application_id", &b)
	b.WriteString("BEGIN;\n")
	w.rows(db, "SELECT sql || ';' FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid", &b)
	b.WriteString("DELETE FROM sqlite_sequence;\n")
	var tables strings.Builder
	w.rows(db, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'outputs' ORDER BY rowid", &tables)
	for table := range strings.Lines(tables.String()) {
		table = strings.TrimSpace(table)
		var columns strings.Builder
		w.rows(db, fmt.Sprintf("SELECT group_concat('quote(' || name || ')', ' || '','' || ') FROM pragma_table_info('%s')", table), &columns)
		w.rows(db, fmt.Sprintf("SELECT 'INSERT INTO %s VALUES(' || %s || ');' FROM %s", table, strings.TrimSpace(columns.String()), table), &b)
	}
	w.rows(db, "SELECT sql || ';' FROM sqlite_schema WHERE type <> 'table' AND sql IS NOT NULL ORDER BY rowid", &b)
	b.WriteString("COMMIT;\n")
	text := strings.ReplaceAll(b.String(), w.Root, "/machine")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		w.T.Fatal(err)
	}
	w.T.Logf("wrote %d bytes to %s", len(text), file)
}

// rows writes the only column of each row as a line.
func (w *world) rows(db *sql.DB, query string, to *strings.Builder) {
	w.T.Helper()
	rows, err := db.QueryContext(w.T.Context(), query)
	if err != nil {
		w.T.Fatal(query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			w.T.Fatal(query, err)
		}
		to.WriteString(text + "\n")
	}
	if err := rows.Err(); err != nil {
		w.T.Fatal(query, err)
	}
}
