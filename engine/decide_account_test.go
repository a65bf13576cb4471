package engine

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"coppice"
	"coppice/store"
)

// models gives the project a model as its fallback, and others after it.
func models(more ...string) change {
	return policy(func(p *coppice.Policy) {
		p.Agent.Model, p.Agent.Fallback = "big", append([]string{"ann:small"}, more...)
	})
}

// asks gives the task a model.
func asks(model string) change { return task(func(t *coppice.Task) { t.Model = model }) }

// on has a session run on a model that the fallback names.
func on(model string) func(*coppice.Session) {
	return func(s *coppice.Session) {
		s.Model = model
		if s.Failure != nil {
			s.Failure.Account = s.Agent + ":" + model
		}
	}
}

func TestFallbackModels(t *testing.T) {
	t.Parallel()
	auth, busy, unable := fails(coppice.ClassAuth), fails(coppice.ClassRateLimit), fails(coppice.ClassCapability)
	shut := func(agent string) change {
		return func(v *View) { v.Limited[agent] = coppice.AgentLimit{Agent: agent, Class: coppice.ClassAuth} }
	}
	at := func(c ...change) *View {
		return viewOf(coppice.StageSession, append([]change{space(), asks("big")}, c...)...)
	}
	run(t, pipeline, []decision{
		{"continues in the same conversation", at(models("bob"), ran("", busy)), "pipeline: task.stage; to queued; next implement by ann/small resuming talk1; limit ann for 30s"},
		{"and back in it", at(models("bob"), ran("", busy, on("small"))), "pipeline: task.stage; to queued; next implement by ann/big resuming talk1; limit ann:small for 30s"},
		{"to another agent with evidence alone", at(models("bob:large"), limited("ann"), ran("", busy, on("small"))), "pipeline: task.stage; to queued; next implement by bob/large; limit ann:small for 30s"},
		{"the model is limited as well", at(models("bob"), limited("ann:small"), ran("", busy)), "pipeline: task.stage; to queued; next implement by bob; limit ann for 30s"},
		{"a limit of the agent is not one of its model", at(models("bob"), limited("ann"), ran("", busy, by("bob"))), "pipeline: task.stage; to queued; next implement by ann/small; limit bob for 30s"},
		{"a shut agent has no other model", at(models("bob"), ran("", auth)), "pipeline: task.stage; to queued; next implement by bob; limit ann until a person clears it"},
		{"whichever of its models failed", at(models("bob"), ran("", auth, on("small"))), "pipeline: task.stage; to queued; next implement by bob; limit ann until a person clears it"},
		{"shut by another task", at(models("bob"), shut("ann"), ran("", busy, by("bob"))), "pipeline: task.stage; to queued; next implement by bob resuming talk1; limit bob for 30s"},
		{"an unable model is not an unable agent", at(models("bob"), ran("", unable)), "pipeline: task.stage; to queued; next implement by ann/small"},
		{"each account is tried once", at(models("bob"), ran("", unable), ran("", unable, on("small"))), "pipeline: task.stage; to queued; next implement by bob"},
		{"and then a person", at(models(), ran("", unable), ran("", unable, on("small"))),
			"pipeline: task.stage; to waiting; fails: capability; waits on person: it broke [fix the problem, then retry the task]; next implement by ann/small resuming talk1"},
		{"everybody is limited", at(models(), limited("ann"), ran("", busy, on("small"))),
			"pipeline: task.stage; to queued; next implement by ann/small resuming talk1; limit ann:small for 30s"},
		{"a fallback tries again as itself", at(models(), ran("", fails(coppice.ClassTimeout), on("small"))),
			"pipeline: task.stage; to waiting; fails: timeout; waits on backoff: retries (1 of 2) after: it broke (10s); next implement by ann/small resuming talk1"},
		{"a task's own model of that name", at(models("bob"), asks("small"), ran("", busy, on("small"))), "pipeline: task.stage; to queued; next implement by bob; limit ann:small for 30s"},
		{"a verifier restarts", at(models(), candidate(green), ran("head1"), ran("", verifying, busy)), "pipeline: task.stage; to queued; next verify by ann/small; limit ann for 30s"},
	})
}

