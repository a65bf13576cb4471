package engine

import (
	"strings"
	"testing"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// landedTask has a task whose commit is on the base.
func landedTask(t *testing.T, changes ...func(*coppice.Project)) *bundle {
	b := openApp(t, append(changes, func(p *coppice.Project) { p.Policy.Limits.Sessions = 5 })...)
	b.queueUp(1)
	if b.projectNow().Policy.Land.Push {
		b.finish("app-1", coppice.WorkPush, coppice.PushResult{Pushed: true, Now: "base1"})
	}
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "commit-app-1"})
	if x := b.task("app-1"); x.Outcome != coppice.OutcomeDone || x.Landed != "commit-app-1" {
		t.Fatalf("the task is %s, landed as %s", x.Outcome, x.Landed)
	}
	b.finish("app-1", coppice.WorkRemove, coppice.RemoveResult{Head: "head-app-1", Ref: "refs/coppice/trash/app-1-1"})
	return b
}

func (b *bundle) reverts(key string) {
	b.t.Helper()
	_, err := b.Ask(b.t.Context(), key, coppice.VerbRevert, verb.Request{})
	b.must(err)
	b.turn()
}

func (b *bundle) tip() string {
	return read(b, func(r store.Reader) (string, error) {
		q, err := r.Queues.Of(1, "")
		return q.Tip, err
	})
}

func TestAnUnusedLandingMovesBack(t *testing.T) {
	t.Parallel()
	b := landedTask(t)
	b.reverts("app-1")
	spec := specOf[coppice.MoveSpec](b, b.wantWork("app-1", coppice.WorkMove))
	if !spec.Back || spec.Old != "commit-app-1" || spec.New != "base1" || spec.Pushed {
		t.Errorf("moves %+v", spec)
	}
	if s := b.status("app-1"); s.Status != coppice.StatusLanding || s.Reason != "its landing is being reverted" {
		t.Errorf("the status is %s (%s)", s.Status, s.Reason)
	}
	for _, v := range []coppice.Verb{coppice.VerbRevert, coppice.VerbRequeue, coppice.VerbLand, coppice.VerbContinue} {
		if _, err := b.Ask(t.Context(), "app-1", v, verb.Request{Text: "x"}); coppice.ErrorCode(err) != coppice.EConflict || coppice.Public(err).Fix == "" {
			t.Errorf("%s of a task that is being reverted: %v", v, err)
		}
	}
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "base1"})
	x := b.task("app-1")
	if x.Outcome != coppice.OutcomeCancelled || x.Landed != "" || x.Reverted == nil || x.Reverted.BackTo != "base1" || x.Reverted.Commit != "commit-app-1" || x.Reverted.By != "person" {
		t.Errorf("the task is %s, landed as %q, reverted %+v", x.Outcome, x.Landed, x.Reverted)
	}
	if b.tip() != "base1" {
		t.Errorf("the base is at %s", b.tip())
	}
	if s := b.status("app-1"); s.Status != coppice.StatusCancelled || !strings.Contains(s.Reason, "moved back to base1") {
		t.Errorf("the status is %s (%s)", s.Status, s.Reason)
	}
	if _, err := b.Ask(t.Context(), "app-1", coppice.VerbUnstop, verb.Request{}); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("undo of a stop that was a revert: %v", err)
	}
	// Its work can land again.
	_, err := b.Land(t.Context(), "app-1")
	b.must(err)
	b.turn()
	b.finish("app-1", coppice.WorkRestore, coppice.PrepareResult{Path: "/ws", BaseCommit: "base1", Head: "head-app-1"})
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree-app-1", Commit: "commit2"})
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "commit2"})
	if x := b.task("app-1"); x.Outcome != coppice.OutcomeDone || x.Landed != "commit2" || x.Reverted != nil {
		t.Errorf("landed again, the task is %s, landed as %q, reverted %+v", x.Outcome, x.Landed, x.Reverted)
	}
}

