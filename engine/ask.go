package engine

import (
	"fmt"
	"slices"
	"time"

	"coppice"
	"coppice/verb"
)

// facts are what the verbs are judged by.
func (v *View) facts() verb.Facts {
	return verb.Facts{Now: v.Now, Task: v.Task, Session: v.session(), Landing: v.Landing, Asks: v.Asks}
}

// stopPause is how long a session has to end before it is asked again. The
// bounded steps of a stop take less.
const stopPause = 30 * time.Second

// stopGrace bounds each step of a stop.
const stopGrace = 5 * time.Second

// stop carries out a stop or a requeue: whatever is open is taken back or ended.
// When nothing of the task runs any more, the task is cancelled, or begins again.
func stop(v *View) *Decision {
	a := v.asked(coppice.VerbStop, coppice.VerbRequeue)
	if a == nil || a.Verb == coppice.VerbRequeue && v.Task.Ended() { // which retry carries out
		return nil
	}
	why := "the task was stopped"
	if a.Verb == coppice.VerbRequeue {
		why = "the task was requeued"
	}
	d := stopStep(v, *a, why)
	if d != nil {
		d.By = string(a.Verb)
	}
	return d
}

func stopStep(v *View, a coppice.Ask, why string) *Decision {
	if v.Task.Ended() {
		return &Decision{Kind: coppice.EventTaskChanged, Reason: "had ended already", Asks: v.settled(coppice.VerbStop)}
	}
	if l := v.Landing; l != nil && l.QueueID != 0 && l.EndedAt.IsZero() {
		return leaveQueue(v, *l, why)
	}
	if w := v.open(coppice.WorkRun); w != nil && w.Attempt > 0 && v.session() != nil {
		return askStop(v, coppice.ClassCancelled) // its host may run, whoever held the work
	}
	if w := v.open(coppice.WorkPrepare, coppice.WorkRestore); w != nil && w.Attempt > 0 {
		return nil // a workspace may be there; its result tells what to tidy up
	}
	if w := v.open(coppice.WorkPrepare, coppice.WorkRestore, coppice.WorkRun, coppice.WorkMerge, coppice.WorkCheck,
		coppice.WorkSend, coppice.WorkStop); w != nil {
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
		return landed(v) // too late
	}
	if a.Verb == coppice.VerbRequeue {
		return requeue(v)
	}
	return endTask(v, coppice.OutcomeCancelled, nil)
}

// leaving marks a stop that waits for the queue.
const leaving = "waiting for the queue to take its landing out"

// leaveQueue asks the queue, once, to take the task's landing out.
func leaveQueue(v *View, l coppice.Landing, why string) *Decision {
	d := &Decision{Kind: coppice.EventTaskChanged, Reason: leaving, Tell: []coppice.Ask{withdrawal(l, why)}}
	for _, a := range v.Asks {
		if a.Verb == coppice.VerbStop || a.Verb == coppice.VerbRequeue {
			if a.Outcome == leaving {
				return nil
			}
			a.Outcome = leaving
			d.Asks = append(d.Asks, a)
		}
	}
	return d
}

// askStop asks the running session to stop, again if it does not.
func askStop(v *View, why coppice.Class) *Decision {
	s := *v.session()
	asked := func(w coppice.Work) bool { return w.Kind == coppice.WorkStop && w.SessionID == s.ID && w.Open() }
	if slices.ContainsFunc(v.Work, asked) || s.StopAt.Add(stopPause).After(v.Now) {
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

// retry carries out a retry. A task that ended begins a new round; one that
// waits for a person or a pause goes on at once, and so does a landing that was
// put off. A stop comes first. The requeue of a task that has ended is a retry.
func retry(v *View) *Decision {
	t, again := v.Task, []coppice.Verb{coppice.VerbRetry}
	if t.Ended() {
		again = append(again, coppice.VerbRequeue)
	}
	if v.asked(again...) == nil || v.asked(coppice.VerbStop, coppice.VerbRequeue) != nil && !t.Ended() {
		return nil
	}
	note := v.note(again...)
	d := &Decision{By: "retry", Kind: coppice.EventTaskRetried, Task: &t, Asks: v.settled(again...)}
	switch {
	case v.facts().PutOff():
		d.Reason = "its landing is tried at once"
		if l := *v.Landing; l.QueueID != 0 {
			d.Tell = []coppice.Ask{{Subject: coppice.QueueSubject(l.QueueID), Verb: coppice.VerbRetry, Text: d.Reason}}
		} else {
			l.RetryAt = time.Time{}
			d.Landing = &l
		}
	case t.Ended() && t.Outcome != coppice.OutcomeDone:
		text := ""
		if t.Failure != nil {
			text = "The task was tried before and failed: " + t.Failure.Text + "\n"
		}
		t.Next = firstSession(t, text+soFar(v))
		t.Round++
		beginAgain(v, &t, note)
		d.Reason = "begins anew"
	case t.Next != nil && verb.WaitsForWord(t):
		t.Wait = nil
		grant(v, &t)
		if note != "" {
			next := *t.Next
			next.Note = note
			t.Next = &next
		}
		d.Reason = "goes on"
	case t.Outcome == coppice.OutcomeDone:
		d.Reason = "too late: it is done"
	default:
		d.Reason = "nothing to retry"
	}
	return d
}

// landFailed carries out the landing of a task that ended without landing: its
// branch as it is now becomes the candidate of a new round. The request stays
// open until the candidate is proven, so that it is not held then.
func landFailed(v *View) *Decision {
	t := v.Task
	if v.asked(coppice.VerbLand) == nil || !t.Ended() {
		return nil
	}
	if t.Outcome == coppice.OutcomeDone {
		return &Decision{By: "landing", Kind: coppice.EventTaskChanged, Reason: "has landed already", Asks: v.settled(coppice.VerbLand)}
	}
	t.Round++
	t.Stage, t.Outcome, t.EndedAt, t.Failure = coppice.StageChecking, "", time.Time{}, nil
	return &Decision{By: "landing", Kind: coppice.EventTaskRetried, Reason: "a person said land", Task: &t}
}

// undo brings an ended task's workspace back from the trash.
func undo(v *View) *Decision {
	if v.asked(coppice.VerbUndo) == nil {
		return nil
	}
	d := &Decision{By: "undo", Kind: coppice.EventTaskChanged, Reason: "nothing to undo"}
	tr := v.Trash
	restorable := v.Workspace != nil && !v.Workspace.RemovedAt.IsZero() && tr != nil && tr.Open()
	if restorable && v.open(coppice.WorkRestore, coppice.WorkPurge) == nil {
		d = wantWorkspace(v, fmt.Sprintf("trash/%d/%d", tr.ID, v.Workspace.ID), 0, "brings its workspace back")
		d.By = "undo"
	}
	d.Asks = v.settled(coppice.VerbUndo)
	return d
}
