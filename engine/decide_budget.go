package engine

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"coppice"
)

func (v *View) allowed() coppice.USD { return v.Project.Policy.BudgetFor(v.Task) }

// dayBudget is a budget for a day, from midnight UTC: of a project, or of an
// account.
type dayBudget struct {
	of   coppice.Subject
	most coppice.USD
}

// dayBudgets lists the budgets for a day that sessions of an account spend from,
// the nearest first.
func dayBudgets(p coppice.Project, accounts map[string]coppice.USD, account string) []dayBudget {
	var list []dayBudget
	if p.Policy.Budget.Day > 0 {
		list = append(list, dayBudget{coppice.ProjectSubject(p.ID), p.Policy.Budget.Day})
	}
	agent, _ := coppice.SplitChoice(account)
	for _, name := range slices.Compact([]string{account, agent}) {
		if most := accounts[name]; most > 0 {
			list = append(list, dayBudget{coppice.AccountSubject(name), most})
		}
	}
	return list
}

func (b dayBudget) text(spent coppice.USD) string {
	name := "the project"
	if b.of.Kind == coppice.SubjectAccount {
		name = b.of.ID
	}
	return fmt.Sprintf("%s has spent %s of %s USD today", name, dollars(spent), dollars(b.most))
}

func (b dayBudget) fix() string {
	if b.of.Kind == coppice.SubjectAccount {
		return fmt.Sprintf("raise %s under budget.accounts in the user's config.yaml, or wait until 00:00 UTC", b.of.ID)
	}
	return dayFix
}

// DayWarning returns the warning of a budget for a day of which 80% is spent, or "".
// The budget belongs to a project or an account.
func DayWarning(of coppice.Subject, spent, most coppice.USD) string {
	if !near(float64(spent), float64(most)) {
		return ""
	}
	return "80% of the budget for the day is spent: " + dayBudget{of, most}.text(spent)
}

const dayFix = "raise budget.day in coppice.yaml, or wait until 00:00 UTC"

// budget stops sessions that exceed a budget, and starts no further one until a
// person acts. It does not stop a person's own session on a screen. Sessions
// that would exceed the budget of a day wait in their lanes: see
// Capacity.dayBudgetSpent.
func budget(v *View) *Decision {
	s := v.lastSession()
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
	case v.Task.Stage == coppice.StageQueued && v.Task.Next != nil && !v.Task.Next.Screen:
		t, fail := v.Task, overTask(v)
		if fail == nil {
			return nil
		}
		t.Stage, t.Failure = coppice.StageWaiting, fail
		t.Wait = &coppice.Wait{On: coppice.WaitPerson, Text: fail.Text, Fix: fail.Fix}
		return &Decision{By: "budget", Kind: coppice.EventTaskStage, Reason: fail.Text, Task: &t}
	}
	return nil
}

// overTask returns the failure for the budget of the task, or the nearest one above
// it, that is reached, or nil.
func overTask(v *View) *coppice.Failure {
	if most := v.allowed(); most > 0 && v.Spent >= most {
		return taskBudget(v, v.Spent)
	}
	return overAbove(v, 0)
}

// overBudget returns the failure for the nearest budget that is reached when a
// session has cost that much, or nil.
func overBudget(v *View, s *coppice.Session, cost float64) *coppice.Failure {
	more := coppice.USD(cost - s.Usage.CostUSD) // not in the facts yet
	if most := v.allowed(); most > 0 && v.Spent+more >= most {
		return taskBudget(v, v.Spent+more)
	}
	if f := overAbove(v, more); f != nil {
		return f
	}
	days := v.dayBudgets(s)
	for _, b := range days {
		if spent := v.Today[b.of] + more; spent >= b.most {
			return coppice.Failf(coppice.ClassDayBudget, b.text(spent), b.fix())
		}
	}
	if len(days) > 0 && s.Budget > 0 && coppice.USD(cost) >= s.Budget {
		return shareSpent(s)
	}
	return nil
}

