// Package gitrepo makes git repositories for tests.
package gitrepo

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coppice/test/testfile"
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
	Run(t, r.Dir, r.Env, append([]string{"git"}, args...)...)
}

// Sample returns files for a repository: two texts, and names that git ignores.
func Sample() map[string]string {
	return map[string]string{"a.txt": "one\ntwo\nthree\n", "dir/b.txt": "b\n", ".gitignore": "*.log\n.env\nnode_modules/\n"}
}

// Env returns the environment of a git that has no configuration, and whose commits
// all have the same time.
func Env() []string {
	return append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000")
}

// Run runs a command that must succeed, and returns its output.
func Run(t testing.TB, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v in %s: %v\n%s", args, dir, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Write writes a file of the checkout.
func (r Repo) Write(t testing.TB, name, text string) {
	t.Helper()
	testfile.Write(t, filepath.Join(r.Dir, name), text)
}
