package engine

import (
	"strings"
	"testing"
	"time"

	"coppice"
)

var broke = coppice.Failf(coppice.ClassEnvironment, "it broke", "")

// everyKind lists the kinds of work that there are.
var everyKind = []coppice.WorkKind{
	coppice.WorkPrepare, coppice.WorkRemove, coppice.WorkRestore, coppice.WorkPurge, coppice.WorkStrays, coppice.WorkRun,
	coppice.WorkSend, coppice.WorkStop, coppice.WorkCheck, coppice.WorkMerge, coppice.WorkPush, coppice.WorkMove, coppice.WorkPreview, coppice.WorkBranch,
	coppice.WorkPullPush, coppice.WorkForgeWrite,
}

// Whatever a task looks like, finished work of any kind is settled: with its
// result, with a failure, and with a result that nobody can read.
func TestEveryKindSettles(t *testing.T) {
	t.Parallel()
	unread := func(w *coppice.Work) { w.Result = []byte("{") }
	for _, kind := range everyKind {
		for name, v := range map[string]*View{
			"bare failed": viewOf(coppice.StageWaiting, finished(kind, broke)),
			"bare":        viewOf(coppice.StageWaiting, finished(kind, struct{}{})),
			"unreadable":  viewOf(coppice.StageSession, ran("", live), space(), candidate(), finished(kind, struct{}{}, unread)),
			"full":        viewOf(coppice.StageSession, ran("", live), space(), candidate(merged), finished(kind, struct{}{})),
			"ended":       viewOf(coppice.StageEnded, ran("head1"), removed, candidate(ended(coppice.LandingLanded)), finished(kind, struct{}{})),
		} {
			d := anySettle(v)
			if d == nil || d.Settle == nil || d.By != "settle" || d.Kind == "" {
				t.Errorf("%s, %s: %s", kind, name, describe(v, d))
			}
		}
	}
	if len(settlers) != len(everyKind) {
		t.Errorf("%d settlers for %d kinds", len(settlers), len(everyKind))
	}
}

func TestSettleOrder(t *testing.T) {
	t.Parallel()
	run(t, anySettle, []decision{
		{"nothing finished", viewOf(coppice.StageSession, ran("", live), offered(coppice.WorkRun), taken(coppice.WorkSend)), "nothing"},
		{"oldest first", viewOf(coppice.StageSession, ran("", live), taken(coppice.WorkRun), finished(coppice.WorkStop, broke), finished(coppice.WorkStop, struct{}{})),
			"settle: work.finished; settled"},
	})
}

func TestSettlePrepare(t *testing.T) {
	t.Parallel()
	made := coppice.PrepareResult{Path: "/ws/app-7", BaseCommit: "base1", Head: "head1", Ports: []int{20000}}
	empty := made
	empty.Head = "base1"
	half := space(func(w *coppice.Workspace) { w.ReadyAt = time.Time{} })
	ready := "workspace ready=true removed=false kept=false tries=0"
	run(t, anySettle, []decision{
		{"ready", viewOf(coppice.StageSession, ran("", starting), half, finished(coppice.WorkPrepare, made)), "settle: workspace.ready; session starting; " + ready + "; settled"},
		{"ready without a row", viewOf(coppice.StageSession, ran("", starting), finished(coppice.WorkPrepare, made)), "settle: workspace.ready; session starting; " + ready + "; settled"},
		{"failed for a session", viewOf(coppice.StageSession, ran("", starting), half, finished(coppice.WorkPrepare, broke)),
			"settle: session.ended; session failed; session fails: environment; settled"},
		{"restored for a session", viewOf(coppice.StageSession, ran("", starting), removed, finished(coppice.WorkRestore, made)),
			"settle: workspace.restored; " + ready + "; trash restored=true purged=false; settled"},
		{"restored for a person", viewOf(coppice.StageEnded, removed, finished(coppice.WorkRestore, made)),
			"settle: workspace.restored; workspace ready=true removed=false kept=true tries=0; trash restored=true purged=false; settled"},
		{"restoring failed for a person", viewOf(coppice.StageEnded, removed, finished(coppice.WorkRestore, broke)), `settle: task.warned; warns "it broke"; settled`},
		{"for a landing", viewOf(coppice.StageChecking, half, finished(coppice.WorkPrepare, made)), "settle: workspace.ready; landing of head1; " + ready + "; settled"},
		{"for a landing of nothing", viewOf(coppice.StageChecking, half, finished(coppice.WorkPrepare, empty)),
			`settle: task.ended; to ended; outcome "failed"; fails: implementation; ` + ready + `; settled`},
		{"restoring failed beside a candidate", viewOf(coppice.StageChecking, removed, candidate(), finished(coppice.WorkRestore, broke)), `settle: task.warned; warns "it broke"; settled`},
		{"failed for a landing", viewOf(coppice.StageChecking, half, finished(coppice.WorkPrepare, broke)),
			`settle: task.ended; to ended; outcome "failed"; fails: environment; settled`},
	})
}

