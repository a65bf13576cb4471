package engine

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/store"
)

// pushing is a project whose work is pushed, with landings in its queue.
func pushing(t *testing.T, landings int) *bundle {
	b := openApp(t, func(p *coppice.Project) { p.Policy.Land.Push, p.Policy.Limits.Sessions = true, 5 })
	b.queueUp(landings)
	return b
}

// wantWork checks which work of a task is under way, "" for none.
func (b *bundle) wantWork(key string, kind coppice.WorkKind) coppice.Work {
	b.t.Helper()
	w := b.unsettled(key)
	if w.Kind != kind {
		b.t.Fatalf("%s has %q to do, want %q", key, w.Kind, kind)
	}
	return w
}

var proved = coppice.CheckResult{Env: "e", Checks: []coppice.Check{{Command: "make"}}}

// A landing is pushed before the base moves, and both steps are in its log.
func TestAPushComesBeforeTheMove(t *testing.T) {
	t.Parallel()
	b := pushing(t, 1)
	b.finish("app-1", coppice.WorkPush, coppice.Failf(coppice.ClassEnvironment, "the network is away", ""))
	b.clock = b.landing("app-1").RetryAt
	b.turn()
	b.finish("app-1", coppice.WorkPush, coppice.PushResult{Pushed: true, Now: "base1"})
	if l := b.landing("app-1"); !l.Pushed || l.Failure != nil || l.Waits != "" {
		t.Errorf("landing %+v", l)
	}
	b.wantWork("app-1", coppice.WorkMove)
	_, err := b.Stop(t.Context(), "app-1")
	b.must(err)
	b.turn()
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Now: "base1", Blocked: "dirty"})
	if x := b.task("app-1"); x.Stage != coppice.StageLanding {
		t.Errorf("a task that the remote has is %s (%s)", x.Stage, x.Outcome)
	}
	b.clock = b.landing("app-1").RetryAt
	b.turn()
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "commit-app-1"})
	if x := b.task("app-1"); x.Outcome != coppice.OutcomeDone {
		t.Errorf("the task is %s (%s)", x.Stage, x.Outcome)
	}
	var got []string
	for _, e := range b.events(store.EventFilter{TaskID: 1}) {
		if e.By == "landing" || e.By == "settle" {
			got = append(got, string(e.Kind)+" "+e.Reason)
		}
	}
	for _, want := range []string{"work.offered pushes to origin", "landing.pushed commit-app to origin", "work.offered moves the base", "landing.ended landed as commit-app"} {
		if !slices.Contains(got, want) {
			t.Errorf("the log does not say %q: %q", want, got)
		}
	}
}

// While the first landing is being pushed, the second is merged onto its commit
// and checked there. It lands next without another check.
func TestTheSecondLandingIsCheckedDuringThePush(t *testing.T) {
	t.Parallel()
	b := pushing(t, 3)
	b.wantWork("app-1", coppice.WorkPush)
	spec, err := coppice.DecodeSpec[coppice.MergeSpec](b.wantWork("app-2", coppice.WorkMerge))
	if err != nil || spec.Onto != "commit-app-1" {
		t.Fatalf("the second is merged onto %q, %v", spec.Onto, err)
	}
	b.wantWork("app-3", "")
	b.finish("app-2", coppice.WorkMerge, coppice.MergeResult{Base: "commit-app-1", Tree: "tree12", Commit: "commit12"})
	b.finish("app-2", coppice.WorkCheck, proved)
	b.wantWork("app-2", "")
	if tip := b.projectNow().BaseCommit; tip != "base1" {
		t.Errorf("the base is at %s before anything landed", tip)
	}
	b.finish("app-1", coppice.WorkPush, coppice.PushResult{Pushed: true, Now: "base1"})
	b.wantWork("app-2", "")
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "commit-app-1"})
	if events := b.events(store.EventFilter{Kinds: []coppice.EventKind{coppice.EventLandingEnded}}); len(events) != 1 || events[0].TaskID != 1 || events[0].Subject != "app-1" {
		t.Errorf("what landed is logged as %+v", events)
	}
	push, err := coppice.DecodeSpec[coppice.PushSpec](b.wantWork("app-2", coppice.WorkPush))
	if err != nil || push.Old != "commit-app-1" || push.New != "commit12" {
		t.Errorf("the second pushes %+v, %v", push, err)
	}
	b.wantWork("app-3", coppice.WorkMerge)
}

