package engine

import (
	"errors"
	"testing"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// The branch of a flow that lands or has ended takes no more work: its steps do not
// start again until a person resumes the flow.
func TestAStepOfAClosedFlow(t *testing.T) {
	t.Parallel()
	b := openFlows(t)
	f := b.debate(`{"between": ["ann", "bob"], "action": "Do it."}`)
	b.finish(f.Key, coppice.WorkBranch, coppice.BranchResult{Tip: "base1"})
	b.replies("app-2", side("agree"))
	b.replies("app-3", side("agree"))
	b.landsAs("app-4", "c1")
	refused := func(when string) {
		t.Helper()
		if _, err := b.Ask(t.Context(), "app-4", coppice.VerbRevert, verb.Request{}); coppice.ErrorCode(err) != coppice.EConflict {
			t.Errorf("a revert of a step while its flow %s: %v, want a conflict", when, err)
		}
	}
	refused("lands")
	if s := b.status(f.Key); s.Landing == nil || s.Landing.Head != "c1" {
		t.Errorf("the status of the flow has the landing %+v, want that of c1", s.Landing)
	}
	b.merges(f.Key, "c2")
	b.finish(f.Key, coppice.WorkBranch, coppice.BranchResult{Tip: "c1"})
	refused("is done")
	step := b.task("app-4")
	b.update(func(tx store.Tx) error { // as if it came just before the flow ended
		a := coppice.Ask{Subject: coppice.TaskSubject(step.ID), ProjectID: step.ProjectID, Verb: coppice.VerbContinue, Text: "more", At: b.clock}
		return errors.Join(tx.Asks.Put(&a), tx.Log.Append(&coppice.Event{At: b.clock, Kind: coppice.EventTaskChanged, ProjectID: step.ProjectID, TaskID: step.ID, Subject: step.Key}))
	})
	b.turn()
	if got := b.task("app-4"); !got.Ended() || len(b.asks(got)) > 0 {
		t.Errorf("the step is %s with the requests %+v, want it to have ended without any", got.Stage, b.asks(got))
	}
}

// While the branch of a stopped flow is being removed, its steps do not start again,
// also not after a person has opened the flow again.
func TestAStepWhileItsBranchIsRemoved(t *testing.T) {
	t.Parallel()
	b := openFlows(t)
	f := b.debate(`{"between": ["ann", "bob"], "action": "Do it."}`)
	b.finish(f.Key, coppice.WorkBranch, coppice.BranchResult{Tip: "base1"})
	b.ask(f.Key, coppice.VerbStop, "")
	if got := b.task("app-2"); got.Outcome != coppice.OutcomeCancelled {
		t.Fatalf("app-2 is %s %s, want it to be cancelled", got.Stage, got.Outcome)
	}
	b.ask(f.Key, coppice.VerbResume, "")
	if got := b.task(f.Key); got.Ended() {
		t.Fatalf("the flow is %s, want it to be open", got.Outcome)
	}
	if _, err := b.Ask(t.Context(), "app-2", coppice.VerbRetry, verb.Request{}); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("a retry of a step while the branch of its flow is removed: %v, want a conflict", err)
	}
}

// A task that is stopped stops everything below it, also what is below a task that is
// done.
func TestStopBelowAnEndedTask(t *testing.T) {
	t.Parallel()
	b := openFlows(t)
	b.create(coppice.NewTask{Title: "a"})
	b.child(b.runs("app-1"), coppice.NewTask{Title: "b", Answer: true})
	b.child(b.runs("app-2"), coppice.NewTask{Title: "c"})
	b.replies("app-2", "42")
	if got := b.task("app-2"); got.Outcome != coppice.OutcomeDone {
		t.Fatalf("app-2 is %s %s, want it to be done", got.Stage, got.Outcome)
	}
	b.ask("app-1", coppice.VerbStop, "")
	b.finish("app-1", coppice.WorkStop, coppice.StopResult{})
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Stopped: true})
	if !b.stops("app-3") {
		t.Errorf("app-3 is %s, want it to be stopped", b.task("app-3").Stage)
	}
}
