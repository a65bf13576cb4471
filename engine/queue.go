package engine

import (
	"encoding/json"
	"time"

	"coppice"
)

// QueueView is what the deciders of a queue see: the branch, and the task of the
// landing that comes first. What a queue reads does not depend on how many
// landings stand in it.
type QueueView struct {
	Common
	Queue coppice.Queue
	Head  *View // nil when the queue is empty
	Out   *View // the task whose landing is to be taken out, nil for none
	busy  bool  // a step of the first landing is under way, and nothing else happened
}

// queueDeciders in the order in which they are asked.
var queueDeciders = []func(*QueueView) *Decision{
	settleQueue,
	withdraw,
	branchMoved,
	needsEnd,
	nextStep,
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
		v.busy = v.busy && w.Open()
	}
	if v.busy {
		return v, nil
	}
	return v, v.load(t)
}

// load reads the tasks that the deciders look at.
func (v *QueueView) load(t *turn) error {
	v.Head, v.Out = nil, nil
	first, err := t.tx.Landings.Queued(v.Queue.ID, 1)
	if err != nil {
		return err
	}
	if len(first) > 0 {
		if v.Head, err = t.view(first[0].TaskID); err != nil {
			return err
		}
	}
	if a := v.asked(coppice.VerbWithdraw); a != nil {
		task := taskIn(a)
		if v.Out = v.Head; v.Head == nil || v.Head.Task.ID != task {
			if v.Out, err = t.view(task); err != nil {
				return err
			}
		}
	}
	v.share()
	return nil
}

// share lets the steps of a landing, which look at a task's view, see the work
// and the requests of the queue.
func (v *QueueView) share() {
	for _, of := range []*View{v.Head, v.Out} {
		if of != nil {
			of.Common = v.Common
		}
	}
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
		if d.Offer != nil {
			d.Offer.TaskID = v.Head.Task.ID
		}
		v.keep(d)
		return d
	}
	return nil
}

// keep notes in the queue what a step learned about its branch.
func (v *QueueView) keep(d *Decision) {
	q := v.Queue
	if d.tip != "" {
		q.Tip = d.tip
	}
	switch n := d.need; {
	case n == nil:
	case n.Kind == coppice.NeedCheckout: // one of the two at most
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
	if h := v.Head; h != nil && len(v.Work) == 0 && h.Landing.RetryAt.After(v.Now) {
		return h.Landing.RetryAt
	}
	return time.Time{}
}

// follow wakes the task of a landing that left the queue, and looks at the next.
func (v *QueueView) follow(t *turn, d *Decision) error {
	if q := d.Queue; q != nil {
		v.Project.BaseCommit = q.Tip
		v.Project.Needs = append(v.Project.Needs.Without(coppice.QueueNeeds...), q.Needs...)
	}
	l := d.Landing
	if left := l != nil && (!l.EndedAt.IsZero() || l.QueueID == 0); left {
		t.dirty.add(coppice.TaskSubject(l.TaskID))
	} else if l != nil || len(d.Checks) > 0 {
		v.share()
		return t.viewLanding(v.Head)
	}
	if l == nil && len(d.Asks) == 0 {
		v.share()
		return nil
	}
	return v.load(t)
}

// about is the task that a decision of the queue is about.
func (v *QueueView) about(d *Decision) *View {
	if d.Landing != nil && v.Out != nil && v.Out.Task.ID == d.Landing.TaskID {
		return v.Out
	}
	return v.Head
}

// showLanding shows a landing in the view of its owner.
func showLanding(v view, l *coppice.Landing) {
	switch v := v.(type) {
	case *View:
		v.Landing = l
	case *QueueView:
		for _, of := range []*View{v.Head, v.Out} {
			if of != nil && of.Task.ID == l.TaskID {
				of.Landing = l
			}
		}
	}
}

// settleQueue draws the conclusions of finished steps of the first landing.
func settleQueue(v *QueueView) *Decision {
	for _, w := range v.Work {
		if w.State != coppice.WorkFinished {
			continue
		}
		d := &Decision{Kind: coppice.EventWorkFinished, Reason: "its landing is over"}
		if v.Head != nil && v.Head.Task.ID == w.TaskID {
			d = settlers[w.Kind](v.Head, w)
		}
		d.By, d.Settle = "settle", &w
		return d
	}
	return nil
}

// withdrawal is what a task asks of the queue that its landing stands in.
func withdrawal(l coppice.Landing, why string) coppice.Ask {
	return coppice.Ask{
		Subject: coppice.QueueSubject(l.QueueID), Verb: coppice.VerbWithdraw, Text: why, Args: coppice.Raw(map[string]int64{"task": l.TaskID}),
	}
}

// taskIn is the task that a request to a queue is about.
func taskIn(a *coppice.Ask) int64 {
	var args struct{ Task int64 }
	if err := json.Unmarshal(a.Args, &args); err != nil {
		return 0
	}
	return args.Task
}

// withdraw takes a landing out of the queue that its task no longer wants. One
// whose move may have begun stays until that is known.
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
	if v.Head != nil && v.Head.Task.ID == l.TaskID {
		if w := v.open(coppice.WorkMove); w != nil && w.Attempt > 0 || unsure(*l) {
			return nil // the base may have moved already; its result tells
		}
		if w := v.open(coppice.WorkMerge, coppice.WorkCheck, coppice.WorkMove); w != nil {
			c := *w
			return &Decision{By: "queue", Kind: coppice.EventWorkCancelled, Reason: a.Text, Cancel: &c}
		}
	}
	c := *l
	c.Outcome, c.EndedAt, c.QueueID = coppice.LandingDropped, v.Now, 0
	d.Landing = &c
	return d
}

// branchMoved keeps what a task's merge found: the branch moved in a way that a
// person must look at.
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

// needsEnd ends the needs that the first landing no longer waits for: it landed
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

// nextStep takes the first landing one step on. A landing that waits is tried
// when its pause is over, or when somebody asks for it.
func nextStep(v *QueueView) *Decision {
	if v.Head == nil || len(v.Work) > 0 {
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
