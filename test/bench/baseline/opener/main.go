// Command opener opens a SQLite database as bare as can be, reads one row of
// its schema and says so: the baseline of every start that needs the database.
package main

import (
	"database/sql"
	"fmt"
	"os"

	_ "modernc.org/sqlite" // the driver that the store uses
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "opener:", err)
		os.Exit(1)
	}
}

func run(path string) error {
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return err
	}
	defer db.Close()
	var tables int
	if err := db.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	fmt.Printf("serves %d tables\n", tables)
	return nil
}
