package engine

import (
	"encoding/json"
	"slices"
	"time"

	"coppice"
)

// queueDeciders are in the order in which they are asked.
var queueDeciders = []func(*QueueView) *Decision{
	settleQueue,
	withdraw,
	branchMoved,
	needsEnd,
	nextStep,
	stepAhead,
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

// stepAhead merges and checks the second landing while the first is being pushed
// or moved, as if the first had landed. So neither a slow network nor the files of
// a checkout delay the next landing.
func stepAhead(v *QueueView) *Decision {
	n := v.Next
	if n == nil || mightHaveLanded(*n.Landing) || v.open(lastSteps...) == nil || v.stepInProgress(n.Task.ID) || n.Landing.RetryAt.After(v.Now) || v.Queue.Needs.Of(coppice.NeedBase) != nil {
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
