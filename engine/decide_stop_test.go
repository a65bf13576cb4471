package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coppice"
)

var stopAsked = say(coppice.VerbStop)

func endedAs(o coppice.Outcome) change {
	return task(func(t *coppice.Task) {
		t.Stage, t.Outcome, t.EndedAt = coppice.StageEnded, o, noon
		if o == coppice.OutcomeFailed {
			t.Failure = coppice.Failf(coppice.ClassUnknown, "it broke", "")
		}
	})
}

func TestStop(t *testing.T) {
	t.Parallel()
	cancelled := `stop: task.ended; to ended; outcome "cancelled"`
	ask := "stop: work.offered; session working; stop 1 for cancelled; offer session.stop session/11/stop/1 to local"
	asked := func(ago time.Duration) func(*coppice.Session) {
		return func(s *coppice.Session) {
			s.StopTries, s.StopAt, s.StopWhy = 1, noon.Add(-ago), coppice.StopCancelled
		}
	}
	run(t, stop, []decision{
		{"nobody said so", viewOf(coppice.StageWaiting), "nothing"},
		{"waiting", viewOf(coppice.StageWaiting, stopAsked), cancelled},
		{"queued", viewOf(coppice.StageQueued, stopAsked), cancelled},
		{"ended", viewOf(coppice.StageEnded, endedAs(coppice.OutcomeDone), stopAsked), "stop: task.changed"},
		{"workspace offered", viewOf(coppice.StageSession, ran("", starting), offered(coppice.WorkPrepare), stopAsked), "stop: work.cancelled; cancel workspace.prepare"},
		{"workspace being made", viewOf(coppice.StageSession, ran("", starting), taken(coppice.WorkPrepare), stopAsked), "nothing"},
		{"workspace maybe made", viewOf(coppice.StageSession, ran("", starting), work(coppice.WorkRestore, coppice.WorkOffered, 1), stopAsked), "nothing"},
		{"starting", viewOf(coppice.StageSession, ran("", starting), space(), stopAsked), "stop: session.ended; session cancelled; session fails: cancelled"},
		{"run offered", viewOf(coppice.StageSession, ran("", starting), space(), offered(coppice.WorkRun), stopAsked), "stop: work.cancelled; cancel session.run"},
		{"running", viewOf(coppice.StageSession, ran("", live), space(), taken(coppice.WorkRun), stopAsked), ask},
		{"maybe running", viewOf(coppice.StageSession, ran("", live), space(), work(coppice.WorkRun, coppice.WorkOffered, 1), stopAsked), ask},
		{"asked already", viewOf(coppice.StageSession, ran("", live), space(), taken(coppice.WorkRun), offered(coppice.WorkStop), stopAsked), "nothing"},
		{"asked just now", viewOf(coppice.StageSession, ran("", live, asked(29*time.Second)), space(), taken(coppice.WorkRun), stopAsked), "nothing"},
		{"asked long ago", viewOf(coppice.StageSession, ran("", live, asked(30*time.Second)), space(), taken(coppice.WorkRun), stopAsked),
			"stop: work.offered; session working; stop 2 for cancelled; offer session.stop session/11/stop/2 to local"},
		{"run over, a message under way", viewOf(coppice.StageSession, ran("", fails(coppice.ClassCancelled)), space(), taken(coppice.WorkSend), stopAsked),
			"stop: work.cancelled; cancel session.send"},
		{"run over", viewOf(coppice.StageSession, ran("", fails(coppice.ClassCancelled)), space(), stopAsked), cancelled},
		{"merging", viewOf(coppice.StageChecking, candidate(), taken(coppice.WorkMerge), stopAsked), "stop: work.cancelled; cancel land.merge"},
		{"checking", viewOf(coppice.StageChecking, candidate(merged), taken(coppice.WorkCheck), stopAsked), "stop: work.cancelled; cancel check.run"},
		{"held", viewOf(coppice.StageHeld, candidate(green), stopAsked), "stop: landing.ended; landing cancelled"},
		{"in the queue", viewOf(coppice.StageLanding, candidate(inQueue), stopAsked), `stop: task.changed; asks queue/1 to withdraw {"task":7}`},
		{"asked the queue", viewOf(coppice.StageLanding, candidate(inQueue), requested(coppice.Ask{Verb: coppice.VerbStop, Outcome: leaving})), "nothing"},
		{"landing dropped", viewOf(coppice.StageLanding, candidate(ended(coppice.LandingDropped)), stopAsked), cancelled},
		{"landed before", viewOf(coppice.StageLanding, candidate(ended(coppice.LandingLanded)), stopAsked), `stop: task.ended; to ended; outcome "done"; landed commit1`},
	})
}

