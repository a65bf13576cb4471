package engine

import (
	"fmt"
	"strconv"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// allowed is what a task may cost; 0 means no bound.
func allowed(v *View) coppice.USD {
	if v.Task.Budget > 0 {
		return v.Task.Budget
	}
	return v.Project.Policy.Budget.Task
}

// budget ends what would cost more than it may: a running session is stopped,
// and no further one starts until a person says so. A person's own session on a
// screen is theirs to end.
func budget(v *View) *Decision {
	most := allowed(v)
	if most == 0 || v.Spent < most {
		return nil
	}
	switch s := v.session(); {
	case v.Task.Stage == coppice.StageSession && s != nil && s.State.Live():
		w := v.open(coppice.WorkRun)
		if s.Screen || s.StartedAt.IsZero() || w == nil || w.Attempt == 0 {
			return nil
		}
		d := askStop(v, coppice.ClassBudget)
		if d != nil {
			d.By = "budget"
		}
		return d
	case v.Task.Stage == coppice.StageQueued && v.Task.Next != nil && !v.Task.Next.Screen:
		t, fail := v.Task, budgetReached(v, 0)
		t.Stage, t.Failure = coppice.StageWaiting, fail
		t.Wait = &coppice.Wait{On: coppice.WaitPerson, Text: fail.Text, Fix: fail.Fix}
		return &Decision{By: "budget", Kind: coppice.EventTaskStage, Reason: fail.Text, Task: &t}
	}
	return nil
}

// budgetReached is the failure of a task that has cost what it may. More is
// what the session cost that the facts do not show yet.
func budgetReached(v *View, more float64) *coppice.Failure {
	text := fmt.Sprintf("has cost %s USD of %s USD", dollars(v.Spent+coppice.USD(more)), dollars(allowed(v)))
	return coppice.Failf(coppice.ClassBudget, text, fmt.Sprintf("raise its budget (coppice set %s --budget N), or say retry to grant as much again", v.Task.Key))
}

// dollars writes an amount to the cent, or without cents when there are none.
func dollars(u coppice.USD) string {
	s := strconv.FormatFloat(float64(u), 'f', 2, 64)
	if len(s) > 3 && s[len(s)-3:] == ".00" {
		s = s[:len(s)-3]
	}
	return s
}

// grant raises the budget of a task that has used it up, by as much again.
func grant(v *View, t *coppice.Task) {
	f := v.Task.Failure
	if most := allowed(v); most > 0 && (v.Spent >= most || f != nil && f.Class == coppice.ClassBudget) {
		given := v.Project.Policy.Budget.Task
		if given == 0 {
			given = most
		}
		t.Budget = min(v.Spent+given, coppice.MaxUSD)
	}
}

// affords lets a task go on that waits for a larger budget, when it has got one.
func (i *Intake) affords(tx store.Tx, t *coppice.Task) error {
	if t.Failure == nil || t.Failure.Class != coppice.ClassBudget || !verb.WaitsForWord(*t) {
		return nil
	}
	v := &View{Task: *t}
	var err error
	if v.Project, err = tx.Projects.Get(t.ProjectID); err != nil {
		return err
	}
	spent, err := tx.Spend.Of(coppice.TaskSubject(t.ID), "")
	if err != nil {
		return err
	}
	v.Spent = coppice.USD(spent.CostUSD)
	if most := allowed(v); most > 0 && v.Spent >= most {
		return nil
	}
	open, err := tx.Asks.Open(coppice.TaskSubject(t.ID))
	if err != nil || coppice.Asked(open, coppice.VerbStop) != nil {
		return err
	}
	t.Failure = nil // nothing more needs to be granted
	return i.add(tx, *t, open, coppice.Ask{Verb: coppice.VerbRetry})
}
