package baseline

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coppice/test/testfile"
)

// repository makes a module with two commits. The second one changes the program
// and adds a helper, which the working tree changes.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program := func(says string) string { return "package main\n\nfunc main() { println(\"" + says + "\") }\n" }
	write := func(name, text string) {
		t.Helper()
		testfile.Write(t, filepath.Join(dir, name), text)
	}
	commit := func(message string) {
		t.Helper()
		for _, args := range [][]string{{"add", "--all"}, {"-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "--message", message}} {
			if _, err := git(t.Context(), dir, args...); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := git(t.Context(), dir, "init", "--quiet"); err != nil {
		t.Fatal(err)
	}
	write("go.mod", "module m\n\ngo 1.24\n")
	write("cmd/main.go", program("first"))
	commit("First")
	write("cmd/main.go", program("second"))
	write("helper/main.go", program("helper"))
	commit("Second")
	write("helper/main.go", program("changed"))
	write("new/main.go", program("new"))
	return dir
}

func TestBuild(t *testing.T) {
	t.Parallel()
	repo, cache := repository(t), t.TempDir()
	programs := []Program{{"main", "cmd"}, {"helper", "helper"}, {"new", "new"}}
	for rev, says := range map[string]string{"HEAD~1": "first", "HEAD": "second"} {
		commit, dir, err := buildIn(t.Context(), repo, cache, rev, programs...)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"main": says, "helper": "helper", "new": "new"} {
			if out, err := exec.CommandContext(t.Context(), filepath.Join(dir, name)).CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != want {
				t.Errorf("%s of %s says %q, want %q: %v", name, rev, out, want, err)
			}
		}
		// A program that exists is not built again, and nothing else is left.
		if err := os.WriteFile(filepath.Join(dir, "main"), []byte("kept"), 0o755); err != nil {
			t.Fatal(err)
		}
		if again, _, err := buildIn(t.Context(), repo, cache, rev, programs...); err != nil || again != commit {
			t.Errorf("again: %s, not %s: %v", again, commit, err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "main")); err != nil || string(b) != "kept" {
			t.Errorf("%s was built again: %v", rev, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 3 {
			t.Errorf("the cache has %v: %v", left, err)
		}
	}
}

func TestBuildOfNothing(t *testing.T) {
	t.Parallel()
	for _, rev := range []string{"", "no-such-commit"} {
		if _, _, err := buildIn(t.Context(), repository(t), t.TempDir(), rev); err == nil || !strings.Contains(err.Error(), "set BASE to one") {
			t.Errorf("%q: %v", rev, err)
		}
	}
}
