package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"coppice"
	"coppice/store"
)

// Decision is the result of a decider: the new rows, work to offer or cancel,
// requests to other subjects, and an entry for the log. Rows that are nil do not
// change. One decision is one event.
//
// Every row has an owner, and only the owner's deciders write it: see rows.
type Decision struct {
	By     string // the decider
	Kind   coppice.EventKind
	Reason string
	Data   any // for the log

	Task      *coppice.Task
	Session   *coppice.Session
	Workspace *coppice.Workspace
	Landing   *coppice.Landing
	Questions []coppice.Question
	Messages  []coppice.Message
	Checks    []coppice.Check
	Trash     *coppice.Trash
	Preview   *coppice.Preview
	Queue     *coppice.Queue
	Project   *coppice.Project
	Limit     *coppice.AgentLimit // of an account; without a class, the limit is removed
	More      []Row               // rows of subjects with their own tables
	Create    []coppice.Task      // new tasks: steps of a flow, or the run of a schedule

	Asks     []coppice.Ask // settled requests; without an outcome, it is the reason
	Requests []coppice.Ask // to other subjects, which are woken
	Settle   *coppice.Work // its result is part of the rows above
	Cancel   *coppice.Work
	Offer    *coppice.Work
	Wake     []coppice.Subject

	// A step of a landing also reports where the branch is, and what a person
	// must do. The queue stores both. A task asks the queue to do so.
	tip  string
	need *coppice.Need
}

// Row is a row that a decision writes.
type Row interface {
	// Owner is the kind of subject whose deciders can write it.
	Owner() coppice.SubjectKind
	Put(store.Tx) error
}

// row is a Row that a view has too.
type row struct {
	owner coppice.SubjectKind
	put   func(store.Tx) error
	show  func() // updates the view
}

func (r row) Owner() coppice.SubjectKind { return r.owner }
func (r row) Put(tx store.Tx) error      { return r.put(tx) }

// rows lists the rows of a decision, in the order in which they are written,
// with their owners. A landing belongs to its task until it is queued, and to
// the queue until it ends. A row is shown only in its owner's view.
func (d *Decision) rows(v view, now time.Time) []Row {
	var list []Row
	add := func(owner coppice.SubjectKind, put func(store.Tx) error, show func()) {
		list = append(list, row{owner, put, show})
	}
	task, _ := v.(*View)
	if d.Project != nil {
		add(coppice.SubjectProject, func(tx store.Tx) error { return tx.Projects.Put(d.Project) }, func() { v.base().Project = *d.Project })
	}
	if d.Queue != nil {
		add(coppice.SubjectQueue, func(tx store.Tx) error { return tx.Queues.Put(d.Queue) }, func() { v.(*QueueView).Queue = *d.Queue })
	}
	if d.Limit != nil {
		add(coppice.SubjectAccount, func(tx store.Tx) error { return putLimit(tx, *d.Limit) }, func() { v.(*AccountView).show(*d.Limit) })
	}
	if d.Trash != nil {
		add(coppice.SubjectTask, func(tx store.Tx) error { return tx.Trash.Put(d.Trash) }, func() { task.showTrash(d.Trash) })
	}
	if d.Workspace != nil {
		add(coppice.SubjectTask, func(tx store.Tx) error {
			if d.Trash != nil && !d.Workspace.RemovedAt.IsZero() {
				d.Workspace.TrashID = d.Trash.ID
			}
			return tx.Workspaces.Put(d.Workspace)
		}, func() { task.showWorkspace(d.Workspace) })
	}
	if d.Session != nil {
		fresh := d.Session.ID == 0
		add(coppice.SubjectTask, func(tx store.Tx) error { return tx.Sessions.Put(d.Session) }, func() { task.showSession(d.Session, fresh) })
	}
	if d.Landing != nil {
		add(landingOwner(v, d.Landing), func(tx store.Tx) error { return tx.Landings.Put(d.Landing) }, func() { showLanding(v, d.Landing) })
	}
	for i := range d.Checks {
		add(v.base().Of.Kind, func(tx store.Tx) error { return tx.Checks.Put(&d.Checks[i]) }, func() {})
	}
	if d.Task != nil {
		add(coppice.SubjectTask, func(tx store.Tx) error {
			if d.Task.Stage != task.Task.Stage {
				d.Task.StageAt = now
			}
			return tx.Tasks.Put(d.Task)
		}, func() { task.showTask(*d.Task) })
	}
	if d.Preview != nil {
		add(coppice.SubjectTask, func(tx store.Tx) error { return tx.Previews.Put(d.Preview) }, func() { task.Preview = d.Preview })
	}
	for i := range d.Questions {
		add(coppice.SubjectTask, func(tx store.Tx) error { return tx.Questions.Put(&d.Questions[i]) }, func() { task.showQuestion(d.Questions[i]) })
	}
	for i := range d.Messages {
		add(coppice.SubjectTask, func(tx store.Tx) error { return tx.Messages.Put(&d.Messages[i]) }, func() { task.showMessage(d.Messages[i]) })
	}
	return append(list, d.More...)
}

