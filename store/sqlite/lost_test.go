package sqlite_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite"
)

func TestLostDatabaseIsNoticedAndSaved(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(path string) error{
		"removed": os.Remove,
		"removed with its log": func(path string) error {
			return errors.Join(os.Remove(path), os.Remove(path+"-wal"), os.Remove(path+"-shm"))
		},
		"its log removed":         func(path string) error { return os.Remove(path + "-wal") },
		"moved away":              func(path string) error { return os.Rename(path, path+".away") },
		"replaced":                func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) },
		"replaced by its copy":    func(path string) error { return errors.Join(os.Rename(path, path+".away"), copyTo(path+".away", path)) },
		"noticed only at the end": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "coppice.db")
			var log bytes.Buffer
			s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			put := func(prefix string) error {
				return s.Update(t.Context(), func(tx store.Tx) error {
					return tx.Projects.Put(&coppice.Project{Path: "/src/" + prefix, Prefix: prefix, Policy: coppice.DefaultPolicy()})
				})
			}
			if err := put("app"); err != nil {
				t.Fatal(err)
			}
			if err := s.Intact(); err != nil {
				t.Fatal(err)
			}
			if err := lose(path); err != nil {
				t.Fatal(err)
			}
			if name != "noticed only at the end" {
				for range 3 {
					var e *coppice.Error
					if err := put("other"); !errors.As(err, &e) || e.Code != coppice.EUnavailable || !strings.Contains(e.Fix, "coppice restore "+path+".saved-") {
						t.Fatalf("written: %v", err)
					}
				}
				if err := s.Intact(); coppice.ErrorCode(err) != coppice.EUnavailable {
					t.Errorf("intact: %v", err)
				}
				if err := s.Backup(t.Context(), path+".backup"); coppice.ErrorCode(err) != coppice.EUnavailable {
					t.Errorf("a backup of another file: %v", err)
				}
				for range 10 { // more than there are readers
					checkProjects(t, s, "app")
				}
			}
			if err := s.Close(); err != nil {
				t.Logf("closing: %v", err) // it can succeed or fail
			}
			if n := strings.Count(log.String(), "removed or replaced"); n != 1 {
				t.Errorf("logged %d times, want 1:\n%s", n, log.String())
			}
			copies, err := filepath.Glob(path + ".saved-*")
			if err != nil || len(copies) != 1 {
				t.Fatalf("saved: %v, %v", copies, err)
			}
			if strings.HasPrefix(name, "removed") || strings.HasPrefix(name, "noticed") {
				_, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
				if coppice.ErrorCode(err) != coppice.EUnavailable || !strings.Contains(err.Error(), copies[0]) {
					t.Errorf("it starts with an empty database: %v", err)
				}
			}
			if err := sqlite.Restore(t.Context(), copies[0], path); err != nil {
				t.Fatal(err)
			}
			again, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			checkProjects(t, again, "app")
		})
	}
}

func TestReturnedDatabaseIsUsedAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "coppice.db")
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	nothing := func() error { return s.Update(t.Context(), func(store.Tx) error { return nil }) }
	for range 2 {
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		if err := nothing(); coppice.ErrorCode(err) != coppice.EUnavailable {
			t.Fatal(err)
		}
		if err := os.Rename(path+".away", path); err != nil {
			t.Fatal(err)
		}
		if err := nothing(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDamagedDatabaseNamesNewestCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "coppice.db")
	says := func(text string) {
		t.Helper()
		_, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
		if coppice.ErrorCode(err) != coppice.EUnavailable || !strings.Contains(err.Error(), text) {
			t.Errorf("it does not say %q: %v", text, err)
		}
	}
	damaged := func(name string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte("garbage, and enough of it"), 0o600)); err != nil {
			t.Fatal(err)
		}
		return name
	}
	damaged("coppice.db")
	says("there is no backup in " + filepath.Join(dir, sqlite.BackupsFolder))
	damaged(sqlite.BackupsFolder + "/notes.txt")
	says("there is no backup in ")
	old := damaged("coppice.db.saved-20260101T000000.000000000Z")
	says("coppice restore " + old)
	newer := damaged(sqlite.BackupsFolder + "/auto-20260102T000000.000000000Z.db")
	says("coppice restore " + newer)
	newest := damaged("coppice.db.saved-20260103T000000.000000000Z")
	says("coppice restore " + newest)
}

// checkProjects compares the prefixes of a store's projects.
func checkProjects(t *testing.T, s *sqlite.Store, want ...string) {
	t.Helper()
	err := s.View(t.Context(), func(r store.Reader) error {
		all, err := r.Projects.All()
		var got []string
		for _, p := range all {
			got = append(got, p.Prefix)
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("projects %v, want %v", got, want)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func copyTo(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o600)
}
