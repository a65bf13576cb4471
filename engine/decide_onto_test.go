package engine

import (
	"fmt"
	"strings"
	"testing"

	"coppice"
	"coppice/store"
)

// A task whose work lands on another branch has that branch in the specs of its
// sessions and its landing, and a separate queue.
func TestATaskLandsOnItsBranch(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Limits.Sessions, p.Policy.Land.Push = 5, true })
	b.create(coppice.NewTask{Title: "a"}, coppice.NewTask{Title: "b"}, coppice.NewTask{Title: "c"})
	for _, key := range []string{"app-2", "app-3"} {
		x := b.task(key)
		x.Onto = "side"
		b.update(func(tx store.Tx) error { return tx.Tasks.Put(&x) })
	}
	b.turn()
	branch := map[string]string{"app-1": "main", "app-2": "side", "app-3": "side"}
	for i := range 3 {
		key := fmt.Sprint("app-", i+1)
		prepare := specOf[coppice.PrepareSpec](b, b.wantWork(key, coppice.WorkPrepare))
		b.finish(key, coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws/" + key, BaseCommit: "base1", Head: "base1"})
		run := specOf[coppice.RunSpec](b, b.wantWork(key, coppice.WorkRun))
		b.finish(key, coppice.WorkRun, coppice.RunResult{Head: "head-" + key})
		merge := specOf[coppice.MergeSpec](b, b.wantWork(key, coppice.WorkMerge))
		if prepare.Base != branch[key] || run.Base != branch[key] || merge.Base != branch[key] {
			t.Errorf("%s starts from %s, runs on %s, merges with %s", key, prepare.Base, run.Base, merge.Base)
		}
		prompt := b.prompt(int64(i + 1))
		if !strings.Contains(prompt, branch[key]) {
			t.Errorf("%s reads\n%s", key, prompt)
		}
		b.clock = b.clock.Add(1)
		b.finish(key, coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree-" + key, Commit: "commit-" + key})
		b.finish(key, coppice.WorkCheck, proved)
	}
	if one, two, three := b.landing("app-1").QueueID, b.landing("app-2").QueueID, b.landing("app-3").QueueID; one == two || two != three {
		t.Errorf("the queues are %d, %d and %d", one, two, three)
	}
	b.finish("app-2", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree-app-2", Commit: "commit-app-2"}) // nobody had seen the branch
	b.wantWork("app-1", coppice.WorkPush)
	ahead, err := coppice.DecodeSpec[coppice.MergeSpec](b.wantWork("app-3", coppice.WorkMerge))
	if err != nil || ahead.Onto != "commit-app-2" {
		t.Errorf("app-3 is merged onto %q, %v", ahead.Onto, err)
	}
	b.wantReason("app-2", "", "")
	b.wantReason("app-3", "waiting for app-2 to land (2nd of 2)", "")
	b.finish("app-2", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "commit-app-2"})
	if x := b.task("app-2"); x.Landed != "commit-app-2" || b.projectNow().BaseCommit != "base1" {
		t.Errorf("app-2 landed as %q, the base is at %s", x.Landed, b.projectNow().BaseCommit)
	}
	b.wantWork("app-3", coppice.WorkMerge)
	b.finish("app-1", coppice.WorkPush, coppice.PushResult{Pushed: true, Now: "base1"})
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "commit-app-1"})
	if x := b.task("app-1"); x.Landed != "commit-app-1" || b.projectNow().BaseCommit != "commit-app-1" {
		t.Errorf("app-1 landed as %q, the base is at %s", x.Landed, b.projectNow().BaseCommit)
	}
}

// What blocks one branch does not block another, and what changes is tried on both.
func TestBranchesWaitForThemselves(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Limits.Sessions = 5 })
	b.queueUp(1)
	b.create(coppice.NewTask{Title: "b"})
	x := b.task("app-2")
	x.Onto = "side"
	b.update(func(tx store.Tx) error { return tx.Tasks.Put(&x) })
	b.turn()
	b.finish("app-2", coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws", BaseCommit: "base1", Head: "base1"})
	b.finish("app-2", coppice.WorkRun, coppice.RunResult{Head: "head2", Conversation: "talk"})
	for range 2 { // before the queue, and in it
		b.finish("app-2", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree2", Commit: "commit2"})
		if b.unsettled("app-2").Kind == coppice.WorkCheck {
			b.finish("app-2", coppice.WorkCheck, proved)
		}
	}
	b.finish("app-1", coppice.WorkMove, dirtyFile("a.go"))
	b.finish("app-2", coppice.WorkMove, gitSettings())
	b.wantReason("app-1", "uncommitted changes in [a.go]", dirtyFile("a.go").Need.Fix)
	b.wantReason("app-2", "git settings changed", "")
	b.wantWork("app-1", "")
	b.wantWork("app-2", "")
	b.poke()
	b.turn()
	b.wantWork("app-1", coppice.WorkMove)
	b.wantWork("app-2", coppice.WorkMove)
	fork, err := b.Fork(t.Context(), "app-2", "")
	b.must(err)
	if fork.Onto != "side" {
		t.Errorf("a fork lands on %q", fork.Onto)
	}
}
