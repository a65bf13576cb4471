package engine

import (
	"fmt"
	"slices"
	"time"

	"coppice"
	"coppice/verb"
)

// facts returns the facts by which package verb decides.
func (v *View) facts() verb.Facts {
	return verb.Facts{Now: v.Now, Task: v.Task, Session: v.lastSession(), Landing: v.Landing, Asks: v.Asks, Pull: v.Pull.Short()}
}

// stopPause is how long a session has to exit before it is asked again. The
// bounded steps of a stop take less.
const stopPause = 30 * time.Second

// stopGrace limits each step of a stop.
const stopGrace = 5 * time.Second

// stop carries out a stop or a requeue: it cancels or ends everything that is
// open. When nothing of the task runs any more, the task is cancelled, or
// restarts.
func stop(v *View) *Decision {
	a := v.asked(coppice.VerbStop, coppice.VerbRequeue)
	if a == nil || a.Verb == coppice.VerbRequeue && v.Task.Ended() { // retryTask carries it out
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
	if w := v.open(coppice.WorkRun); w != nil && w.Attempt > 0 && v.lastSession() != nil {
		return askStop(v, coppice.StopCancelled) // its host might run, whichever worker had the work
	}
	if w := v.open(coppice.WorkPrepare, coppice.WorkRestore, coppice.WorkBranch, coppice.WorkPullPush, coppice.WorkForgeWrite); w != nil && w.Attempt > 0 {
		return nil // a workspace, a branch or a pull request might exist; the result says what to clean up
	}
	if w := v.open(coppice.WorkPrepare, coppice.WorkRestore, coppice.WorkBranch, coppice.WorkRun, coppice.WorkMerge, coppice.WorkCheck,
		coppice.WorkSend, coppice.WorkStop, coppice.WorkPullPush, coppice.WorkForgeWrite); w != nil {
		c := *w
		return &Decision{Kind: coppice.EventWorkCancelled, Reason: why, Cancel: &c}
	}
	if s := v.lastSession(); s != nil && s.State.Live() {
		return endSession(v, coppice.SessionCancelled, coppice.Failf(coppice.ClassCancelled, "was stopped", ""))
	}
	if s := v.lastSession(); s != nil {
		if d := closeQuestions(v, s); d != nil {
			return d
		}
	}
	if l := dropped(v, v.Landing); l != nil {
		return &Decision{Kind: coppice.EventLandingEnded, Reason: why, Landing: l}
	}
	if l := v.Landing; l != nil && (l.Outcome == coppice.LandingLanded || l.Reverts != "") {
		return landed(v) // too late; or it stays as it had landed
	}
	if a.Verb == coppice.VerbRequeue {
		return requeue(v)
	}
	return endTask(v, coppice.OutcomeCancelled, nil)
}

// leaving marks a stop that waits for the queue.
const leaving = "waiting for the queue to take its landing out"

// leaveQueue asks the queue, once, to remove the task's landing.
func leaveQueue(v *View, l coppice.Landing, why string) *Decision {
	d := &Decision{Kind: coppice.EventTaskChanged, Reason: leaving, Requests: []coppice.Ask{withdrawal(l, why)}}
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

// askStop asks the running session to stop, and repeats that if it does not.
func askStop(v *View, why coppice.StopReason) *Decision {
	s := *v.lastSession()
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

// stopDue returns when a session that was asked to stop is asked again.
func stopDue(v *View) time.Time {
	if s := v.lastSession(); s != nil && s.State.Live() && !s.StopAt.IsZero() {
		return s.StopAt.Add(stopPause)
	}
	return time.Time{}
}

// retryTask carries out a retry. An ended task starts a new round. A task that
// waits for a person or a pause continues immediately, and so does a postponed
// landing. A stop comes first. The requeue of an ended task is a retry.
func retryTask(v *View) *Decision {
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
		d.Reason = "its landing is retried now"
		if l := *v.Landing; l.QueueID != 0 {
			d.Requests = []coppice.Ask{{Subject: coppice.QueueSubject(l.QueueID), Verb: coppice.VerbRetry, Text: d.Reason}}
		} else {
			l.RetryAt = time.Time{}
			d.Landing = &l
		}
	case verb.Blocked(v.facts()):
		d.Reason = "its checks run again"
		t.BaseFrom = v.Landing.ID + 1 // earlier results on the base no longer count
		d.Landing = landAgain(v, &t)
	case t.IsFlow() && t.Outcome != coppice.OutcomeDone && (t.Ended() || t.Planned()):
		f := *t.Flow
		t.Flow, d.Reason = &f, "resumes"
		resumeFlow(v, d, "")
	case t.Ended() && t.Outcome != coppice.OutcomeDone:
		text := ""
		if t.Failure != nil {
			text = "The task was tried before and failed: " + t.Failure.Text + "\n"
		}
		t.Next = firstSession(t, text+workSoFar(v))
		t.Round++
		restartTask(v, &t, note)
		d.Reason = "restarts"
		d.Asks = append(d.Asks, v.settled(coppice.VerbLand)...) // it would approve work that nobody has seen
	case t.Next != nil && verb.WaitsForPerson(t):
		t.Wait = nil
		grant(v, &t)
		if note != "" {
			next := *t.Next
			next.Note = note
			t.Next = &next
		}
		d.Reason = "continues"
		d.Asks = append(d.Asks, v.settled(coppice.VerbLand)...) // as above
	case t.Outcome == coppice.OutcomeDone:
		d.Reason = "too late: it is done"
	default:
		d.Reason = "nothing to retry"
	}
	return d
}

// landFailed carries out the landing of a task that ended without landing, or whose
// session reached a limit. Its branch becomes the candidate of a new round. A task
// that waits because its last landing was refused gets another one in the same
// round. The request stays open until the candidate is proven, so that it is not
// held then.
func landFailed(v *View) *Decision {
	t := v.Task
	if v.asked(coppice.VerbLand) == nil {
		return nil
	}
	if verb.Relands(v.facts()) {
		return &Decision{By: "landing", Kind: coppice.EventTaskRetried, Reason: "a person asked to land it", Landing: landAgain(v, &t), Task: &t}
	}
	if !t.Ended() && !verb.AtLimit(t) && !verb.YourTurn(t) {
		return nil
	}
	if t.Outcome == coppice.OutcomeDone {
		return &Decision{By: "landing", Kind: coppice.EventTaskChanged, Reason: "has landed already", Asks: v.settled(coppice.VerbLand)}
	}
	t.Round++
	t.Stage, t.Outcome, t.EndedAt, t.Failure = coppice.StageChecking, "", time.Time{}, nil
	t.Wait, t.Next = nil, nil
	return &Decision{By: "landing", Kind: coppice.EventTaskRetried, Reason: "a person asked to land it", Task: &t}
}
