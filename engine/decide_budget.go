package engine

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"coppice"
)

// allowed returns what a task can cost; 0 means no limit.
func allowed(p coppice.Policy, t coppice.Task) coppice.USD {
	if t.Budget > 0 {
		return t.Budget
	}
	return p.Budget.Task
}

func (v *View) allowed() coppice.USD { return allowed(v.Project.Policy, v.Task) }

// budget stops sessions that exceed a budget, and starts no further one until a
// person acts. It does not stop a person's own session on a screen. Sessions
// that would exceed the project's budget for the day wait in their lanes: see
// Capacity.dayBudgetSpent.
func budget(v *View) *Decision {
	s, most := v.lastSession(), v.allowed()
	switch {
	case v.Task.Stage == coppice.StageSession && s != nil && s.State.Live():
		w := v.open(coppice.WorkRun)
		if s.Screen || s.StartedAt.IsZero() || w == nil || w.Attempt == 0 || overBudget(v, s, s.Usage.CostUSD) == nil {
			return nil
		}
		d := askStop(v, coppice.StopBudget)
		if d != nil {
			d.By = "budget"
		}
		return d
	case v.Task.Stage == coppice.StageQueued && v.Task.Next != nil && !v.Task.Next.Screen && most > 0 && v.Spent >= most:
		t, fail := v.Task, taskBudget(v, v.Spent)
		t.Stage, t.Failure = coppice.StageWaiting, fail
		t.Wait = &coppice.Wait{On: coppice.WaitPerson, Text: fail.Text, Fix: fail.Fix}
		return &Decision{By: "budget", Kind: coppice.EventTaskStage, Reason: fail.Text, Task: &t}
	}
	return nil
}

// overBudget returns the failure for the first budget that is reached when a
// session has cost that much, or nil.
func overBudget(v *View, s *coppice.Session, cost float64) *coppice.Failure {
	more := coppice.USD(cost - s.Usage.CostUSD) // not in the facts yet
	most, day := v.allowed(), v.Project.Policy.Budget.Day
	switch {
	case most > 0 && v.Spent+more >= most:
		return taskBudget(v, v.Spent+more)
	case day > 0 && v.Today+more >= day:
		return coppice.Failf(coppice.ClassDayBudget, dayText(v.Today+more, day), dayFix)
	case (day > 0 || s.Role.Info().Budget > 0) && s.Budget > 0 && coppice.USD(cost) >= s.Budget:
		return shareSpent(s)
	}
	return nil
}

// shareSpent returns the failure of a session that has spent its share. Its task
// continues with what is left.
func shareSpent(s *coppice.Session) *coppice.Failure {
	return coppice.Failf(coppice.ClassDayBudget, fmt.Sprintf("has spent the session's share of %s USD", dollars(s.Budget)), "")
}

// endedByBudget returns the failure of a session that was stopped because of a
// budget, or whose agent reports that it reached one. Nil means that none of
// Coppice's budgets is reached.
func endedByBudget(v *View, s *coppice.Session, r coppice.RunResult) *coppice.Failure {
	cost := r.Usage.CostUSD
	switch f := overBudget(v, s, cost); {
	case f != nil:
		return f
	case s.Budget > 0 && coppice.USD(cost) >= s.Budget:
		return shareSpent(s)
	case r.Stopped:
		return coppice.Failf(coppice.ClassDayBudget, "was stopped because of a budget that has been raised since", "")
	case v.allowed() > 0:
		return taskBudget(v, v.Spent+coppice.USD(cost-s.Usage.CostUSD))
	}
	return nil
}

// taskBudget returns the failure of a task that has used its budget.
func taskBudget(v *View, spent coppice.USD) *coppice.Failure {
	text := fmt.Sprintf("has cost %s USD of %s USD", dollars(spent), dollars(v.allowed()))
	return coppice.Failf(coppice.ClassBudget, text, fmt.Sprintf("raise its budget (coppice set %s --budget N), or retry it to grant the same amount again", v.Task.Key))
}

func dayText(spent, most coppice.USD) string {
	return fmt.Sprintf("the project has spent %s of %s USD today", dollars(spent), dollars(most))
}

const dayFix = "raise budget.day in coppice.yaml, or wait until 00:00 UTC"

// cent is the minimum with which a session starts. leastShare is its minimum
// share of a day's budget, even if other sessions could start beside it: with
// less, a task would be split into many short sessions.
const (
	cent       coppice.USD = 0.01
	leastShare coppice.USD = 2
)

// dayBudgetSpent says why a project can spend no more today, and until when; ""
// if it can. What running sessions can still spend is reserved for them.
func (r Capacity) dayBudgetSpent(p coppice.Project) (reason string, until time.Time) {
	most, spent := p.Policy.Budget.Day, r.Today[p.ID]
	switch {
	case most == 0 || most-spent-r.Reserved[p.ID] >= cent:
		return "", time.Time{}
	case most-spent < cent:
		return dayText(spent, most) + "; continues at 00:00 UTC", coppice.NextDay(r.Now)
	}
	return dayText(spent, most) + ", and running sessions can spend the rest", coppice.NextDay(r.Now)
}

// grant decides what the next session of a task can spend, and reserves it: the
// rest of the task's budget, or a share of the rest of the day's budget,
// whichever is less.
func (r Capacity) grant(l coppice.Lane, t coppice.Task) {
	p := r.Projects[l.ProjectID]
	usd := coppice.USD(0)
	if most := allowed(p.Policy, t); most > 0 {
		usd = max(most-r.Spent[t.ID], cent)
	}
	if day := p.Policy.Budget.Day; day > 0 {
		left := day - r.Today[p.ID] - r.Reserved[p.ID]
		share := max(left/coppice.USD(max(r.freeSessions(l, mostStarts), 1)), min(left, leastShare))
		if usd == 0 || share < usd {
			usd = share
		}
		r.Reserved[p.ID] += usd
	}
	r.Granted[t.ID] = usd
}

// reserve records what a running session can still spend.
func (r Capacity) reserve(s coppice.Session) {
	r.Reserved[s.ProjectID] += max(s.Budget-coppice.USD(s.Usage.CostUSD), 0)
}

// wakeSpenders wakes the sessions of projects that have spent their budget for
// today. The argument has the projects in which something was spent.
func (t *turn) wakeSpenders(projects map[int64]bool) error {
	if len(projects) == 0 {
		return nil
	}
	today, err := t.tx.Spend.ByProject(coppice.Day(t.now))
	if err != nil {
		return err
	}
	ids := slices.Sorted(maps.Keys(projects))
	some, err := t.tx.Projects.Some(ids)
	if err != nil {
		return err
	}
	over := func(id int64) bool { day := some[id].Policy.Budget.Day; return day > 0 && today[id] >= day }
	if !slices.ContainsFunc(ids, over) {
		return nil
	}
	live, err := t.tx.Sessions.Live()
	for _, s := range live {
		if projects[s.ProjectID] && over(s.ProjectID) {
			t.dirty.add(coppice.TaskSubject(s.TaskID))
		}
	}
	return err
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
	if most := v.allowed(); most > 0 && (v.Spent >= most || f != nil && f.Class == coppice.ClassBudget) {
		given := v.Project.Policy.Budget.Task
		if given == 0 {
			given = most
		}
		t.Budget = min(v.Spent+given, coppice.MaxUSD)
	}
}
