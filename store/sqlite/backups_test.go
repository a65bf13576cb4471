package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"coppice"
	"coppice/store/sqlite"
)

// TestBackupsBySize bounds how much space backups take, and always keeps the
// newest.
func TestBackupsBySize(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "coppice.db"))
	most := int64(0)
	backups := &sqlite.Backups{Store: s, Folder: filepath.Join(dir, sqlite.BackupsFolder), Keep: 9, Most: func() (int64, error) { return most, nil }}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	left := func() []string {
		t.Helper()
		now = now.Add(time.Hour)
		path, err := backups.Make(t.Context(), now)
		if err != nil {
			t.Fatal(err)
		}
		list, err := backups.List()
		if err != nil || len(list) == 0 || list[0] != path {
			t.Fatalf("%v, %v", list, err)
		}
		return list
	}
	left()
	list := left()
	info, err := os.Stat(list[0])
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	if plain, err := os.Stat(filepath.Join(dir, "coppice.db")); err != nil || info.Size() > plain.Size()/4 {
		t.Errorf("a backup takes %d bytes of %d, %v", info.Size(), plain.Size(), err)
	}
	most = info.Size()*5/2 + 1
	if list := left(); len(list) != 2 {
		t.Errorf("left: %v", list)
	}
	write(t, filepath.Join(backups.Folder, ".auto-20260101T000000.000000000Z.db.gz.1.tmp"), []byte("left by a kill"))
	most = 1
	if list := left(); len(list) != 1 {
		t.Errorf("left: %v", list)
	}
	all, err := os.ReadDir(backups.Folder)
	if err != nil || len(all) != 1 {
		t.Errorf("in the folder: %v, %v", all, err)
	}
}

// TestManualBackups checks that limits do not remove what a person made.
func TestManualBackups(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	backups := &sqlite.Backups{Store: open(t, filepath.Join(dir, "coppice.db")), Folder: filepath.Join(dir, sqlite.BackupsFolder), Keep: 1}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var made []string
	for i, make := range []func(context.Context, time.Time) (string, error){backups.Make, backups.MakeManual, backups.Make, backups.MakeManual, backups.Make} {
		path, err := make(t.Context(), now.Add(time.Duration(i)*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, path)
	}
	if base := filepath.Base(made[1]); base != "manual-20260102T040405.000000000Z.db.gz" {
		t.Errorf("a backup by hand is %s", base)
	}
	list, err := backups.List()
	if want := []string{made[4], made[3], made[1]}; err != nil || !slices.Equal(list, want) {
		t.Errorf("kept %v, %v, want %v", list, err, want)
	}
	to := filepath.Join(t.TempDir(), "coppice.db")
	if err := sqlite.Restore(t.Context(), made[1], to); err != nil {
		t.Error(err)
	}
}

// TestRestoreForms restores compressed backups and those of earlier versions, which
// are not compressed. It refuses a damaged compressed backup.
func TestRestoreForms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "coppice.db")
	s := open(t, path)
	add(t, s)
	plain := filepath.Join(dir, "plain.db")
	if err := s.Backup(t.Context(), plain); err != nil {
		t.Fatal(err)
	}
	backups := &sqlite.Backups{Store: s, Folder: filepath.Join(dir, sqlite.BackupsFolder), Keep: 9}
	packed, err := backups.Make(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	add(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{plain, packed} {
		if err := sqlite.Restore(t.Context(), from, path); err != nil {
			t.Fatalf("%s: %v", from, err)
		}
		s := open(t, path)
		if got := newest(t, s); got != 1 {
			t.Errorf("%s: the newest event is %d", from, got)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	before := string(read(t, path))
	whole := read(t, packed)
	for name, b := range map[string][]byte{"cut": whole[:len(whole)/2], "changed": append([]byte(nil), whole...)} {
		if name == "changed" {
			clear(b[len(b)/2 : len(b)/2+64])
		}
		bad := filepath.Join(dir, name+".db.gz")
		write(t, bad, b)
		if err := sqlite.Restore(t.Context(), bad, path); coppice.ErrorCode(err) != coppice.EUnavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
	if string(read(t, path)) != before {
		t.Error("the database was changed")
	}
}
