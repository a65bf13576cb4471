package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"coppice/cmd/coppice/setup"
	"coppice/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The doctor says whether the database was closed cleanly.
func TestDoctorLooksAtTheDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "coppice.db")
	if rows := atRest(path); len(rows) != 0 {
		t.Errorf("before there is one: %v", rows)
	}
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if rows := atRest(path); len(rows) != 1 || rows[0].Level != setup.Warn || rows[0].Fix == "" {
		t.Errorf("while nobody closed it: %v", rows)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if rows := atRest(path); len(rows) != 1 || rows[0].Level != setup.OK {
		t.Errorf("closed: %v", rows)
	}
}

// The doctor shows how much of the history is kept, and a configuration that
// cannot be read.
func TestDoctorShowsTheLimits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	environ := []string{"HOME=" + dir, "XDG_CONFIG_HOME=" + dir}
	if row := limitsOf(environ); row.Level != setup.OK || !strings.Contains(row.Detail, "output 20 GiB, 180d; tasks 200000, 730d") {
		t.Errorf("by default: %+v", row)
	}
	if err := os.Mkdir(filepath.Join(dir, "coppice"), 0o700); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]setup.Row{
		"keep: {output: 1d, output_size: 0 B}\n": {Level: setup.OK, Detail: "output 1d;"},
		"keep: {output: soon}\n":                 {Level: setup.Fail, Detail: "soon"},
	} {
		if err := os.WriteFile(filepath.Join(dir, "coppice", "config.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if row := limitsOf(environ); row.Level != want.Level || !strings.Contains(row.Detail, want.Detail) {
			t.Errorf("%s: %+v", text, row)
		}
	}
}