func TestFixesContinueWithTheFallback(t *testing.T) {
	t.Parallel()
	refused := candidate(ended(coppice.LandingRefused))
	run(t, pipeline, []decision{
		{"a model", viewOf(coppice.StageChecking, models(), asks("big"), space(), ran("head1", on("small")), refused),
			"pipeline: task.stage; to queued; next fix by ann/small resuming talk1"},
		{"a model that nobody names", viewOf(coppice.StageChecking, models(), asks("big"), space(), ran("head1", on("large")), refused),
			"pipeline: task.stage; to queued; next fix by ann/big resuming talk1"},
	})
}

// A queued session has the account of its model, and keeps no other's.
func TestQueuedAccounts(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		model, auto, want string
	}{{"big", "", ""}, {"", "", ""}, {"small", "", "ann:small"}, {"auto", "small", "ann:small"}, {"auto", "big", ""}, {"auto", "", ""}} {
		v := viewOf(coppice.StageWaiting, models(), task(func(t *coppice.Task) {
			t.Next = &coppice.Next{Role: coppice.RoleImplement, Agent: "ann", Model: x.model, Account: "ann:old"}
		}))
		v.Auto = func(string) string { return x.auto }
		d := pipeline(v)
		if got := d.Task.Next.Account; got != x.want {
			t.Errorf("%s (%s) is queued in %q, want %q", x.model, x.auto, got, x.want)
		}
		lane := coppice.Lane{ProjectID: 1, Track: "main", Agent: "ann"}
		if x.want != "" {
			lane.Agent = x.want
		}
		if got := d.Task.Lane(); got != lane {
			t.Errorf("%s is in %+v", x.model, got)
		}
		if v.Task.Next.Account != "ann:old" {
			t.Error("the view was changed")
		}
	}
}

// A session whose model nobody asked for met its agent's limit, whatever the
// agent says it uses.
func TestWhoMetALimit(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name, asked, now string
		delivered        []coppice.Message
		want             string
	}{
		{"asked for", "small", "small", nil, "ann:small"},
		{"asked for another", "big", "big", nil, ""},
		{"reported by the agent", "", "small", nil, ""},
		{"changed by a person", "", "small", []coppice.Message{{ID: 1, SessionID: 11, Kind: coppice.MessageModel, Text: "small", DeliveredAt: noon}}, "ann:small"},
		{"not changed", "", "small", []coppice.Message{{ID: 1, SessionID: 11, Kind: coppice.MessageModel, Text: "small", Failed: "cannot"}}, ""},
	} {
		for _, result := range []any{coppice.RunResult{Failure: coppice.Failf(coppice.ClassRateLimit, "too much", "")}, coppice.Failf(coppice.ClassCapability, "not there", "")} {
			v := viewOf(coppice.StageSession, models(), space(), ran("", live, func(s *coppice.Session) { s.Model = x.now }), func(v *View) { v.Delivered = x.delivered },
				finished(coppice.WorkRun, result, func(w *coppice.Work) {
					w.Spec = coppice.Raw(coppice.RunSpec{Session: coppice.Session{Model: x.asked}})
				}))
			if got := settle(v).Session.Failure.Account; got != x.want {
				t.Errorf("%s: %q, want %q", x.name, got, x.want)
			}
		}
	}
}

