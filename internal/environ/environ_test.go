package environ_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"coppice/internal/environ"
)

func TestPick(t *testing.T) {
	t.Parallel()
	env := []string{"PATH=/old", "PATH=/bin", "LC_ALL=C", "LC=x", "SECRET=s", "BARE", "=odd", "HOME="}
	got := environ.Allowed{"PATH", "LC_*", "HOME", "*", "BARE"}.Pick(env)
	if want := []string{"PATH=/old", "PATH=/bin", "LC_ALL=C", "HOME="}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if environ.Get(env, "PATH") != "/bin" || environ.Get(env, "PAT") != "" || environ.Get(env, "BARE") != "" {
		t.Error("a variable has another value")
	}
}

func TestOverlaps(t *testing.T) {
	t.Parallel()
	list := environ.Allowed{"KEY", "AWS_*"}
	for other, want := range map[string]string{
		"KEY": "KEY", "KE*": "KEY", "KEY*": "KEY", "AWS_A": "AWS_*", "AWS_A*": "AWS_*", "A*": "AWS_*", "AWS_*": "AWS_*", "AWS": "", "KEYS": "", "KEYS*": "", "B*": "",
	} {
		if got := list.Overlaps(other); got != want {
			t.Errorf("%s: %q, want %q", other, got, want)
		}
	}
}

func TestLookPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"tool": 0o755, "text": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"PATH=relative:" + filepath.Join(dir, "missing") + ":" + dir}
	if got, err := environ.LookPath("tool", env); err != nil || got != filepath.Join(dir, "tool") {
		t.Errorf("%q, %v", got, err)
	}
	for _, name := range []string{"text", "none"} {
		if got, err := environ.LookPath(name, env); err == nil {
			t.Errorf("%s was found as %q", name, got)
		}
	}
}
