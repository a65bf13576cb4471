package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/store/storetest"
)

func searched(t testing.TB, path, index string) (*sqlite.Store, *sqlite.Index) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Sync: sqlite.SyncOff})
	if err != nil {
		t.Fatal(err)
	}
	x, err := sqlite.OpenIndex(t.Context(), sqlite.IndexConfig{Path: index, Store: s, Gather: -1})
	if err != nil {
		t.Fatal(err)
	}
	return s, x
}

func TestSearch(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]func(t *testing.T, name string) string{
		"memory": func(*testing.T, string) string { return sqlite.Memory },
		"file":   func(t *testing.T, name string) string { return filepath.Join(t.TempDir(), name) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.RunSearch(t, func(t *testing.T) storetest.Searched {
				s, x := searched(t, in(t, "coppice.db"), in(t, "search.db"))
				if name == "memory" {
					x.ShardAfter(3) // many shards
				}
				t.Cleanup(func() { x.Close(); s.Close() })
				return storetest.Searched{Store: s, Search: x, CatchUp: func(t *testing.T) {
					if err := x.CatchUp(t.Context()); err != nil {
						t.Fatal(err)
					}
				}}
			})
		})
	}
}

// addSession adds a project with a task and a session.
func addSession(tx store.Tx, prefix, title string, stage coppice.Stage, state coppice.SessionState) (x coppice.Session, err error) {
	p := coppice.Project{Prefix: prefix, Path: "/" + prefix, Policy: coppice.DefaultPolicy()}
	if err := tx.Projects.Put(&p); err != nil {
		return x, err
	}
	k := coppice.Task{ProjectID: p.ID, Num: 1, Key: prefix + "-1", Title: title, Stage: stage}
	if err := tx.Tasks.Put(&k); err != nil {
		return x, err
	}
	x = coppice.Session{ProjectID: p.ID, TaskID: k.ID, N: 1, Key: prefix + "-1.1", State: state}
	err = tx.Sessions.Put(&x)
	return x, err
}

// fill adds a project, a task and a session with output.
func fill(t testing.TB, s store.Store, at time.Time, words ...string) (session int64) {
	t.Helper()
	err := s.Update(t.Context(), func(tx store.Tx) error {
		x, err := addSession(tx, "app", "a task", coppice.StageSession, coppice.SessionWorking)
		if err != nil {
			return err
		}
		session = x.ID
		return tx.Log.Append(&coppice.Event{At: at, Kind: coppice.EventTaskCreated, TaskID: x.TaskID, By: "person"})
	})
	if err != nil {
		t.Fatal(err)
	}
	say(t, s, session, words...)
	return session
}