func TestRerouteAccounts(t *testing.T) {
	t.Parallel()
	next := func(n coppice.Next) change {
		return task(func(t *coppice.Task) {
			n.Role, n.Agent = coppice.RoleImplement, "ann"
			t.Next, t.Model = &n, "big"
		})
	}
	begun := task(func(t *coppice.Task) { t.Sessions = 1 })
	first, onFallback := next(coppice.Next{Model: "big"}), next(coppice.Next{Model: "small", Account: "ann:small"})
	talks := next(coppice.Next{Model: "big", Resume: "talk1", Fork: true})
	run(t, reroute, []decision{
		{"to a model", viewOf(coppice.StageQueued, models("bob"), first, limited("ann")), "limits: task.stage; next implement by ann/small"},
		{"both are limited", viewOf(coppice.StageQueued, models("bob"), first, limited("ann"), limited("ann:small")), "limits: task.stage; next implement by bob"},
		{"the model alone is limited", viewOf(coppice.StageQueued, models("bob"), first, limited("ann:small")), "nothing"},
		{"the fallback is limited", viewOf(coppice.StageQueued, models("bob"), onFallback, limited("ann"), limited("ann:small")), "limits: task.stage; next implement by bob"},
		{"a fallback waits on", viewOf(coppice.StageQueued, models("bob"), onFallback, limited("ann")), "nothing"},
		{"back again", viewOf(coppice.StageQueued, models("bob"), onFallback), "limits: task.stage; next implement by ann/big"},
		{"not when begun", viewOf(coppice.StageQueued, models("bob"), onFallback, begun), "nothing"},
		{"a conversation continues with a model", viewOf(coppice.StageQueued, models(), talks, begun, limited("ann")), "limits: task.stage; next implement by ann/small resuming talk1 forked"},
		{"past another agent", viewOf(coppice.StageQueued, policy(func(p *coppice.Policy) { p.Agent.Fallback = []string{"bob", "ann:small"} }), talks, begun, limited("ann")),
			"limits: task.stage; next implement by ann/small resuming talk1 forked"},
		{"but not with another agent", viewOf(coppice.StageQueued, models("bob"), talks, begun, limited("ann"), limited("ann:small")), "nothing"},
	})
	// What is queued for another account than its model's moves there.
	v := viewOf(coppice.StageQueued, models(), next(coppice.Next{Model: "small"}), task(func(t *coppice.Task) { t.Model, t.Sessions = "small", 1 }))
	if d := reroute(v); d == nil || d.Task.Next.Account != "ann:small" {
		t.Errorf("it is moved by %+v", d)
	}
}

func TestCapacityOfAccounts(t *testing.T) {
	t.Parallel()
	small := coppice.Lane{ProjectID: 1, Track: "main", Agent: "ann:small"}
	r := viewOf(coppice.StageQueued).capacityOf(Limited{"ann": {Agent: "ann", Until: noon.Add(time.Hour), Text: "weekly"}})
	if why, _ := r.Blocked(small); why != "" {
		t.Error(why)
	}
	r = viewOf(coppice.StageQueued).capacityOf(Limited{"ann:small": {Agent: "ann:small", Until: noon.Add(time.Hour), Text: "weekly"}})
	if why, until := r.Blocked(small); why != "ann:small is limited until 2026-03-01T13:00:00Z: weekly" || until != noon.Add(time.Hour) {
		t.Error(why, until)
	}
	if why, _ := r.Blocked(laneMain); why != "" {
		t.Error(why)
	}
	r = viewOf(coppice.StageQueued).capacityOf(Limited{"ann": {Agent: "ann", Text: "log in"}, "ann:small": {Agent: "ann:small", Until: noon.Add(time.Hour)}})
	if why, _ := r.Blocked(small); why != "ann waits for a person: log in" {
		t.Error(why)
	}
	// An agent's accounts share its bound.
	v := viewOf(coppice.StageQueued, policy(func(p *coppice.Policy) { p.Limits.PerAgent = map[string]int{"ann": 2} }))
	r = v.capacityOf(nil)
	r.Running[laneMain] = 1
	got := fill(r, map[coppice.Lane][]coppice.Task{small: {{ID: 1}, {ID: 2}}, laneMain: {{ID: 3}}})
	if len(got) != 1 || got[0].ID != 1 || r.freeSessions(small, 5) != 0 {
		t.Errorf("started %+v, %d places are left", got, r.freeSessions(small, 5))
	}
	if why, _ := r.Blocked(small); why != "all 2 sessions of ann are taken" {
		t.Error(why)
	}
}

