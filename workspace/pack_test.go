package workspace

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/internal/atomicfile"
)

// TestLandedIsPacked lands often: what landed is in few packs, and nothing is
// lost.
func TestLandedIsPacked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := must[repo](t)(b.use(b.ctx, b.root))
	from := run(t, b.root, "git", "rev-parse", "main")
	for i := range 7 { // as seven times packAfter landings
		write(t, b.root, fmt.Sprintf("f%d.txt", i), fmt.Sprint(i))
		to := commit(t, b.root, fmt.Sprint(i))
		runs := readRuns(r)
		runs = append(runs, landedRun{Branch: "main", From: from, To: to, Count: packAfter})
		runs = must[[]landedRun](t)(b.packRuns(b.ctx, r, runs))
		if err := atomicfile.WriteJSON(runsFile(r), runs); err != nil {
			t.Fatal(err)
		}
		from = to
	}
	packs, _ := filepath.Glob(filepath.Join(b.root, ".git/objects/pack/*.pack"))
	if runs := readRuns(r); len(packs) != 3 || len(runs) != 3 || runs[0].Count != 4*packAfter || runs[2].Count != packAfter {
		t.Errorf("%d packs: %+v", len(packs), runs)
	}
	if loose := run(t, b.root, "git", "count-objects"); !strings.HasPrefix(loose, "6 objects") { // of the first commit, which is the person's
		t.Error(loose)
	}
	run(t, b.root, "git", "fsck", "--strict", "--full")
	// The person's git packs everything itself: the packs are gone, and that is fine.
	run(t, b.root, "git", "gc", "-q", "--prune=now")
	write(t, b.root, "last.txt", "last")
	to := commit(t, b.root, "last")
	runs := append(readRuns(r), landedRun{Branch: "main", From: from, To: to, Count: 4 * packAfter})
	if runs = must[[]landedRun](t)(b.packRuns(b.ctx, r, runs)); len(runs) != 1 {
		t.Errorf("%+v", runs)
	}
	run(t, b.root, "git", "fsck", "--strict", "--full")
}

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
