package workspace

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"coppice"
	"coppice/internal/process"
	"coppice/test/gitrepo"
	"coppice/test/testfile"
	"coppice/workspace/git"
	"coppice/workspace/repo"
)

// TestMain lowers the number of random cases: each runs some fifty processes.
// A flag on the command line still counts.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "20"); err != nil {
		panic(err)
	}
	flag.Parse()
	process.CatchIgnored(syscall.SIGHUP)
	goleak.VerifyTestMain(m)
}

// bundle is a repository with one commit on main, and Workspaces beside it.
type bundle struct {
	*Workspaces
	t    testing.TB
	root string
	ctx  context.Context
}

func setup(t testing.TB) *bundle {
	t.Helper()
	dir := realDir(t)
	b := &bundle{t: t, root: filepath.Join(dir, "repo"), ctx: t.Context()}
	b.Workspaces = open(t, dir)
	newRepo(t, b.root)
	return b
}

func realDir(t testing.TB) string {
	t.Helper()
	dir := testfile.Dir(t)
	t.Cleanup(func() { _ = writable(dir) }) // or what is read-only could not be removed
	return dir
}

func open(t testing.TB, dir string) *Workspaces {
	t.Helper()
	env := append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "HOME="+dir)
	g, err := git.New(git.Config{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(Config{Dir: filepath.Join(dir, "state"), Trash: filepath.Join(dir, "trash"), Git: g, Env: env, Ports: PortRange{First: 21000, Last: 29000}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func newRepo(t testing.TB, root string) {
	t.Helper()
	gitrepo.New(t, root, gitrepo.Env(), gitrepo.Sample())
}

func run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	return gitrepo.Run(t, dir, append(gitrepo.Env(), "GIT_ALLOW_PROTOCOL=file"), args...)
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	testfile.Write(t, filepath.Join(dir, name), text)
}

func read(t testing.TB, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func commit(t testing.TB, dir, message string) string {
	t.Helper()
	run(t, dir, "git", "add", "-A")
	run(t, dir, "git", "-c", "user.name=Bot", "-c", "user.email=bot@example.org", "commit", "-q", "--allow-empty", "-m", message)
	return run(t, dir, "git", "rev-parse", "HEAD")
}

// own is Coppice's own repository.
func (b *bundle) own() string {
	b.t.Helper()
	return must[repo.Repo](b.t)(b.Use(b.ctx, b.root)).Git
}

func (b *bundle) spec(key string) coppice.PrepareSpec {
	return coppice.PrepareSpec{Key: key, Repo: b.root, Branch: coppice.TaskBranch(key), Base: "main"}
}

func (b *bundle) prepare(key string) coppice.PrepareResult {
	b.t.Helper()
	return must[coppice.PrepareResult](b.t)(b.Prepare(b.ctx, b.spec(key)))
}

func (b *bundle) removeSpec(key string) coppice.RemoveSpec {
	return coppice.RemoveSpec{Key: key, Repo: b.root, Branch: coppice.TaskBranch(key), Policy: coppice.TrashPolicy{Keep: []string{".env*"}}}
}

func (b *bundle) restoreSpec(key string, r coppice.RemoveResult) coppice.RestoreSpec {
	return coppice.RestoreSpec{Key: key, Repo: b.root, Branch: coppice.TaskBranch(key), Head: r.Head, Ref: r.Ref, Archive: r.Archive}
}

func must[T any](t testing.TB) func(T, error) T { return testfile.Must[T](t) }

// print is a hash per file of a directory: contents, kinds and permissions.
func print(t testing.TB, dir string, skip ...string) map[string]string {
	t.Helper()
	m := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		if slices.Contains(skip, rel) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		st, err := d.Info()
		if err != nil || d.IsDir() {
			return err
		}
		if st.Mode()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(p)
			m[rel] = "-> " + target
			return err
		}
		b, err := os.ReadFile(p)
		m[rel] = fmt.Sprintf("%v %x", st.Mode()&0o111 != 0, sha256.Sum256(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}