// What others have, or build on, is reverted by a commit that passes the gate.
func TestARevertGoesThroughTheGate(t *testing.T) {
	t.Parallel()
	pushed := func(p *coppice.Project) { p.Policy.Land.Push = true }
	for _, c := range []struct {
		name   string
		policy func(*coppice.Project)
		before func(*bundle)
	}{
		{"it was pushed", pushed, func(b *bundle) {}},
		{"the base has moved since", func(*coppice.Project) {}, func(b *bundle) {
			b.update(func(tx store.Tx) error {
				q, err := tx.Queues.Of(1, "")
				q.Tip = "later"
				return cmpErr(err, tx.Queues.Put(&q))
			})
		}},
		{"something builds on it", func(*coppice.Project) {}, nil},
		{"the base moves at that moment", func(*coppice.Project) {}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := landedTask(t, c.policy)
			if c.before != nil {
				c.before(b)
			}
			b.reverts("app-1")
			switch c.name {
			case "something builds on it":
				b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Now: "commit-app-1", Builds: "coppice/app-9"})
			case "the base moves at that moment":
				b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Now: "later"})
			}
			spec := specOf[coppice.MergeSpec](b, b.wantWork("app-1", coppice.WorkMerge))
			if spec.Head != "commit-app-1" || spec.Reverts != "base1" || spec.Strategy != coppice.StrategySquash || !strings.HasPrefix(spec.Message, `Revert "a"`) {
				t.Errorf("merges %+v", spec)
			}
			b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: b.tip(), Tree: "tree-r", Commit: "revert1"})
			b.finish("app-1", coppice.WorkCheck, proved)
			if b.projectNow().Policy.Land.Push {
				b.finish("app-1", coppice.WorkPush, coppice.PushResult{Pushed: true, Now: b.tip()})
			}
			move := specOf[coppice.MoveSpec](b, b.wantWork("app-1", coppice.WorkMove))
			if move.Back || move.New != "revert1" {
				t.Errorf("moves %+v", move)
			}
			b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "revert1"})
			if x := b.task("app-1"); x.Outcome != coppice.OutcomeCancelled || x.Landed != "" || x.Reverted == nil || x.Reverted.As != "revert1" || x.Reverted.BackTo != "" {
				t.Errorf("the task is %s, landed as %q, reverted %+v", x.Outcome, x.Landed, x.Reverted)
			}
		})
	}
}

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// A revert that cannot land leaves the task done, with the reason, and starts no
// session.
func TestARevertThatFailsLeavesTheTaskDone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		steps func(*bundle)
		says  string
	}{
		{"conflict", func(b *bundle) {
			b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "later", Conflicts: []coppice.Conflict{{Path: "a.txt", Text: "both"}}})
		}, "later changes conflict"},
		{"red", func(b *bundle) {
			b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "later", Tree: "tree-r", Commit: "revert1"})
			b.finish("app-1", coppice.WorkCheck, coppice.CheckResult{Env: "e", Checks: []coppice.Check{{Command: "make", Exit: 1}}})
		}, "does not pass its checks"},
		{"stopped", func(b *bundle) {
			_, err := b.Stop(b.t.Context(), "app-1")
			b.must(err)
			b.turn()
		}, "was stopped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := landedTask(t)
			ended := b.task("app-1").EndedAt
			b.clock = b.clock.Add(1e9)
			b.reverts("app-1")
			if c.name != "stopped" {
				b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Now: "later"})
			}
			c.steps(b)
			x := b.task("app-1")
			if x.Outcome != coppice.OutcomeDone || x.Landed != "commit-app-1" || x.Reverted != nil || !x.EndedAt.Equal(ended) || !strings.Contains(x.Warning, c.says) {
				t.Errorf("the task is %s (%s), landed as %q, reverted %+v, ended %s", x.Outcome, x.Warning, x.Landed, x.Reverted, x.EndedAt)
			}
			if n := len(b.sessions("app-1")); n != 1 {
				t.Errorf("%d sessions", n)
			}
			b.reverts("app-1") // it can be tried again
			if w := b.unsettled("app-1"); w.Kind != coppice.WorkMove && w.Kind != coppice.WorkMerge {
				t.Errorf("it has %q to do", w.Kind)
			}
		})
	}
}

