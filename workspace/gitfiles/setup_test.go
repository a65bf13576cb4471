package gitfiles

import (
	"bytes"
	"cmp"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coppice/test/gitrepo"
	"coppice/test/testfile"
)

// TestMain lowers the number of random cases, because each runs many processes. A
// flag on the command line still counts.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "20"); err != nil {
		panic(err)
	}
	flag.Parse()
	os.Exit(m.Run())
}

// bundle is a repository with one commit on main.
type bundle struct {
	*Repo
	dir, root, git string
}

func setup(t testing.TB) *bundle {
	t.Helper()
	dir := t.TempDir()
	root := filepath.Join(dir, "repo")
	gitrepo.New(t, root, gitEnv, gitrepo.Sample())
	return &bundle{Open(filepath.Join(root, ".git"), Config{}), dir, root, filepath.Join(root, ".git")}
}

var gitEnv = gitrepo.Env()

// run runs a command that must succeed.
func run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	return gitrepo.Run(t, dir, gitEnv, args...)
}

// try runs git, which may refuse.
func try(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, gitEnv
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// raw returns the output of git byte for byte.
func raw(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, gitEnv
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v in %s: %v", args, dir, err)
	}
	return string(out)
}

// commitTree writes a commit with git.
func commitTree(t testing.TB, dir string, c Commit) string {
	t.Helper()
	args := []string{"commit-tree", "-F", "-"}
	for _, p := range c.Parents {
		args = append(args, "-p", p)
	}
	cmd := exec.Command("git", append(args, c.Tree)...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(c.Message)
	cmd.Env = append(slices.Clone(gitEnv), "GIT_AUTHOR_NAME="+c.Author.Name, "GIT_AUTHOR_EMAIL="+c.Author.Email, "GIT_AUTHOR_DATE=@"+c.Author.Date,
		"GIT_COMMITTER_NAME="+c.Committer.Name, "GIT_COMMITTER_EMAIL="+c.Committer.Email, "GIT_COMMITTER_DATE=@"+c.Committer.Date)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git commit-tree: %v", err)
	}
	return string(bytes.TrimSpace(out))
}

// gitMode and gitID return modes and ids as git diff-tree prints them.
func gitMode(mode string) string { return cmp.Or(mode, "000000") }
func gitID(id string) string     { return cmp.Or(id, strings.Repeat("0", 40)) }

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	testfile.Write(t, filepath.Join(dir, name), text)
}

func commit(t testing.TB, dir, message string) string {
	t.Helper()
	run(t, dir, "git", "add", "-A")
	run(t, dir, "git", "commit", "-q", "--allow-empty", "-m", message)
	return run(t, dir, "git", "rev-parse", "HEAD")
}

func must[T any](t testing.TB) func(T, error) T { return testfile.Must[T](t) }
