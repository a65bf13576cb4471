package engine

import (
	"fmt"

	"coppice"
)

// Above is a task above another one in its family.
type Above struct {
	Task  coppice.Task
	Spent coppice.USD // by it and by the tasks below it, in all rounds
}

// overAbove returns the failure for the nearest task above whose budget is reached
// when a session of this task spends more, or nil. The budget of a task that has
// ended no longer counts: nobody can raise it, and each task below has its share.
func overAbove(v *View, more coppice.USD) *coppice.Failure {
	for _, a := range v.Above {
		most := v.Project.Policy.BudgetFor(a.Task)
		if most == 0 || a.Task.Ended() || a.Spent+more < most {
			continue
		}
		f := coppice.Failf(coppice.ClassBudget,
			fmt.Sprintf("%s has cost %s USD of %s USD with the tasks that it created", a.Task.Key, dollars(a.Spent+more), dollars(most)),
			fmt.Sprintf("raise that budget: coppice set %s --budget N", a.Task.Key))
		f.Of = a.Task.Key
		return f
	}
	return nil
}

// wakeFamily wakes the running tasks of a family when the budget of a task above
// them is reached, so that all of them stop. It does so once per turn.
func (t *turn) wakeFamily(v *View) error {
	if v.Task.Ended() {
		return nil
	}
	for _, a := range append([]Above{{v.Task, v.Spent}}, v.Above...) {
		most := v.Project.Policy.BudgetFor(a.Task)
		if most == 0 || a.Task.Ended() || a.Spent < most || t.wokenBelow[a.Task.ID] {
			continue
		}
		if t.wokenBelow == nil {
			t.wokenBelow = map[int64]bool{}
		}
		t.wokenBelow[a.Task.ID] = true
		t.dirty.add(coppice.TaskSubject(a.Task.ID))
		err := eachBelow(t.tx.Reader(), a.Task.ID, func(below coppice.Task) error {
			if below.Stage == coppice.StageSession {
				t.dirty.add(coppice.TaskSubject(below.ID))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// stopChildren asks the open tasks below a stopped task to stop. A task that is done,
// or has failed, leaves them running. So does one whose landing was taken off its
// branch.
func (t *turn) stopChildren(v *View, d *Decision) error {
	if d.Kind != coppice.EventTaskEnded || d.Task == nil || d.Task.Outcome != coppice.OutcomeCancelled || d.Task.Reverted != nil {
		return nil
	}
	return eachBelow(t.tx.Reader(), v.Task.ID, func(below coppice.Task) error {
		of := coppice.TaskSubject(below.ID)
		asks, err := t.tx.Asks.Open(of)
		if err != nil || coppice.Asked(asks, coppice.VerbStop) != nil {
			return err
		}
		a := coppice.Ask{
			Subject: of, ProjectID: v.Project.ID, Verb: coppice.VerbStop, Text: v.Task.Key + ", which created it, was stopped",
			By: coppice.Actor{Kind: coppice.ActorEngine, Name: "family"}, At: t.now,
		}
		if err := t.tx.Asks.Put(&a); err != nil {
			return err
		}
		t.dirty.add(of)
		return nil
	})
}