// While the first landing is being moved, the second is merged onto its commit and
// checked there. If the first does not move, the second does not either.
func TestTheSecondLandingIsCheckedDuringTheMove(t *testing.T) {
	t.Parallel()
	for name, moved := range map[string]coppice.MoveResult{"moved": {Moved: true, Now: "commit-app-1"}, "blocked": dirtyFile("a.go"), "elsewhere": {Now: "base2"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := openApp(t, func(p *coppice.Project) { p.Policy.Limits.Sessions = 5 })
			b.queueUp(3)
			spec, err := coppice.DecodeSpec[coppice.MergeSpec](b.wantWork("app-2", coppice.WorkMerge))
			if err != nil || spec.Onto != "commit-app-1" {
				t.Fatalf("the second is merged onto %q, %v", spec.Onto, err)
			}
			b.finish("app-2", coppice.WorkMerge, coppice.MergeResult{Base: "commit-app-1", Tree: "tree12", Commit: "commit12"})
			b.finish("app-2", coppice.WorkCheck, proved)
			b.wantWork("app-2", "")
			b.finish("app-1", coppice.WorkMove, moved)
			if !moved.Moved {
				b.wantWork("app-2", "")
				return
			}
			move, err := coppice.DecodeSpec[coppice.MoveSpec](b.wantWork("app-2", coppice.WorkMove))
			if err != nil || move.Old != "commit-app-1" || move.New != "commit12" {
				t.Errorf("the second moves %+v, %v", move, err)
			}
			b.wantWork("app-3", coppice.WorkMerge)
		})
	}
}

// The second landing stays as it is if the forge has merged its pull request.
func TestAMergedRequestIsNotMergedAgain(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Limits.Sessions = 5 })
	b.queueUp(2)
	b.finish("app-2", coppice.WorkMerge, coppice.MergeResult{Base: "commit-app-1", Tree: "tree12", Commit: "commit12"})
	b.finish("app-2", coppice.WorkCheck, proved)
	l := b.landing("app-2")
	l.Base, l.Pushed = "base1", true
	b.update(func(tx store.Tx) error { return tx.Landings.Put(&l) })
	b.finish("app-1", coppice.WorkMove, dirtyFile("a.go"))
	b.clock = b.landing("app-1").RetryAt
	b.turn()
	b.wantWork("app-1", coppice.WorkMove)
	b.wantWork("app-2", "")
}

// A finding against the second landing on a commit that has not landed is not a
// result: the landing is merged again when it is the first.
func TestNothingIsConcludedEarly(t *testing.T) {
	t.Parallel()
	conflict := coppice.MergeResult{Base: "commit-app-1", Conflicts: []coppice.Conflict{{Path: "a.go"}}}
	clean := coppice.MergeResult{Base: "commit-app-1", Tree: "tree12", Commit: "commit12"}
	red := coppice.CheckResult{Env: "e", Checks: []coppice.Check{{Command: "make", Exit: 1}}}
	killed := coppice.CheckResult{Env: "e", Checks: []coppice.Check{{Command: "make", Signal: "SIGKILL"}}}
	broke := coppice.Failf(coppice.ClassEnvironment, "it broke", "")
	for name, results := range map[string][]any{
		"a conflict": {conflict}, "a refused commit": {coppice.MergeResult{Base: "commit-app-1", Refused: "no"}}, "a failed merge": {broke},
		"a red check": {clean, red}, "a killed check": {clean, killed}, "a failed check": {clean, broke},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := pushing(t, 2)
			for i, r := range results {
				b.finish("app-2", []coppice.WorkKind{coppice.WorkMerge, coppice.WorkCheck}[i], r)
			}
			b.wantWork("app-2", "")
			if l := b.landing("app-2"); !l.EndedAt.IsZero() || l.QueueID == 0 || l.Commit != "" || l.Tries != 0 || b.task("app-2").Stage != coppice.StageLanding {
				t.Errorf("landing %+v", l)
			}
			b.finish("app-1", coppice.WorkPush, coppice.PushResult{Now: "base2"}) // the first begins again
			b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base2", Tree: "tree1", Commit: "commit1b"})
			b.finish("app-1", coppice.WorkCheck, proved)
			w := b.wantWork("app-2", coppice.WorkMerge)
			if spec, err := coppice.DecodeSpec[coppice.MergeSpec](w); err != nil || spec.Onto != "commit1b" {
				t.Errorf("the second is merged onto %q, %v", spec.Onto, err)
			}
			b.finish("app-1", coppice.WorkPush, coppice.PushResult{Pushed: true, Now: "base2"})
			b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "commit1b"})
			b.finish("app-2", coppice.WorkMerge, coppice.MergeResult{Base: "commit1b", Conflicts: []coppice.Conflict{{Path: "a.go"}}})
			if l := b.landing("app-2"); l.Outcome != coppice.LandingConflict {
				t.Errorf("landing %+v", l)
			}
		})
	}
}

