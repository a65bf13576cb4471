package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite"
)

// TestBackupUnderLoad creates backups while writers write, and restores the last
// one. It has a complete prefix of the log, with everything that was acknowledged
// before.
func TestBackupUnderLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "coppice.db")
	s := open(t, path)
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	begun := make(chan struct{}, 4)
	for range 4 {
		writers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				add(t, s)
				if i == 5 {
					begun <- struct{}{}
				}
			}
		})
	}
	for range 4 {
		<-begun
	}
	backups := &sqlite.Backups{Store: s, Folder: filepath.Join(dir, sqlite.BackupsFolder), Keep: 2}
	var made []string
	var acknowledged int64
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range 4 {
		acknowledged = newest(t, s)
		p, err := backups.Make(t.Context(), now.Add(time.Duration(i)*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, p)
	}
	stop()
	writers.Wait()
	list, err := backups.List()
	if err != nil || len(list) != 2 || list[0] != made[3] || list[1] != made[2] {
		t.Fatalf("kept %v (%v) of %v", list, err, made)
	}

	err = sqlite.Restore(t.Context(), made[3], path)
	if coppice.ErrorCode(err) != coppice.EConflict {
		t.Fatalf("while it is open: %v", err)
	}
	last := newest(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Restore(t.Context(), made[3], path); err != nil {
		t.Fatal(err)
	}
	restored := open(t, path)
	got := newest(t, restored)
	if got < acknowledged || got > last {
		t.Errorf("the backup ends at %d; %d were acknowledged before, %d in the end", got, acknowledged, last)
	}
	err = restored.View(t.Context(), func(r store.Reader) error {
		events, err := r.Log.Events(0, 1<<20, store.EventFilter{})
		for i, e := range events {
			if e.Seq != int64(i+1) {
				t.Fatalf("event %d has number %d", i+1, e.Seq)
			}
		}
		if int64(len(events)) != got {
			t.Errorf("%d events, want %d", len(events), got)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	add(t, restored)
	kept := aside(t, dir)
	if len(kept) != 1 {
		t.Fatalf("set aside: %v", kept)
	}
	if n := newest(t, open(t, kept[0])); n != last {
		t.Errorf("the replaced database ends at %d, want %d", n, last)
	}
}

// aside lists the replaced databases in a directory.
func aside(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "coppice.db.before-restore-*"))
	if err != nil {
		t.Fatal(err)
	}
	var dbs []string
	for _, p := range all {
		if !strings.HasSuffix(p, "-wal") && !strings.HasSuffix(p, "-shm") && !strings.HasSuffix(p, ".lock") {
			dbs = append(dbs, p)
		}
	}
	return dbs
}

// TestRestoreOverDamage replaces a database that cannot be opened by a backup. The
// old write-ahead log must not be applied to the new database.
func TestRestoreOverDamage(t *testing.T) {
	t.Parallel()
	path := made(t, 3)
	s := open(t, path)
	backup := filepath.Join(t.TempDir(), "backup.db")
	if err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		add(t, s)
	}
	wal := read(t, path+"-wal")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, path, []byte("damaged"))
	write(t, path+"-wal", wal)
	if err := sqlite.Restore(t.Context(), backup, path); err != nil {
		t.Fatal(err)
	}
	if n := newest(t, open(t, path)); n != 3 {
		t.Errorf("the newest event is %d, want 3", n)
	}
	kept := aside(t, filepath.Dir(path))
	if len(kept) != 1 || string(read(t, kept[0])) != "damaged" || string(read(t, kept[0]+"-wal")) != string(wal) {
		t.Errorf("set aside: %v", kept)
	}
}

// TestRestoreRefused restores from invalid files. The database does not change.
func TestRestoreRefused(t *testing.T) {
	t.Parallel()
	path := made(t, 3)
	dir := t.TempDir()
	before := string(read(t, path))
	file := func(name string, b []byte) string {
		p := filepath.Join(dir, name)
		write(t, p, b)
		return p
	}
	good := read(t, made(t, 40))
	for i := 8192; i < len(good); i++ {
		good[i] = byte(i * 3)
	}
	foreign := filepath.Join(dir, "foreign")
	execute(t, foreign, "CREATE TABLE bookmarks (url TEXT)")
	newer := file("newer", read(t, made(t, 1)))
	execute(t, newer, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)")
	for from, code := range map[string]coppice.Code{
		filepath.Join(dir, "none"):        coppice.ENotFound,
		file("empty", nil):                coppice.EUnavailable,
		file("text", []byte("no backup")): coppice.EUnavailable,
		file("damaged", good):             coppice.EUnavailable,
		foreign:                           coppice.EInvalid,
		newer:                             coppice.EConflict,
	} {
		err := sqlite.Restore(t.Context(), from, path)
		if coppice.ErrorCode(err) != code || !strings.Contains(err.Error(), from) {
			t.Errorf("%s: got %v, want code %s", filepath.Base(from), err, code)
		}
	}
	if string(read(t, path)) != before {
		t.Error("the database was changed")
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 2 || left[1].Name() != "coppice.db.clean" {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestBackupsLeaveOthersAlone checks that other files in the folder are kept.
func TestBackupsLeaveOthersAlone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "backups")
	b := &sqlite.Backups{Store: open(t, sqlite.Memory), Folder: dir}
	if list, err := b.List(); err != nil || list != nil {
		t.Errorf("with no folder: %v, %v", list, err)
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	if _, err := b.Make(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mine.db", "auto-mine.db", "auto-2026.txt"} {
		write(t, filepath.Join(dir, name), nil)
	}
	path, err := b.Make(t.Context(), now.Add(1))
	if err != nil {
		t.Fatal(err)
	}
	if list, err := b.List(); err != nil || len(list) != 1 || list[0] != path {
		t.Errorf("kept %v, %v", list, err)
	}
	if all, _ := os.ReadDir(dir); len(all) != 4 {
		t.Errorf("the folder has %v", all)
	}
	to := filepath.Join(t.TempDir(), "coppice.db")
	if err := sqlite.Restore(t.Context(), path, to); err != nil {
		t.Fatal("a backup of a database in memory:", err)
	}
	add(t, open(t, to))
}