func say(t testing.TB, s store.Store, session int64, words ...string) {
	t.Helper()
	err := s.Update(t.Context(), func(tx store.Tx) error {
		x, err := tx.Sessions.Get(session)
		if err != nil {
			return err
		}
		var out []coppice.Output
		for i, w := range words {
			out = append(out, coppice.Output{SessionID: session, Offset: x.Cursor + int64(i), Kind: coppice.OutputEvent, Data: fmt.Appendf(nil, `{"kind":"text","text":%q}`, w)})
		}
		return tx.Outputs.Add(session, x.Cursor, x.Cursor+int64(len(words)), out)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func hits(t testing.TB, x *sqlite.Index, text string) int {
	t.Helper()
	page, err := x.Search(t.Context(), store.SearchQuery{Terms: store.ParseSearch(text), Tasks: true, Output: true, Checks: true, Most: 50})
	if err != nil {
		t.Fatal(err)
	}
	return len(page.Hits)
}

// TestIndexSurvives closes and opens an index, damages it, and puts it beside
// another database. The index is correct each time.
func TestIndexSurvives(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, index := filepath.Join(dir, "coppice.db"), filepath.Join(dir, "search.db")
	s, x := searched(t, path, index)
	session := fill(t, s, time.Unix(7, 0), "first walrus")
	reopen := func(what string, want int) {
		t.Helper()
		if err := x.CatchUp(t.Context()); err != nil {
			t.Fatal(what, err)
		}
		if got := hits(t, x, "walrus"); got != want {
			t.Fatalf("%s: %d hits, want %d", what, got, want)
		}
		if got := hits(t, x, "task"); got != 1 {
			t.Fatalf("%s: %d tasks", what, got)
		}
		x.Close()
		s.Close()
	}
	reopen("at first", 1)
	s, x = searched(t, path, index)
	if hits(t, x, "walrus") != 1 {
		t.Error("the words are missing after a restart")
	}
	x.Close()
	say(t, s, session, "second walrus") // while there is no index
	s.Close()
	s, x = searched(t, path, index)
	reopen("after a restart", 2)

	if err := os.WriteFile(index, []byte("this is not a database, in spite of its name, and it is long enough to be read"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, x = searched(t, path, index)
	reopen("after it was damaged", 2)

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s, x = searched(t, path, index)
	fill(t, s, time.Unix(8, 0), "another walrus", "and no more")
	reopen("beside another database", 1)
}

// oldIndex is the schema of the first version, which had no words of hosts, apps
// and checks.
const oldIndex = `
CREATE TABLE shards (n INTEGER PRIMARY KEY, first_session INTEGER NOT NULL, pieces INTEGER NOT NULL);
CREATE VIRTUAL TABLE task_words USING fts5(scope, words, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 0");
CREATE TABLE progress (session_id INTEGER PRIMARY KEY, place INTEGER NOT NULL, cursor INTEGER NOT NULL, talks BOOLEAN NOT NULL);
CREATE TABLE anchor (seq INTEGER NOT NULL, at INTEGER NOT NULL);
CREATE VIRTUAL TABLE output_words_1 USING fts5(scope, words, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 0");
INSERT INTO shards VALUES (1, 0, 1);
PRAGMA user_version = 1;`

// TestOldIndexCatchesUp opens an index of the first version that has read all
// commits. Searches do not wait for it, and later it finds what the first version
// did not index.
func TestOldIndexCatchesUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, index := filepath.Join(dir, "coppice.db"), filepath.Join(dir, "search.db")
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Sync: sqlite.SyncOff})
	if err != nil {
		t.Fatal(err)
	}
	session := fill(t, s, time.Unix(7, 0), "a walrus said")
	write := func(kind coppice.OutputKind, data string) {
		t.Helper()
		err := s.Update(t.Context(), func(tx store.Tx) error {
			x, err := tx.Sessions.Get(session)
			if err != nil {
				return err
			}
			return tx.Outputs.Add(session, x.Cursor, x.Cursor+1, []coppice.Output{{SessionID: session, Offset: x.Cursor, Kind: kind, Data: []byte(data)}})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	write(coppice.OutputApp, "the app's walrus")
	write(coppice.OutputHost, `{"kind":"notice","text":"the host's walrus"}`)
	write(coppice.OutputImage, "\x89PNG walrus")
	err = s.Update(t.Context(), func(tx store.Tx) error {
		if err := tx.Checks.Put(&coppice.Check{ProjectID: 1, TaskID: 1, LandingID: 1, Command: "make", Log: "a walrus failed"}); err != nil {
			return err
		}
		return tx.Log.Append(&coppice.Event{At: time.Unix(9, 0), Kind: coppice.EventCheckEnded, TaskID: 1, By: "engine"})
	})
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", index)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{
		oldIndex, "INSERT INTO anchor VALUES (2, 9000000000)", "INSERT INTO progress VALUES (1, 3, 4, 1)",
		"INSERT INTO output_words_1 (rowid, scope, words) VALUES (1 << 36, 'p1', 'a walrus said')",
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	x, err := sqlite.OpenIndex(t.Context(), sqlite.IndexConfig{Path: index, Store: s, Gather: -1})
	if err != nil {
		t.Fatal(err)
	}
	page, err := x.Search(t.Context(), store.SearchQuery{Terms: store.ParseSearch("walrus"), Output: true, Checks: true, Most: 50})
	if err != nil || !page.Behind {
		t.Fatalf("before it has read anything: %+v, %v", page, err)
	}
	if err := x.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := hits(t, x, "walrus"); got != 4 {
		t.Errorf("%d hits, want 4", got)
	}
	x.Close()
	s.Close()

	// Another database does not have the check that was read, so the index is emptied.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s, x = searched(t, path, index)
	fill(t, s, time.Unix(7, 0), "other", "words", "of", "no", "animal")
	if err := x.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := hits(t, x, "walrus"); got != 0 {
		t.Errorf("%d hits of the previous database", got)
	}
	x.Close()
	s.Close()
}

// TestIndexRuns checks that commits wake Run, and that it ends with its context.
func TestIndexRuns(t *testing.T) {
	t.Parallel()
	s, x := searched(t, sqlite.Memory, sqlite.Memory)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- x.Run(ctx) }()
	session := fill(t, s, time.Unix(7, 0), "first walrus")
	caughtUp := func(want int) {
		t.Helper()
		page, err := x.Search(t.Context(), store.SearchQuery{Terms: store.ParseSearch("walrus"), Output: true, Most: 50, Fresh: time.Hour})
		if err != nil || page.Behind || len(page.Hits) != want {
			t.Fatalf("found %+v, %v; want %d hits, not behind", page, err, want)
		}
	}
	caughtUp(1)
	say(t, s, session, "second walrus")
	caughtUp(2)
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	say(t, s, session, "third walrus") // nothing reads it: the search ends with what the index has
	page, err := x.Search(t.Context(), store.SearchQuery{Terms: store.ParseSearch("walrus"), Output: true, Most: 50, Fresh: time.Nanosecond})
	if err != nil || !page.Behind || len(page.Hits) != 2 {
		t.Errorf("found %+v, %v; want 2 hits, behind", page, err)
	}
	x.Close()
	s.Close()
}

// TestIndexForgets removes a project while the index is open or closed. Its words
// are no longer found. The words of other projects are still found, without being
// read again.
func TestIndexForgets(t *testing.T) {
	t.Parallel()
	for _, away := range []bool{false, true} {
		dir := t.TempDir()
		path, index := filepath.Join(dir, "coppice.db"), filepath.Join(dir, "search.db")
		s, x := searched(t, path, index)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		kept := fill(t, s, time.Unix(7, 0), "walrus")
		var gone coppice.Session
		must(s.Update(t.Context(), func(tx store.Tx) error {
			var err error
			if gone, err = addSession(tx, "gone", "a task with a walrus", coppice.StageEnded, coppice.SessionDone); err != nil {
				return err
			}
			out := coppice.Output{SessionID: gone.ID, Offset: 0, Kind: coppice.OutputEvent, Data: []byte(`{"kind":"text","text":"walrus"}`)}
			return errors.Join(tx.Outputs.Add(gone.ID, 0, 10, []coppice.Output{out}),
				tx.Checks.Put(&coppice.Check{ProjectID: gone.ProjectID, TaskID: gone.TaskID, Command: "make walrus"}),
				tx.Log.Append(&coppice.Event{At: time.Unix(8, 0), Kind: coppice.EventTaskCreated, ProjectID: gone.ProjectID, TaskID: gone.TaskID, By: "person"}))
		}))
		must(x.CatchUp(t.Context()))
		if got := hits(t, x, "walrus"); got != 4 {
			t.Fatalf("%d hits at first", got)
		}
		if away {
			must(x.Close())
		}
		for more := true; more; {
			must(s.Update(t.Context(), func(tx store.Tx) (err error) {
				more, err = tx.Projects.Forget(gone.ProjectID, 100)
				return err
			}))
		}
		must(s.Update(t.Context(), func(tx store.Tx) error {
			return tx.Log.Append(&coppice.Event{At: time.Unix(9, 0), Kind: coppice.EventProjectRemoved, ProjectID: gone.ProjectID, By: "person"})
		}))
		if away {
			must(s.Close())
			s, x = searched(t, path, index)
		}
		must(x.CatchUp(t.Context()))
		if got := hits(t, x, "walrus"); got != 1 {
			t.Errorf("%d hits after the removal, away %v", got, away)
		}
		words := 0
		for _, table := range []string{"task_words", "check_words", "output_words_1"} {
			words += x.Matches(t, table, "walrus")
		}
		if words != 1 {
			t.Errorf("the index still has %d places, away %v", words, away)
		}
		say(t, s, kept, "another walrus")
		must(x.CatchUp(t.Context()))
		if got := hits(t, x, "walrus"); got != 2 {
			t.Errorf("%d hits in the end", got)
		}
		must(errors.Join(x.Close(), s.Close()))
	}
}
