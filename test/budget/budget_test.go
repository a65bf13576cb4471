// Package budget tests that budgets and limits stop real agents: recorded output
// of the agents' CLIs goes through their drivers, the ledger and the engine.
package budget

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"coppice"
	"coppice/agent"
	"coppice/agent/acp"
	"coppice/agent/agenttest"
	"coppice/agent/codex"
	"coppice/agent/profiles"
	"coppice/engine"
	"coppice/fabric"
	"coppice/fabric/local"
	"coppice/ingest"
	"coppice/internal/redact"
	"coppice/price"
	"coppice/store"
	"coppice/store/sqlite"
)

// own are prices at which a recorded request costs some dollars: a session starts
// only if it can spend a cent. prices is the table with them.
var (
	own = map[string]coppice.Price{
		"gpt-6-sol": {Input: 1000, Output: 5000, CacheRead: 100}, "gemini-2.5-flash": {Input: 300, Output: 2500},
		"claude-opus-5-5": {Input: 4000, Output: 20000}, "qwen3-coder-plus": {Input: 1000, Output: 5000},
	}
	prices = price.New(own)
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// recordings are runs of agents that report tokens and no cost, with a model whose
// price is known.
var recordings = []struct {
	agent, folder, model string
	protocol             agent.Protocol
}{
	{"codex", "codex/testdata/write", "gpt-6-sol", codex.New()},
	{"codex", "codex/testdata/mcp", "gpt-6-sol", codex.New()},
	{"gemini", "acp/testdata/gemini-write", "gemini-2.5-flash", acp.New()},
	{"gemini", "acp/testdata/gemini-mcp", "gemini-2.5-flash", acp.New()},
	{"opencode", "acp/testdata/opencode-write", "anthropic/claude-opus-5-5", acp.New()},
	{"opencode", "acp/testdata/opencode-mcp", "anthropic/claude-opus-5-5", acp.New()},
	{"qwen", "acp/testdata/qwen-write", "qwen3-coder-plus", acp.New()},
	{"qwen", "acp/testdata/qwen-mcp", "qwen3-coder-plus", acp.New()},
}

// A budget stops each agent with the first event that reaches it, and with no
// earlier one: the budget of its task, of its project's day, of its account, and
// of its role. So does a limit of turns.
func TestBudgetsStopRecordedAgents(t *testing.T) {
	t.Parallel()
	for _, rec := range recordings {
		events := replay(t, rec.protocol, rec.agent, rec.folder)
		spent := costs(t, events, rec.model)
		total := spent[len(spent)-1]
		if total.CostUSD <= 0 || total.Turns == 0 {
			t.Fatalf("%s costs %+v; want some dollars and turns", rec.folder, total)
		}
		for _, share := range []float64{0.01, 0.5, 1} {
			usd := coppice.USD(total.CostUSD * share)
			for name, limit := range map[string]func(*bench){
				"task":    func(b *bench) { b.policy.Budget.Task = usd },
				"day":     func(b *bench) { b.policy.Budget.Day = usd },
				"account": func(b *bench) { b.budgets = map[string]coppice.USD{rec.agent: usd} },
				"model":   func(b *bench) { b.budgets = map[string]coppice.USD{rec.agent + ":" + rec.model: usd} },
				"role": func(b *bench) {
					b.policy.Agent.Limits = map[coppice.Role]coppice.RunLimits{coppice.RoleImplement: {Budget: usd}}
				},
			} {
				want := first(spent, func(u coppice.Usage) bool { return coppice.USD(u.CostUSD) >= usd-1e-12 })
				t.Run(fmt.Sprintf("%s/%s/%v", filepath.Base(rec.folder), name, share), func(t *testing.T) {
					t.Parallel()
					stopsAt(t, rec.agent, rec.model, events, limit, want)
				})
			}
		}
		for _, turns := range []int{1, int(total.Turns)} {
			want := first(spent, func(u coppice.Usage) bool { return u.Turns >= int64(turns) })
			t.Run(fmt.Sprintf("%s/turns/%d", filepath.Base(rec.folder), turns), func(t *testing.T) {
				t.Parallel()
				stopsAt(t, rec.agent, rec.model, events, func(b *bench) { b.turns = turns }, want)
			})
		}
		t.Run(filepath.Base(rec.folder)+"/more than it costs", func(t *testing.T) {
			t.Parallel()
			stopsAt(t, rec.agent, rec.model, events, func(b *bench) { b.policy.Budget.Task = coppice.USD(total.CostUSD * 1.01) }, -1)
		})
	}
}

// stopsAt plays events to a session one by one. The engine must ask it to stop
// right after the event with that index; -1 means never.
func stopsAt(t *testing.T, name, model string, events []coppice.AgentEvent, limit func(*bench), want int) {
	t.Helper()
	b := start(t, name, model, limit)
	for i, e := range events {
		if stopped := b.plays(e); stopped != (i == want) {
			t.Fatalf("after event %d of %d (%s): asked to stop: %v; want that after event %d", i, len(events), e.Kind, stopped, want)
		} else if stopped {
			return
		}
	}
}

// replay returns the events of a recorded run up to the end of its last turn: the
// engine decides nothing about a session that has ended.
func replay(t *testing.T, p agent.Protocol, name, folder string) []coppice.AgentEvent {
	t.Helper()
	tr, err := agenttest.Read(filepath.Join("..", "..", "agent", filepath.FromSlash(folder), "transcript.txt"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := profiles.Load()
	if err != nil {
		t.Fatal(err)
	}
	profile, err := set.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := agenttest.Replay(p, profile, tr)
	if err != nil {
		t.Fatal(err)
	}
	var all []coppice.AgentEvent
	for _, s := range steps {
		for _, e := range s.Events {
			if e.Kind == coppice.KindState && e.State == coppice.SessionIdle {
				continue // its process ends with the same step
			}
			all = append(all, e)
		}
	}
	return all
}

// costs returns what was used after each event.
func costs(t *testing.T, events []coppice.AgentEvent, model string) []coppice.Usage {
	t.Helper()
	var list []coppice.Usage
	s := coppice.Session{ID: 1, State: coppice.SessionWorking, Model: model}
	for _, e := range events {
		if f := ingest.Draw(s, nil, []ingest.Event{{AgentEvent: e, At: noon}}, prices); f.Session != nil {
			s = *f.Session
		}
		list = append(list, s.Usage)
	}
	return list
}

func first(spent []coppice.Usage, fits func(coppice.Usage) bool) int {
	for i, u := range spent {
		if fits(u) {
			return i
		}
	}
	return -1
}

// bench has one running session.
type bench struct {
	t       *testing.T
	st      store.Store
	eng     *engine.Engine
	ledger  fabric.Ledger
	session int64
	cursor  int64

	policy  coppice.Policy
	budgets map[string]coppice.USD
	turns   int
}

// start starts a session of a new task.
func start(t *testing.T, name, model string, limit func(*bench)) *bench {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	st, err := sqlite.Open(ctx, sqlite.Config{Path: ":memory:", Sync: "off"})
	must(err)
	t.Cleanup(func() { _ = st.Close() })
	b := &bench{t: t, st: st, policy: coppice.DefaultPolicy()}
	b.policy.Base, b.policy.Agent.Use, b.policy.Limits.Sessions = "main", name, 1 // so that it gets the whole budget of a day
	limit(b)
	clock := func() time.Time { return noon }
	ledger, err := ingest.New(ingest.Config{Store: st, Now: clock, Worker: engine.PoolLocal, Redact: redact.New(), Prices: func() map[string]coppice.Price { return own }})
	must(err)
	fab := local.New(local.Config{Store: st, Now: clock, Accept: ledger.Accept})
	must(fab.Announce(ctx, coppice.Node{Name: engine.PoolLocal, MemoryTotal: 100, MemoryUsed: 1}))
	b.ledger = ledger
	b.eng, err = engine.New(engine.Config{Store: st, Now: clock, Nodes: fab.Nodes})
	must(err)
	inspect := func(context.Context, string) (coppice.Project, error) {
		return coppice.Project{Path: "/repo", Prefix: "app", Policy: b.policy, BaseCommit: "base1"}, nil
	}
	known := func(coppice.Project, string) error { return nil }
	intake := engine.NewIntake(st, clock, inspect, known, known)
	_, err = intake.AddProject(ctx, "/repo")
	must(err)
	must(intake.SetBudgets(ctx, b.budgets))
	_, err = intake.CreateTasks(ctx, "app", []coppice.NewTask{{Title: "write a file", Model: model, Turns: b.turns}})
	must(err)
	take := func() coppice.Lease {
		t.Helper()
		_, err := b.eng.Turn(ctx)
		must(err)
		leases, err := fab.TryTake(ctx, fabric.Request{
			Worker: "worker", Pools: []string{engine.PoolControl, engine.PoolLocal},
			Wants: []fabric.Want{{Kinds: []coppice.WorkKind{coppice.WorkPrepare, coppice.WorkRun}, Most: 1}},
		})
		if must(err); len(leases) != 1 {
			t.Fatalf("%d leases, want one", len(leases))
		}
		return leases[0]
	}
	must(fab.Finish(ctx, take(), coppice.Raw(coppice.PrepareResult{Path: "/ws", BaseCommit: "base1", Head: "base1"}), nil))
	run := take()
	b.session = run.Work.SessionID
	_, err = ledger.Begin(ctx, b.session, "base1")
	must(err)
	return b
}

// plays records one event and takes a turn. It reports whether the session was
// asked to stop.
func (b *bench) plays(e coppice.AgentEvent) bool {
	b.t.Helper()
	data, err := json.Marshal(e)
	if err != nil {
		b.t.Fatal(err)
	}
	next := b.cursor + int64(len(data)) + 10
	frame := fabric.Frame{Output: coppice.Output{Offset: b.cursor, At: noon, Kind: coppice.OutputEvent, Data: data}, Next: next}
	if _, err := b.ledger.Record(b.t.Context(), fabric.Batch{Session: b.session, From: b.cursor, Frames: []fabric.Frame{frame}, Quiet: true}); err != nil {
		b.t.Fatal(err)
	}
	b.cursor = next
	if _, err := b.eng.Turn(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	stopped := false
	err = b.st.View(b.t.Context(), func(r store.Reader) error {
		s, err := r.Sessions.Get(b.session)
		stopped = s.StopWhy != ""
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return stopped
}