func TestSettleRun(t *testing.T) {
	t.Parallel()
	code := func(n int) *int { return &n }
	of := func(r coppice.RunResult, changes ...func(*coppice.Session)) *View {
		return viewOf(coppice.StageSession, ran("", append([]func(*coppice.Session){live}, changes...)...), space(), finished(coppice.WorkRun, r))
	}
	failed := func(class string) string {
		return "settle: session.ended; session failed; session fails: " + class + "; settled"
	}
	late := func(s *coppice.Session) { s.StopWhy, s.StopTries = coppice.StopTimeout, 1 }
	asked := func(s *coppice.Session) { s.StopWhy, s.StopTries = coppice.StopCancelled, 1 }
	run(t, anySettle, []decision{
		{"well", of(coppice.RunResult{Exit: code(0), Head: "head1"}), "settle: session.ended; session done; settled"},
		{"lost", of(coppice.RunResult{Lost: true}), "settle: session.ended; session lost; session fails: lost; settled"},
		{"lost though a failure is reported", of(coppice.RunResult{Lost: true, Failure: broke}), "settle: session.ended; session lost; session fails: lost; settled"},
		{"stopped by a person", of(coppice.RunResult{Stopped: true, Signal: "SIGTERM"}, asked),
			"settle: session.ended; session cancelled; session fails: cancelled; stop 1 for cancelled; settled"},
		{"stopped by somebody", of(coppice.RunResult{Stopped: true}), "settle: session.ended; session cancelled; session fails: cancelled; settled"},
		{"stopped for its time", of(coppice.RunResult{Stopped: true}, late), "settle: session.ended; session failed; session fails: timeout; stop 1 for timeout; settled"},
		{"asked to stop, but was done", of(coppice.RunResult{Exit: code(0), Head: "head1"}, late), "settle: session.ended; session done; stop 1 for timeout; settled"},
		{"its own failure", of(coppice.RunResult{Exit: code(1), Failure: coppice.Failf(coppice.ClassAuth, "log in", "")}), failed("auth")},
		{"a failure though it exits with 0", of(coppice.RunResult{Exit: code(0), Failure: coppice.Failf(coppice.ClassBilling, "pay", "")}), failed("billing")},
		{"a signal", of(coppice.RunResult{Signal: "SIGKILL"}), failed("unknown")},
		{"an exit code", of(coppice.RunResult{Exit: code(3)}), failed("unknown")},
		{"could not be run", viewOf(coppice.StageSession, ran("", starting), space(), finished(coppice.WorkRun, broke)), failed("environment")},
		{"given up before", viewOf(coppice.StageSession, ran("", fails(coppice.ClassLost)), finished(coppice.WorkRun, coppice.RunResult{})), "settle: session.ended; settled"},
		{"of another session", viewOf(coppice.StageSession, ran("", live), finished(coppice.WorkRun, coppice.RunResult{}, func(w *coppice.Work) { w.SessionID = 99 })),
			"settle: session.ended; settled"},
	})
	d := settle(of(coppice.RunResult{Exit: code(0), Head: "head1", From: "base1", Conversation: "talk2", Summary: "Done.", Usage: coppice.Usage{Turns: 2}, Memory: 5}))
	if s := d.Session; s.Head != "head1" || s.From != "base1" || s.Conversation != "talk2" || s.Summary != "Done." || s.Usage.Turns != 2 || s.Memory != 5 || !s.EndedAt.Equal(noon) {
		t.Errorf("session after its run: %+v", s)
	}
}

