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

// daysHold checks that what a project has spent today, and what its sessions may
// still spend, is within its budget for the day, but for what agents spent beyond
// what they were given.
func (s *sim) daysHold(r store.Reader) error {
	today, err := r.Spend.ByProject(coppice.Day(s.now))
	if err != nil {
		return err
	}
	for _, p := range s.projects {
		day := p.Policy.Budget.Day
		if now, err := r.Projects.Get(p.ID); day == 0 || err != nil || now.Removal != nil {
			continue // a project that is being removed no longer has all of its sessions
		}
		tasks, err := r.Tasks.List(store.TaskFilter{ProjectID: p.ID})
		if err != nil {
			return err
		}
		sum := today[p.ID]
		for _, t := range tasks {
			sessions, err := r.Sessions.Of(t.ID)
			if err != nil {
				return err
			}
			for _, x := range sessions {
				used := coppice.USD(x.Usage.CostUSD)
				switch {
				case used > x.Budget:
					sum -= used - x.Budget
				case x.State.Live():
					sum += x.Budget - used
				}
			}
		}
		if sum > day+0.01 {
			return fmt.Errorf("%s has spent and reserved %v of %v USD today", p.Prefix, sum, day)
		}
	}
	return nil
}
