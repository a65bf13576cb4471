package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/store"
)

// mostReported bounds the turns that an agent reports at once.
const mostReported = 700

// raiseAccounts is a person who raises the budgets of accounts at the end. A lead that
// waits for its workers holds the rest of its account's budget, and they can need it. A
// reaction to a pull request can need more than is left for the day.
func (s *sim) raiseAccounts() error {
	if !s.opt.Flows && !s.opt.Pulls {
		return nil
	}
	raised := map[string]coppice.USD{}
	for name := range s.budgets {
		raised[name] = 1000
	}
	s.budgets = raised
	return s.intake.SetBudgets(s.ctx, raised)
}

// budgeted gives some accounts a budget for the day.
func (s *sim) budgeted() error {
	s.budgets = map[string]coppice.USD{}
	if s.opt.Plain || s.caps.IntN(2) == 0 && !s.opt.Limits {
		return nil
	}
	for _, name := range accounts {
		if s.opt.Limits || s.caps.IntN(2) == 0 {
			s.budgets[name] = coppice.USD(3 + s.caps.IntN(6))
		}
	}
	return s.intake.SetBudgets(s.ctx, s.budgets)
}

// capped gives the sessions of some roles limits.
func (s *sim) capped(p *coppice.Policy) {
	if s.opt.Plain || s.caps.IntN(2) == 0 && !s.opt.Limits {
		return
	}
	p.Agent.Limits = map[coppice.Role]coppice.RunLimits{
		coppice.RoleImplement: {Turns: 2 + s.caps.IntN(5)},
		coppice.RoleFix:       {Time: coppice.Duration(10+s.caps.IntN(20)) * coppice.Duration(time.Minute)},
		coppice.RoleVerify:    {Turns: 3 + s.caps.IntN(9), Budget: coppice.USD(1 + s.caps.IntN(3))},
	}
}

// own gives a task its own limits.
func (s *sim) own(n *coppice.NewTask) {
	if s.opt.Plain {
		return
	}
	switch s.caps.IntN(6) {
	case 0:
		n.Turns = 1 + s.caps.IntN(9)
	case 1:
		n.Time = coppice.Duration(10+s.caps.IntN(50)) * coppice.Duration(time.Minute)
	case 2:
		n.UntilDone = true
	}
}

// limitActions are what happens in histories in which sessions reach limits.
func (s *sim) limitActions() weights {
	return weights{
		{"turn", 20}, {"take", 14}, {"work", 30}, {"agent", 30}, {"time", 4}, {"renew", 6}, {"ask", 3}, {"create", 8}, {"crash server", 1},
		{"converse", 2}, {"limit", 4},
	}
}

// writes is the share of an agent's actions in which it only writes something.
func (s *sim) writes() int {
	if s.opt.Limits && !s.calm {
		return 95
	}
	if s.opt.Retries {
		return 15
	}
	return 30
}

// limited counts the sessions that were stopped at a limit, and those that were
// stopped because of the budget of an account.
type limited struct{ AtLimit, OfAccount int }

func (l *limited) count(e coppice.Event) {
	if e.Kind != coppice.EventSessionEnded {
		return
	}
	for _, text := range []string{"failed: has used ", "failed: has worked for "} {
		if strings.HasPrefix(e.Reason, text) {
			l.AtLimit++
		}
	}
	if strings.HasPrefix(e.Reason, "failed: alpha") || strings.HasPrefix(e.Reason, "failed: beta") {
		l.OfAccount++
	}
}

// turns is how many turns an agent reports.
func (s *sim) turns() int64 {
	if s.caps.IntN(10) == 0 {
		return int64(1 + s.caps.IntN(mostReported))
	}
	return int64(s.caps.IntN(8))
}

// relimit is a person who raises the budget of an account, or acts on a task that
// is at a limit.
func (s *sim) relimit() error {
	if names := slices.Sorted(maps.Keys(s.budgets)); len(names) > 0 && s.caps.IntN(8) == 0 {
		raised := maps.Clone(s.budgets)
		raised[names[s.caps.IntN(len(names))]] += coppice.USD(1 + s.caps.IntN(3))
		err := s.intake.SetBudgets(s.ctx, raised)
		if err == nil {
			s.budgets = raised
		}
		return err
	}
	key, err := s.oneOf("", func(t coppice.Task) bool { return t.Failure != nil && t.Failure.Class == coppice.ClassLimit })
	if err != nil || key == "" {
		return err
	}
	switch s.caps.IntN(3) {
	case 0:
		n := s.caps.IntN(40)
		_, err = s.intake.ChangeTask(s.ctx, key, coppice.TaskChange{Turns: &n})
	case 1:
		yes := true
		_, err = s.intake.ChangeTask(s.ctx, key, coppice.TaskChange{UntilDone: &yes})
	default:
		return s.land(key)
	}
	return err
}

// runLimitsHold checks after a turn that each session at a limit of turns was asked
// to stop, and that no session is beyond the limit of every session, but for what
// agents report late. No session of an account started whose budget is spent.
func (s *sim) runLimitsHold(r store.Reader) error {
	live, err := r.Sessions.Live()
	if err != nil {
		return err
	}
	today, err := r.Spend.ByScope(coppice.Day(s.now))
	if err != nil {
		return err
	}
	for _, x := range live {
		t, err := r.Tasks.Get(x.TaskID)
		if err != nil {
			return err
		}
		p, err := r.Projects.Get(x.ProjectID)
		if err != nil {
			return err
		}
		most := t.RunLimits(p.Policy, x.Role).Turns
		if most > coppice.MaxTurns {
			return fmt.Errorf("%s can have %d turns", x.Key, most)
		}
		if x.Usage.Turns >= int64(most) && x.StopWhy == "" && x.State != coppice.SessionIdle && !x.Screen && !x.Parked() && !x.StartedAt.IsZero() {
			return fmt.Errorf("%s has used %d of %d turns, and was not asked to stop", x.Key, x.Usage.Turns, most)
		}
		for _, name := range []string{x.Agent, x.AccountName()} {
			of := coppice.AccountSubject(name)
			if most := s.budgets[name]; x.CreatedAt.Equal(s.now) && most > 0 && today[of] >= most {
				return fmt.Errorf("%s was started, and %s has spent %v of %v USD", x.Key, name, today[of], most)
			}
		}
	}
	return nil
}
