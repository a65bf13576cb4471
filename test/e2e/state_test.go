//go:build linux

package e2e

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite"

	"coppice/api"
	"coppice/test/harness"
	"coppice/test/testfile"
)

// refusedState starts a server on a state it must refuse, and checks that the
// file it refuses stays as it is.
func refusedState(t *testing.T, w *world, says ...string) {
	t.Helper()
	db := filepath.Join(w.State, "coppice.db")
	before, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.StartServer()
	var no *harness.NotServing
	if !errors.As(err, &no) {
		t.Fatalf("it started: %v", err)
	}
	if no.Code != 1 {
		t.Errorf("exit code %d", no.Code)
	}
	for _, part := range append(says, "→") {
		if !strings.Contains(no.Log, part) {
			t.Errorf("it does not say %q:\n%s", part, no.Log)
		}
	}
	if after, err := os.ReadFile(db); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the database changed: %v", err)
	}
}

func TestANewerDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.serve().Stop(t)
	db, err := sql.Open("sqlite", filepath.Join(w.State, "coppice.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (999999, 1)")
	if _, verr := db.Exec("PRAGMA user_version = 999999"); err != nil && verr != nil {
		t.Fatal(err, verr)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	refusedState(t, w, "newer")
}

func TestADamagedDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.serve().Stop(t)
	db := filepath.Join(w.State, "coppice.db")
	b, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(b); i++ {
		b[i] ^= 0x5a
	}
	if err := os.WriteFile(db, b, 0o600); err != nil {
		t.Fatal(err)
	}
	refusedState(t, w, "damaged")
}

// mount puts a small file system where the state will be.
func (w *world) mount(options string) {
	w.t.Helper()
	if os.Getuid() != 0 {
		if os.Getenv("CI") == "true" {
			w.t.Fatal("mounting needs root")
		}
		w.t.Skip("mounting needs root")
	}
	if err := os.Mkdir(w.State, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", w.State, "tmpfs", 0, options); err != nil {
		w.t.Fatalf("mount: %v", err)
	}
	w.t.Cleanup(func() {
		w.Close()
		if err := unix.Unmount(w.State, unix.MNT_DETACH); err != nil {
			w.t.Errorf("unmount: %v", err)
		}
	})
}

// smallDisk is the policy of tests whose disk is smaller than limits.disk demands.
var smallDisk = strings.Replace(policy, "limits: {", "limits: {disk: 1 MiB, ", 1)

func TestAFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": oneFile, "coppice.yaml": smallDisk})
	w.mount("size=24m,mode=0700")
	s := w.serve()
	if page := decode[api.TaskPage](t, w.cli("list", "--json")); len(page.Tasks) != 0 {
		t.Fatal("there are tasks")
	}
	filler := filepath.Join(w.State, "filler")
	testfile.FillDisk(t, filler)
	r := w.try(w.repo, "", "new", "Too much", "--body", strings.Repeat("words ", 10000))
	if r.code != 1 || !strings.Contains(r.err, "is full") || !strings.Contains(r.err, "→") {
		t.Errorf("on a full disk: %+v", r)
	}
	if page := decode[api.TaskPage](t, w.cli("list", "--json")); len(page.Tasks) != 0 {
		t.Error("a task was created anyway")
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	w.landed(w.new("Continue"))
	if code := s.Stop(t); code != 0 {
		t.Errorf("the server ended with %d", code)
	}
}

func TestAReadOnlyState(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.mount("size=24m,mode=0700")
	readOnly := func(flags uintptr) {
		if err := unix.Mount("tmpfs", w.State, "tmpfs", unix.MS_REMOUNT|flags, "size=24m,mode=0700"); err != nil {
			t.Fatal(err)
		}
	}
	readOnly(unix.MS_RDONLY)
	if r := w.try(w.Root, "", "serve", "--listen", "127.0.0.1:0"); r.code != 1 || !strings.Contains(r.err, w.State) || !strings.Contains(r.err, "→") {
		t.Errorf("an empty one: %+v", r)
	}
	readOnly(0)
	w.serve().Stop(t)
	readOnly(unix.MS_RDONLY)
	refusedState(t, w, w.State)
	readOnly(0)
	w.serve()
	w.cli("status")
}