// A landing leaves the queue when its task no longer wants it, unless the base may
// have moved already.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	out := func(v *QueueView) *Decision {
		v.Out = v.Head
		return withdraw(v)
	}
	asked := say(coppice.VerbWithdraw, "the task was stopped")
	over := "queue: work.finished"
	run(t, queued(out), []decision{
		{"nobody asked", viewOf(coppice.StageLanding, candidate(inQueue)), "nothing"},
		{"waiting", viewOf(coppice.StageLanding, candidate(inQueue), asked), "queue: landing.ended; landing cancelled"},
		{"move offered", viewOf(coppice.StageLanding, candidate(inQueue), offered(coppice.WorkMove), asked), "queue: work.cancelled; cancel land.move"},
		{"merging", viewOf(coppice.StageLanding, candidate(inQueue), taken(coppice.WorkMerge), asked), "queue: work.cancelled; cancel land.merge"},
		{"base maybe moved", viewOf(coppice.StageLanding, candidate(inQueue), taken(coppice.WorkMove), asked), "nothing"},
		{"push offered", viewOf(coppice.StageLanding, candidate(inQueue), offered(coppice.WorkPush), asked), "queue: work.cancelled; cancel git.push"},
		{"remote maybe moved", viewOf(coppice.StageLanding, candidate(inQueue), taken(coppice.WorkPush), asked), "nothing"},
		{"remote maybe moved, and then it failed", viewOf(coppice.StageLanding, candidate(inQueue, half), pushes, asked), "nothing"},
		{"the remote has it", viewOf(coppice.StageLanding, candidate(inQueue, onRemote), asked), "nothing"},
		{"base maybe moved by one who vanished", viewOf(coppice.StageLanding, candidate(inQueue), work(coppice.WorkMove, coppice.WorkOffered, 2), asked), "nothing"},
		{"base maybe moved by one who failed", viewOf(coppice.StageLanding, candidate(inQueue, half), asked), "nothing"},
		{"base maybe moved, looked at again", viewOf(coppice.StageLanding, candidate(inQueue, half), offered(coppice.WorkMove), asked), "nothing"},
		{"landed before", viewOf(coppice.StageLanding, candidate(ended(coppice.LandingLanded)), asked), over},
		{"left the queue before", viewOf(coppice.StageLanding, candidate(green), asked), over},
	})
}

func TestRetry(t *testing.T) {
	t.Parallel()
	say := say(coppice.VerbRetry)
	run(t, retryTask, []decision{
		{"nobody said so", viewOf(coppice.StageEnded, endedAs(coppice.OutcomeFailed)), "nothing"},
		{"failed", viewOf(coppice.StageEnded, endedAs(coppice.OutcomeFailed), say), `retry: task.retry_asked; to waiting; round 1; outcome ""; next implement by ann`},
		{"cancelled", viewOf(coppice.StageEnded, endedAs(coppice.OutcomeCancelled), say), `retry: task.retry_asked; to waiting; round 1; outcome ""; next implement by ann`},
		{"done", viewOf(coppice.StageEnded, endedAs(coppice.OutcomeDone), say), "retry: task.retry_asked"},
		{"waits for a person", viewOf(coppice.StageWaiting, next("bob"), waitsOn(coppice.WaitPerson, "log in", time.Time{}), say), "retry: task.retry_asked"},
		{"waits for its next try", viewOf(coppice.StageWaiting, next("bob"), waitsOn(coppice.WaitBackoff, "later", noon.Add(1)), say), "retry: task.retry_asked"},
		{"waits for another task", viewOf(coppice.StageWaiting, next("bob"), waitsOn(coppice.WaitDependency, "app-1", time.Time{}), say),
			"retry: task.retry_asked; waits on dependency: app-1"},
		{"runs", viewOf(coppice.StageSession, ran("", live), say), "retry: task.retry_asked"},
	})
}

func TestRetrySaysWhatWasWrong(t *testing.T) {
	t.Parallel()
	note := say(coppice.VerbRetry, "use the new API")
	d := retryTask(viewOf(coppice.StageEnded, endedAs(coppice.OutcomeFailed), candidate(ended(coppice.LandingRefused)), note))
	want := "The task was tried before and failed: it broke\n\nthe evidence"
	if diff := cmp.Diff(want, d.Task.Next.Evidence); diff != "" || d.Task.Next.Note != "use the new API" {
		t.Errorf("note %q, evidence (-want +got):\n%s", d.Task.Next.Note, diff)
	}
	if len(d.Asks) != 1 || d.Asks[0].Open() || d.Task.Failure != nil {
		t.Errorf("task %+v", d.Task)
	}
	v := viewOf(coppice.StageWaiting, next("bob"), waitsOn(coppice.WaitPerson, "log in", time.Time{}), note)
	d = retryTask(v)
	if d.Task.Wait != nil || d.Task.Next.Note != "use the new API" || v.Task.Next.Note != "" {
		t.Errorf("next %+v, before %+v", d.Task.Next, v.Task.Next)
	}
}

