package engine

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coppice"
	"coppice/store"
)

// app is the project of the tests.
var app = coppice.ProjectSubject(1)

// daily gives the project a budget for the day, of which so much is spent and
// reserved.
func daily(most, spent, reserved coppice.USD) func(*Capacity) {
	return func(r *Capacity) {
		inProject(func(p *coppice.Project) { p.Policy.Budget.Day = most })(r)
		r.Today[app], r.Reserved[app] = spent, reserved
	}
}

func TestDayBudgetBlocks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		capacity Capacity
		why      string
	}{
		"no budget":        {capacity(daily(0, 100, 100)), ""},
		"something left":   {capacity(daily(20, 15, 4)), ""},
		"spent":            {capacity(daily(20, 20, 0)), "the project has spent 20 of 20 USD today; continues at 00:00 UTC"},
		"overrun":          {capacity(daily(20, 20.5, 0)), "the project has spent 20.50 of 20 USD today; continues at 00:00 UTC"},
		"almost spent":     {capacity(daily(20, 19.996, 0)), "the project has spent 20 of 20 USD today; continues at 00:00 UTC"},
		"reserved":         {capacity(daily(20, 5, 15)), "the project has spent 5 of 20 USD today, and running sessions can spend the rest"},
		"of another":       {capacity(daily(20, 20, 0), func(r *Capacity) { r.Today[coppice.ProjectSubject(2)], r.Today[app] = 20, 0 }), ""},
		"behind the limit": {capacity(daily(20, 20, 0), func(r *Capacity) { r.Limited["ann"] = coppice.AgentLimit{Agent: "ann", Text: "log in"} }), "ann waits for a person: log in"},
	} {
		why, until := c.capacity.Blocked(laneMain)
		if why != c.why {
			t.Errorf("%s: %q, want %q", name, why, c.why)
		}
		if midnight := noon.Add(12 * time.Hour); strings.HasPrefix(why, "the project has spent") && !until.Equal(midnight) {
			t.Errorf("%s: until %v", name, until)
		}
	}
}

func TestGrants(t *testing.T) {
	t.Parallel()
	budget := func(usd coppice.USD) func(*coppice.Task) { return func(t *coppice.Task) { t.Budget = usd } }
	for name, c := range map[string]struct {
		capacity Capacity
		tasks    []coppice.Task
		want     map[int64]coppice.USD
	}{
		"no budget":                 {capacity(), tasks(1), map[int64]coppice.USD{1: 0}},
		"the task's":                {capacity(), []coppice.Task{queuedTask(1, budget(3))}, map[int64]coppice.USD{1: 3}},
		"what is left of it":        {capacity(func(r *Capacity) { r.Spent[1] = 2 }), []coppice.Task{queuedTask(1, budget(3))}, map[int64]coppice.USD{1: 1}},
		"a cent at least":           {capacity(func(r *Capacity) { r.Spent[1] = 5 }), []coppice.Task{queuedTask(1, budget(3))}, map[int64]coppice.USD{1: 0.01}},
		"a fifth of the day's":      {capacity(daily(50, 0, 0)), tasks(1), map[int64]coppice.USD{1: 10}},
		"as many shares as places":  {capacity(daily(50, 0, 0)), tasks(1, 2, 3, 4, 5, 6), map[int64]coppice.USD{1: 10, 2: 10, 3: 10, 4: 10, 5: 10}},
		"two at least":              {capacity(daily(5, 0, 0)), tasks(1, 2, 3, 4), map[int64]coppice.USD{1: 2, 2: 2, 3: 1}},
		"the task's is less":        {capacity(daily(50, 0, 0)), []coppice.Task{queuedTask(1, budget(3))}, map[int64]coppice.USD{1: 3}},
		"the day's is less":         {capacity(daily(50, 45, 4)), []coppice.Task{queuedTask(1, budget(3))}, map[int64]coppice.USD{1: 1}},
		"what others have reserved": {capacity(daily(50, 20, 20), running(laneMain, 4)), tasks(1), map[int64]coppice.USD{1: 10}},
	} {
		fill(c.capacity, map[coppice.Lane][]coppice.Task{laneMain: c.tasks})
		if len(c.capacity.Granted) != len(c.want) {
			t.Errorf("%s: %v, want %v", name, c.capacity.Granted, c.want)
		}
		for id, want := range c.want {
			if got := c.capacity.Granted[id]; got-want > 1e-9 || want-got > 1e-9 {
				t.Errorf("%s: task %d gets %v, want %v", name, id, got, want)
			}
		}
	}
}

