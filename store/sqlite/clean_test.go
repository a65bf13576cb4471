package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite"
)

// large returns the path of a closed database that is too large to be checked by
// Open.
func large(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state", "coppice.db")
	s := open(t, path)
	err := s.Update(t.Context(), func(tx store.Tx) error {
		for range 600 {
			if err := tx.Log.Append(&coppice.Event{Kind: coppice.EventTaskStage, By: "test", Reason: strings.Repeat("why ", 2500)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCleanEnd closes a database in several ways. It is clean only after a clean
// close and without later changes.
func TestCleanEnd(t *testing.T) {
	t.Parallel()
	path := large(t)
	if sqlite.Unclean(path) {
		t.Error("a closed database is unclean")
	}
	s := open(t, path)
	if !sqlite.Unclean(path) {
		t.Error("an open database is clean")
	}
	add(t, s)
	killed := copyOf(t, path, path+"-wal")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if sqlite.Unclean(path) {
		t.Error("a database that was closed again is unclean")
	}
	execute(t, path, "PRAGMA user_version = 7")
	if !sqlite.Unclean(path) {
		t.Error("a database that another program wrote to is clean")
	}
	if err := os.Remove(path); err != nil || sqlite.Unclean(path) {
		t.Errorf("a missing database is unclean: %v", err)
	}

	s = open(t, killed)
	if err := s.Close(); err != nil || !sqlite.Unclean(killed) {
		t.Errorf("a database that nobody checked is clean: %v", err)
	}
	s = open(t, killed)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Check(cancelled); err == nil {
		t.Error("a cancelled check returned no error")
	}
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil || sqlite.Unclean(killed) {
		t.Errorf("a database that was checked is unclean: %v", err)
	}
}

// copyOf copies files into another directory and returns the first one's path.
func copyOf(t *testing.T, paths ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, p := range paths {
		write(t, filepath.Join(dir, filepath.Base(p)), read(t, p))
	}
	return filepath.Join(dir, filepath.Base(paths[0]))
}

// TestDamageFoundLater damages a large database. The store opens and answers. When
// the check has found the damage, the store writes nothing.
func TestDamageFoundLater(t *testing.T) {
	t.Parallel()
	path := large(t)
	backup := filepath.Join(filepath.Dir(path), sqlite.BackupsFolder, "auto-20260102T000000.000000000Z.db")
	if err := os.MkdirAll(filepath.Dir(backup), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, backup, read(t, path))
	b := read(t, path)
	clear(b[len(b)/2 : len(b)/2+64<<10])
	write(t, path, b)
	s := open(t, path)
	if err := s.Intact(); err != nil {
		t.Fatal(err)
	}
	err := s.Check(t.Context())
	for what, err := range map[string]error{
		"check": err, "intact": s.Intact(), "update": s.Update(t.Context(), func(store.Tx) error { return nil }),
		"backup": s.Backup(t.Context(), filepath.Join(t.TempDir(), "copy.db")),
	} {
		if e := coppice.Public(err); e == nil || e.Code != coppice.EUnavailable || !strings.Contains(e.Cause, "damaged") || !strings.Contains(e.Fix, backup) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got := newest(t, s); got != 600 {
		t.Errorf("the newest event is %d", got)
	}
	if err := s.Close(); err != nil || !sqlite.Unclean(path) {
		t.Errorf("a damaged database is clean: %v", err)
	}
}
