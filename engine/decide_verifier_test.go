package engine

import (
	"errors"
	"strings"
	"testing"

	"coppice"
	"coppice/store"
)

// verifier carries a task with a step to its running verifier.
func (b *bundle) verifier() {
	b.t.Helper()
	b.project()
	b.create(coppice.NewTask{Title: "a", Steps: []string{"it greets"}})
	b.prepares("app-1")
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Head: "head1", From: "base1", Conversation: "talk1"})
	b.look("head1", "commit1")
}

// look carries a candidate to its verifier.
func (b *bundle) look(head, commit string) {
	b.t.Helper()
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree of " + head, Commit: commit})
	b.finish("app-1", coppice.WorkCheck, coppice.CheckResult{Env: "e", Checks: []coppice.Check{{Command: "make"}}})
	b.finish("app-1", coppice.WorkPrepare, coppice.PrepareResult{Path: "/look at " + head, Head: commit})
}

// of returns the unsettled work of a kind; a removal is that of a verifier's
// worktree.
func (b *bundle) of(kind coppice.WorkKind) (found coppice.Work) {
	b.t.Helper()
	id := b.task("app-1").ID
	for _, w := range read(b, func(r store.Reader) ([]coppice.Work, error) { return r.Work.Unsettled(coppice.TaskSubject(id)) }) {
		if w.Kind == kind && (kind != coppice.WorkRemove || w.SessionID != 0) {
			found = w
		}
	}
	return found
}

// removes finishes the removal of a verifier's worktree.
func (b *bundle) removes() {
	b.t.Helper()
	w := b.of(coppice.WorkRemove)
	if w.SessionID == 0 {
		b.t.Fatal("no worktree of a verifier is to be removed")
	}
	w.State, w.Attempt, w.FinishedAt, w.Result = coppice.WorkFinished, 1, b.clock, coppice.Raw(coppice.RemoveResult{})
	b.update(func(tx store.Tx) error {
		return errors.Join(tx.Work.Put(&w), tx.Log.Append(&coppice.Event{At: b.clock, Kind: coppice.EventWorkFinished, ProjectID: w.ProjectID, TaskID: w.TaskID, By: "worker"}))
	})
	b.turn()
}

// A candidate that its verifier refuses goes back with the whole verdict, and
// lands when the next verifier passes it; both worktrees go.
func TestVerdictsDecide(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.verifier()
	if s := b.status("app-1"); s.Status != coppice.StatusVerifying {
		t.Errorf("status %s", s.Status)
	}
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Summary: "STEP 1: FAIL it says nothing", Conversation: "hers"})
	fix := b.of(coppice.WorkRun)
	spec := specOf[coppice.RunSpec](b, fix)
	if spec.Session.Role != coppice.RoleFix || spec.Session.Resume != "talk1" || spec.Path != "/ws" || spec.ReadOnly {
		t.Fatalf("it continues as %+v", spec)
	}
	if s := b.session("app-1.3"); !strings.Contains(s.Prompt, "STEP 1: FAIL it greets\nit says nothing") {
		t.Errorf("the prompt of the fix is:\n%s", s.Prompt)
	}
	b.removes()
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Head: "head2", From: "head1", Conversation: "talk1"})
	b.look("head2", "commit2")
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Summary: "STEP 1: PASS it says hello"})
	b.removes()
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "commit2"})
	x := b.task("app-1")
	if x.Outcome != coppice.OutcomeDone || x.Landed != "commit2" {
		t.Errorf("%+v", x)
	}
	for _, s := range b.sessionsOf(x.ID) {
		if s.Path != "" || (s.Verdict != nil) != (s.Role == coppice.RoleVerify) {
			t.Errorf("session afterwards: %+v", s)
		}
	}
}

// Stopping a task while its verifier runs ends all of it.
func TestStopAVerifier(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.verifier()
	w := b.of(coppice.WorkRun)
	w.State, w.Attempt = coppice.WorkTaken, 1
	b.update(func(tx store.Tx) error { return tx.Work.Put(&w) })
	_, err := b.Stop(t.Context(), "app-1")
	b.must(err)
	b.turn()
	b.finish("app-1", coppice.WorkStop, coppice.StopResult{})
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Stopped: true})
	if x, l := b.task("app-1"), b.landing("app-1"); x.Outcome != coppice.OutcomeCancelled || l.Outcome != coppice.LandingDropped {
		t.Errorf("task %+v, landing %+v", x, l)
	}
	_, err = b.Retry(t.Context(), "app-1", "") // before the verifier's worktree is gone
	b.must(err)
	b.turn()
	b.removes()
	if s := b.session("app-1.2"); s.Path != "" {
		t.Errorf("its worktree stays: %+v", s)
	}
}

// A person who takes over during verification gets the agent that did the work.
func TestTakeAVerifiedTask(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.verifier()
	id := b.task("app-1").ID
	b.update(func(tx store.Tx) error {
		s, err := tx.Sessions.Last(id)
		if err != nil {
			return err
		}
		s.Agent = "blind" // it has no screen, which does not matter
		return tx.Sessions.Put(s)
	})
	_, err := b.Take(t.Context(), "app-1")
	b.must(err)
}

// Other steps make the verdict one on something else.
func TestChangeOfSteps(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.verifier()
	other, same := []string{"it sings"}, []string{"it greets"}
	if _, err := b.ChangeTask(t.Context(), "app-1", coppice.TaskChange{Steps: &other}); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("while a verifier runs: %v", err)
	}
	if _, err := b.ChangeTask(t.Context(), "app-1", coppice.TaskChange{Steps: &same}); err != nil {
		t.Errorf("to what they are: %v", err)
	}
	b.turn()
	w := b.of(coppice.WorkRun)
	w.State, w.Attempt, w.Result = coppice.WorkFinished, 1, coppice.Raw(coppice.RunResult{Summary: "STEP 1: PASS"})
	p := b.projectNow()
	p.Policy.Land.How = coppice.LandBranch
	b.update(func(tx store.Tx) error {
		if err := errors.Join(tx.Projects.Put(&p), tx.Work.Put(&w)); err != nil {
			return err
		}
		return tx.Log.Append(&coppice.Event{At: b.clock, Kind: coppice.EventWorkFinished, ProjectID: w.ProjectID, TaskID: w.TaskID, By: "worker"})
	})
	b.turn()
	if x := b.task("app-1"); x.Stage != coppice.StageHeld {
		t.Fatalf("%+v", x)
	}
	_, err := b.ChangeTask(t.Context(), "app-1", coppice.TaskChange{Steps: &other})
	b.must(err)
	b.turn()
	if s := b.status("app-1"); s.Status != coppice.StatusVerifying || s.Landing.Verified {
		t.Errorf("%s, landing %+v", s.Status, s.Landing)
	}
}
