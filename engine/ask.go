package engine

import (
	"fmt"
	"time"

	"coppice"
)

// stopPause is how long a session has to end before it is asked again. The
// bounded steps of a stop take less.
const stopPause = 30 * time.Second

// stopGrace bounds each step of a stop.
const stopGrace = 5 * time.Second

// stop carries out a person's stop: whatever is open is taken back or ended,
// and the task is cancelled when nothing of it runs any more. Asked together
// with a retry, it begins anew instead.
func stop(v *View) *Decision {
	if !v.Task.StopAsked {
		return nil
	}
	by, why := "stop", "the task was stopped"
	if v.Task.RetryAsked {
		by, why = "requeue", "the task was requeued"
	}
	d := stopStep(v, why)
	if d != nil {
		d.By = by
	}
	return d
}

func stopStep(v *View, why string) *Decision {
	if v.Task.Ended() {
		t := v.Task
		t.StopAsked = false
		return &Decision{Kind: coppice.EventTaskChanged, Reason: "had ended already", Task: &t}
	}
	if w := v.open(coppice.WorkMove); w != nil && w.Attempt > 0 || v.Landing != nil && unsure(*v.Landing) {
		return nil // the base may have moved already; its result tells
	}
	if w := v.open(coppice.WorkRun); w != nil && w.Attempt > 0 && v.session() != nil {
		return askStop(v, coppice.ClassCancelled) // its host may run, whoever held the work
	}
	if w := v.open(coppice.WorkPrepare, coppice.WorkRestore); w != nil && w.Attempt > 0 {
		return nil // a workspace may be there; its result tells what to tidy up
	}
	if w := v.open(coppice.WorkPrepare, coppice.WorkRestore, coppice.WorkRun, coppice.WorkMerge, coppice.WorkCheck,
		coppice.WorkMove, coppice.WorkSend, coppice.WorkStop); w != nil {
		c := *w
		return &Decision{Kind: coppice.EventWorkCancelled, Reason: why, Cancel: &c}
	}
	if s := v.session(); s != nil && s.State.Live() {
		return endSession(v, coppice.SessionCancelled, coppice.Failf(coppice.ClassCancelled, "was stopped", ""))
	}
	if s := v.session(); s != nil {
		if d := closeQuestions(v, s); d != nil {
			return d
		}
	}
	if l := v.Landing; l != nil && l.EndedAt.IsZero() {
		c := *l
		c.Outcome, c.EndedAt = coppice.LandingDropped, v.Now
		return &Decision{Kind: coppice.EventLandingEnded, Reason: why, Landing: &c}
	}
	if l := v.Landing; l != nil && l.Outcome == coppice.LandingLanded {
		return endTask(v, coppice.OutcomeDone, nil) // too late: it has landed
	}
	if v.Task.RetryAsked {
		return requeue(v)
	}
	return endTask(v, coppice.OutcomeCancelled, nil)
}

// askStop asks the running session to stop, again if it does not.
func askStop(v *View, why coppice.Class) *Decision {
	s := *v.session()
	if v.open(coppice.WorkStop) != nil || s.StopAt.Add(stopPause).After(v.Now) {
		return nil
	}
	s.StopTries++
	s.StopAt = v.Now
	if s.StopWhy == "" {
		s.StopWhy = why
	}
	return &Decision{Kind: coppice.EventWorkOffered, Reason: "asks the session to stop: " + string(why), Session: &s, Offer: &coppice.Work{
		Kind: coppice.WorkStop, Key: fmt.Sprintf("session/%d/stop/%d", s.ID, s.StopTries), Pool: v.place(coppice.WorkStop), SessionID: s.ID,
		Spec: coppice.Raw(coppice.StopSpec{Session: s.Key, Grace: coppice.Duration(stopGrace)}),
	}}
}

// stopDue is when a session that was asked to stop is asked again.
func stopDue(v *View) time.Time {
	if s := v.session(); s != nil && s.State.Live() && !s.StopAt.IsZero() {
		return s.StopAt.Add(stopPause)
	}
	return time.Time{}
}

// retry carries out a person's retry. A task that ended begins a new round; one
// that waits for a person or a pause goes on at once, and so does a landing that
// was put off. One that is asked to stop as well is requeued: that comes first.
func retry(v *View) *Decision {
	if !v.Task.RetryAsked || v.Task.StopAsked {
		return nil
	}
	t := v.Task
	t.RetryAsked = false
	d := &Decision{By: "retry", Kind: coppice.EventTaskRetried, Task: &t}
	switch {
	case landsLater(t, v.Landing, v.Now):
		l := *v.Landing
		l.RetryAt = time.Time{}
		t.RetryNote = ""
		d.Landing, d.Reason = &l, "its landing is tried at once"
		return d
	case t.Ended() && t.Outcome != coppice.OutcomeDone:
		text := ""
		if t.Failure != nil {
			text = "The task was tried before and failed: " + t.Failure.Text + "\n"
		}
		t.Next = firstSession(v, text+soFar(v))
		t.Round++
		beginAnew(v, &t)
		d.Reason = "begins anew"
		return d
	case t.Stage == coppice.StageWaiting && t.Wait != nil && t.Next != nil &&
		(t.Wait.On == coppice.WaitPerson || t.Wait.On == coppice.WaitBackoff):
		t.Wait = nil
		d.Reason = "goes on"
	case t.Outcome == coppice.OutcomeDone:
		t.RetryNote = ""
		d.Reason = "too late: it is done"
		return d
	default:
		t.RetryNote = ""
		d.Reason = "nothing to retry"
		return d
	}
	grant(v, &t)
	if t.RetryNote != "" {
		next := *t.Next
		next.Note = t.RetryNote
		t.Next, t.RetryNote = &next, ""
	}
	return d
}

// landFailed carries out a person's land on a task that ended without landing:
// its branch as it is now becomes the candidate of a new round.
func landFailed(v *View) *Decision {
	t := v.Task
	if !t.LandAsked || !t.Ended() || t.Outcome == coppice.OutcomeDone {
		return nil
	}
	t.Round++
	t.Stage, t.Outcome, t.EndedAt, t.Failure = coppice.StageChecking, "", time.Time{}, nil
	return &Decision{By: "landing", Kind: coppice.EventTaskRetried, Reason: "a person said land", Task: &t}
}

// undo brings an ended task's workspace back from the trash.
func undo(v *View) *Decision {
	if !v.Task.UndoAsked {
		return nil
	}
	t := v.Task
	t.UndoAsked = false
	d := &Decision{By: "undo", Kind: coppice.EventTaskChanged, Task: &t, Reason: "nothing to undo"}
	tr := v.Trash
	restorable := v.Workspace != nil && !v.Workspace.RemovedAt.IsZero() && tr != nil && tr.Open()
	if restorable && v.open(coppice.WorkRestore, coppice.WorkPurge) == nil {
		want := wantWorkspace(v, fmt.Sprintf("trash/%d/%d", tr.ID, v.Workspace.ID), 0, "brings its workspace back")
		want.By, want.Task = d.By, d.Task
		d = want
	}
	return d
}
