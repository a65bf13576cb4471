package engine

import (
	"encoding/json"
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
	Next  *View // the next one, while the head is being pushed; otherwise nil
	Out   *View // the task whose landing will be removed, or nil
	busy  bool  // steps are in progress, and nothing else happened
}

// queueDeciders are in the order in which they are asked.
var queueDeciders = []func(*QueueView) *Decision{
	settleQueue,
	withdraw,
	branchMoved,
	needsEnd,
	nextStep,
	stepAhead,
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
		v.busy = v.busy && w.Open() && (w.Kind != coppice.WorkPush || len(v.Work) > 1)
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
	if v.open(coppice.WorkPush) != nil {
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
	if a := v.asked(coppice.VerbWithdraw); a != nil {
		if v.Out = v.task(taskIn(a)); v.Out == nil {
			if v.Out, err = t.view(taskIn(a)); err != nil {
				return err
			}
		}
	}
	v.shareWork()
	return nil
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

func (v *QueueView) decide() *Decision {
	if v.busy {
		return nil
	}
	for _, f := range queueDeciders {
		d := f(v)
		if d == nil {
			continue
		}
		v.keepNeed(d)
		return d
	}
	return nil
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
	if left || len(d.Asks) > 0 || d.Offer != nil && d.Offer.Kind == coppice.WorkPush {
		return v.load(t)
	}
	v.shareWork()
	if l == nil {
		return nil
	}
	return t.viewLanding(v.task(l.TaskID))
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

// settleQueue decides what follows finished steps.
func settleQueue(v *QueueView) *Decision {
	for _, w := range v.Work {
		if w.State != coppice.WorkFinished {
			continue
		}
		d := &Decision{Kind: coppice.EventWorkFinished, Reason: "its landing is over"}
		if of := v.task(w.TaskID); of != nil && of.Landing != nil && of.Landing.QueueID == v.Queue.ID {
			if d = settlers[w.Kind](of, w); doneEarly(of, w) {
				d = concludeLater(of, d)
			}
		}
		d.By, d.Settle = "settle", &w
		return d
	}
	return nil
}

// withdrawal returns a task's request to remove its landing from the queue.
func withdrawal(l coppice.Landing, why string) coppice.Ask {
	return coppice.Ask{
		Subject: coppice.QueueSubject(l.QueueID), Verb: coppice.VerbWithdraw, Text: why, Args: coppice.Raw(map[string]int64{"task": l.TaskID}),
	}
}

// taskIn returns the task that a request to a queue is about.
func taskIn(a *coppice.Ask) int64 {
	var args struct{ Task int64 }
	if err := json.Unmarshal(a.Args, &args); err != nil {
		return 0
	}
	return args.Task
}

// withdraw removes a landing from the queue if its task asks for it. A landing
// whose move might have started stays until its result is known.
func withdraw(v *QueueView) *Decision {
	a := v.asked(coppice.VerbWithdraw)
	if a == nil {
		return nil
	}
	d := &Decision{By: "queue", Kind: coppice.EventLandingEnded, Reason: a.Text, Asks: v.done(a)}
	l := v.Out.Landing
	if l == nil || l.QueueID != v.Queue.ID || !l.EndedAt.IsZero() {
		d.Kind, d.Reason = coppice.EventWorkFinished, "its landing is over"
		return d
	}
	if mightHaveLanded(*l) {
		return nil // its branch, or the remote, might have it already; the result shows it
	}
	for _, w := range v.Work {
		switch {
		case w.TaskID != l.TaskID || !w.Open():
		case slices.Contains(lastSteps, w.Kind) && w.Attempt > 0:
			return nil // the same
		default:
			return &Decision{By: "queue", Kind: coppice.EventWorkCancelled, Reason: a.Text, Cancel: &w}
		}
	}
	c := *l
	c.Outcome, c.EndedAt, c.QueueID = coppice.LandingDropped, v.Now, 0
	d.Landing = &c
	return d
}

// branchMoved stores what a task's merge found: the branch moved in a way that a
// person must check.
func branchMoved(v *QueueView) *Decision {
	a := v.asked(coppice.VerbMoved)
	if a == nil {
		return nil
	}
	d := &Decision{By: "queue", Kind: coppice.EventWorkFinished, Reason: "the base was seen elsewhere in the meantime", Asks: v.done(a)}
	var n coppice.Need
	if err := json.Unmarshal(a.Args, &n); err != nil || n.From != v.Queue.Tip || v.Queue.Needs.Of(n.Kind) != nil {
		return d
	}
	d.Kind, d.Reason, d.Data, d.need = coppice.EventNeedBegan, n.Text, needData(n.Kind), &n
	return d
}

// needsEnd ends the needs for which the first landing no longer waits: it landed
// or left the queue, it waits for something else, or the queue is empty.
func needsEnd(v *QueueView) *Decision {
	for _, n := range v.Queue.Needs {
		if n.Kind == coppice.NeedBase || v.Head != nil && v.Head.Landing.Waits == n.Text {
			continue
		}
		q := v.Queue
		q.Needs = q.Needs.Without(n.Kind)
		return &Decision{By: "queue", Kind: coppice.EventNeedEnded, Reason: "no landing waits for it any more", Data: needData(n.Kind), Queue: &q}
	}
	return nil
}

// nextStep takes the next step of the first landing. A landing that waits is
// retried when its pause has ended, or on request.
func nextStep(v *QueueView) *Decision {
	if v.Head == nil || v.stepInProgress(v.Head.Task.ID) {
		return nil
	}
	l := *v.Head.Landing
	if l.RetryAt.After(v.Now) && v.asked(coppice.VerbRetry) == nil {
		return nil
	}
	l.RetryAt = time.Time{}
	d := landStep(v.Head, l)
	if d != nil {
		d.By, d.Asks = "landing", v.settled(coppice.VerbRetry)
	}
	return d
}

// stepAhead merges and checks the second landing while the first is being
// pushed, as if the first had landed. So a slow network does not delay checks.
func stepAhead(v *QueueView) *Decision {
	n := v.Next
	if n == nil || v.open(coppice.WorkPush) == nil || v.stepInProgress(n.Task.ID) || n.Landing.RetryAt.After(v.Now) || v.Queue.Needs.Of(coppice.NeedBase) != nil {
		return nil
	}
	if n.Landing.Commit == "" && n.Landing.Base == n.Behind {
		return nil // it was tried, and is retried when it is the first
	}
	d := prove(n, *n.Landing)
	if d != nil {
		d.By = "landing"
	}
	return d
}

// doneEarly reports whether a merge or a check was done on a commit that is not
// on the branch, or not yet.
func doneEarly(v *View, w coppice.Work) bool {
	switch w.Kind {
	case coppice.WorkMerge:
		spec, err := coppice.DecodeSpec[coppice.MergeSpec](w)
		return err == nil && spec.Onto != "" && spec.Onto != v.Queue.Tip
	case coppice.WorkCheck:
		return v.Landing.Base != v.Queue.Tip
	}
	return false
}

// concludeLater keeps what early work proved. It never refuses the landing,
// which is retried when it is the first.
func concludeLater(v *View, d *Decision) *Decision {
	d.tip, d.need, d.Requests = "", nil, nil
	if l := d.Landing; l != nil && (!l.EndedAt.IsZero() || l.QueueID == 0 || l.Waits != "") {
		kept := *v.Landing
		kept.Candidate = coppice.Candidate{Base: v.tip(), CreatedAt: v.Now}
		d.Kind, d.Reason, d.Landing = coppice.EventLandingWaits, "is retried when it is the first", &kept
	}
	return d
}