// capacityOf is the capacity for the view's project with some limits.
func (v *View) capacityOf(l Limited) Capacity {
	return capacity(func(r *Capacity) { r.Projects[1], r.Limited, r.Nodes = v.Project, l, []coppice.Node{{Name: PoolLocal}} })
}

func (b *bundle) limits() (out []string) {
	b.t.Helper()
	for _, l := range read(b, b.Limits) {
		out = append(out, l.Agent+": "+strings.Join(l.Tasks, " "))
	}
	return out
}

// What one session learns of a model holds for that model: the task continues in
// its conversation with the next one, queued ones follow, and come back.
func TestALimitOfAModel(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) {
		p.Policy.Agent = coppice.AgentChoice{Use: "ann", Model: "big", Fallback: []string{"ann:small", "bob"}}
		p.Policy.Limits.Sessions = 1
	})
	b.create(coppice.NewTask{Title: "a"}, coppice.NewTask{Title: "b"})
	b.prepares("app-1")
	until := b.clock.Add(time.Hour)
	limit := func(conversation string) coppice.RunResult {
		return coppice.RunResult{Head: "head1", From: "base1", Conversation: conversation, Failure: &coppice.Failure{Class: coppice.ClassRateLimit, Text: "limit", RetryAt: until}}
	}
	b.finish("app-1", coppice.WorkRun, limit("talk"))
	id := b.task("app-1").ID
	sessions := func() []coppice.Session { return b.sessionsOf(id) }
	if s := sessions()[1]; s.Agent != "ann" || s.Model != "small" || s.Resume != "talk" {
		t.Errorf("it continues as %+v", s)
	}
	if x := b.task("app-2"); x.Next.Model != "small" || x.Next.Account != "ann:small" {
		t.Errorf("app-2 waits for %+v", x.Next)
	}
	if d := cmp.Diff([]string{"ann: "}, b.limits()); d != "" {
		t.Error(d)
	}
	b.finish("app-1", coppice.WorkRun, limit("talk"))
	if s := sessions()[2]; s.Agent != "bob" || s.Model != "" || s.Resume != "" {
		t.Errorf("then as %+v", s)
	}
	if d := cmp.Diff([]string{"ann: ", "ann:small: "}, b.limits()); d != "" {
		t.Error(d)
	}
	if x := b.task("app-2"); x.Next.Agent != "bob" {
		t.Errorf("app-2 waits for %+v", x.Next)
	}
	// A person frees the model; bob still has what has begun.
	for _, wrong := range []string{"ann:", "ann:large", "bob", "ann small"} {
		if err := b.ClearLimit(t.Context(), wrong); err == nil {
			t.Errorf("%s was cleared", wrong)
		}
	}
	b.must(b.ClearLimit(t.Context(), "ann:small"))
	b.turn()
	if d := cmp.Diff([]string{"ann: "}, b.limits()); d != "" {
		t.Error(d)
	}
	b.clock = until.Add(time.Second)
	b.turn()
	if x := b.task("app-2"); x.Next.Agent != "ann" || x.Next.Model != "big" || x.Next.Account != "" {
		t.Errorf("after the reset app-2 waits for %+v", x.Next)
	}
	if got := b.limits(); got != nil {
		t.Errorf("limits %v", got)
	}
}