// landingOwner returns the kind of subject to which a landing and its candidates
// belong before a decision changes it.
func landingOwner(v view, l *coppice.Landing) coppice.SubjectKind {
	for _, of := range shown(v) {
		if old := of.Landing; old != nil && old.ID == l.ID && old.QueueID != 0 && old.EndedAt.IsZero() {
			return coppice.SubjectQueue
		}
	}
	return coppice.SubjectTask
}

// apply writes a decision to the store, updates the view and wakes the subjects
// that it concerns.
func (t *turn) apply(v view, d *Decision) error {
	t.decisions++
	if d.Preview != nil {
		t.previewsRead = false
	}
	if err := t.createTasks(v, d); err != nil { // the rows might name them
		return err
	}
	c := v.base()
	for _, r := range d.rows(v, t.now) {
		if r.Owner() != c.Of.Kind {
			return fmt.Errorf("a decider of %s (%s) writes a row that belongs to a %s", c.Of, d.By, r.Owner())
		}
		if err := r.Put(t.tx); err != nil {
			return err
		}
		if shown, ok := r.(row); ok {
			shown.show()
		}
	}
	if of, ok := v.(*View); ok {
		t.noteIssue(of.Task)
	}
	if err := t.applyWork(v, d); err != nil {
		return err
	}
	if err := t.applyAsks(v, d); err != nil {
		return err
	}
	if err := t.log(v, d); err != nil {
		return err
	}
	return v.follow(t, d)
}

// applyAsks settles requests to the subject, and adds requests to others.
func (t *turn) applyAsks(v view, d *Decision) error {
	c := v.base()
	for i := range d.Asks {
		a := &d.Asks[i]
		if a.Outcome == "" && !a.Open() {
			a.Outcome = d.Reason
		}
		if err := t.tx.Asks.Put(a); err != nil {
			return err
		}
		c.Asks = slices.Clone(c.Asks)
		if n := slices.IndexFunc(c.Asks, func(o coppice.Ask) bool { return o.ID == a.ID }); n >= 0 && a.Open() {
			c.Asks[n] = *a
		} else if n >= 0 {
			c.Asks = slices.Delete(c.Asks, n, n+1)
		}
	}
	for i := range d.Requests {
		a := &d.Requests[i]
		a.ProjectID, a.At = c.Project.ID, t.now
		a.By = coppice.Actor{Kind: coppice.ActorEngine, Name: d.By}
		if err := t.tx.Asks.Put(a); err != nil {
			return err
		}
		t.dirty.add(a.Subject)
	}
	for _, s := range d.Wake {
		t.dirty.add(s)
	}
	return nil
}

// applyWork settles, cancels and offers work.
func (t *turn) applyWork(v view, d *Decision) error {
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
		c := v.base()
		w.Subject, w.ProjectID = c.Of, c.Project.ID
		if w.TaskID == 0 && c.Of.Kind == coppice.SubjectTask {
			w.TaskID = c.Of.Num()
		}
		w.State, w.OfferedAt = coppice.WorkOffered, t.now
		if err := t.tx.Work.Put(w); err != nil {
			return err
		}
		c.Work = append(slices.Clone(c.Work), *w)
	}
	return nil
}

func (t *turn) putWork(v view, w *coppice.Work) error {
	c := v.base()
	c.Work = slices.DeleteFunc(slices.Clone(c.Work), func(o coppice.Work) bool { return o.ID == w.ID })
	return t.tx.Work.Put(w)
}

func (t *turn) clearLease(work int64) error {
	return t.tx.Timers.Set(store.Timer{Kind: TimerWork, ID: fmt.Sprint(work)})
}

// log writes the decision's event.
func (t *turn) log(v view, d *Decision) error {
	c := v.base()
	ev := &coppice.Event{At: t.now, Kind: d.Kind, ProjectID: c.Project.ID, About: c.Of, Subject: c.Of.ID, By: d.By, Reason: d.Reason}
	switch v := v.(type) {
	case *View:
		ev.TaskID, ev.Subject, ev.About = v.Task.ID, v.Task.Key, coppice.Subject{}
	case *QueueView:
		if of := v.taskOf(d); of != nil {
			ev.TaskID, ev.Subject = of.Task.ID, of.Task.Key
		}
	case *ProjectView, *LocksView, *ForgeView, *TrackerView:
		ev.Subject = c.Project.Prefix
	case *NoticesView:
		ev.Subject = v.about(d)
	case *ScheduleView:
		ev.Subject = v.Schedule.Name
		if d.Kind == coppice.EventScheduleRun {
			ev.TaskID = v.Schedule.LastTask
		}
	case *HooksView:
		if r, ok := firstRun(d); ok {
			ev.TaskID, ev.Subject = r.TaskID, r.Subject
		}
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
	if err := t.tx.Log.Append(ev); err != nil {
		return err
	}
	return t.fire(ev)
}
