package workspace

import (
	"fmt"
	"slices"
	"testing"

	"coppice"
	"coppice/workspace/repo"
)

// TestIdleWorkspaces checks that tasks find the workspaces of all tasks that ended
// before, and that an idle server keeps only a few, or as many as are in use.
func TestIdleWorkspaces(t *testing.T) {
	t.Parallel()
	const most = 12
	b := setup(t)
	slots := func(state string) int {
		list := must[[]slot](t)(b.slots(must[repo.Repo](t)(b.Find(b.ctx, b.root))))
		return len(slices.DeleteFunc(list, func(s slot) bool { return s.State != state }))
	}
	use := func(first, last int) {
		for n := first; n <= last; n++ {
			must[coppice.PrepareResult](t)(b.Prepare(b.ctx, b.spec(fmt.Sprintf("app-%d", n))))
		}
	}
	end := func(first, last int) {
		for n := first; n <= last; n++ {
			must[coppice.RemoveResult](t)(b.Remove(b.ctx, b.removeSpec(fmt.Sprintf("app-%d", n))))
		}
	}
	want := func(when string, ready, idle int) {
		t.Helper()
		if r, i := slots(slotReady), slots(slotIdle); r != ready || i != idle {
			t.Errorf("%s: %d are in use and %d idle, not %d and %d", when, r, i, ready, idle)
		}
	}
	use(1, most)
	end(1, most)
	want("after the first tasks", 0, most)
	use(101, 100+most)
	want("during the next tasks", most, 0)
	end(101, 102)
	if err := b.TrimIdle(b.ctx); err != nil {
		t.Fatal(err)
	}
	want("few are idle", most-2, 2)
	end(103, 100+most)
	if err := b.TrimIdle(b.ctx); err != nil {
		t.Fatal(err)
	}
	want("at rest", 0, b.idle)
	use(201, 201)
}