// A queued task is in the lane of the model on which it will run, also if that
// changes while it waits: by a person, its level, or the policy.
func TestTheLaneFollowsTheModel(t *testing.T) {
	t.Parallel()
	named := "small"
	b := open(t, func(c *Config) {
		c.Models = func(string, *coppice.Profile) map[string]string {
			return map[string]string{LevelSimple: named, LevelMedium: "big", LevelComplex: "big"}
		}
	})
	p := b.project(func(p *coppice.Project) {
		p.Policy.Agent = coppice.AgentChoice{Use: "ann", Model: coppice.ModelAuto, Fallback: []string{"ann:small", "ann:tiny"}}
		p.PausedAt = noon
	})
	lane := func(want string) {
		t.Helper()
		b.turn()
		if got := b.task("app-1").Lane().Agent; got != want {
			t.Errorf("it is in the lane of %s, not of %s", got, want)
		}
	}
	b.create(coppice.NewTask{Title: "Fix a typo"})
	lane("ann:small")
	title := "Redesign the protocol"
	_, err := b.ChangeTask(t.Context(), "app-1", coppice.TaskChange{Title: &title})
	b.must(err)
	lane("ann")
	_, err = b.Model(t.Context(), "app-1", "tiny")
	b.must(err)
	lane("ann:tiny")
	title = "Fix a typo"
	_, err = b.ChangeTask(t.Context(), "app-1", coppice.TaskChange{Title: &title, Model: new(coppice.ModelAuto)})
	b.must(err)
	lane("ann:small")
	// The profile names another model for such work, which is limited: nobody
	// looked at the task, but it does not start.
	named, p.PausedAt = "tiny", time.Time{}
	b.update(func(tx store.Tx) error {
		if err := tx.Projects.Put(&p); err != nil {
			return err
		}
		return tx.Limits.Put(coppice.AgentLimit{Agent: "ann:tiny", Until: noon.Add(time.Minute), Class: coppice.ClassRateLimit, Text: "busy"})
	})
	lane("ann:tiny")
	if x := b.task("app-1"); x.Stage != coppice.StageQueued {
		t.Errorf("it is %s", x.Stage)
	}
	b.must(b.ClearLimit(t.Context(), "ann:tiny"))
	b.turn()
	if x := b.task("app-1"); x.Stage != coppice.StageSession {
		t.Errorf("then it is %s", x.Stage)
	}
}

// holdsFor reports, by another implementation than the engine's, whether a limit
// is in effect for a session.
func holdsFor(l coppice.AgentLimit, p coppice.Policy, s coppice.Session, now time.Time) bool {
	if l.Until.IsZero() {
		return l.Agent == s.Agent
	}
	name := s.Agent
	if s.Model != "" && slices.Contains(p.Agent.Fallback, s.Agent+":"+s.Model) {
		name += ":" + s.Model
	}
	return l.Agent == name && now.Before(l.Until)
}

// Whatever the facts are: no session starts while a limit holds for its account.
func TestNoSessionStartsInALimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		v := randomView(rt)
		auto := one(rt, "auto", []string{"", "small", "big"})
		f := newFacts(rt, v, func(string, *coppice.Profile) map[string]string { return map[string]string{LevelMedium: auto} })
		defer f.store.Close()
		for range 3 {
			if err := f.turn(); err != nil {
				rt.Fatal(err)
			}
			startedWell(rt, f.store, f.task, len(v.Sessions), f.now)
			f.now = f.now.Add(time.Duration(rapid.IntRange(1, 90).Draw(rt, "later")) * time.Minute)
		}
	})
}

func startedWell(rt *rapid.T, s store.Store, id int64, known int, now time.Time) {
	err := s.View(context.Background(), func(r store.Reader) error {
		t, err := r.Tasks.Get(id)
		if err != nil {
			return err
		}
		p, err := r.Projects.Get(t.ProjectID)
		if err != nil {
			return err
		}
		sessions, err := r.Sessions.Of(id)
		if err != nil {
			return err
		}
		limits, err := r.Limits.All()
		for _, x := range sessions {
			for _, l := range limits {
				if x.CreatedAt.Equal(now) && x.N > known && holdsFor(l, p.Policy, x, now) {
					rt.Fatalf("%s (%s, %q) was started while %+v held", x.Key, x.Agent, x.Model, l)
				}
			}
		}
		return err
	})
	if err != nil {
		rt.Fatal(err)
	}
}
