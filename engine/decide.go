package engine

import (
	"encoding/json"
	"fmt"
	"time"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// Decision is what a decider concludes: rows as they shall be from now on, work
// to offer or to take back, and what to write into the log. Nil rows stay as
// they are. One decision is one event.
type Decision struct {
	By     string // the decider
	Kind   coppice.EventKind
	Reason string
	Data   any // for the log

	Project   *coppice.Project
	Task      *coppice.Task
	Session   *coppice.Session
	Workspace *coppice.Workspace
	Landing   *coppice.Landing
	Question  *coppice.Question
	Messages  []coppice.Message
	Asks      []coppice.Ask // that are settled; the outcome is the reason where they have none
	Checks    []coppice.Check
	Trash     *coppice.Trash
	Limit     *coppice.AgentLimit
	Settle    *coppice.Work // its result is drawn into the rows above
	Cancel    *coppice.Work
	Offer     *coppice.Work
}

// deciders in the order in which they are asked. Each returns its next decision
// or nil; after each decision all are asked again.
var deciders = []func(*View) *Decision{
	settle,
	undo,
	retry,
	goOn,
	stop,
	landFailed,
	unheard,
	handover,
	budget,
	reroute,
	pipeline,
	landing,
	talk,
	health,
	tidy,
	cleanup,
}

func decide(v *View) *Decision {
	for _, f := range deciders {
		if d := f(v); d != nil {
			return d
		}
	}
	return nil
}

// due is when the deciders want to look at the task again though nothing
// happened. Zero means never.
func due(v *View) time.Time {
	var at time.Time
	sooner := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	if w := v.Task.Wait; v.Task.Stage == coppice.StageWaiting && w != nil {
		sooner(w.Until)
	}
	if l := v.Landing; l != nil && l.EndedAt.IsZero() && !v.Task.Ended() && l.RetryAt.After(v.Now) {
		sooner(l.RetryAt) // one that has come waits for the step under way, which ends with an event
	}
	sooner(healthDue(v))
	sooner(stopDue(v))
	sooner(cleanupDue(v))
	return at
}

// apply writes a decision to the store, brings the view up to date and wakes
// the tasks it concerns.
func (t *turn) apply(v *View, d *Decision) error {
	t.decisions++
	if err := t.applyRows(v, d); err != nil {
		return err
	}
	if err := t.dropNeeds(v, d); err != nil {
		return err
	}
	if err := t.applyWork(v, d); err != nil {
		return err
	}
	if err := t.log(v, d); err != nil {
		return err
	}
	return t.wake(v, d)
}

func (t *turn) applyRows(v *View, d *Decision) error {
	if d.Project != nil {
		if err := t.tx.Projects.Put(d.Project); err != nil {
			return err
		}
		v.Project = *d.Project
	}
	if d.Trash != nil {
		if err := t.putTrash(v, d.Trash); err != nil {
			return err
		}
	}
	if d.Workspace != nil {
		if d.Trash != nil && !d.Workspace.RemovedAt.IsZero() {
			d.Workspace.TrashID = d.Trash.ID
		}
		if err := t.tx.Workspaces.Put(d.Workspace); err != nil {
			return err
		}
		v.Workspace = d.Workspace
		if v.Trash != nil && v.Trash.ID != d.Workspace.TrashID {
			v.Trash = nil
		}
	}
	if d.Session != nil {
		if err := t.putSession(v, d.Session); err != nil {
			return err
		}
	}
	if d.Landing != nil {
		if err := t.tx.Landings.Put(d.Landing); err != nil {
			return err
		}
		v.Landing = d.Landing
	}
	for i := range d.Checks {
		if err := t.tx.Checks.Put(&d.Checks[i]); err != nil {
			return err
		}
	}
	if d.Landing != nil || len(d.Checks) > 0 {
		v.First, v.Checks = false, nil
		if err := t.viewLanding(v); err != nil {
			return err
		}
	}
	if d.Task != nil {
		if d.Task.Stage != v.Task.Stage {
			d.Task.StageAt = t.now
		}
		if err := t.tx.Tasks.Put(d.Task); err != nil {
			return err
		}
		round := d.Task.Round != v.Task.Round
		v.Task = *d.Task
		if round {
			v.Earlier = append(v.Earlier, v.Sessions...)
			v.Sessions, v.Landing, v.First, v.Checks = nil, nil, false, nil
		}
	}
	return t.applySmall(v, d)
}

func (t *turn) applySmall(v *View, d *Decision) error {
	if d.Question != nil {
		if err := t.tx.Questions.Put(d.Question); err != nil {
			return err
		}
		for i := range v.Questions {
			if v.Questions[i].ID == d.Question.ID {
				v.Questions[i] = *d.Question
			}
		}
	}
	if len(d.Messages) > 0 {
		for i := range d.Messages {
			if err := t.tx.Messages.Put(&d.Messages[i]); err != nil {
				return err
			}
		}
		v.Messages = mergeMessages(v.Messages, d.Messages)
		for _, m := range d.Messages {
			if !m.Open() {
				v.Heard = append(v.Heard, m)
			}
		}
	}
	if err := t.settleAsks(v, d); err != nil {
		return err
	}
	if d.Limit != nil {
		t.limitsRead = false
		if err := t.tx.Limits.Put(*d.Limit); err != nil {
			return err
		}
		if err := t.tx.Timers.Set(store.Timer{Kind: TimerAgent, ID: d.Limit.Agent, At: d.Limit.Until}); err != nil {
			return err
		}
		v.Limited[d.Limit.Agent] = *d.Limit
	}
	return nil
}

// mergeMessages replaces the changed ones and drops those that are settled.
func mergeMessages(all, changed []coppice.Message) []coppice.Message {
	var rest []coppice.Message
	for _, m := range all {
		for _, c := range changed {
			if c.ID == m.ID {
				m = c
			}
		}
		if m.Open() {
			rest = append(rest, m)
		}
	}
	return rest
}

func (t *turn) putTrash(v *View, tr *coppice.Trash) error {
	if err := t.tx.Trash.Put(tr); err != nil {
		return err
	}
	v.Trash = tr
	at := tr.ExpiresAt
	if !tr.Open() {
		at = time.Time{}
	}
	return t.tx.Timers.Set(store.Timer{Kind: TimerTrash, ID: fmt.Sprint(tr.ID), At: at})
}

func (t *turn) putSession(v *View, s *coppice.Session) error {
	fresh := s.ID == 0
	if err := t.tx.Sessions.Put(s); err != nil {
		return err
	}
	if fresh {
		v.Sessions = append(v.Sessions, *s)
		v.Numbered++
		return nil
	}
	if old := v.byID(s.ID); old != nil {
		*old = *s
	}
	return nil
}

// applyWork settles, cancels and offers.
func (t *turn) applyWork(v *View, d *Decision) error {
	if w := d.Settle; w != nil {
		w.State = coppice.WorkSettled
		if err := t.putWork(v, w); err != nil {
			return err
		}
	}
	if w := d.Cancel; w != nil {
		w.State = coppice.WorkCancelled
		w.FinishedAt = t.now
		if err := t.putWork(v, w); err != nil {
			return err
		}
		if err := t.clearLease(w.ID); err != nil {
			return err
		}
	}
	if w := d.Offer; w != nil {
		w.ProjectID, w.TaskID = v.Project.ID, v.Task.ID
		w.State, w.OfferedAt = coppice.WorkOffered, t.now
		if err := t.tx.Work.Put(w); err != nil {
			return err
		}
		v.Work = append(v.Work, *w)
	}
	return nil
}

func (t *turn) putWork(v *View, w *coppice.Work) error {
	if err := t.tx.Work.Put(w); err != nil {
		return err
	}
	var rest []coppice.Work
	for _, o := range v.Work {
		if o.ID != w.ID {
			rest = append(rest, o)
		}
	}
	v.Work = rest
	return nil
}

func (t *turn) clearLease(work int64) error {
	return t.tx.Timers.Set(store.Timer{Kind: TimerWork, ID: fmt.Sprint(work)})
}

// log writes the decision's event.
func (t *turn) log(v *View, d *Decision) error {
	ev := &coppice.Event{
		At: t.now, Kind: d.Kind, ProjectID: v.Project.ID, TaskID: v.Task.ID, Subject: v.Task.Key, By: d.By, Reason: d.Reason,
	}
	if d.Session != nil {
		ev.SessionID, ev.Subject = d.Session.ID, d.Session.Key
	}
	if d.Data != nil {
		b, err := json.Marshal(d.Data)
		if err != nil {
			return fmt.Errorf("event data of %s: %w", d.Kind, err)
		}
		ev.Data = b
	}
	return t.tx.Log.Append(ev)
}

// wake marks the tasks that a decision concerns besides its own: dependants of
// one that ended, and whoever comes next in the landing queue.
func (t *turn) wake(v *View, d *Decision) error {
	if d.Limit != nil && lasts(*d.Limit, t.now) {
		if err := t.wakeLimited(); err != nil {
			return err
		}
	}
	if d.Kind == coppice.EventTaskEnded || d.Kind == coppice.EventTaskRetried {
		deps, err := t.tx.Tasks.Dependants(v.Task.ID)
		if err != nil {
			return err
		}
		for _, id := range deps {
			t.dirty.add(id)
		}
	}
	left := d.Landing != nil && (!d.Landing.EndedAt.IsZero() || d.Kind == coppice.EventLandingWaits || d.Task != nil && verb.AwaitsVerdict(*d.Task)) // perhaps the queue
	if left || d.Kind == coppice.EventBaseMoved {
		first, err := t.firstInQueue(v.Project.ID)
		if err != nil {
			return err
		}
		if first != nil && first.TaskID != v.Task.ID {
			t.dirty.add(first.TaskID)
		}
	}
	return nil
}
