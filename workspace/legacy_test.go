package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/internal/atomicfile"
	"coppice/workspace/repo"
)

// TestLegacy opens what an earlier version left: a workspace that is a worktree of
// the person's repository with uncommitted work, an idle one, trash, and a
// candidate.
func TestLegacy(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := must[repo.Repo](t)(b.Find(b.ctx, b.root))
	base := run(t, b.root, "git", "rev-parse", "main")
	worktree := func(name, branch string) string {
		path := filepath.Join(r.Dir, name)
		if err := os.MkdirAll(r.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if branch == "" {
			run(t, b.root, "git", "worktree", "add", "-q", "--detach", path, "main")
		} else {
			run(t, b.root, "git", "worktree", "add", "-q", "-b", branch, path, "main")
		}
		return path
	}
	path := worktree("coppice-001", "coppice/app-1")
	write(t, path, "done.txt", "committed\n")
	head := commit(t, path, "work")
	write(t, path, "staged.txt", "staged\n")
	run(t, path, "git", "add", "staged.txt")
	write(t, path, "loose.txt", "untracked\n")
	worktree("coppice-002", "")
	for _, s := range []slot{
		{Name: "coppice-001", State: slotReady, Key: "app-1", Branch: "coppice/app-1", Base: base, Made: true},
		{Name: "coppice-002", State: slotIdle, Made: true, Clean: true},
	} {
		if err := atomicfile.WriteJSON(s.metaFile(r), s); err != nil {
			t.Fatal(err)
		}
	}
	trash := run(t, b.root, "git", "commit-tree", "-p", base, "-p", head, "-m", "trash of app-9\n\nBase: "+base, head+"^{tree}")
	run(t, b.root, "git", "update-ref", "refs/coppice/trash/app-9-1", trash)
	run(t, b.root, "git", "update-ref", "refs/coppice/landing/app-1/4", head)

	got := must[coppice.PrepareResult](t)(b.Prepare(b.ctx, b.spec("app-1")))
	if got.Path != path || got.Head != head {
		t.Errorf("%+v, want the head %s", got, head)
	}
	if status := run(t, path, "git", "status", "--porcelain"); status != "A  staged.txt\n?? loose.txt" {
		t.Errorf("the uncommitted work is now %q", status)
	}
	saved := b.saved(path)
	if files := run(t, b.own(), "git", "ls-tree", "-r", "--name-only", saved); !strings.Contains(files, "loose.txt") || !strings.Contains(files, "staged.txt") {
		t.Errorf("saved %s", files)
	}
	if refs := run(t, b.own(), "git", "for-each-ref", "--format=%(refname)"); refs != "refs/coppice/landing/app-1/4\nrefs/coppice/trash/app-9-1\nrefs/heads/coppice/app-1" {
		t.Errorf("the own repository has %s", refs)
	}
	if refs := run(t, b.root, "git", "for-each-ref", "--format=%(refname)"); refs != "refs/coppice/keep\nrefs/heads/main" {
		t.Errorf("the person's repository has %s", refs)
	}
	b.prepare("app-2") // uses the idle one
	if list := run(t, b.root, "git", "worktree", "list"); strings.Contains(list, "coppice-00") {
		t.Errorf("worktrees are left:\n%s", list)
	}
	run(t, b.root, "git", "reflog", "expire", "--expire=now", "--all")
	run(t, b.root, "git", "gc", "-q", "--prune=now")
	back := must[coppice.PrepareResult](t)(b.Restore(b.ctx, coppice.RestoreSpec{Key: "app-9", Repo: b.root, Branch: "coppice/app-9", Head: base, Ref: "refs/coppice/trash/app-9-1"}))
	if read(t, back.Path, "done.txt") != "committed\n" {
		t.Error("the trash is lost")
	}
	run(t, b.own(), "git", "fsck", "--strict", "--connectivity-only")
}

// TestLegacyDetached opens the worktree of a verifier that an earlier version
// left: it is at a candidate, on no branch, and its directory is read-only.
func TestLegacyDetached(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := must[repo.Repo](t)(b.Find(b.ctx, b.root))
	base := run(t, b.root, "git", "rev-parse", "main")
	candidate := run(t, b.root, "git", "commit-tree", "-p", base, "-m", "candidate", base+"^{tree}")
	run(t, b.root, "git", "update-ref", "refs/coppice/landing/app-1/4", candidate)
	path := filepath.Join(r.Dir, "coppice-001")
	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	run(t, b.root, "git", "worktree", "add", "-q", "--detach", path, candidate)
	if err := os.Chmod(path, 0o555); err != nil {
		t.Fatal(err)
	}
	s := slot{Name: "coppice-001", State: slotReady, Key: "app-1.2", Base: candidate, Seen: candidate, Made: true}
	if err := atomicfile.WriteJSON(s.metaFile(r), s); err != nil {
		t.Fatal(err)
	}
	b.prepare("app-2") // the own repository is made

	at, changed, err := b.Changed(b.ctx, path)
	if err != nil || at != candidate || len(changed) > 0 {
		t.Errorf("made at %s, changed %v, %v", at, changed, err)
	}
	if head := run(t, path, "git", "rev-parse", "HEAD"); head != candidate {
		t.Errorf("it is at %s, not at %s", head, candidate)
	}
	if status := run(t, path, "git", "status", "--porcelain", "--branch"); status != "## HEAD (no branch)" {
		t.Errorf("its status is %s", status)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o555 {
		t.Errorf("its directory is %v, %v", info.Mode(), err)
	}
	if list := run(t, b.root, "git", "worktree", "list"); strings.Contains(list, "coppice-00") {
		t.Errorf("worktrees are left:\n%s", list)
	}
	if err := os.Chmod(path, 0o755); err != nil { // for the end of the test
		t.Fatal(err)
	}
}
