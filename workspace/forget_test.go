package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
)

// lived is a repository in which Coppice has done all sorts of things: a
// workspace in use, one that an agent harmed, an idle one, trash with an archive,
// and something that landed.
func lived(t *testing.T) *bundle {
	t.Helper()
	b := setup(t)
	one := b.prepare("app-1")
	write(t, one.Path, "new.txt", "new")
	write(t, one.Path, "locked/deep/file", "read-only")
	must[string](t)(headOf(b.Save(b.ctx, one.Path, "work", coppice.Identity{}, nil)))
	if err := os.Chmod(filepath.Join(one.Path, "locked"), 0o500); err != nil {
		t.Fatal(err)
	}
	two := b.prepare("app-2")
	write(t, two.Path, ".env", "SECRET=1")
	if got := must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec("app-2"))); got.Archive == "" {
		t.Fatal("there is no archive")
	}
	three := b.prepare("app-3")
	if err := os.RemoveAll(filepath.Join(three.Path, ".git")); err != nil {
		t.Fatal(err)
	}
	return b
}

func headOf[T, U any](v T, _ U, err error) (T, error) { return v, err }

func TestUsage(t *testing.T) {
	t.Parallel()
	b := lived(t)
	u := must[Usage](t)(b.Usage(b.ctx, b.root))
	if u.Workspaces.Files < 3 || u.Workspaces.Bytes == 0 || u.Trash.Files != 1 || len(u.Archives) != 1 || u.Workspaces.Partial {
		t.Errorf("usage %+v", u)
	}
	if err := os.Rename(b.root, b.root+".away"); err != nil {
		t.Fatal(err)
	}
	fresh := open(t, filepath.Dir(b.root)) // which has never seen the repository
	if got := must[Usage](t)(fresh.Usage(b.ctx, b.root)); got.Dir != u.Dir || got.Workspaces.Files != u.Workspaces.Files || got.Trash != u.Trash {
		t.Errorf("without the repository %+v, with it %+v", got, u)
	}
}

func TestForget(t *testing.T) {
	t.Parallel()
	b := lived(t)
	other := filepath.Join(filepath.Dir(b.root), "other")
	newRepo(t, other)
	spec := b.spec("lib-1")
	spec.Repo = other
	kept := must[coppice.PrepareResult](t)(b.Prepare(b.ctx, spec))
	run(t, b.root, "git", "worktree", "add", "-q", "-b", "mine", filepath.Join(filepath.Dir(b.root), "mine"))
	run(t, b.root, "git", "branch", "coppicelike")
	run(t, b.root, "git", "branch", "coppice/held", "main")
	run(t, b.root, "git", "worktree", "add", "-q", filepath.Join(filepath.Dir(b.root), "held"), "coppice/held")
	write(t, b.root, "coppice.yaml", "base: main\n")
	write(t, b.root, "a.txt", "changed by the person\n")
	status := run(t, b.root, "git", "status", "--porcelain")

	crash := errors.New("crash")
	b.Step = func(name string) error {
		if name == "refs forgotten" {
			return crash
		}
		return nil
	}
	if err := b.Forget(b.ctx, b.root); !errors.Is(err, crash) {
		t.Fatal(err)
	}
	b.Step = func(string) error { return nil }
	for range 2 { // done again it does nothing more
		if err := b.Forget(b.ctx, b.root); err != nil {
			t.Fatal(err)
		}
	}
	if refs := run(t, b.root, "git", "for-each-ref", "--format=%(refname)"); refs != "refs/heads/coppice/held\nrefs/heads/coppicelike\nrefs/heads/main\nrefs/heads/mine" {
		t.Errorf("refs are left: %s", refs)
	}
	if trees := run(t, b.root, "git", "worktree", "list"); strings.Count(trees, "\n") != 2 {
		t.Errorf("git knows these worktrees: %s", trees)
	}
	if got := run(t, b.root, "git", "status", "--porcelain"); got != status {
		t.Errorf("the checkout was %q and is %q", status, got)
	}
	run(t, b.root, "git", "fsck", "--strict")
	u := must[Usage](t)(b.Usage(b.ctx, b.root))
	if _, err := os.Stat(u.Dir); !errors.Is(err, fs.ErrNotExist) || len(u.Archives) > 0 {
		t.Errorf("this is left: %+v, %v", u, err)
	}
	if read(t, kept.Path, "a.txt") == "" || !strings.Contains(run(t, kept.Path, "git", "branch"), "coppice/lib-1") {
		t.Error("the other repository's workspace is gone")
	}
	b.prepare("app-4") // and it can be used again
}

func TestForgetWithoutTheRepository(t *testing.T) {
	t.Parallel()
	b := lived(t)
	home := b.Home(b.ctx, b.root)
	if err := os.RemoveAll(b.root); err != nil {
		t.Fatal(err)
	}
	fresh := open(t, filepath.Dir(b.root))
	if err := fresh.Forget(b.ctx, b.root); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(home); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: %v", home, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(b.root), "trash", "*")); len(left) > 0 {
		t.Errorf("the trash keeps %q", left)
	}
}
