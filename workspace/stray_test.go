package workspace

import (
	"slices"
	"strings"
	"testing"

	"coppice"
)

// Branches that an agent creates stay in its workspace: the person's repository gets
// none of them. The trash keeps their commits, and a restored workspace is as it was.
func TestStrayBranches(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before := run(t, b.root, "git", "for-each-ref", "refs/heads", "refs/tags")
	res := b.prepare("app-1")
	run(t, res.Path, "git", "checkout", "-q", "-b", "other")
	write(t, res.Path, "other.txt", "stray")
	stray := commit(t, res.Path, "stray")
	run(t, res.Path, "git", "branch", "-q", "same", "main") // nothing of it is new
	run(t, res.Path, "git", "checkout", "-q", coppice.TaskBranch("app-1"))
	write(t, res.Path, "work.txt", "w")
	head, _, err := b.Save(b.ctx, res.Path, "work", coppice.Identity{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	removed := must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec("app-1")))
	if removed.Head != head {
		t.Errorf("the head is %s, want %s", removed.Head, head)
	}
	if got := run(t, b.own(), "git", "log", "-1", "--format=%B", removed.Ref+"^2"); !strings.Contains(got, "Stray: "+stray+" refs/heads/other") || strings.Contains(got, "same") {
		t.Errorf("the trash says %q", got)
	}
	if got := run(t, b.own(), "git", "show", removed.Ref+"^2^2:other.txt"); got != "stray" {
		t.Errorf("the stray commit has %q", got)
	}
	if after := run(t, b.root, "git", "for-each-ref", "refs/heads", "refs/tags"); after != before {
		t.Errorf("the person's refs are now\n%s\nwant\n%s", after, before)
	}
	if want := []coppice.StrayBranch{{Name: "other", Head: stray, Own: true, Ref: removed.Ref}}; !slices.Equal(removed.Strays, want) {
		t.Errorf("the trash keeps %+v, want %+v", removed.Strays, want)
	}
	back := must[coppice.PrepareResult](t)(b.Restore(b.ctx, b.restoreSpec("app-1", removed)))
	if got := run(t, back.Path, "git", "rev-parse", "other"); got != stray {
		t.Errorf("the restored branch is at %s, want %s", got, stray)
	}
	if got := run(t, back.Path, "git", "status", "--porcelain"); got != "" || read(t, back.Path, "work.txt") != "w" {
		t.Errorf("restored with %q", got)
	}

	// Without such a branch, the trash of a clean workspace has no index.
	two := b.prepare("app-2")
	write(t, two.Path, "two.txt", "2")
	if _, _, err := b.Save(b.ctx, two.Path, "two", coppice.Identity{}, nil); err != nil {
		t.Fatal(err)
	}
	clean := must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec("app-2")))
	if got := strings.Fields(run(t, b.own(), "git", "rev-list", "--parents", "-1", clean.Ref)); len(got) != 2 {
		t.Errorf("the trash has the parents %v, want one", got[1:])
	}
}

// A branch to which an agent switched is named, whether its commits are on the task's
// branch or not. A branch of the person is not, even if the person deletes it later.
func TestStrays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	run(t, b.root, "git", "branch", "theirs")
	res := b.prepare("app-1")
	if got := must[[]coppice.StrayBranch](t)(b.Strays(b.ctx, res.Path)); len(got) > 0 {
		t.Errorf("a new workspace has %+v", got)
	}
	run(t, b.root, "git", "branch", "-D", "theirs")
	run(t, b.root, "git", "branch", "later")
	run(t, res.Path, "git", "checkout", "-q", "-b", "other-branch")
	write(t, res.Path, "work.txt", "w")
	head, _, err := b.Save(b.ctx, res.Path, "work", coppice.Identity{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	run(t, res.Path, "git", "checkout", "-q", "-b", "more/work")
	write(t, res.Path, "more.txt", "m")
	more := commit(t, res.Path, "more")
	run(t, res.Path, "git", "checkout", "-q", coppice.TaskBranch("app-1"))
	want := []coppice.StrayBranch{{Name: "more/work", Head: more, Own: true}, {Name: "other-branch", Head: run(t, res.Path, "git", "rev-parse", "other-branch")}}
	if got := must[[]coppice.StrayBranch](t)(b.Strays(b.ctx, res.Path)); !slices.Equal(got, want) {
		t.Errorf("strays %+v, want %+v", got, want)
	}

	// The trash keeps the commits of the one that has its own. A repeated request has
	// the same result, and the person's repository stays as it is.
	before := run(t, b.root, "git", "for-each-ref")
	spec := coppice.StraysSpec{Key: "app-1", Repo: b.root, Branch: coppice.TaskBranch("app-1"), Ref: trashRefs + "app-1-branches-3"}
	want[0].Ref = spec.Ref
	dropped := must[coppice.StraysResult](t)(b.DropStrays(b.ctx, spec))
	if !slices.Equal(dropped.Strays, want) || dropped.Head != head {
		t.Errorf("dropped %+v at %s, want %+v at %s", dropped.Strays, dropped.Head, want, head)
	}
	if got := must[coppice.StraysResult](t)(b.DropStrays(b.ctx, spec)); !slices.Equal(got.Strays, want[:1]) {
		t.Errorf("a second time %+v, want %+v", got.Strays, want[:1])
	}
	if got := run(t, res.Path, "git", "for-each-ref", "--format=%(refname:short)", "refs/heads"); strings.Contains(got, "other-branch") || strings.Contains(got, "more") || !strings.Contains(got, "app-1") {
		t.Errorf("the workspace has the branches %q", got)
	}
	if got := run(t, b.own(), "git", "show", spec.Ref+"^2^2:more.txt"); got != "m" {
		t.Errorf("the kept commit has %q", got)
	}
	if after := run(t, b.root, "git", "for-each-ref"); after != before {
		t.Errorf("the person's refs are now\n%s\nwant\n%s", after, before)
	}

	// The person can have it.
	if got := must[string](t)(b.Bring(b.ctx, b.root, "main", coppice.TaskBranch("app-1")+"-more/work", more)); got != more || run(t, b.root, "git", "show", "coppice/app-1-more/work:more.txt") != "m" {
		t.Errorf("brought %s, want %s", got, more)
	}
	if err := b.Purge(b.ctx, coppice.PurgeSpec{Repo: b.root, Ref: spec.Ref}); err != nil {
		t.Error(err)
	}
}