// A retry of a task that waits for a person ends a request to land it: that would
// approve the work of the next session, which nobody has seen.
func TestRetryEndsAnApproval(t *testing.T) {
	t.Parallel()
	v := viewOf(coppice.StageWaiting, next("bob"), waitsOn(coppice.WaitPerson, "has reached its limit", time.Time{}), say(coppice.VerbRetry), landAsked)
	d := retryTask(v)
	if a := coppice.Asked(v.Asks, coppice.VerbLand); a == nil || !slices.ContainsFunc(d.Asks, func(x coppice.Ask) bool { return x.ID == a.ID && x.Verb == a.Verb && !x.Open() }) {
		t.Errorf("the request to land is still open: %+v", d.Asks)
	}
}

func TestLandFailed(t *testing.T) {
	t.Parallel()
	run(t, landFailed, []decision{
		{"nobody said so", viewOf(coppice.StageEnded, endedAs(coppice.OutcomeFailed)), "nothing"},
		{"failed", viewOf(coppice.StageEnded, endedAs(coppice.OutcomeFailed), landAsked), `landing: task.retry_asked; to checking; round 1; outcome ""`},
		{"cancelled", viewOf(coppice.StageEnded, endedAs(coppice.OutcomeCancelled), landAsked), `landing: task.retry_asked; to checking; round 1; outcome ""`},
		{"done", viewOf(coppice.StageEnded, endedAs(coppice.OutcomeDone), landAsked), "landing: task.changed"},
		{"held", viewOf(coppice.StageHeld, landAsked), "nothing"},
	})
}

func TestUndo(t *testing.T) {
	t.Parallel()
	say := say(coppice.VerbUndo)
	trash := func(f func(*coppice.Trash)) change { return func(v *View) { f(v.Trash) } }
	run(t, undo, []decision{
		{"nobody said so", viewOf(coppice.StageEnded, removed), "nothing"},
		{"removed", viewOf(coppice.StageEnded, removed, say), "undo: work.offered; workspace ready=false removed=false kept=false tries=0; offer workspace.restore trash/4/3/restore to local"},
		{"still there", viewOf(coppice.StageEnded, space(), say), "undo: task.changed"},
		{"never there", viewOf(coppice.StageEnded, say), "undo: task.changed"},
		{"back already", viewOf(coppice.StageEnded, removed, trash(func(t *coppice.Trash) { t.RestoredAt = noon }), say), "undo: task.changed"},
		{"forgotten", viewOf(coppice.StageEnded, removed, trash(func(t *coppice.Trash) { t.PurgedAt = noon }), say), "undo: task.changed"},
		{"in progress", viewOf(coppice.StageEnded, removed, taken(coppice.WorkRestore), say), "undo: task.changed"},
		{"being forgotten", viewOf(coppice.StageEnded, removed, offered(coppice.WorkPurge), say), "undo: task.changed"},
	})
}

func TestTalk(t *testing.T) {
	t.Parallel()
	said := func(session int64) change {
		return func(v *View) {
			v.Messages = append(v.Messages, coppice.Message{ID: int64(len(v.Messages) + 1), TaskID: 7, SessionID: session, Text: "also"})
		}
	}
	asked := func(q coppice.Question) change { return func(v *View) { v.Questions = append(v.Questions, q) } }
	answered := coppice.Question{ID: 2, SessionID: 11, Ref: "q1", Answer: "yes", AnsweredAt: noon}
	closed := answered
	closed.ClosedAt = noon
	old := answered
	old.SessionID = 10
	run(t, talk, []decision{
		{"nothing to say", viewOf(coppice.StageSession, ran("", live), space()), "nothing"},
		{"message", viewOf(coppice.StageSession, ran("", live), space(), said(0)), "talk: work.offered; offer session.send message/1/11 to local"},
		{"one at a time", viewOf(coppice.StageSession, ran("", live), space(), said(0), offered(coppice.WorkSend)), "nothing"},
		{"not again to the same session", viewOf(coppice.StageSession, ran("", live), space(), said(11), said(0)), "talk: work.offered; offer session.send message/2/11 to local"},
		{"again to the next", viewOf(coppice.StageSession, ran("", live), space(), said(10)), "talk: work.offered; offer session.send message/1/11 to local"},
		{"answer first", viewOf(coppice.StageSession, ran("", live), space(), said(0), asked(answered)), "talk: work.offered; offer session.send question/2/1772366400000000000 to local"},
		{"unanswered", viewOf(coppice.StageSession, ran("", live), space(), asked(coppice.Question{ID: 2, SessionID: 11})), "nothing"},
		{"answer delivered", viewOf(coppice.StageSession, ran("", live), space(), asked(closed)), "nothing"},
		{"answer to an older session", viewOf(coppice.StageSession, ran("", live), space(), asked(old)), "nothing"},
		{"not up yet", viewOf(coppice.StageSession, ran("", starting), space(), said(0)), "nothing"},
		{"over", viewOf(coppice.StageSession, ran("head1"), space(), said(0)), "nothing"},
	})
}
