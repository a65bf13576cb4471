package workspace

import (
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
	head, _, err := b.Save(b.ctx, res.Path, "work", nil)
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
	back := must[coppice.PrepareResult](t)(b.Restore(b.ctx, b.restoreSpec("app-1", removed)))
	if got := run(t, back.Path, "git", "status", "--porcelain"); got != "" || read(t, back.Path, "work.txt") != "w" {
		t.Errorf("restored with %q", got)
	}

	// Without such a branch, the trash of a clean workspace has no index.
	two := b.prepare("app-2")
	write(t, two.Path, "two.txt", "2")
	if _, _, err := b.Save(b.ctx, two.Path, "two", nil); err != nil {
		t.Fatal(err)
	}
	clean := must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec("app-2")))
	if got := strings.Fields(run(t, b.own(), "git", "rev-list", "--parents", "-1", clean.Ref)); len(got) != 2 {
		t.Errorf("the trash has the parents %v, want one", got[1:])
	}
}