// Whatever starts, what is spent and reserved stays within the day's budget.
func TestGrantsStayWithinTheDay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		usd := rapid.Map(rapid.IntRange(0, 3000), func(n int) coppice.USD { return coppice.USD(n) / 100 })
		most := usd.Draw(rt, "most") + 0.01
		r := capacity(daily(most, 0, 0), inProject(func(p *coppice.Project) { p.Policy.Limits.Sessions = rapid.IntRange(1, 20).Draw(rt, "places") }))
		var list []coppice.Task
		for id := range rapid.Int64Range(1, 20).Draw(rt, "tasks") {
			list = append(list, queuedTask(id+1, func(t *coppice.Task) { t.Budget = usd.Draw(rt, "budget") }))
		}
		fill(r, map[coppice.Lane][]coppice.Task{laneMain: list})
		var sum coppice.USD
		for _, g := range r.Granted {
			if g <= 0 {
				rt.Fatalf("a session starts with %v", g)
			}
			sum += g
		}
		if sum > most+1e-9 {
			rt.Fatalf("%v is granted of %v", sum, most)
		}
	})
}

func TestDayBudgetStops(t *testing.T) {
	t.Parallel()
	twenty := policy(func(p *coppice.Policy) { p.Budget.Day = 20 })
	five := policy(func(p *coppice.Policy) { p.Budget.Task = 5 })
	today := func(usd coppice.USD) change {
		return func(v *View) { v.Today = map[coppice.Subject]coppice.USD{app: usd} }
	}
	given := func(usd coppice.USD) func(*coppice.Session) { return func(s *coppice.Session) { s.Budget = usd } }
	stops := "budget: work.offered; session working; stop 1 for budget; offer session.stop session/11/stop/1 to local"
	run(t, budget, []decision{
		{"below", viewOf(coppice.StageSession, twenty, today(19.99), space(), ran("", live, cost(1)), taken(coppice.WorkRun)), "nothing"},
		{"reached by whomever", viewOf(coppice.StageSession, twenty, today(20), space(), ran("", live, cost(1)), taken(coppice.WorkRun)), stops},
		{"its share is spent", viewOf(coppice.StageSession, twenty, today(3), space(), ran("", live, cost(2), given(2)), taken(coppice.WorkRun)), stops},
		{"its share is not", viewOf(coppice.StageSession, twenty, today(3), space(), ran("", live, cost(1.99), given(2)), taken(coppice.WorkRun)), "nothing"},
		{"a person's own session is theirs", viewOf(coppice.StageSession, twenty, today(20), space(), ran("", live, cost(1), onScreen), taken(coppice.WorkRun)), "nothing"},
		{"queued: the lane waits", viewOf(coppice.StageQueued, twenty, today(20), task(func(t *coppice.Task) { t.Next = &coppice.Next{Role: coppice.RoleFix, Agent: "ann"} })), "nothing"},
		{"the task's budget was raised in the meantime", viewOf(coppice.StageSession, five, space(), ran("", live, cost(2), given(2)), taken(coppice.WorkRun)), "nothing"},
	})
	ended := func(r coppice.RunResult, c ...change) *coppice.Failure {
		v := viewOf(coppice.StageSession, append([]change{space(), ran("", live, cost(1), given(2), why(coppice.StopBudget))}, c...)...)
		finished(coppice.WorkRun, r)(v)
		return settle(v).Session.Failure
	}
	stopped := coppice.RunResult{Stopped: true, Usage: coppice.Usage{CostUSD: 1.5}}
	refused := coppice.RunResult{Failure: coppice.Failf(coppice.ClassBudget, "the agent says so", ""), Usage: coppice.Usage{CostUSD: 2.25}}
	for name, c := range map[string]struct {
		fail *coppice.Failure
		want string
	}{
		"the task's is nearer":   {ended(stopped, five, twenty, today(20), func(v *View) { v.Spent = 4.5 - 1 }), "budget: has cost 5 USD of 5 USD"},
		"the day's":              {ended(stopped, five, twenty, today(19.5)), "day_budget: the project has spent 20 of 20 USD today"},
		"its share":              {ended(refused, five, twenty, today(3)), "day_budget: has spent the session's share of 2 USD"},
		"raised in the meantime": {ended(stopped, five, twenty, today(3)), "day_budget: was stopped because of a budget that has been raised since"},
		"an agent's own":         {ended(coppice.RunResult{Failure: refused.Failure}), "budget: the agent says so"},
		"an agent's, and a task": {ended(coppice.RunResult{Failure: refused.Failure}, five), "budget: has cost 0 USD of 5 USD"},
	} {
		if got := string(c.fail.Class) + ": " + c.fail.Text; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A project that has spent what it may stops its sessions, waits, and continues by
// itself at midnight, or with a larger budget.
func TestDayBudget(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Budget.Day, p.Policy.Limits.Sessions = 4, 2 })
	b.create(coppice.NewTask{Title: "a"}, coppice.NewTask{Title: "b"}, coppice.NewTask{Title: "c"})
	b.turn()
	for _, key := range []string{"app-1", "app-2"} {
		b.finish(key, coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws", BaseCommit: "base1", Head: "base1"})
		b.begins(key, 2)
	}
	// One session spends more than all: the other one is stopped as well.
	b.spends("app-1", 4.5)
	for _, key := range []string{"app-1", "app-2"} {
		if w := b.unsettled(key); w.Kind != coppice.WorkStop {
			t.Fatalf("%s has %s to do", key, w.Kind)
		}
	}
	for _, key := range []string{"app-1", "app-2"} {
		b.finish(key, coppice.WorkStop, coppice.StopResult{})
		b.result(key, coppice.WorkRun, coppice.RunResult{Stopped: true, Conversation: "talk " + key, Usage: b.lastSession(key).Usage})
	}
	due := b.turn().Due
	for _, key := range []string{"app-1", "app-2", "app-3"} {
		s := b.status(key)
		if s.Status != coppice.StatusWaiting || s.Reason != "the project has spent 4.50 of 4 USD today; continues at 00:00 UTC" || s.Fix != dayFix {
			t.Errorf("%s: %s, %q [%s]", key, s.Status, s.Reason, s.Fix)
		}
	}
	midnight := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	if !due.Equal(midnight) {
		t.Errorf("the next turn is due at %v", due)
	}
	b.clock = midnight.Add(-time.Second)
	if b.turn(); b.task("app-1").Stage != coppice.StageQueued {
		t.Error("it continues before midnight")
	}
	b.clock = midnight
	b.turn()
	if s := b.lastSession("app-1"); s.Resume != "talk app-1" || s.Budget != 2 || s.State != coppice.SessionStarting || b.task("app-3").Stage != coppice.StageQueued {
		t.Errorf("it continues as %+v", s)
	}
	b.begins("app-1", 2)
	b.spends("app-1", 4)
	b.finish("app-1", coppice.WorkStop, coppice.StopResult{})
	b.result("app-1", coppice.WorkRun, coppice.RunResult{Stopped: true, Usage: coppice.Usage{CostUSD: 4}})
	b.turn()
	if b.task("app-1").Stage != coppice.StageQueued {
		t.Fatalf("it is %s", b.task("app-1").Stage)
	}
	b.update(func(tx store.Tx) error {
		p, err := tx.Projects.Get(1)
		if err != nil {
			return err
		}
		p.Policy.Budget.Day = 40
		if err := tx.Projects.Put(&p); err != nil {
			return err
		}
		return tx.Log.Append(&coppice.Event{At: b.clock, Kind: coppice.EventProjectChanged, ProjectID: 1, By: "test"})
	})
	if b.turn(); b.task("app-1").Stage != coppice.StageSession {
		t.Error("a larger budget does not let it continue")
	}
}

// begins has the newest session of a task run, with a budget.
func (b *bundle) begins(key string, budget coppice.USD) {
	b.t.Helper()
	spec := specOf[coppice.RunSpec](b, b.unsettled(key))
	if spec.Budget != budget {
		b.t.Errorf("%s begins with %v, want %v", key, spec.Budget, budget)
	}
	b.takes(key, coppice.WorkRun)
	s := b.lastSession(key)
	s.State, s.StartedAt = coppice.SessionWorking, b.clock
	b.update(func(tx store.Tx) error { return tx.Sessions.Put(&s) })
}

// spends records what the newest session of a task has cost, and takes a turn.
func (b *bundle) spends(key string, usd float64) {
	b.t.Helper()
	s := b.lastSession(key)
	s.Usage.CostUSD = usd
	b.update(func(tx store.Tx) error {
		if err := tx.Sessions.Put(&s); err != nil {
			return err
		}
		return tx.Log.Append(&coppice.Event{At: b.clock, Kind: coppice.EventSessionUsage, ProjectID: s.ProjectID, TaskID: s.TaskID, SessionID: s.ID, By: "local"})
	})
	b.turn()
}

func (b *bundle) lastSession(key string) coppice.Session {
	b.t.Helper()
	id := b.task(key).ID
	return *read(b, func(r store.Reader) (*coppice.Session, error) { return r.Sessions.Last(id) })
}
