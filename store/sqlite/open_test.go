package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite"
)

// made returns the path of a closed database with events.
func made(t *testing.T, events int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state", "coppice.db")
	s := open(t, path)
	for range events {
		add(t, s)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func add(t *testing.T, s store.Store) {
	t.Helper()
	err := s.Update(t.Context(), func(tx store.Tx) error {
		return tx.Log.Append(&coppice.Event{Kind: coppice.EventTaskStage, By: "test", Reason: strings.Repeat("why ", 100)})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func newest(t *testing.T, s store.Store) (last int64) {
	t.Helper()
	err := s.View(t.Context(), func(r store.Reader) (err error) { _, last, err = r.Log.Bounds(); return err })
	if err != nil {
		t.Fatal(err)
	}
	return last
}

// execute changes a closed database without the store.
func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deep", "state", "coppice.db")
	s := open(t, path)
	add(t, s)
	for name, want := range map[string]os.FileMode{
		filepath.Dir(path): 0o700, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600, path + ".lock": 0o600,
	} {
		info, err := os.Stat(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", name, info.Mode().Perm(), want)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 2 || left[1].Name() != "coppice.db.clean" {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestRefused opens files that must not be opened. Each error has the expected
// words, and the file does not change.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, path string)
		code  coppice.Code
		words []string
	}{
		{"overwritten with text", func(t *testing.T, path string) {
			write(t, path, []byte("this was a database once, and now it is a note"))
		}, coppice.EUnavailable, []string{"damaged", "no backup in", sqlite.BackupsFolder}},
		{"a torn header", func(t *testing.T, path string) {
			write(t, path, []byte("SQLi"))
		}, coppice.EUnavailable, []string{"damaged", "no backup in", sqlite.BackupsFolder}},
		{"pages overwritten", func(t *testing.T, path string) {
			b := read(t, path)
			for i := 8192; i < len(b); i++ {
				b[i] = byte(i * 7)
			}
			write(t, path, b)
		}, coppice.EUnavailable, []string{"damaged", "no backup in", sqlite.BackupsFolder}},
		{"one page overwritten", func(t *testing.T, path string) {
			b := read(t, path)
			clear(b[len(b)-4096:])
			write(t, path, b)
		}, coppice.EUnavailable, []string{"damaged", "no backup in", sqlite.BackupsFolder}},
		{"cut short", func(t *testing.T, path string) {
			b := read(t, path)
			write(t, path, b[:len(b)/2])
		}, coppice.EUnavailable, []string{"damaged", "no backup in"}},
		{"missing, but its log exists", func(t *testing.T, path string) {
			write(t, path+"-wal", []byte("commits"))
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}, coppice.EUnavailable, []string{"damaged", "no backup in"}},
		{"another program's", func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			execute(t, path, "CREATE TABLE bookmarks (url TEXT)")
		}, coppice.EInvalid, []string{"another program", "another state directory"}},
		{"another program's, by its id", func(t *testing.T, path string) {
			execute(t, path, "PRAGMA application_id = 42")
		}, coppice.EInvalid, []string{"another program"}},
		{"a newer Coppice's", func(t *testing.T, path string) {
			execute(t, path, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)")
		}, coppice.EConflict, []string{"newer Coppice", "9999"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := made(t, 50)
			c.spoil(t, path)
			before, _ := os.ReadFile(path)
			_, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
			var e *coppice.Error
			if !errors.As(err, &e) || e.Code != c.code {
				t.Fatalf("got %v, want code %s", err, c.code)
			}
			for _, w := range c.words {
				if !strings.Contains(e.Error(), w) {
					t.Errorf("%q does not say %q", e.Error(), w)
				}
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the file was changed")
			}
			if _, err := os.Stat(path + ".lock"); err == nil {
				t.Error("the lock was left behind")
			}
		})
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSecondOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "coppice.db")
	s := open(t, path)
	_, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if coppice.ErrorCode(err) != coppice.EConflict || !strings.Contains(err.Error(), "process "+strconv.Itoa(os.Getpid())) {
		t.Errorf("got %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, path)
}

// TestHalfMade opens a database whose creation was interrupted by a kill.
func TestHalfMade(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "coppice.db")
	write(t, path, nil)
	add(t, open(t, path))

	path = filepath.Join(t.TempDir(), "coppice.db")
	execute(t, path, "PRAGMA application_id = 1129271376; PRAGMA journal_mode = WAL")
	add(t, open(t, path))
}

func TestWrongConfig(t *testing.T) {
	t.Parallel()
	for _, cfg := range []sqlite.Config{{}, {Path: sqlite.Memory, Sync: "sometimes"}} {
		if _, err := sqlite.Open(t.Context(), cfg); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%+v: got %v", cfg, err)
		}
	}
}

// TestStrangePath opens a database whose path has special characters of a URI.
func TestStrangePath(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a?b#c%41 d", "coppice.db")
	s := open(t, path)
	add(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		t.Errorf("the file is not at its path: %v", err)
	}
	if got := newest(t, open(t, path)); got != 1 {
		t.Errorf("the newest event is %d", got)
	}
}

// TestNoDirectory opens a database in a directory that cannot be created.
func TestNoDirectory(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, nil)
	_, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(file, "coppice.db")})
	if coppice.ErrorCode(err) != coppice.EUnavailable || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("got %v", err)
	}
}

// TestShrink checks that connections read and write after Shrink.
func TestShrink(t *testing.T) {
	t.Parallel()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "coppice.db"), Readers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wg.Go(func() { // a connection is sometimes in use
		for ctx.Err() == nil {
			_ = s.View(ctx, func(r store.Reader) error { _, err := r.Projects.All(); return err }) // the last one can be cancelled
		}
	})
	for i := range 3 {
		p := coppice.Project{Prefix: fmt.Sprint("app", i), Path: fmt.Sprint("/src/", i), Policy: coppice.DefaultPolicy(), CreatedAt: time.Now()}
		err = errors.Join(err, s.Update(t.Context(), func(tx store.Tx) error { return tx.Projects.Put(&p) }), s.Shrink(t.Context()))
	}
	var all []coppice.Project
	err = errors.Join(err, s.View(t.Context(), func(r store.Reader) (err error) {
		all, err = r.Projects.All()
		return err
	}))
	if err != nil || len(all) != 3 {
		t.Errorf("%d projects, %v", len(all), err)
	}
}
