package engine

import (
	"testing"
	"time"

	"coppice"
)

// A queued task goes to a fallback while its agent is limited for long, and back
// once it is not.
func TestReroute(t *testing.T) {
	t.Parallel()
	fallback := policy(func(p *coppice.Policy) { p.Agent.Fallback = []string{"bob"} })
	next := func(n coppice.Next) change { return task(func(t *coppice.Task) { t.Next = &n }) }
	soon := func(v *View) { v.Limited["ann"] = coppice.AgentLimit{Agent: "ann", Until: noon.Add(shortLimit)} }
	shut := func(v *View) { v.Limited["ann"] = coppice.AgentLimit{Agent: "ann"} }
	first := next(coppice.Next{Role: coppice.RoleImplement, Agent: "ann"})
	step := task(func(t *coppice.Task) { t.Step, t.Agent = &coppice.Step{Key: "c1/implement"}, "bob" })
	use := policy(func(p *coppice.Policy) { p.Agent.Use, p.Agent.Model, p.Agent.Fallback = "ann", "big", []string{"bob"} })
	onFallback := next(coppice.Next{Role: coppice.RoleImplement, Agent: "bob"})
	run(t, reroute, []decision{
		{"not limited", viewOf(coppice.StageQueued, fallback, first), "nothing"},
		{"for long", viewOf(coppice.StageQueued, fallback, first, limited("ann")), "limits: task.stage; next implement by bob"},
		{"not for long", viewOf(coppice.StageQueued, fallback, first, soon), "nothing"},
		{"until a person says so", viewOf(coppice.StageQueued, fallback, first, shut), "limits: task.stage; next implement by bob"},
		{"nobody else", viewOf(coppice.StageQueued, first, limited("ann")), "nothing"},
		{"everybody", viewOf(coppice.StageQueued, fallback, first, limited("ann"), limited("bob")), "nothing"},
		{"a verifier", viewOf(coppice.StageQueued, fallback, next(coppice.Next{Role: coppice.RoleVerify, Agent: "ann"}), limited("ann")), "limits: task.stage; next verify by bob"},
		{"a conversation waits", viewOf(coppice.StageQueued, fallback, next(coppice.Next{Role: coppice.RoleImplement, Agent: "ann", Resume: "talk1"}), limited("ann")), "nothing"},
		{"a fix has its evidence", viewOf(coppice.StageQueued, fallback, next(coppice.Next{Role: coppice.RoleFix, Agent: "ann", Resume: "talk1", Evidence: "red"}), limited("ann")),
			"limits: task.stage; next fix by bob"},
		{"a fallback waits on", viewOf(coppice.StageQueued, fallback, onFallback, limited("ann")), "nothing"},
		{"back again", viewOf(coppice.StageQueued, fallback, onFallback), "limits: task.stage; next implement by ann"},
		{"a step uses the project's first choice, too", viewOf(coppice.StageQueued, use, step, onFallback, limited("bob")), "limits: task.stage; next implement by ann/big"},
		{"other tasks do not", viewOf(coppice.StageQueued, use, task(func(t *coppice.Task) { t.Agent = "bob" }), onFallback, limited("bob")), "nothing"},
		{"not when begun", viewOf(coppice.StageQueued, fallback, onFallback, task(func(t *coppice.Task) { t.Sessions = 1 })), "nothing"},
	})
}

// What waits behind a limited agent goes elsewhere at once, and what has not
// begun there by the reset comes back.
func TestALimitMovesTheQueue(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Agent.Fallback, p.Policy.Limits.Sessions = []string{"bob"}, 1 })
	b.create(coppice.NewTask{Title: "a"}, coppice.NewTask{Title: "b"}, coppice.NewTask{Title: "c"})
	b.prepares("app-1")
	until := b.clock.Add(time.Hour)
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Head: "head1", From: "base1", Failure: &coppice.Failure{Class: coppice.ClassRateLimit, Text: "limit", RetryAt: until}})
	for _, key := range []string{"app-2", "app-3"} {
		if n := b.task(key).Next; n == nil || n.Agent != "bob" {
			t.Errorf("%s waits for %+v", key, n)
		}
	}
	b.clock = until.Add(time.Second)
	b.turn()
	for _, key := range []string{"app-2", "app-3"} {
		if n := b.task(key).Next; n == nil || n.Agent != "ann" {
			t.Errorf("after the reset %s waits for %+v", key, n)
		}
	}
}
