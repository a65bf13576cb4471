// Package gitrepo makes git repositories for tests.
package gitrepo

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Repo is a repository with a user.
type Repo struct {
	Dir string
	Env []string // of git
}

// New makes a repository with the files in its first commit, on main.
func New(t testing.TB, dir string, env []string, files map[string]string) Repo {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r := Repo{dir, env}
	r.Git(t, "init", "-q", "-b", "main")
	r.Git(t, "config", "user.name", "Ann")
	r.Git(t, "config", "user.email", "ann@example.org")
	for name, text := range files {
		r.Write(t, name, text)
	}
	r.Git(t, "add", "-A")
	r.Git(t, "commit", "-q", "--allow-empty", "-m", "first")
	return r
}

// Git runs git in the repository.
func (r Repo) Git(t testing.TB, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = r.Dir, r.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// Write writes a file of the checkout.
func (r Repo) Write(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join(r.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
