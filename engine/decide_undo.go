package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"coppice"
)

// undo restores an ended task's workspace from the trash.
func undo(v *View) *Decision {
	if v.asked(coppice.VerbUndo) == nil {
		return nil
	}
	d := &Decision{By: "undo", Kind: coppice.EventTaskChanged, Reason: "nothing to undo"}
	tr := v.Trash
	restorable := v.Workspace != nil && !v.Workspace.RemovedAt.IsZero() && tr != nil && tr.Open()
	if restorable && v.open(coppice.WorkRestore, coppice.WorkPurge) == nil {
		d = offerWorkspace(v, fmt.Sprintf("trash/%d/%d", tr.ID, v.Workspace.ID), 0, "restores its workspace")
		d.By = "undo"
	}
	d.Asks = v.settled(coppice.VerbUndo)
	return d
}

// unstop carries out the undo of a stop: the task continues as it was, in its
// round, its workspace and its conversation. The stop is completed first.
func unstop(v *View) *Decision {
	if v.asked(coppice.VerbUnstop) == nil || !v.Task.Ended() && v.asked(coppice.VerbStop) != nil {
		return nil
	}
	t := v.Task
	d := &Decision{By: "undo", Kind: coppice.EventTaskChanged, Reason: "is not stopped", Asks: v.settled(coppice.VerbUnstop)}
	if t.Outcome != coppice.OutcomeCancelled || t.Reverted != nil {
		return d
	}
	d.Kind, d.Reason, d.Task = coppice.EventTaskRetried, "its stop is undone", &t
	t.Outcome, t.EndedAt, t.Failure, t.Wait = "", time.Time{}, nil, nil
	s, l := v.lastSession(), v.Landing
	switch {
	case t.IsFlow() && (t.Planned() || s == nil):
		f := *t.Flow
		t.Flow = &f
		resumeFlow(v, d, "")
	case s == nil:
		t.Stage, t.Next = coppice.StageWaiting, firstSession(t, workSoFar(v))
	case l != nil && l.Outcome == coppice.LandingDropped && v.keepsWork():
		again := openLanding(v, l.Head)
		again.SessionID, again.Verified, again.ApprovedBy, again.ApprovedAt = l.SessionID, l.Verified, l.ApprovedBy, l.ApprovedAt
		t.Stage, d.Landing = coppice.StageChecking, again
	case s.State == coppice.SessionCancelled, l != nil && l.Outcome == coppice.LandingDropped:
		t.Stage, t.Next = coppice.StageWaiting, firstSession(t, workSoFar(v))
		if work := v.lastWorkSession(); work != nil && (t.Checkout || v.keepsWork()) {
			t.Next = resumeSession(v, work)
		}
	case l != nil && l.SessionID == s.ID:
		t.Stage = coppice.StageChecking // what follows its landing is decided again
	default:
		t.Stage = coppice.StageSession // the same for its session
	}
	return d
}

// keepsWork reports whether the task's workspace exists, or can be restored.
func (v *View) keepsWork() bool {
	ws := v.Workspace
	return ws != nil && (ws.RemovedAt.IsZero() || v.Trash != nil && v.Trash.Open())
}

// revertArgs are the arguments of a request to revert: the landing that is on the
// branch.
type revertArgs struct {
	Commit string `json:"commit"`
	Base   string `json:"base"`             // the commit below it
	Pushed bool   `json:"pushed,omitempty"` // others can have it
}

// revert carries out the request to take a task's landing off its branch. A new
// landing does it. If nothing builds on the commit, the branch moves back. In all
// other cases a commit that reverts it is merged, checked and queued, like any
// other change.
func revert(v *View) *Decision {
	a := v.asked(coppice.VerbRevert)
	if a == nil {
		return nil
	}
	t := v.Task
	d := &Decision{By: "revert", Kind: coppice.EventTaskChanged, Reason: "there is no landing to revert", Asks: v.settled(coppice.VerbRevert)}
	var args revertArgs
	if json.Unmarshal(a.Args, &args) != nil || t.Outcome != coppice.OutcomeDone || t.Landed != args.Commit {
		return d
	}
	t.Round++
	t.Stage, t.Outcome, t.Warning = coppice.StageChecking, "", "" // EndedAt stays, for a revert that fails
	l := &coppice.Landing{
		ProjectID: v.Project.ID, TaskID: t.ID, Round: t.Round, Head: args.Commit, Reverts: args.Base, CreatedAt: v.Now,
		Verified: true, ApprovedBy: a.By.String(), ApprovedAt: a.At,
	}
	d.Reason = "a commit will revert " + short(args.Commit)
	if !args.Pushed && v.Queue.Tip == args.Commit {
		d.Reason = fmt.Sprintf("moves %s back to %s", v.onto(), short(args.Base))
		l.Candidate = coppice.Candidate{Base: args.Commit, Commit: args.Base, Green: true, CreatedAt: v.Now}
		l.QueueID, l.QueuedAt = v.Queue.ID, v.Now
		t.Stage = coppice.StageLanding
	}
	d.Kind, d.Task, d.Landing = coppice.EventLandingOpened, &t, l
	return d
}

// reverting reports whether the task's landing takes an earlier one off.
func (v *View) reverting() bool {
	return !v.Task.Ended() && v.Landing != nil && v.Landing.Reverts != ""
}

// reverted decides what follows a landing that was to take an earlier one off. If
// it did not, the task is done, as before.
func reverted(v *View, l coppice.Landing) *Decision {
	if l.Outcome != coppice.LandingLanded && l.Outcome != coppice.LandingEmpty {
		d := endTask(v, coppice.OutcomeDone, nil)
		d.Reason, d.Task.EndedAt = "its landing could not be reverted: "+notReverted(v, l), v.Task.EndedAt
		d.Task.Warning = d.Reason
		return d
	}
	d := endTask(v, coppice.OutcomeCancelled, nil)
	r := &coppice.Reverted{Commit: l.Head, By: l.ApprovedBy, At: v.Now}
	switch {
	case l.Outcome == coppice.LandingEmpty:
	case l.MovesBack():
		r.BackTo = l.Commit
	default:
		r.As = l.Commit
	}
	t := d.Task
	d.Reason, t.Reverted, t.Landed = r.String(), r, ""
	if n := len(t.Earlier); n > 0 { // it landed before, and that landing stays
		t.Outcome, t.Landed, t.Earlier = coppice.OutcomeDone, t.Earlier[n-1], t.Earlier[:n-1]
	}
	return d
}

// notReverted says why a landing could not be taken off, and what to do.
func notReverted(v *View, l coppice.Landing) string {
	fix := fmt.Sprintf("create a task that reverts %s, or run git revert", short(l.Head))
	switch l.Outcome {
	case coppice.LandingConflict:
		return "later changes conflict with that; " + fix
	case coppice.LandingRefused:
		if l.Failure != nil { // the base fails without it too
			return l.Failure.Text
		}
		return fmt.Sprintf("%s does not pass its checks without it; %s", v.onto(), fix)
	case coppice.LandingDropped:
		return "that was stopped"
	}
	if l.Failure != nil {
		return l.Failure.Text
	}
	return string(l.Outcome)
}

// revertMessage returns the message of the commit that reverts a landing.
func revertMessage(v *View, l coppice.Landing) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Revert \"%s\"\n\nThis reverts commit %s.\n\nCoppice-Task: %s\nCoppice-Reverts: %s\n", v.Task.Title, l.Head, v.Task.Key, l.Head)
	return b.String()
}
