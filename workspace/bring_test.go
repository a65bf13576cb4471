package workspace

import (
	"strings"
	"testing"

	"coppice"
)

// TestBring brings the branch of a task that did not land into the person's
// repository.
func TestBring(t *testing.T) {
	t.Parallel()
	b := setup(t)
	head := b.candidate("app-1", "x.txt")
	for range 2 { // the second time changes nothing
		if got, err := b.Bring(b.ctx, b.root, "main", "coppice/app-1", ""); err != nil || got != head || run(t, b.root, "git", "rev-parse", "coppice/app-1") != head {
			t.Fatalf("%s %v", got, err)
		}
	}
	run(t, b.root, "git", "fsck", "--strict")
	if _, err := b.Bring(b.ctx, b.root, "main", "coppice/app-9", ""); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("no such branch: %v", err)
	}
	run(t, b.root, "git", "branch", "-f", "coppice/app-1", run(t, b.root, "git", "commit-tree", "-p", head, "-m", "mine", head+"^{tree}"))
	if _, err := b.Bring(b.ctx, b.root, "main", "coppice/app-1", ""); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("the person's own branch: %v", err)
	}
}

// prepareNamed prepares a workspace on a branch whose name a person chose.
func (b *bundle) prepareNamed(key, branch string) coppice.PrepareResult {
	b.t.Helper()
	spec := b.spec(key)
	spec.Branch = branch
	return must[coppice.PrepareResult](b.t)(b.Prepare(b.ctx, spec))
}

// forgetsBranches forgets the repository, after which it has these branches.
func (b *bundle) forgetsBranches(left ...string) {
	b.t.Helper()
	if err := b.Forget(b.ctx, b.root); err != nil {
		b.t.Fatal(err)
	}
	if got := b.run("git", "for-each-ref", "--format=%(refname:short)", "refs/heads"); got != strings.Join(left, "\n") {
		b.t.Errorf("branches are left: %s", got)
	}
}

// A branch whose name a person chose is known to be a task's after it was brought.
func TestBringANamedBranch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	from := b.base()
	res := b.prepareNamed("app-1", "feature/login")
	write(t, res.Path, "x.txt", "x\n")
	head := b.saved(res.Path)
	bring := func(name string) error { _, err := b.Bring(b.ctx, b.root, "main", name, ""); return err }
	for range 2 { // the second time changes nothing
		if err := bring("feature/login"); err != nil || b.run("git", "rev-parse", "feature/login") != head {
			t.Fatal(err)
		}
	}
	removed, err := b.Remove(b.ctx, coppice.RemoveSpec{Key: "app-1", Repo: b.root, Path: res.Path, Branch: "feature/login"})
	if err != nil {
		t.Fatal(err)
	}
	b.sh(b.root, "git merge -q feature/login")
	if why, err := b.BaseMoved(b.ctx, b.root, "main", from, b.base(), nil); err != nil || !strings.Contains(why, "of feature/login, which Coppice did not land") {
		t.Errorf("a merge of the brought branch: %q, %v", why, err)
	}
	restore := b.restoreSpec("app-1", removed)
	restore.Branch = "feature/login"
	if back, err := b.Restore(b.ctx, restore); err != nil || back.Head != head {
		t.Errorf("restored %+v, %v", back, err)
	}
	b.run("git", "branch", "mine", "feature/login")
	b.forgetsBranches("main", "mine")
}

// A branch that moved since it was brought is the person's: it stays.
func TestForgetKeepsABranchThatMoved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	res := b.prepareNamed("app-1", "feature/login")
	write(t, res.Path, "x.txt", "x\n")
	b.saved(res.Path)
	if _, err := b.Bring(b.ctx, b.root, "main", "feature/login", ""); err != nil {
		t.Fatal(err)
	}
	b.sh(b.root, "git checkout -q feature/login; git commit -q --allow-empty -m mine; git checkout -q main")
	b.forgetsBranches("feature/login", "main")
}

func TestFreeBranch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.run("git", "branch", "topic/one")
	b.prepareNamed("app-1", "feature/login")
	for name, want := range map[string]coppice.Code{
		"new": "", "topic/two": "", "feature/logins": "",
		"main": coppice.EConflict, "topic/one": coppice.EConflict, "topic": coppice.EConflict, "topic/one/x": coppice.EConflict, "main/x": coppice.EConflict,
		"feature/login": coppice.EConflict, "feature": coppice.EConflict, "feature/login/x": coppice.EConflict,
		"-x": coppice.EInvalid,
	} {
		if err := b.FreeBranch(b.ctx, b.root, name); coppice.ErrorCode(err) != want {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
