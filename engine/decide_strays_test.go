package engine

import (
	"slices"
	"testing"
	"time"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

func (b *bundle) wantStrays(want ...coppice.StrayBranch) {
	b.t.Helper()
	if got := b.task("app-1").Strays; !slices.Equal(got, want) {
		b.t.Errorf("strays %+v, want %+v", got, want)
	}
}

func (b *bundle) trashOf(key string) (list []coppice.Trash) {
	b.t.Helper()
	id := b.task(key).ID
	b.view(func(r store.Reader) (err error) {
		list, err = r.Trash.Of(id)
		return err
	})
	return list
}

// The branches of agents besides the task's are named while they are in the workspace
// and while the trash keeps them.
func TestStrayBranches(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.project(func(p *coppice.Project) { p.Policy.Land.How = coppice.LandBranch })
	b.create(coppice.NewTask{Title: "one"})
	b.prepares("app-1")
	own, same := coppice.StrayBranch{Name: "own", Head: "c1", Own: true}, coppice.StrayBranch{Name: "same", Head: "head1"}
	if _, err := b.Ask(t.Context(), "app-1", coppice.VerbDropBranches, verb.Request{}); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("without such a branch: %v", err)
	}
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{From: "base1", Head: "head1", Strays: []coppice.StrayBranch{own, same}})
	b.wantStrays(own, same)
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree1", Commit: "commit1"})
	b.finish("app-1", coppice.WorkCheck, exits(0))

	b.ask("app-1", coppice.VerbDropBranches, "")
	spec := specOf[coppice.StraysSpec](b, b.wantWork("app-1", coppice.WorkStrays))
	kept := own
	kept.Ref = spec.Ref
	b.finish("app-1", coppice.WorkStrays, coppice.StraysResult{Head: "head1", Strays: []coppice.StrayBranch{same, kept}})
	b.wantStrays(kept)
	trash := b.trashOf("app-1")
	if len(trash) != 1 || trash[0].What != coppice.TrashBranches || trash[0].Ref != spec.Ref || trash[0].Head != "head1" || !trash[0].ExpiresAt.After(b.clock) {
		t.Fatalf("trash %+v", trash)
	}
	if _, err := b.Ask(t.Context(), "app-1", coppice.VerbDropBranches, verb.Request{}); coppice.ErrorCode(err) != coppice.EConflict || coppice.Public(err).Fix == "" {
		t.Errorf("when all are in the trash: %v", err)
	}
	if s := b.task("app-1"); s.Stage != coppice.StageHeld {
		t.Errorf("the task is at %s", s.Stage)
	}

	// The trash of the workspace keeps those that are in the workspace then, and the
	// entry with branches alone is not restored as a workspace.
	b.ask("app-1", coppice.VerbStop, "")
	late := coppice.StrayBranch{Name: "late", Head: "c2", Own: true, Ref: "refs/coppice/trash/app-1-1"}
	b.finish("app-1", coppice.WorkRemove, coppice.RemoveResult{Head: "head1", Ref: late.Ref, Strays: []coppice.StrayBranch{late}})
	b.wantStrays(kept, late)
	_, err := b.UndoTask(t.Context(), "app-1", coppice.UndoRemoval)
	b.must(err)
	b.turn()
	b.finish("app-1", coppice.WorkRestore, coppice.PrepareResult{Path: "/ws", BaseCommit: "base1", Head: "head1"})
	late.Ref = ""
	b.wantStrays(kept, late)

	// When the trash expires, its branches are not named any more.
	b.clock = trash[0].ExpiresAt.Add(time.Second)
	b.turn()
	b.finish("app-1", coppice.WorkPurge, coppice.PurgeResult{})
	b.wantStrays(late)
	if left := b.trashOf("app-1"); len(left) != 0 {
		t.Errorf("the trash still has %+v", left)
	}
}

// A failed removal is a warning, and the branches are still named.
func TestStrayBranchesStay(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.project()
	b.create(coppice.NewTask{Title: "one"})
	b.prepares("app-1")
	own := coppice.StrayBranch{Name: "own", Head: "c1", Own: true}
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{From: "base1", Head: "base1", Summary: "nothing", Strays: []coppice.StrayBranch{own}})
	b.ask("app-1", coppice.VerbDropBranches, "")
	b.finish("app-1", coppice.WorkStrays, coppice.Failf(coppice.ClassEnvironment, "the disk is full", ""))
	b.wantStrays(own)
	if w := b.task("app-1").Warning; w != "its stray branches could not be removed: the disk is full" {
		t.Errorf("the warning is %q", w)
	}
	b.ask("app-1", coppice.VerbRetry, "")
	if _, err := b.Ask(t.Context(), "app-1", coppice.VerbDropBranches, verb.Request{}); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("while a session works: %v", err)
	}
}
