package engine

import (
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// account has budgets of accounts, with what they have spent and reserved.
func account(name string, most, spent, reserved coppice.USD) func(*Capacity) {
	return func(r *Capacity) {
		r.Budgets[name] = most
		r.Today[coppice.AccountSubject(name)], r.Reserved[coppice.AccountSubject(name)] = spent, reserved
	}
}

func TestAccountBudgetBlocks(t *testing.T) {
	t.Parallel()
	small := coppice.Lane{ProjectID: 1, Track: "main", Agent: "ann:small"}
	for name, c := range map[string]struct {
		capacity Capacity
		lane     coppice.Lane
		why, fix string
	}{
		"something left":       {capacity(account("ann", 20, 15, 4)), laneMain, "", ""},
		"spent":                {capacity(account("ann", 20, 20, 0)), laneMain, "ann has spent 20 of 20 USD today; continues at 00:00 UTC", "raise ann under budget.accounts in the user's config.yaml, or wait until 00:00 UTC"},
		"reserved":             {capacity(account("ann", 20, 5, 15)), laneMain, "ann has spent 5 of 20 USD today, and running sessions can spend the rest", "raise ann under budget.accounts in the user's config.yaml, or wait until 00:00 UTC"},
		"another account":      {capacity(account("bob", 20, 20, 0)), laneMain, "", ""},
		"a model of the agent": {capacity(account("ann", 20, 20, 0)), small, "ann has spent 20 of 20 USD today; continues at 00:00 UTC", "raise ann under budget.accounts in the user's config.yaml, or wait until 00:00 UTC"},
		"only the model":       {capacity(account("ann:small", 2, 2, 0)), small, "ann:small has spent 2 of 2 USD today; continues at 00:00 UTC", "raise ann:small under budget.accounts in the user's config.yaml, or wait until 00:00 UTC"},
		"not the agent":        {capacity(account("ann:small", 2, 2, 0)), laneMain, "", ""},
		"the project is nearer": {capacity(daily(5, 5, 0), account("ann", 20, 20, 0)), laneMain,
			"the project has spent 5 of 5 USD today; continues at 00:00 UTC", dayFix},
		"the model is nearer": {capacity(account("ann", 20, 20, 0), account("ann:small", 2, 2, 0)), small,
			"ann:small has spent 2 of 2 USD today; continues at 00:00 UTC", "raise ann:small under budget.accounts in the user's config.yaml, or wait until 00:00 UTC"},
	} {
		why, until := c.capacity.Blocked(c.lane)
		_, fix, _ := c.capacity.dayBudgetSpent(c.lane)
		if why != c.why || fix != c.fix {
			t.Errorf("%s: %q [%s], want %q [%s]", name, why, fix, c.why, c.fix)
		}
		if midnight := noon.Add(12 * time.Hour); why != "" && !until.Equal(midnight) {
			t.Errorf("%s: until %v", name, until)
		}
	}
}

// Every budget from which a session spends reserves what it gets.
func TestAccountGrants(t *testing.T) {
	t.Parallel()
	r := capacity(daily(50, 0, 0), account("ann", 6, 1, 2), account("ann:small", 50, 0, 0))
	lane := coppice.Lane{ProjectID: 1, Track: "main", Agent: "ann:small"}
	r.grant(lane, queuedTask(1))
	if got := r.Granted[1]; got != 2 {
		t.Fatalf("it gets %v, want 2 of the 3 USD that are left", got)
	}
	for of, want := range map[coppice.Subject]coppice.USD{app: 2, coppice.AccountSubject("ann"): 4, coppice.AccountSubject("ann:small"): 2} {
		if got := r.Reserved[of]; got != want {
			t.Errorf("%s has %v reserved, want %v", of, got, want)
		}
	}
	limited := capacity(inProject(func(p *coppice.Project) {
		p.Policy.Agent.Limits = map[coppice.Role]coppice.RunLimits{coppice.RoleImplement: {Budget: 1.5}}
	}))
	limited.grant(laneMain, queuedTask(1, func(t *coppice.Task) { t.Next = &coppice.Next{Role: coppice.RoleImplement, Agent: "ann"} }))
	if got := limited.Granted[1]; got != 1.5 {
		t.Errorf("it gets %v, want the budget of its role", got)
	}
}

// An account that has spent its budget stops its sessions in all projects. Its tasks
// continue at midnight, or with a larger budget. Other accounts continue.
func TestAccountBudget(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Limits.Sessions = 3 })
	b.must(b.SetBudgets(t.Context(), map[string]coppice.USD{"ann:big": 4, "bob": 0}))
	b.create(coppice.NewTask{Title: "a", Model: "big"}, coppice.NewTask{Title: "b", Model: "big"}, coppice.NewTask{Title: "c"})
	b.turn()
	for key, budget := range map[string]coppice.USD{"app-1": 2, "app-2": 2, "app-3": 0} {
		b.finish(key, coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws", BaseCommit: "base1", Head: "base1"})
		b.begins(key, budget)
	}
	b.spends("app-3", 100) // another account
	if w := b.unsettled("app-1"); w.Kind != coppice.WorkRun {
		t.Fatalf("another account's money stops it: %s", w.Kind)
	}
	b.spends("app-1", 4.5)
	for _, key := range []string{"app-1", "app-2"} {
		if w := b.unsettled(key); w.Kind != coppice.WorkStop {
			t.Fatalf("%s has %s to do", key, w.Kind)
		}
		b.finish(key, coppice.WorkStop, coppice.StopResult{})
		b.result(key, coppice.WorkRun, coppice.RunResult{Stopped: true, Conversation: "talk " + key, Usage: b.lastSession(key).Usage})
	}
	if w := b.unsettled("app-3"); w.Kind != coppice.WorkRun {
		t.Errorf("the other account has %s to do", w.Kind)
	}
	due := b.turn().Due
	const reason, fix = "ann:big has spent 4.50 of 4 USD today; continues at 00:00 UTC", "raise ann:big under budget.accounts in the user's config.yaml, or wait until 00:00 UTC"
	for _, key := range []string{"app-1", "app-2"} {
		if s := b.status(key); s.Status != coppice.StatusWaiting || s.Reason != reason || s.Fix != fix {
			t.Errorf("%s: %s, %q [%s]", key, s.Status, s.Reason, s.Fix)
		}
	}
	if midnight := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC); due.After(midnight) {
		t.Errorf("the next turn is due at %v", due)
	}
	list := Inbox(read(b, func(r store.Reader) (InboxFacts, error) { return LoadInbox(r, b.clock, 0) }))
	if len(list) != 1 || list[0].ID != "budget/account/ann:big" || list[0].Text != reason || list[0].Fix != fix || list[0].Project != "" {
		t.Errorf("the inbox has %+v", list)
	}
	b.must(b.SetBudgets(t.Context(), map[string]coppice.USD{"ann:big": 10}))
	b.turn()
	if s := b.lastSession("app-1"); s.Resume != "talk app-1" || s.State != coppice.SessionStarting || s.Account != "ann:big" {
		t.Errorf("with a larger budget it continues as %+v", s)
	}
}

// Budgets that do not change are not written again.
func TestSetBudgets(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	for _, c := range []struct {
		budgets map[string]coppice.USD
		changes bool
	}{{nil, false}, {map[string]coppice.USD{"ann": 0}, false}, {map[string]coppice.USD{"ann": 5}, true}, {map[string]coppice.USD{"ann": 5}, false}, {nil, true}} {
		before := b.seq()
		b.must(b.SetBudgets(t.Context(), c.budgets))
		if changed := b.seq() != before; changed != c.changes {
			t.Errorf("%v: changed %v, want %v", c.budgets, changed, c.changes)
		}
	}
}