func TestSettleSend(t *testing.T) {
	t.Parallel()
	said := func(v *View) { v.Messages = []coppice.Message{{ID: 1, TaskID: 7, Text: "also this"}} }
	asked := func(v *View) {
		v.Questions = []coppice.Question{{ID: 2, SessionID: 11, Ref: "q1", Answer: "yes", AnsweredAt: noon}}
	}
	toMessage := func(w *coppice.Work) { w.Key = "message/1/11" }
	toQuestion := func(w *coppice.Work) { w.Spec = coppice.Raw(coppice.SendSpec{Question: "q1"}) }
	run(t, anySettle, []decision{
		{"message delivered", viewOf(coppice.StageSession, ran("", live), said, finished(coppice.WorkSend, coppice.SendResult{Delivered: true}, toMessage)),
			"settle: message.delivered; message 1 delivered=true; settled"},
		{"message not delivered", viewOf(coppice.StageSession, ran("", live), said, finished(coppice.WorkSend, coppice.SendResult{Why: "deaf"}, toMessage)),
			"settle: message.failed; message 1 delivered=false deaf; settled"},
		{"message failed", viewOf(coppice.StageSession, ran("", live), said, finished(coppice.WorkSend, broke, toMessage)),
			"settle: message.failed; message 1 delivered=false it broke; settled"},
		{"answer delivered", viewOf(coppice.StageSession, ran("", live), asked, finished(coppice.WorkSend, coppice.SendResult{Delivered: true}, toQuestion)),
			"settle: message.delivered; question 2 closed=true; settled"},
		{"answer not delivered", viewOf(coppice.StageSession, ran("", live), asked, finished(coppice.WorkSend, coppice.SendResult{Why: "deaf"}, toQuestion)),
			"settle: message.failed; question 2 closed=false; settled"},
		{"whose is it", viewOf(coppice.StageSession, ran("", live), finished(coppice.WorkSend, coppice.SendResult{Delivered: true})),
			"settle: message.delivered; settled"},
	})
}

func TestSettleLanding(t *testing.T) {
	t.Parallel()
	of := func(stage coppice.Stage, l change, kind coppice.WorkKind, result any) *View {
		return viewOf(stage, ran("head1"), space(), l, checkEnv("e1"), finished(kind, result))
	}
	conflicts := coppice.MergeResult{Base: "base2", Conflicts: []coppice.Conflict{{Path: "a.txt", Text: "<<<<"}}}
	checks := func(exits ...int) coppice.CheckResult {
		r := coppice.CheckResult{Env: "e1"}
		for i, x := range exits {
			r.Checks = append(r.Checks, coppice.Check{Command: []string{"make", "lint"}[i], Exit: x, Log: "log\n"})
		}
		return r
	}
	otherEnv := checks(0)
	otherEnv.Env = "e2"
	tries := func(n int) change { return candidate(inQueue, func(l *coppice.Landing) { l.Tries = n }) }
	run(t, anySettle, []decision{
		{"merged", of(coppice.StageChecking, candidate(), coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "t", Commit: "c"}),
			"settle: landing.merged; landing c on base1 green=false; settled"},
		{"merged on a newer base", of(coppice.StageChecking, candidate(), coppice.WorkMerge, coppice.MergeResult{Base: "base2", Tree: "t", Commit: "c"}),
			"settle: landing.merged; landing c on base2 green=false; settled"},
		{"merged again is not proven", of(coppice.StageLanding, candidate(green), coppice.WorkMerge, coppice.MergeResult{Base: "base2", Tree: "t", Commit: "c"}),
			"settle: landing.merged; landing c on base2 green=false; settled"},
		{"merged in the queue on a newer base", of(coppice.StageLanding, candidate(inQueue), coppice.WorkMerge, coppice.MergeResult{Base: "base2", Tree: "t", Commit: "c"}),
			"settle: landing.merged; landing queued; base base2; settled"},
		{"empty", of(coppice.StageChecking, candidate(), coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "t", Empty: true}),
			"settle: landing.merged; landing base1 on base1 green=false; settled"},
		{"conflict", of(coppice.StageChecking, candidate(), coppice.WorkMerge, conflicts), "settle: landing.ended; landing conflict; settled"},
		{"merge failed", of(coppice.StageChecking, candidate(), coppice.WorkMerge, broke), "settle: landing.waits; landing of head1; put off 5s (1): it broke; settled"},
		{"checks passed", of(coppice.StageChecking, candidate(merged), coppice.WorkCheck, checks(0, 0)),
			"settle: check.ended; landing commit1 on base1 green=false; check make on tree1 in e1: 0; check lint on tree1 in e1: 0; settled"},
		{"a check refused", of(coppice.StageChecking, candidate(merged), coppice.WorkCheck, checks(0, 2)),
			"settle: landing.ended; landing refused; check make on tree1 in e1: 0; check lint on tree1 in e1: 2; settled"},
		{"another environment", of(coppice.StageChecking, candidate(merged), coppice.WorkCheck, otherEnv),
			"settle: check.ended; landing commit1 on base1 green=false; check make on tree1 in e2: 0; settled"},
		{"check failed to run", of(coppice.StageChecking, candidate(merged), coppice.WorkCheck, broke),
			"settle: landing.waits; landing commit1 on base1 green=false; put off 5s (1): it broke; settled"},
		{"moved", of(coppice.StageLanding, candidate(inQueue), coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "commit1"}),
			"settle: landing.ended; landing landed; base commit1; settled"},
		{"moved and further", of(coppice.StageLanding, candidate(inQueue), coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "base9"}),
			"settle: landing.ended; landing landed; base commit1; settled"},
		{"blocked", of(coppice.StageLanding, candidate(inQueue), coppice.WorkMove, coppice.MoveResult{Now: "base1", Blocked: "dirty"}),
			"settle: landing.waits; landing queued; put off 2s (1): dirty; settled"},
		{"blocked for long", of(coppice.StageLanding, tries(20), coppice.WorkMove, coppice.MoveResult{Now: "base1", Blocked: "dirty"}),
			"settle: landing.waits; landing queued; put off 1m0s (21): dirty; settled"},
		{"base gone elsewhere", of(coppice.StageLanding, candidate(inQueue), coppice.WorkMove, coppice.MoveResult{Now: "base2"}),
			"settle: project.base_moved; landing queued; settled"},
		{"move failed", of(coppice.StageLanding, tries(2), coppice.WorkMove, broke), "settle: landing.waits; landing queued; put off 20s (3): it broke; settled"},
		{"move failed often", of(coppice.StageLanding, tries(3), coppice.WorkMove, broke), "settle: landing.waits; landing queued; put off 40s (4): it broke; settled"},
		{"pushed", of(coppice.StageLanding, tries(2), coppice.WorkPush, coppice.PushResult{Pushed: true, Now: "base1"}), "settle: landing.pushed; landing queued; pushed; settled"},
		{"push blocked", of(coppice.StageLanding, candidate(inQueue), coppice.WorkPush, coppice.PushResult{Now: "base1", Blocked: "dirty"}),
			"settle: landing.waits; landing queued; put off 2s (1): dirty; settled"},
		{"base gone elsewhere before the push", of(coppice.StageLanding, candidate(inQueue), coppice.WorkPush, coppice.PushResult{Now: "base2"}),
			"settle: project.base_moved; landing queued; settled"},
		{"push failed often", of(coppice.StageLanding, tries(3), coppice.WorkPush, broke), "settle: landing.waits; landing queued; put off 40s (4): it broke; settled"},
		{"pushed, move blocked", of(coppice.StageLanding, candidate(inQueue, onRemote), coppice.WorkMove, coppice.MoveResult{Now: "base1", Blocked: "dirty"}),
			"settle: landing.waits; landing queued; pushed; put off 2s (1): dirty; settled"},
		{"pushed, base gone elsewhere", of(coppice.StageLanding, candidate(inQueue, onRemote), coppice.WorkMove, coppice.MoveResult{Now: "base2"}),
			"settle: landing.waits; landing queued; pushed; put off 2s (1): main moved here while its commit was pushed: merge what is on the remote into main by hand; settled"},
		{"landing over", of(coppice.StageEnded, candidate(ended(coppice.LandingDropped)), coppice.WorkMove, coppice.MoveResult{Moved: true}), "settle: work.finished; settled"},
		{"no landing", viewOf(coppice.StageChecking, finished(coppice.WorkMerge, conflicts)), "settle: work.finished; settled"},
	})
}

