package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"coppice/internal/process"
	"coppice/workspace/gitfiles"
	"coppice/workspace/repo"
)

// The next start removes a lock of a killed process on a ref of Coppice. A lock of a
// live process stays.
func TestSweepRefLocks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.prepare("app-1")
	start, err := process.StartTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(b.own(), "refs", "coppice", "x")
	for name, text := range map[string]string{
		"dead.lock": fmt.Sprintf("%s%d %d\n", "coppice ", os.Getpid(), start+1), "alive.lock": fmt.Sprintf("%s%d %d\n", "coppice ", os.Getpid(), start), "git.lock": "",
	} {
		write(t, dir, name, text)
	}
	if err := b.Sweep(b.ctx); err != nil {
		t.Fatal(err)
	}
	for name, stays := range map[string]bool{"dead.lock": false, "alive.lock": true, "git.lock": false} {
		if got := repo.Exists(filepath.Join(dir, name)); got != stays {
			t.Errorf("%s is there: %v", name, got)
		}
	}
	head := run(t, b.root, "git", "rev-parse", "HEAD")
	if err := gitfiles.Open(b.own(), gitfiles.Config{}).SetRef("refs/coppice/x/alive", head); err == nil {
		t.Error("a ref was written though its lock is held")
	}
	if err := gitfiles.Open(b.own(), gitfiles.Config{}).SetRef("refs/coppice/x/dead", head); err != nil || run(t, b.own(), "git", "rev-parse", "refs/coppice/x/dead") != head {
		t.Errorf("a ref was not written: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(b.own(), gitfiles.TempPrefix+"*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestDroppedRefsAreGone deletes refs in every state they can be in, and looks
// at what is left as git does.
func TestDroppedRefsAreGone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := must[repo.Repo](t)(b.Use(b.ctx, b.root))
	head := run(t, b.root, "git", "rev-parse", "HEAD")
	other := run(t, b.root, "git", "-c", "user.name=A", "-c", "user.email=a@x", "commit-tree", "-p", head, "-m", "x", "HEAD^{tree}")
	run(t, r.Git, "git", "update-ref", "refs/heads/main", head)
	const name = "refs/heads/coppice/app-1"
	file := filepath.Join(r.Git, name)
	for what, c := range map[string]struct {
		before func()
		want   error // of the drop without git
		stays  bool
	}{
		"a file":         {func() {}, nil, false},
		"packed":         {func() { run(t, r.Git, "git", "pack-refs", "--all") }, gitfiles.ErrUseGit, false},
		"packed and new": {func() { run(t, r.Git, "git", "pack-refs", "--all"); write(t, r.Git, name, head+"\n") }, gitfiles.ErrPacked, false},
		"being packed":   {func() { write(t, r.Git, "packed-refs.lock", "") }, gitfiles.ErrPacked, false},
		"moved":          {func() { run(t, r.Git, "git", "update-ref", name, other) }, gitfiles.ErrUseGit, false},
		"a link":         {func() { run(t, r.Git, "git", "symbolic-ref", name, "refs/heads/main") }, gitfiles.ErrUseGit, false},
	} {
		run(t, r.Git, "git", "update-ref", "-m", "made", "--create-reflog", name, head)
		run(t, r.Git, "git", "update-ref", "--create-reflog", "refs/heads/coppice/other/deep", head)
		c.before()
		err := gitfiles.Open(r.Git, gitfiles.Config{}).DeleteRef(name, head)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", what, err)
		}
		_ = os.Remove(filepath.Join(r.Git, "packed-refs.lock"))
		if repo.Exists(file + ".lock") {
			t.Errorf("%s: a lock is left", what)
		}
		if err == nil && repo.Exists(filepath.Join(r.Git, "logs", name)) {
			t.Errorf("%s: the log is left", what)
		}
		if err := b.dropBranch(b.ctx, r, slot{Key: "app-1", Branch: "coppice/app-1", Head: head}); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if got, _ := try(r.Git, "for-each-ref", "--format=%(refname)", name); (got != "") != c.stays {
			t.Errorf("%s: git lists %q", what, got)
		}
		_, _ = try(r.Git, "update-ref", "--no-deref", "-d", name)
	}
	if run(t, r.Git, "git", "rev-parse", "coppice/other/deep", "main") != head+"\n"+head {
		t.Error("another ref was touched")
	}
	if err := gitfiles.Open(r.Git, gitfiles.Config{}).DeleteRef("refs/heads/main", head); !errors.Is(err, gitfiles.ErrUseGit) {
		t.Errorf("a branch that is not ours: %v", err)
	}
	run(t, r.Git, "git", "update-ref", "--create-reflog", "refs/heads/coppice/far/deep", head)
	if err := gitfiles.Open(r.Git, gitfiles.Config{}).DeleteRef("refs/heads/coppice/far/deep", head); err != nil || repo.Exists(filepath.Join(r.Git, "refs/heads/coppice/far")) || repo.Exists(filepath.Join(r.Git, "logs/refs/heads/coppice/far")) {
		t.Errorf("empty directories are left: %v", err)
	}
}
