package engine

import (
	"time"

	"coppice"
)

// deciders are the deciders of a task in the order in which they are asked. Each
// returns its next decision or nil. After each decision all are asked again.
var deciders = []func(*View) *Decision{
	settle,
	flowClosed,
	undo,
	revert,
	unstop,
	flowRequests,
	retryTask,
	continueTask,
	skipChecks,
	unskipChecks,
	doneAsIs,
	dropBranches,
	warn,
	reported,
	issueReported,
	baseMoved,
	stop,
	landFailed,
	undeliverable,
	handover,
	answerForPerson,
	finish,
	budget,
	runLimit,
	reroute,
	pipeline,
	askMerge,
	openAsked,
	landing,
	sendComments,
	react,
	pullRequest,
	talk,
	park,
	health,
	preview,
	cleanupDetached,
	cleanup,
	dropFlow,
	purge,
}

func (v *View) decide() *Decision {
	for _, f := range deciders {
		if d := f(v); d != nil {
			return d
		}
	}
	return nil
}

func (v *View) due() time.Time {
	var at time.Time
	sooner := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	if w := v.Task.Wait; v.Task.Stage == coppice.StageWaiting && w != nil {
		sooner(w.Until)
	}
	if l := v.Landing; l != nil && l.EndedAt.IsZero() && l.QueueID == 0 && !v.Task.Ended() && l.RetryAt.After(v.Now) {
		sooner(l.RetryAt) // a time in the past waits for the step in progress, which ends with an event
	}
	sooner(healthDue(v))
	sooner(parkDue(v))
	sooner(waitsDue(v))
	sooner(answerDue(v))
	sooner(stopDue(v))
	sooner(previewDue(v))
	sooner(cleanupDue(v))
	sooner(purgeDue(v))
	sooner(flowDue(v))
	sooner(pullDue(v))
	sooner(reactDue(v))
	return at
}

// follow reads the checks of a landing that changed and the copies of a task whose
// session failed, and wakes the subjects that
// a decision concerns: dependants of a task that ended, and the queue that a
// landing entered.
func (v *View) follow(t *turn, d *Decision) error {
	if d.Landing != nil || len(d.Checks) > 0 {
		was := v.redOn
		if err := t.viewLanding(v); err != nil {
			return err
		}
		if was != "" && v.redOn != was { // the next landing on the same base can continue
			_, next, err := t.tx.Landings.FirstRed(v.Project.ID, was)
			if err != nil {
				return err
			}
			if next != 0 {
				t.dirty.add(coppice.TaskSubject(next))
			}
		}
	}
	if d.Task != nil && len(d.Task.After) != len(v.Deps) {
		if err := t.viewDeps(v); err != nil {
			return err
		}
	}
	if d.Task != nil && d.Task.Ended() {
		if err := t.viewComplete(v); err != nil {
			return err
		}
	}
	if err := t.viewCopies(v); err != nil {
		return err
	}
	if err := t.wakeLocks(d.Session); err != nil {
		return err
	}
	if d.need != nil { // the queue will have it soon
		v.Queue.Needs = v.Queue.Needs.With(*d.need)
	}
	if l := d.Landing; l != nil && l.QueueID != 0 {
		t.dirty.add(coppice.QueueSubject(l.QueueID))
	}
	if err := t.followFlow(v, d); err != nil {
		return err
	}
	if d.Session != nil {
		if err := t.wakeFamily(v); err != nil {
			return err
		}
	}
	if d.Kind != coppice.EventTaskEnded && d.Kind != coppice.EventTaskRetried {
		return nil
	}
	for _, a := range v.Above { // one might wait for it
		t.dirty.add(coppice.TaskSubject(a.Task.ID))
	}
	if err := t.stopChildren(v, d); err != nil {
		return err
	}
	deps, err := t.tx.Tasks.Dependants(v.Task.ID)
	for _, id := range deps {
		t.dirty.add(coppice.TaskSubject(id))
	}
	return err
}
