package workspace

import (
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
		if got, err := b.Bring(b.ctx, b.root, "main", "coppice/app-1"); err != nil || got != head || run(t, b.root, "git", "rev-parse", "coppice/app-1") != head {
			t.Fatalf("%s %v", got, err)
		}
	}
	run(t, b.root, "git", "fsck", "--strict")
	if _, err := b.Bring(b.ctx, b.root, "main", "coppice/app-9"); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("no such branch: %v", err)
	}
	run(t, b.root, "git", "branch", "-f", "coppice/app-1", run(t, b.root, "git", "commit-tree", "-p", head, "-m", "mine", head+"^{tree}"))
	if _, err := b.Bring(b.ctx, b.root, "main", "coppice/app-1"); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("the person's own branch: %v", err)
	}
}