// A second landing that is merged for a commit which never lands is merged again.
func TestAnEarlyResultComesLate(t *testing.T) {
	t.Parallel()
	b := pushing(t, 2)
	_, err := b.Stop(t.Context(), "app-1")
	b.must(err)
	b.turn() // nobody had begun to push
	if x := b.task("app-1"); x.Outcome != coppice.OutcomeCancelled {
		t.Fatalf("app-1 is %s (%s)", x.Stage, x.Outcome)
	}
	b.finish("app-2", coppice.WorkMerge, coppice.MergeResult{Base: "commit-app-1", Conflicts: []coppice.Conflict{{Path: "a.go"}}})
	spec, err := coppice.DecodeSpec[coppice.MergeSpec](b.wantWork("app-2", coppice.WorkMerge))
	if err != nil || spec.Onto != "" || !b.landing("app-2").EndedAt.IsZero() {
		t.Errorf("merged onto %q, %v", spec.Onto, err)
	}
}

// The second landing is taken out of the queue with the step that is under way.
func TestTheSecondLandingIsWithdrawn(t *testing.T) {
	t.Parallel()
	b := pushing(t, 2)
	w := b.wantWork("app-2", coppice.WorkMerge)
	_, err := b.Stop(t.Context(), "app-2")
	b.must(err)
	b.turn()
	if now := b.work(w.ID); now.State != coppice.WorkCancelled {
		t.Errorf("its merge is %s", now.State)
	}
	if x := b.task("app-2"); x.Outcome != coppice.OutcomeCancelled {
		t.Errorf("app-2 is %s (%s)", x.Stage, x.Outcome)
	}
	b.wantWork("app-1", coppice.WorkPush)
}

// A landing keeps the candidates that it had.
func TestCandidatesStay(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.queueUp(1)
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Now: "base2"})
	if l := b.landing("app-1"); l.Candidate != (coppice.Candidate{}) {
		t.Errorf("a landing that begins again has %+v", l.Candidate)
	}
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base2", Tree: "tree2", Commit: "commit2"})
	_, err := b.BaseAt(t.Context(), "/src/app", "base3")
	b.must(err)
	b.finish("app-1", coppice.WorkCheck, proved)
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base3", Tree: "tree3", Commit: "commit3"})
	var got []string
	l := b.landing("app-1")
	for _, c := range read(b, func(r store.Reader) ([]coppice.Candidate, error) { return r.Landings.Candidates(l.ID) }) {
		got = append(got, c.Base+" "+c.Commit)
		if c.CreatedAt.IsZero() {
			t.Errorf("nobody knows when %s was made", c.Commit)
		}
	}
	if d := cmp.Diff([]string{"base1 commit-app-1", "base2 commit2", "base3 commit3"}, got); d != "" {
		t.Errorf("candidates (-want +got):\n%s", d)
	}
}
