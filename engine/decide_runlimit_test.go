package engine

import (
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

func turns(n int64) func(*coppice.Session) {
	return func(s *coppice.Session) { s.Usage.Turns = n }
}

func aged(d time.Duration) func(*coppice.Session) {
	return func(s *coppice.Session) { s.StartedAt, s.OutputAt = noon.Add(-d), noon }
}

// roleLimits gives the role implement limits.
func roleLimits(l coppice.RunLimits) change {
	return policy(func(p *coppice.Policy) { p.Agent.Limits = map[coppice.Role]coppice.RunLimits{coppice.RoleImplement: l} })
}

func TestRunLimits(t *testing.T) {
	t.Parallel()
	own := func(f func(*coppice.Task)) change { return task(f) }
	on := func(session func(*coppice.Session), changes ...change) *View {
		return viewOf(coppice.StageSession, append([]change{space(), ran("", live, session), taken(coppice.WorkRun)}, changes...)...)
	}
	both := func(f ...func(*coppice.Session)) func(*coppice.Session) {
		return func(s *coppice.Session) {
			for _, g := range f {
				g(s)
			}
		}
	}
	idle := func(s *coppice.Session) { s.State = coppice.SessionIdle }
	forty := own(func(t *coppice.Task) { t.Turns = 40 })
	half := own(func(t *coppice.Task) { t.Time = coppice.Duration(30 * time.Minute) })
	untilDone := own(func(t *coppice.Task) { t.UntilDone = true })
	stops := "limits: work.offered; session working; stop 1 for limit; offer session.stop session/11/stop/1 to local"
	run(t, runLimit, []decision{
		{"no limit", on(turns(999)), "nothing"},
		{"the limit of every session", on(turns(1000)), stops},
		{"the limit of every session, until done", on(turns(1000), untilDone), stops},
		{"turns left", on(turns(39), forty), "nothing"},
		{"the task's turns", on(turns(40), forty), stops},
		{"the role's turns", on(turns(10), roleLimits(coppice.RunLimits{Turns: 10})), stops},
		{"the task's replace the role's", on(turns(10), roleLimits(coppice.RunLimits{Turns: 10}), forty), "nothing"},
		{"until done", on(turns(10), roleLimits(coppice.RunLimits{Turns: 10}), untilDone), "nothing"},
		{"another role", on(both(turns(10), fixing), roleLimits(coppice.RunLimits{Turns: 10})), "nothing"},
		{"time left", on(aged(30*time.Minute-1), half), "nothing"},
		{"the task's time", on(aged(30*time.Minute), half), stops},
		{"the role's time", on(aged(time.Minute), roleLimits(coppice.RunLimits{Time: coppice.Duration(time.Minute)})), stops},
		{"the time in which it was parked", on(both(aged(time.Hour), func(s *coppice.Session) { s.ParkedFor = coppice.Duration(31 * time.Minute) }), half), "nothing"},
		{"the role's budget", on(cost(1), roleLimits(coppice.RunLimits{Budget: 1})), stops},
		{"budget left", on(cost(0.99), roleLimits(coppice.RunLimits{Budget: 1})), "nothing"},
		{"it is about to end", on(both(turns(40), idle), forty), "nothing"},
		{"it does not end", on(both(aged(30*time.Minute), idle), half), strings.Replace(stops, "working", "idle", 1)},
		{"a person's own session is theirs", on(both(turns(40), onScreen), forty), "nothing"},
		{"it waits for a person", on(both(turns(40), parkedFor(time.Minute)), forty), "nothing"},
		{"asked already", on(turns(40), forty, offered(coppice.WorkStop)), "nothing"},
	})
	run(t, health, []decision{
		{"its own time replaces the timeout", on(aged(5*time.Hour), own(func(t *coppice.Task) { t.Time = coppice.Duration(24 * time.Hour) }), warnedOf("long-running: more than 1h")), "nothing"},
		{"until done there is no timeout", on(aged(5*time.Hour), untilDone, warnedOf("long-running: more than 1h")), "nothing"},
	})
}

func warnedOf(text string) change { return task(func(t *coppice.Task) { t.Warning = text }) }

// A session warns one time for each limit of which 80% is used.
func TestNearLimits(t *testing.T) {
	t.Parallel()
	on := func(session func(*coppice.Session), changes ...change) *View {
		return viewOf(coppice.StageSession, append([]change{space(), ran("", live, session), taken(coppice.WorkRun)}, changes...)...)
	}
	warns := func(text string) string { return `health: session.warned; warns "` + text + `"; session working` }
	five := policy(func(p *coppice.Policy) { p.Budget.Task = 5 })
	forty := task(func(t *coppice.Task) { t.Turns = 40 })
	spent, used := "80% of its budget of 5 USD is spent", "80% of its 40 turns are used"
	run(t, health, []decision{
		{"less", on(cost(3.99), five), "nothing"},
		{"money", on(cost(4), five), warns(spent)},
		{"said already", on(cost(4.9), five, warnedOf(spent)), "nothing"},
		{"no more", on(cost(4), warnedOf(spent)), warns("")},
		{"turns", on(turns(32), forty), warns(used)},
		{"few turns", on(turns(31), forty), "nothing"},
		{"the turns of every session", on(turns(800)), warns("80% of its 1000 turns are used")},
		{"time", on(aged(24*time.Minute), task(func(t *coppice.Task) { t.Time = coppice.Duration(30 * time.Minute) })), warns("80% of its time of 30m is used")},
		{"the role's budget", on(cost(0.8), roleLimits(coppice.RunLimits{Budget: 1})), warns("80% of the session's 1 USD is spent")},
		{"two", on(func(s *coppice.Session) { cost(4)(s); turns(32)(s) }, five, forty), warns(spent + "; " + used)},
	})
	d := health(on(func(s *coppice.Session) { cost(4)(s); turns(32)(s) }, five, forty, warnedOf(spent)))
	if d == nil || d.Reason != used {
		t.Errorf("the second warning is logged as %+v, want only %q", d, used)
	}
	v := viewOf(coppice.StageSession, ran("", live), task(func(t *coppice.Task) { t.Time = coppice.Duration(10 * time.Minute) }))
	if got := v.due(); !got.Equal(v.lastSession().StartedAt.Add(8 * time.Minute)) {
		t.Errorf("due at %v, want at 80%% of its time", got)
	}
}

// A task at a limit keeps its work and its conversation. A person grants the same
// again, raises the limit, or lands the work so far.
func TestAtALimit(t *testing.T) {
	t.Parallel()
	at := func(t *testing.T) *bundle {
		t.Helper()
		b := openApp(t, func(p *coppice.Project) { p.Policy.Budget.Task = 50 })
		b.create(coppice.NewTask{Title: "a", Turns: 40})
		b.turn()
		b.finish("app-1", coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws", BaseCommit: "base1", Head: "base1"})
		b.begins("app-1", 50)
		b.uses("app-1", 39)
		if w := b.unsettled("app-1"); w.Kind != coppice.WorkRun {
			t.Fatalf("%s is next after 39 turns", w.Kind)
		}
		b.uses("app-1", 41)
		b.finish("app-1", coppice.WorkStop, coppice.StopResult{})
		b.finish("app-1", coppice.WorkRun, coppice.RunResult{Stopped: true, Head: "head1", Conversation: "talk1", Usage: coppice.Usage{Turns: 41}})
		st := b.status("app-1")
		const fix = "retry it to grant the same again, or raise the limit (coppice set app-1 --turns N); to check and land the work so far, run: coppice land app-1"
		if st.Status != coppice.StatusNeedsYou || st.Reason != "has used 41 of 40 turns" || st.Fix != fix {
			t.Fatalf("it shows %s: %s [%s]", st.Status, st.Reason, st.Fix)
		}
		if f := b.lastSession("app-1").Failure; f == nil || f.Class != coppice.ClassLimit {
			t.Fatalf("its session failed with %+v", f)
		}
		return b
	}
	continues := func(b *bundle) {
		b.t.Helper()
		b.turn()
		s := b.lastSession("app-1")
		if s.N != 2 || s.Resume != "talk1" || b.task("app-1").Stage != coppice.StageSession {
			b.t.Errorf("it continues at %s with %+v", b.task("app-1").Stage, s)
		}
	}
	t.Run("retry", func(t *testing.T) {
		t.Parallel()
		b := at(t)
		_, err := b.Retry(t.Context(), "app-1", "")
		b.must(err)
		continues(b)
		if x := b.task("app-1"); x.Turns != 40 || x.Budget != 0 {
			t.Errorf("a retry changed its limits: %d turns, %v", x.Turns, x.Budget)
		}
	})
	t.Run("raise", func(t *testing.T) {
		t.Parallel()
		b := at(t)
		for _, n := range []int{30, 80} {
			if _, err := b.ChangeTask(t.Context(), "app-1", coppice.TaskChange{Turns: &n}); err != nil {
				t.Fatal(err)
			}
			if b.turn(); n == 30 && b.task("app-1").Stage != coppice.StageWaiting {
				t.Error("it continues with a lower limit")
			}
		}
		continues(b)
	})
	t.Run("until done", func(t *testing.T) {
		t.Parallel()
		b, yes := at(t), true
		x, err := b.ChangeTask(t.Context(), "app-1", coppice.TaskChange{UntilDone: &yes})
		if b.must(err); x.Turns != 0 || !x.UntilDone {
			t.Errorf("it has %d turns, until done: %v", x.Turns, x.UntilDone)
		}
		continues(b)
	})
	t.Run("land", func(t *testing.T) {
		t.Parallel()
		b := at(t)
		_, err := b.Ask(t.Context(), "app-1", coppice.VerbLand, verb.Request{})
		b.must(err)
		b.turn()
		b.finish("app-1", coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws", BaseCommit: "base1", Head: "head1"})
		if w := b.unsettled("app-1"); w.Kind != coppice.WorkMerge || b.lastSession("app-1").N != 1 {
			t.Errorf("%s is next, want the merge of what it did", w.Kind)
		}
	})
}

// uses records how many turns the newest session of a task has used, and takes a
// turn.
func (b *bundle) uses(key string, turns int64) {
	b.t.Helper()
	s := b.lastSession(key)
	s.Usage.Turns = turns
	b.update(func(tx store.Tx) error { return tx.Sessions.Put(&s) })
	b.spends(key, s.Usage.CostUSD)
}

func TestLimitsAreRefused(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.create(coppice.NewTask{Title: "a", Turns: 7, Time: coppice.Duration(time.Minute)})
	for name, n := range map[string]coppice.NewTask{
		"too many turns": {Title: "b", Turns: 1001}, "negative turns": {Title: "b", Turns: -1},
		"a moment": {Title: "b", Time: 1}, "years": {Title: "b", Time: coppice.MaxTime + 1}, "negative time": {Title: "b", Time: -1},
		"both": {Title: "b", Turns: 5, UntilDone: true},
	} {
		if _, err := b.CreateTasks(t.Context(), "app", []coppice.NewTask{n}); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	many, yes := 2000, true
	for name, c := range map[string]coppice.TaskChange{"too many turns": {Turns: &many}, "both": {Turns: new(int), UntilDone: &yes}} {
		if name == "both" {
			*c.Turns = 5
		}
		if _, err := b.ChangeTask(t.Context(), "app-1", c); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("changing %s: %v", name, err)
		}
	}
	if x := b.task("app-1"); x.Turns != 7 || x.Time != coppice.Duration(time.Minute) || x.UntilDone {
		t.Errorf("a refused change was written: %+v", x.TaskDetails)
	}
}

// The rules of a role come before all others, and its default replaces the
// project's.
func TestRulesOfARole(t *testing.T) {
	t.Parallel()
	rule := func(match string) coppice.Rule { return coppice.Rule{Tool: "run", Match: match, Do: coppice.RuleAllow} }
	v := viewOf(coppice.StageSession, space(), ran("", live), project(func(p *coppice.Project) {
		p.Rules = []coppice.Rule{rule("remembered")}
		p.Policy.Permissions = coppice.PermissionPolicy{
			Rules: []coppice.Rule{rule("project")}, Default: coppice.RuleAsk,
			Roles: map[coppice.Role]coppice.RolePermissions{coppice.RoleVerify: {Rules: []coppice.Rule{rule("role")}, Default: coppice.RuleDeny}},
		}
	}))
	for role, want := range map[coppice.Role]string{
		coppice.RoleImplement: "remembered project, ask",
		coppice.RoleVerify:    "a verifier changes nothing role remembered project, deny",
	} {
		s := *v.lastSession()
		s.Role = role
		spec, got := runSpec(v, &s), ""
		for _, r := range spec.Permissions.Rules {
			got += r.Match + r.Why + " "
		}
		if got = got[:len(got)-1] + ", " + spec.Permissions.Default; got != want {
			t.Errorf("%s: %s, want %s", role, got, want)
		}
	}
}
