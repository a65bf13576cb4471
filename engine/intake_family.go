package engine

import (
	"cmp"
	"math"
	"slices"

	"coppice"
	"coppice/store"
)

// family has what a task gets from the task whose session creates it. Its zero
// value is for a task that no session creates.
type family struct {
	parent  coppice.Task
	session coppice.Session
	above   []int64 // the parent, its parent, and so on
	share   coppice.USD
}

// familyFor returns the family of a task that the author creates. It refuses a
// session whose task has too many of them.
func (i *Intake) familyFor(tx store.Tx, p coppice.Project) (f family, err error) {
	if i.by.Kind != coppice.ActorSession {
		return f, nil
	}
	if f.session, err = tx.Sessions.ByKey(i.by.Name); err != nil {
		return f, err
	}
	if f.parent, err = tx.Tasks.Get(f.session.TaskID); err != nil {
		return f, err
	}
	if f.parent.ProjectID != p.ID {
		return f, coppice.Errorf(coppice.EForbidden, "a session of another project cannot create a task in %s", p.Prefix)
	}
	if f.above, err = tx.Families.Ancestors(f.parent.ID); err != nil {
		return f, err
	}
	f.above = append([]int64{f.parent.ID}, f.above...)
	if most := p.Policy.Limits.MostDepth(); len(f.above) > most {
		return f, coppice.Errorf(coppice.EConflict, "%s is %d levels below the first task of its family, and limits.depth is %d", f.parent.Key, len(f.above)-1, most).
			WithFix("do the work in this session, or raise limits.depth in coppice.yaml")
	}
	open, err := tx.Families.OpenChildren(f.parent.ID)
	if err != nil {
		return f, err
	}
	if most := p.Policy.Limits.MostChildren(); len(open) >= most {
		return f, coppice.Errorf(coppice.EConflict, "%d tasks that %s created are open, and limits.children is %d", len(open), f.parent.Key, most).
			WithFix("wait for some of them with wait_for_tasks, or raise limits.children in coppice.yaml")
	}
	f.share, err = shareOf(tx.Reader(), p, f.parent, len(open)+1)
	return f, err
}

// shareOf returns what one of n tasks below a task can spend: its share of what is
// left of the budgets above it. 0 means that there is none.
func shareOf(r store.Reader, p coppice.Project, parent coppice.Task, n int) (share coppice.USD, err error) {
	above, err := ancestors(r, parent)
	if err != nil {
		return 0, err
	}
	spent, err := Spent(r, parent.ID)
	if err != nil {
		return 0, err
	}
	for _, a := range append([]Above{{parent, spent}}, above...) {
		most := p.Policy.BudgetFor(a.Task)
		if most == 0 || a.Task.Ended() {
			continue
		}
		left := coppice.USD(math.Floor(float64((most-a.Spent)/coppice.USD(n)+1e-9)*100) / 100)
		if left < cent {
			return 0, coppice.Errorf(coppice.EConflict, "%s has cost %s USD of %s USD, so nothing is left for another task", a.Task.Key, dollars(a.Spent), dollars(most)).
				WithFix("raise its budget: coppice set %s --budget N", a.Task.Key)
		}
		if share == 0 || left < share {
			share = left
		}
	}
	return share, nil
}

// inherit fills in what a task gets from the task whose session creates it: the
// group, the branch on which it lands, and the agent and model unless it names one.
func (f family) inherit(n *coppice.NewTask, t *coppice.Task) {
	if f.parent.ID == 0 {
		return
	}
	t.Parent, t.Onto = f.parent.ID, f.parent.Onto
	if n.Group == "" {
		t.Group = f.parent.Group
	}
	if t.Agent == "" {
		t.Agent = f.session.Agent
	}
	if t.Model == "" && t.Agent == f.session.Agent {
		t.Model = f.session.Model
		if t.Agent == f.parent.Agent {
			t.Model = cmp.Or(f.parent.Model, f.session.Model)
		}
	}
}

// admit gives a complete task its budget, and refuses one that waits for a task
// above it, which might wait for this one.
func (f family) admit(r store.Reader, p coppice.Project, t *coppice.Task) error {
	if f.parent.ID == 0 {
		return nil
	}
	if err := refuseAbove(r, *t, t.After, f.above); err != nil {
		return err
	}
	if most := p.Policy.BudgetFor(*t); f.share > 0 && (most == 0 || most > f.share) {
		t.Budget = f.share
	}
	return nil
}

// refuseAbove refuses dependencies of a task that lead to a task above it.
func refuseAbove(r store.Reader, t coppice.Task, after, above []int64) error {
	if len(above) == 0 {
		return nil
	}
	seen := map[int64]bool{}
	for next := slices.Clone(after); len(next) > 0; {
		id := next[0]
		next = next[1:]
		if seen[id] {
			continue
		}
		seen[id] = true
		d, err := r.Tasks.Get(id)
		if err != nil {
			return err
		}
		if slices.Contains(above, id) {
			return coppice.Errorf(coppice.EInvalid, "a task cannot come after %s, whose sessions created it or a task above it and might wait for it", d.Key).
				WithFix("leave out the dependency").WithField("after")
		}
		next = append(next, d.After...)
	}
	return nil
}

// ancestors returns the tasks above a task, the nearest first, with what they have
// spent. A task that was removed ends the list.
func ancestors(r store.Reader, t coppice.Task) (list []Above, err error) {
	for id := t.Parent; id != 0; {
		a := Above{}
		if a.Task, err = r.Tasks.Get(id); err != nil {
			if coppice.ErrorCode(err) == coppice.ENotFound {
				return list, nil
			}
			return list, err
		}
		if a.Spent, err = Spent(r, id); err != nil {
			return list, err
		}
		list = append(list, a)
		id = a.Task.Parent
	}
	return list, nil
}

// Spent returns what a task and the tasks below it have cost.
func Spent(r store.Reader, task int64) (coppice.USD, error) {
	own, err := r.Spend.Of(coppice.TaskSubject(task), "")
	if err != nil {
		return 0, err
	}
	below, err := r.Spend.Of(coppice.FamilySubject(task), "")
	return coppice.USD(own.CostUSD + below.CostUSD), err
}

// affordsBelow lets tasks continue that wait because a task above them had spent
// its budget, when that budget was raised.
func (i *Intake) affordsBelow(tx store.Tx, of coppice.Task) error {
	p, err := tx.Projects.Get(of.ProjectID)
	if err != nil {
		return err
	}
	spent, err := Spent(tx.Reader(), of.ID)
	if most := p.Policy.BudgetFor(of); err != nil || most > 0 && spent >= most {
		return err
	}
	return eachBelow(tx.Reader(), of.ID, func(t coppice.Task) error {
		if t.Failure == nil || t.Failure.Class != coppice.ClassBudget || t.Failure.Of != of.Key {
			return nil
		}
		if err := i.resume(tx, &t); err != nil {
			return err
		}
		if err := tx.Tasks.Put(&t); err != nil {
			return err
		}
		return i.event(tx, coppice.EventTaskChanged, t, "the budget of "+of.Key+" was raised")
	})
}

// eachBelow calls f for every open task below a task. A task between them might have
// ended, such as the lead of a goal whose workers still work.
func eachBelow(r store.Reader, task int64, f func(coppice.Task) error) error {
	for next := []int64{task}; len(next) > 0; next = next[1:] {
		children, err := r.Families.Children(next[0])
		if err != nil {
			return err
		}
		for _, t := range children {
			next = append(next, t.ID)
			if t.Ended() {
				continue
			}
			if err := f(t); err != nil {
				return err
			}
		}
	}
	return nil
}
