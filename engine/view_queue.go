package engine

import (
	"slices"
	"time"

	"coppice"
)

// QueueView is what the deciders of a queue see: the branch, and the tasks of
// the first landings. What a queue reads does not depend on how many landings
// are in it.
type QueueView struct {
	Common
	Queue coppice.Queue
	Head  *View // nil if the queue is empty
	Next  *View // the next one, while the last step of the head is in progress; otherwise nil
	Out   *View // the task whose landing will be removed, or nil

	Blocked []int64 // the first tasks that wait for a person because the base fails their checks
	busy    bool    // steps are in progress, and nothing else happened
}

// queueView loads a queue's view.
func (t *turn) queueView(id int64) (*QueueView, error) {
	q, err := t.tx.Queues.Get(id)
	if err != nil {
		return nil, gone(err)
	}
	v := &QueueView{Queue: q}
	if v.Common, err = t.common(coppice.QueueSubject(id)); err != nil {
		return nil, err
	}
	if v.Project, err = t.tx.Projects.Get(q.ProjectID); err != nil {
		return nil, err
	}
	v.busy = len(v.Work) > 0 && len(v.Asks) == 0
	for _, w := range v.Work {
		v.busy = v.busy && w.Open() && (!slices.Contains(lastSteps, w.Kind) || len(v.Work) > 1)
	}
	if v.busy {
		return v, nil
	}
	return v, v.load(t)
}

// load reads the tasks that the deciders need.
func (v *QueueView) load(t *turn) error {
	v.Head, v.Next, v.Out = nil, nil, nil
	most := 1
	if v.open(lastSteps...) != nil {
		most = 2
	}
	first, err := t.tx.Landings.Queued(v.Queue.ID, most)
	if err != nil {
		return err
	}
	for i, of := range []**View{&v.Head, &v.Next}[:len(first)] {
		if *of, err = t.view(first[i].TaskID); err != nil {
			return err
		}
	}
	if v.Head != nil {
		if err := t.viewHooks(v.Head); err != nil {
			return err
		}
	}
	if a := v.asked(coppice.VerbWithdraw); a != nil {
		if v.Out = v.task(taskIn(a)); v.Out == nil {
			if v.Out, err = t.view(taskIn(a)); err != nil {
				return err
			}
		}
	}
	v.shareWork()
	v.Blocked, err = t.tx.Landings.Blocked(v.Queue.ProjectID, mostMoved)
	return err
}

// tasks lists the views of the queue's tasks.
func (v *QueueView) tasks() []*View {
	return slices.DeleteFunc([]*View{v.Head, v.Next, v.Out}, func(of *View) bool { return of == nil })
}

// task returns the view of one of the queue's tasks, or nil.
func (v *QueueView) task(id int64) *View {
	for _, of := range v.tasks() {
		if of.Task.ID == id {
			return of
		}
	}
	return nil
}

// shareWork adds the work and the requests of the queue, and the commit below
// each landing, to the views of the tasks: the steps of a landing use a task's
// view.
func (v *QueueView) shareWork() {
	for _, of := range v.tasks() {
		of.Common, of.Queue = v.Common, v.Queue
	}
	if v.Next != nil {
		v.Next.Behind = v.Head.Landing.Commit
	}
}

// stepInProgress reports whether a step of a task's landing is in progress.
func (v *QueueView) stepInProgress(task int64) bool {
	return slices.ContainsFunc(v.Work, func(w coppice.Work) bool { return w.TaskID == task })
}

// keepNeed stores in the queue what a step reported about its branch.
func (v *QueueView) keepNeed(d *Decision) {
	q := v.Queue
	if d.tip != "" {
		q.Tip = d.tip
	}
	switch n := d.need; {
	case n == nil:
	case n.Kind == coppice.NeedCheckout: // a queue has at most one of the two
		q.Needs = q.Needs.With(*n).Without(coppice.NeedGit)
	case n.Kind == coppice.NeedGit:
		q.Needs = q.Needs.With(*n).Without(coppice.NeedCheckout)
	default:
		q.Needs = q.Needs.With(*n)
	}
	if q.Tip != v.Queue.Tip {
		d.Requests = append(d.Requests, v.askBlocked()...)
	}
	if q.Tip != v.Queue.Tip || d.need != nil {
		d.Queue = &q
	}
}

func (v *QueueView) due() time.Time {
	if h := v.Head; h != nil && !v.stepInProgress(h.Task.ID) && h.Landing.RetryAt.After(v.Now) {
		return h.Landing.RetryAt
	}
	return time.Time{}
}

// follow wakes the task of a landing that left the queue, and loads the next.
func (v *QueueView) follow(t *turn, d *Decision) error {
	l := d.Landing
	left := l != nil && (!l.EndedAt.IsZero() || l.QueueID == 0)
	if left {
		t.dirty.add(coppice.TaskSubject(l.TaskID))
	}
	if left || len(d.Asks) > 0 || d.Offer != nil && slices.Contains(lastSteps, d.Offer.Kind) {
		return v.load(t)
	}
	v.shareWork()
	if l == nil {
		return nil
	}
	of := v.task(l.TaskID)
	if err := t.viewLanding(of); err != nil || of != v.Head {
		return err
	}
	return t.viewHooks(of)
}

// taskOf returns the task that a decision of the queue is about.
func (v *QueueView) taskOf(d *Decision) *View {
	if d.Landing != nil {
		return v.task(d.Landing.TaskID)
	}
	return v.Head
}

// shown lists the views of tasks in a view.
func shown(v view) []*View {
	switch v := v.(type) {
	case *View:
		return []*View{v}
	case *QueueView:
		return v.tasks()
	}
	return nil
}

// showLanding updates a landing in the view of its owner.
func showLanding(v view, l *coppice.Landing) {
	for _, of := range shown(v) {
		if of.Task.ID == l.TaskID {
			of.Landing = l
		}
	}
}
