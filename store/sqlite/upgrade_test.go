package sqlite

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"
	moderncsqlite "modernc.org/sqlite"

	"coppice"
	"coppice/store"
)

// TestUpgrade opens a database of an earlier version: what the newer one keeps
// besides is made from what is there.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "coppice.db")
	s, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	made := time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)
	err = s.Update(t.Context(), func(tx store.Tx) error {
		p := coppice.Project{Prefix: "app", Path: "/app", Policy: coppice.DefaultPolicy()}
		if err := tx.Projects.Put(&p); err != nil {
			return err
		}
		asks := coppice.Task{ProjectID: p.ID, Num: 1, Key: "app-1", Stage: coppice.StageWaiting, Wait: &coppice.Wait{On: coppice.WaitPerson, Text: "why"}}
		fresh := coppice.Task{ProjectID: p.ID, Num: 2, Key: "app-2", Stage: coppice.StageWaiting}
		if err := tx.Tasks.Put(&asks); err != nil {
			return err
		}
		if err := tx.Tasks.Put(&fresh); err != nil {
			return err
		}
		used := coppice.Session{
			ProjectID: p.ID, TaskID: asks.ID, N: 1, Key: "app-1.1", Agent: "a", Model: "m", CreatedAt: made, State: coppice.SessionDone,
			Usage: coppice.Usage{InputTokens: 1, OutputTokens: 2, CacheRead: 3, CacheWrite: 4, CostUSD: 0.5, Turns: 6},
		}
		none := coppice.Session{ProjectID: p.ID, TaskID: asks.ID, N: 2, Key: "app-1.2", Agent: "a", Model: "m", CreatedAt: made.Add(1), State: coppice.SessionDone}
		if err := tx.Sessions.Put(&used); err != nil {
			return err
		}
		return tx.Sessions.Put(&none)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	older(t, path)
	s, err = Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.View(t.Context(), func(r store.Reader) error {
		rows, err := r.Sessions.Usage(store.UsageQuery{From: made.AddDate(0, 0, -1), To: made.AddDate(0, 0, 1)})
		if err != nil {
			return err
		}
		want := coppice.Usage{InputTokens: 1, OutputTokens: 2, CacheRead: 3, CacheWrite: 4, CostUSD: 0.5, Turns: 6}
		if len(rows) != 1 || rows[0].Sessions != 2 || rows[0].Usage != want || rows[0].Day != "2026-03-04" {
			t.Errorf("usage %+v", rows)
		}
		waits, err := r.Tasks.Waits(0)
		if err != nil || waits[coppice.WaitPerson] != 1 || waits[""] != 1 {
			t.Errorf("waits %v %v", waits, err)
		}
		open, err := r.Asks.AllOpen()
		if err != nil {
			return err
		}
		var got []string
		for _, a := range open {
			got = append(got, fmt.Sprintf("%s %s %q by %s", a.Subject, a.Verb, a.Text, a.By))
		}
		if diff := cmp.Diff([]string{
			`task/1 undo "" by person`, `task/1 requeue "note 1" by person`, `task/2 continue "note 2" by person`, `task/2 stop "" by person`,
			`task/2 land "" by person`, `task/1 take "" by person`, `task/2 give "note 2" by person`,
		}, got); diff != "" {
			t.Errorf("open requests (-want +got):\n%s", diff)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// older takes the newest migration out of a closed database.
func older(t *testing.T, path string) {
	t.Helper()
	connector, err := moderncsqlite.NewConnector(dsn(path))
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	for _, q := range []string{
		"DROP TABLE usages", "DROP INDEX tasks_by_wait", "DROP INDEX tasks_pending", "DROP INDEX tasks_ended",
		"ALTER TABLE tasks DROP COLUMN waits_on", "DELETE FROM " + goose.DefaultTablename + " WHERE version_id >= 3", "ALTER TABLE projects DROP COLUMN needs", "ALTER TABLE projects DROP COLUMN git",
		"ALTER TABLE checks DROP COLUMN signal", "ALTER TABLE checks DROP COLUMN timed_out", "ALTER TABLE landings DROP COLUMN killed",
		"ALTER TABLE sessions DROP COLUMN dropped", "ALTER TABLE projects DROP COLUMN removal", "DROP TABLE floors", "DROP INDEX trash_by_task",
		"DROP TABLE asks", "DROP TABLE masks", "ALTER TABLE tasks ADD COLUMN retry_note TEXT NOT NULL DEFAULT ''",
		"ALTER TABLE tasks ADD COLUMN stop_asked BOOLEAN NOT NULL DEFAULT FALSE", "ALTER TABLE tasks ADD COLUMN retry_asked BOOLEAN NOT NULL DEFAULT FALSE",
		"ALTER TABLE tasks ADD COLUMN land_asked BOOLEAN NOT NULL DEFAULT FALSE", "ALTER TABLE tasks ADD COLUMN undo_asked BOOLEAN NOT NULL DEFAULT FALSE",
		"ALTER TABLE tasks ADD COLUMN again_asked BOOLEAN NOT NULL DEFAULT FALSE", "ALTER TABLE tasks ADD COLUMN take_asked BOOLEAN NOT NULL DEFAULT FALSE",
		"ALTER TABLE tasks ADD COLUMN give_asked BOOLEAN NOT NULL DEFAULT FALSE",
		"UPDATE tasks SET stop_asked = TRUE, retry_asked = TRUE, retry_note = 'note 1', undo_asked = TRUE, take_asked = TRUE WHERE key = 'app-1'",
		"UPDATE tasks SET stop_asked = TRUE, land_asked = TRUE, again_asked = TRUE, give_asked = TRUE, retry_note = 'note 2' WHERE key = 'app-2'",
	} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(q, err)
		}
	}
}