// A task that landed twice has its first landing after the second is reverted.
func TestTheSecondLandingIsReverted(t *testing.T) {
	t.Parallel()
	b := landedTask(t)
	_, err := b.Continue(t.Context(), "app-1", "more")
	b.must(err)
	b.turn()
	b.finish("app-1", coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws", BaseCommit: "commit-app-1", Head: "commit-app-1"})
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Head: "head2", From: "commit-app-1"})
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "commit-app-1", Tree: "tree2", Commit: "commit2"})
	b.finish("app-1", coppice.WorkCheck, proved)
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "commit2"})
	b.finish("app-1", coppice.WorkRemove, coppice.RemoveResult{})
	b.reverts("app-1")
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "commit-app-1"})
	if x := b.task("app-1"); x.Outcome != coppice.OutcomeDone || x.Landed != "commit-app-1" || len(x.Earlier) != 0 {
		t.Errorf("the task is %s, landed as %q, before %v", x.Outcome, x.Landed, x.Earlier)
	}
	b.reverts("app-1")
	spec := specOf[coppice.MoveSpec](b, b.wantWork("app-1", coppice.WorkMove))
	if spec.Old != "commit-app-1" || spec.New != "base1" {
		t.Errorf("moves %+v", spec)
	}
}

// The undo of a stop continues a task as it was.
func TestUnstop(t *testing.T) {
	t.Parallel()
	unstops := func(b *bundle) {
		b.t.Helper()
		_, err := b.Ask(b.t.Context(), "app-1", coppice.VerbUnstop, verb.Request{})
		b.must(err)
		b.turn()
	}
	stops := func(b *bundle) {
		b.t.Helper()
		_, err := b.Stop(b.t.Context(), "app-1")
		b.must(err)
		b.turn()
	}
	stopped := func(t *testing.T) *bundle {
		t.Helper()
		b := oneSession(t, 0)
		b.create(coppice.NewTask{Title: "a"})
		b.working("app-1")
		stops(b)
		return b
	}
	trash := coppice.RemoveResult{Head: "head1", Ref: "refs/coppice/trash/app-1-1"}
	t.Run("during a session", func(t *testing.T) {
		t.Parallel()
		b := stopped(t)
		unstops(b) // while it is being stopped
		b.finish("app-1", coppice.WorkStop, coppice.StopResult{})
		b.finish("app-1", coppice.WorkRun, coppice.RunResult{Stopped: true, Conversation: "talk1", Head: "head1", From: "base1"})
		b.want("app-1", coppice.StatusWorking, "", "cancelled", "starting resumes talk1")
		if x := b.task("app-1"); x.Round != 0 || !x.EndedAt.IsZero() {
			t.Errorf("round %d, ended %s", x.Round, x.EndedAt)
		}
		b.wantWork("app-1", coppice.WorkRun)
	})
	t.Run("after it has stopped", func(t *testing.T) {
		t.Parallel()
		b := stopped(t)
		b.finish("app-1", coppice.WorkStop, coppice.StopResult{})
		b.finish("app-1", coppice.WorkRun, coppice.RunResult{Stopped: true, Conversation: "talk1", Head: "head1", From: "base1"})
		b.finish("app-1", coppice.WorkRemove, trash)
		unstops(b)
		b.want("app-1", coppice.StatusWorking, "", "cancelled", "starting resumes talk1")
		b.wantWork("app-1", coppice.WorkRestore)
	})
	t.Run("and a landing", func(t *testing.T) {
		t.Parallel()
		for _, last := range []coppice.Verb{coppice.VerbLand, coppice.VerbUnstop} {
			b := stopped(t)
			b.finish("app-1", coppice.WorkStop, coppice.StopResult{})
			b.finish("app-1", coppice.WorkRun, coppice.RunResult{Stopped: true, Conversation: "talk1", Head: "head1", From: "base1"})
			b.finish("app-1", coppice.WorkRemove, trash)
			for _, v := range []coppice.Verb{coppice.VerbUnstop, coppice.VerbLand, last} {
				_, err := b.Ask(t.Context(), "app-1", v, verb.Request{})
				b.must(err)
			}
			if open := b.asks(b.task("app-1")); len(open) != 1 || open[0].Verb != last {
				t.Errorf("open are %+v, want only %s: nobody has seen what the session will do", open, last)
			}
		}
	})
	t.Run("before its first session", func(t *testing.T) {
		t.Parallel()
		b := oneSession(t, 0)
		b.create(coppice.NewTask{Title: "a"}, coppice.NewTask{Title: "b", After: []string{"app-1"}})
		_, err := b.Pause(t.Context(), "app", "", true)
		b.must(err)
		b.turn()
		stops(b)
		unstops(b)
		b.want("app-1", coppice.StatusWaiting, "the project is paused")
		if s := b.status("app-2"); s.Reason != "waits for app-1" {
			t.Errorf("what comes after it: %s", s.Reason)
		}
	})
	t.Run("while it waits for approval", func(t *testing.T) {
		t.Parallel()
		b := openApp(t, func(p *coppice.Project) { p.Policy.Land.How = coppice.LandBranch })
		b.queueUp(1)
		b.wantStage(coppice.StageHeld)
		stops(b)
		b.finish("app-1", coppice.WorkRemove, trash)
		unstops(b)
		b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree-app-1", Commit: "commit-app-1"})
		b.wantStage(coppice.StageHeld)
	})
	t.Run("before a fix", func(t *testing.T) {
		t.Parallel()
		b := openApp(t, func(p *coppice.Project) { p.Policy.Limits.Sessions = 1 })
		b.create(coppice.NewTask{Title: "a"})
		b.prepares("app-1")
		b.finish("app-1", coppice.WorkRun, coppice.RunResult{Head: "head1", From: "base1", Conversation: "talk1"})
		b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree1", Commit: "commit1"})
		_, err := b.Pause(t.Context(), "app", "", true)
		b.must(err)
		b.finish("app-1", coppice.WorkCheck, coppice.CheckResult{Env: "e", Checks: []coppice.Check{{Command: "make", Exit: 1, Log: "it is red"}}})
		stops(b)
		b.finish("app-1", coppice.WorkRemove, trash)
		unstops(b)
		if n := b.task("app-1").Next; n == nil || n.Role != coppice.RoleFix || !strings.Contains(n.Evidence, "it is red") {
			t.Errorf("next is %+v", n)
		}
	})
	t.Run("not stopped", func(t *testing.T) {
		t.Parallel()
		b := landedTask(t)
		if _, err := b.Ask(t.Context(), "app-1", coppice.VerbUnstop, verb.Request{}); coppice.ErrorCode(err) != coppice.EConflict {
			t.Errorf("undo of a stop that was a landing: %v", err)
		}
	})
}

