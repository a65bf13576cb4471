package sim

import (
	"fmt"
	"math"

	"coppice"
	"coppice/store"
)

// spendHolds checks that the counter of a task is the sum over its sessions.
func spendHolds(r store.Reader, t coppice.Task) error {
	sessions, err := r.Sessions.Of(t.ID)
	if err != nil {
		return err
	}
	sum := 0.0
	for _, x := range sessions {
		sum += x.Usage.CostUSD
	}
	spent, err := r.Spend.Of(coppice.TaskSubject(t.ID), "")
	if err == nil && math.Abs(spent.CostUSD-sum) > 1e-6 {
		err = fmt.Errorf("%s has spent %v by its counter, and %v by its sessions", t.Key, spent.CostUSD, sum)
	}
	return err
}

// daysHold checks that what a project or an account has spent today, and what its
// sessions may still spend, is within its budget for the day, but for what agents
// spent beyond what they were given.
func (s *sim) daysHold(r store.Reader) error {
	today, err := r.Spend.ByScope(coppice.Day(s.now))
	if err != nil {
		return err
	}
	most, sums := map[coppice.Subject]coppice.USD{}, map[coppice.Subject]coppice.USD{}
	for _, p := range s.projects {
		now, err := r.Projects.Get(p.ID)
		if err != nil || now.Removal != nil {
			return nil // a project that is being removed no longer has all of its sessions
		}
		most[coppice.ProjectSubject(p.ID)] = p.Policy.Budget.Day
	}
	for name, usd := range s.budgets {
		// A session can change its model. The sessions of a removed project are gone,
		// and what they spent is not.
		if _, model := coppice.SplitChoice(name); model == "" && !s.gone {
			most[coppice.AccountSubject(name)] = usd
		}
	}
	tasks, err := r.Tasks.List(store.TaskFilter{})
	if err != nil {
		return err
	}
	for _, t := range tasks {
		sessions, err := r.Sessions.Of(t.ID)
		if err != nil {
			return err
		}
		for _, x := range sessions {
			used, more := coppice.USD(x.Usage.CostUSD), coppice.USD(0)
			if x.Parked() {
				s.parked[x.Key] = true
			}
			if used > x.Budget || x.State.Live() && !x.Parked() {
				more = x.Budget - used
			}
			if s.parked[x.Key] { // nothing was reserved for what it reported while it was parked
				more -= used
			}
			sums[coppice.ProjectSubject(x.ProjectID)] += more
			sums[coppice.AccountSubject(x.Agent)] += more
		}
	}
	for of, usd := range most {
		if sum := sums[of] + today[of]; usd > 0 && sum > usd+0.05 { // sessions that continue get at least a cent each
			return fmt.Errorf("%s has spent and reserved %v of %v USD today", of, sum, usd)
		}
	}
	return nil
}