// dayBudgets lists the budgets for a day that a session of the task spends from.
func (v *View) dayBudgets(s *coppice.Session) []dayBudget {
	return dayBudgets(v.Project, v.Budgets, s.AccountName())
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
	case reachedCost(v, s, cost) != nil:
		return reachedCost(v, s, cost)
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

// cent is the minimum with which a session starts. leastShare is its minimum
// share of a day's budget, even if other sessions could start beside it: with
// less, a task would be split into many short sessions.
const (
	cent       coppice.USD = 0.01
	leastShare coppice.USD = 2
)

// dayBudgetSpent says why the sessions of a lane can spend no more today, how a
// person can change that, and until when; "" if they can.
func (r Capacity) dayBudgetSpent(l coppice.Lane) (reason, fix string, until time.Time) {
	b, ok := r.spentBudget(l)
	if !ok {
		return "", "", time.Time{}
	}
	spent, then := r.Today[b.of], ", and running sessions can spend the rest"
	if b.most-spent < cent {
		then = "; continues at 00:00 UTC"
	}
	return b.text(spent) + then, b.fix(), coppice.NextDay(r.Now)
}

// spentBudget returns the nearest budget for the day of which the sessions of a
// lane can spend no more. What running sessions can still spend is reserved for
// them.
func (r Capacity) spentBudget(l coppice.Lane) (dayBudget, bool) {
	for _, b := range dayBudgets(r.Projects[l.ProjectID], r.Budgets, l.Agent) {
		if b.most-r.Today[b.of]-r.Reserved[b.of] < cent {
			return b, true
		}
	}
	return dayBudget{}, false
}

// grant decides what the next session of a task can spend, and reserves it: the
// rest of the task's budget, the limit of its role, or a share of the rest of a
// day's budget, whichever is least.
func (r Capacity) grant(l coppice.Lane, t coppice.Task) {
	p, usd := r.Projects[l.ProjectID], coppice.USD(0)
	least := func(most coppice.USD) {
		if usd == 0 || most < usd {
			usd = most
		}
	}
	if most := p.Policy.BudgetFor(t); most > 0 {
		least(max(most-r.Spent[t.ID], cent))
	}
	for _, a := range r.Above[t.ID] {
		if most := p.Policy.BudgetFor(a.Task); most > 0 && !a.Task.Ended() {
			least(max(most-a.Spent, cent))
		}
	}
	if t.Next != nil {
		if most := t.RunLimits(p.Policy, t.Next.Role).Budget; most > 0 {
			least(most)
		}
	}
	days := dayBudgets(p, r.Budgets, l.Agent)
	for _, b := range days {
		left := b.most - r.Today[b.of] - r.Reserved[b.of]
		least(max(left/coppice.USD(max(r.freeSessions(l, mostStarts), 1)), min(left, leastShare)))
	}
	for _, b := range days {
		r.Reserved[b.of] += usd
	}
	r.Granted[t.ID] = usd
}

// regrant returns the budget of a parked session that continues. It reserved nothing
// while it could only wait, so others might have spent some of its share of a day.
func (r Capacity) regrant(s coppice.Session) coppice.USD {
	most := s.Budget
	for _, b := range dayBudgets(r.Projects[s.ProjectID], r.Budgets, s.AccountName()) {
		most = min(most, coppice.USD(s.Usage.CostUSD)+max(b.most-r.Today[b.of]-r.Reserved[b.of], cent))
	}
	return most
}

// reserve records what a running session can still spend.
func (r Capacity) reserve(s coppice.Session) {
	left := max(s.Budget-coppice.USD(s.Usage.CostUSD), 0)
	r.Reserved[coppice.ProjectSubject(s.ProjectID)] += left
	for _, name := range slices.Compact([]string{s.AccountName(), s.Agent}) {
		r.Reserved[coppice.AccountSubject(name)] += left
	}
}

// wakeSpenders wakes the sessions that spend from a budget for today that is
// spent. The argument has the projects in which something was spent or changed.
// Project 0 means that the budgets of accounts have changed.
func (t *turn) wakeSpenders(projects map[int64]bool) error {
	if len(projects) == 0 {
		return nil
	}
	today, err := t.tx.Spend.ByScope(coppice.Day(t.now))
	if err != nil {
		return err
	}
	some, err := t.tx.Projects.Some(slices.Sorted(maps.Keys(projects)))
	if err != nil {
		return err
	}
	accounts, err := t.accountBudgets()
	if err != nil {
		return err
	}
	spent := map[coppice.Subject]bool{}
	for id, p := range some {
		of := coppice.ProjectSubject(id)
		spent[of] = p.Policy.Budget.Day > 0 && today[of] >= p.Policy.Budget.Day
	}
	for name, most := range accounts {
		of := coppice.AccountSubject(name)
		spent[of] = today[of] >= most
	}
	if !slices.Contains(slices.Collect(maps.Values(spent)), true) {
		return nil
	}
	live, err := t.tx.Sessions.Live()
	for _, s := range live {
		if spent[coppice.ProjectSubject(s.ProjectID)] || spent[coppice.AccountSubject(s.Agent)] || spent[coppice.AccountSubject(s.AccountName())] {
			t.dirty.add(coppice.TaskSubject(s.TaskID))
		}
	}
	return err
}

// accountBudgets returns the budgets of accounts. They are read once per turn.
func (t *turn) accountBudgets() (map[string]coppice.USD, error) {
	if t.budgets == nil {
		all, err := t.tx.Spend.Budgets()
		if err != nil {
			return nil, err
		}
		t.budgets = all
	}
	return t.budgets, nil
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
	if most := v.allowed(); most > 0 && (v.Spent >= most || f != nil && f.Class == coppice.ClassBudget && f.Of == "") {
		given := v.Project.Policy.Budget.Task
		if given == 0 {
			given = most
		}
		t.Budget = min(v.Spent+given, coppice.MaxUSD)
	}
}