// A revert that a red base blocks stays a revert: it waits for a person, no session
// of it starts, and the task never lands again instead.
func TestARevertOnARedBase(t *testing.T) {
	t.Parallel()
	blocked := func(t *testing.T) *bundle {
		t.Helper()
		b := landedTask(t, func(p *coppice.Project) { p.Policy.Land.Push = true })
		b.reverts("app-1")
		b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: b.tip(), Tree: "tree-r", Commit: "revert1"})
		b.finish("app-1", coppice.WorkCheck, exits(1))
		b.finish("app-1", coppice.WorkCheck, exits(1))
		const fix = "fix the base and run `coppice retry app-1`; leave the check out for this task with `coppice skip-check app-1`; or keep what has landed with `coppice stop app-1`"
		if s := b.status("app-1"); s.Status != coppice.StatusNeedsYou || s.Reason != redBase || s.Fix != fix {
			t.Errorf("it is %s (%s), and a person can %s", s.Status, s.Reason, s.Fix)
		}
		if e := b.entry("waiting/app-1"); e == nil || len(e.Actions) != 3 || e.Actions[0].Verb != coppice.VerbSkipCheck || e.Actions[1].Verb != coppice.VerbRetry || e.Actions[2].Verb != coppice.VerbStop {
			t.Errorf("its entry is %+v", e)
		}
		for _, v := range []coppice.Verb{coppice.VerbRevert, coppice.VerbRequeue, coppice.VerbLand, coppice.VerbContinue, coppice.VerbTake} {
			if _, err := b.Ask(t.Context(), "app-1", v, verb.Request{Text: "x"}); coppice.ErrorCode(err) != coppice.EConflict || coppice.Public(err).Fix == "" {
				t.Errorf("%s of a revert that is blocked: %v", v, err)
			}
		}
		return b
	}
	reverts := func(b *bundle) {
		b.t.Helper()
		spec := specOf[coppice.MergeSpec](b, b.wantWork("app-1", coppice.WorkMerge))
		if spec.Head != "commit-app-1" || spec.Reverts != "base1" {
			b.t.Fatalf("merges %+v", spec)
		}
		b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: b.tip(), Tree: "tree-r2", Commit: "revert2"})
		if b.unsettled("app-1").Kind == coppice.WorkCheck { // it was not left out
			b.finish("app-1", coppice.WorkCheck, exits(0))
		}
		b.finish("app-1", coppice.WorkPush, coppice.PushResult{Pushed: true, Now: b.tip()})
		b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "revert2"})
		if x := b.task("app-1"); x.Outcome != coppice.OutcomeCancelled || x.Landed != "" || x.Reverted == nil || x.Reverted.As != "revert2" || x.Reverted.By != "person" || x.Sessions != 1 {
			b.t.Errorf("the task is %s, landed as %q, reverted %+v, %d sessions", x.Outcome, x.Landed, x.Reverted, x.Sessions)
		}
	}
	t.Run("retry", func(t *testing.T) {
		t.Parallel()
		b := blocked(t)
		b.ask("app-1", coppice.VerbRetry, "")
		reverts(b)
	})
	t.Run("skip-check", func(t *testing.T) {
		t.Parallel()
		b := blocked(t)
		b.ask("app-1", coppice.VerbSkipCheck, "")
		reverts(b)
	})
	t.Run("the base moves", func(t *testing.T) {
		t.Parallel()
		b := blocked(t)
		b.update(func(tx store.Tx) error {
			q, err := tx.Queues.Of(1, "")
			q.Tip = "later"
			return cmpErr(cmpErr(err, tx.Queues.Put(&q)), tx.Asks.Put(&coppice.Ask{Subject: coppice.TaskSubject(1), Verb: coppice.VerbMoved, At: b.clock}))
		})
		b.update(func(tx store.Tx) error {
			return tx.Log.Append(&coppice.Event{At: b.clock, Kind: coppice.EventTaskChanged, ProjectID: 1, TaskID: 1, About: coppice.TaskSubject(1), By: "queue"})
		})
		b.turn()
		reverts(b)
	})
	t.Run("stop", func(t *testing.T) {
		t.Parallel()
		b := blocked(t)
		before := b.task("app-1").EndedAt
		b.ask("app-1", coppice.VerbStop, "")
		if x := b.task("app-1"); x.Outcome != coppice.OutcomeDone || x.Landed != "commit-app-1" || x.Reverted != nil || !strings.Contains(x.Warning, redBase) || !x.EndedAt.Equal(before) {
			t.Errorf("the task is %s, landed as %q, reverted %+v: %s", x.Outcome, x.Landed, x.Reverted, x.Warning)
		}
	})
}