func TestEvidenceIsWhole(t *testing.T) {
	t.Parallel()
	log := strings.Repeat("FAIL\n", 20_000)
	v := viewOf(coppice.StageChecking, candidate(merged), finished(coppice.WorkCheck, coppice.CheckResult{Checks: []coppice.Check{
		{Command: "make", Exit: 2, Log: log}, {Command: "lint", Exit: 0, Log: "fine"},
	}}))
	if got := anySettle(v).Landing.Evidence; !strings.Contains(got, strings.TrimSpace(log)) || !strings.Contains(got, "$ make") || strings.Contains(got, "fine") {
		t.Errorf("evidence of %d bytes", len(got))
	}
	v = viewOf(coppice.StageChecking, candidate(), finished(coppice.WorkMerge, coppice.MergeResult{Base: "base2", Conflicts: []coppice.Conflict{
		{Path: "a.txt", Text: "<<<<\n"}, {Path: "b.txt", Text: ">>>>\n"},
	}}))
	if got := anySettle(v).Landing.Evidence; !strings.Contains(got, "== a.txt\n<<<<") || !strings.Contains(got, "== b.txt\n>>>>") {
		t.Errorf("evidence %q", got)
	}
}

func TestDoubled(t *testing.T) {
	t.Parallel()
	for try, want := range map[int]time.Duration{-1: 2, 0: 2, 1: 2, 2: 4, 3: 8, 4: 10, 1000: 10} {
		if got := doubled(2, try, 10); got != want {
			t.Errorf("try %d: %d, want %d", try, got, want)
		}
	}
}
