package flow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"coppice"
)

// goalGame plays a goal. It also makes the requests of leads, and removes those that a
// plan has settled.
type goalGame struct {
	*player
	asks int64
	last Plan
}

func playGoal(t tb, spec string) *goalGame {
	t.Helper()
	return &goalGame{player: play(t, coppice.FlowGoal, json.RawMessage(spec))}
}

// ask makes a request of the session of a lead.
func (g *goalGame) ask(lead string, v coppice.Verb, text string, args any) {
	g.t.Helper()
	s := g.view.Step(lead)
	if s == nil {
		g.t.Fatalf("there is no lead %s", lead)
	}
	g.asks++
	a := coppice.Ask{ID: g.asks, Verb: v, Text: text, By: coppice.Actor{Kind: coppice.ActorSession, Name: s.Task + ".1"}}
	if args != nil {
		a.Args = coppice.Raw(args)
	}
	g.view.Asks = append(slices.Clone(g.view.Asks), a)
}

func (g *goalGame) spawn(lead, key, how string) {
	g.t.Helper()
	g.ask(lead, coppice.VerbSpawn, "", Spawn{Key: key, Perspective: how, Agent: "bob", Task: "Do " + key + "."})
}

// plan makes plans until one changes nothing, ends or blocks. It returns the keys of
// the new steps.
func (g *goalGame) plan() (made []string) {
	g.t.Helper()
	for range 20 {
		g.last = g.next()
		for _, s := range g.last.Settle {
			n := slices.IndexFunc(g.view.Asks, func(a coppice.Ask) bool { return a.ID == s.ID })
			if n < 0 {
				g.t.Fatalf("the plan settles the request %d, which is not open", s.ID)
			}
			g.view.Asks = slices.Delete(slices.Clone(g.view.Asks), n, n+1)
		}
		made = append(made, stepKeys(g.last.Steps)...)
		if len(g.last.Steps)+len(g.last.Docs)+len(g.last.Stop)+len(g.last.Settle) == 0 || g.end != nil || g.block != nil {
			return made
		}
	}
	g.t.Fatalf("20 plans in a row have changed something; the newest is %+v", g.last)
	return nil
}

// wants checks which steps the next plans create.
func (g *goalGame) wants(keys ...string) {
	g.t.Helper()
	if made := g.plan(); !slices.Equal(made, keys) {
		g.t.Fatalf("expected the new steps %v, got %v (%+v)", keys, made, g.last)
	}
}

// done ends a step with a message.
func (g *goalGame) done(key, text string) { g.finish(key, Step{State: Done, Result: text}) }

func (g *goalGame) verdict(key, result string, findings ...string) {
	g.finish(key, Step{State: Done, Answer: coppice.Raw(goalVerdict{result, findings})})
}

// body checks that the description of a step has texts.
func (g *goalGame) body(key string, texts ...string) {
	g.t.Helper()
	for _, text := range texts {
		if b := g.tasks[key].Task.Body; !strings.Contains(b, text) {
			g.t.Fatalf("expected %q in the description of %s:\n%s", text, key, b)
		}
	}
}

func (g *goalGame) blocks(class coppice.Class, text string) {
	g.t.Helper()
	if b := g.block; b == nil || b.Class != class || !strings.Contains(b.Text, text) || b.Fix == "" {
		g.t.Fatalf("expected a block of class %s with %q and a fix, got %+v", class, text, b)
	}
}

func (g *goalGame) ends(want End) {
	g.t.Helper()
	if g.end == nil || *g.end != want {
		g.t.Fatalf("expected the end %+v, got %+v (%+v)", want, g.end, g.last)
	}
	if len(g.view.Asks) > 0 {
		g.t.Fatalf("expected no open request at the end, got %+v", g.view.Asks)
	}
}

func TestGoalSpec(t *testing.T) {
	t.Parallel()
	defaults(t, coppice.FlowGoal, `{}`, `{"agents":["ann","bob"],"lead":"ann","workers":4,"rounds":3,"verifier":"bob"}`)
	defaults(t, coppice.FlowGoal, `{"agents":["bob"],"workers":1,"plan":true}`, `{"agents":["bob"],"lead":"bob","workers":1,"rounds":3,"plan":true,"verifier":"bob"}`)
	defaults(t, coppice.FlowGoal, `{"agents":["ann:a","bob:b"],"lead":"bob","verifier":"bob"}`, `{"agents":["ann:a","bob:b"],"lead":"bob:b","workers":4,"rounds":3,"verifier":"bob:b"}`)
	badSpecs(t, coppice.FlowGoal, map[string]string{
		`{"agents":["nobody"]}`: "agents", `{"agents":["ann","ann"]}`: "agents", `{"agents":["ann:"]}`: "agents", `{"agents":["bob"],"lead":"ann"}`: "lead",
		`{"verifier":"x"}`: "verifier", `{"workers":21}`: "workers", `{"workers":-1}`: "workers", `{"rounds":11}`: "rounds", `{"x":1}`: "spec",
	})
	scored := []Agent{{Name: "ann", Scores: coppice.Scores{Lead: 3}}, {Name: "bob", Scores: coppice.Scores{Lead: 9}}, {Name: "cid", Scores: coppice.Scores{Lead: 5}}}
	raw, err := goal{}.Check(nil, scored)
	spec, _ := ReadGoal(raw)
	if err != nil || spec.Lead != "bob" || spec.Verifier != "cid" || spec.Worker(1) != "cid" || spec.Worker(2) != "ann" || spec.Worker(3) != "cid" {
		t.Errorf("expected the best lead and the others as workers, got %+v, %v", spec, err)
	}
	if _, err := (goal{}).Check(nil, nil); coppice.Public(err).Field != "agents" {
		t.Errorf("without agents: expected an error about agents, got %v", err)
	}
}

// A lead starts three workers, of which two run at the same time. The merged work is
// verified, and lands.
func TestGoalLands(t *testing.T) {
	t.Parallel()
	g := playGoal(t, `{"workers":2}`)
	g.wants("lead")
	if s := g.tasks["lead"]; !s.Task.Answer || s.Task.Agent != "ann" || s.Below != "" {
		t.Errorf("expected a lead that answers, got %+v", s)
	}
	g.body("lead", "X is new.", "never write code", "spawn_worker", "- tester: ", "- bob", "at most 3 times", "no further rules", "GOAL_DONE: ")
	g.spawn("lead", "w1", "implementer")
	g.spawn("lead", "w2", "reviewer")
	g.spawn("lead", "w3", "tester")
	g.wants("w1", "w2")
	if g.last.Note != "lead works; 0 of 2 workers done" {
		t.Errorf("the note is %q", g.last.Note)
	}
	for key, answers := range map[string]bool{"w1": false, "w2": true} {
		if s := g.tasks[key]; s.Below != "lead" || s.Task.Answer != answers || s.Task.Agent != "bob" {
			t.Errorf("%s: expected a worker below the lead that answers: %v, got %+v", key, answers, s)
		}
	}
	g.body("w1", "Do w1.", "smallest change", "WORKER_DONE: ")
	g.finish("w1", Step{State: Done, Landed: "abc"})
	g.wants("w3")
	g.ask("lead", coppice.VerbGoalDone, "All is done.", GoalDone{Criteria: "make passes"})
	g.wants()
	g.done("lead", "GOAL_DONE: All is done.")
	g.wants()
	g.done("w2", "fine")
	g.finish("w3", Step{State: Failed, Class: coppice.ClassTimeout})
	g.wants("verify-1")
	if s := g.tasks["verify-1"].Task; s.Agent != "bob" || s.Schema == nil {
		t.Errorf("expected a verification by the other agent with a schema, got %+v", s)
	}
	g.body("verify-1", "X is new.", "All is done.", "make passes")
	g.wants()
	g.verdict("verify-1", goalPass)
	g.wants()
	g.ends(End{Land: true, Result: "All is done."})
}

// Each case plays a goal from its first lead.
func TestGoal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spec string
		play func(*goalGame)
	}{
		"nothing landed": {`{}`, func(g *goalGame) {
			g.done("lead", "I looked.\n\n**GOAL_DONE:** it was done before")
			g.wants("verify-1")
			g.verdict("verify-1", goalPass)
			g.wants()
			g.ends(End{Result: "it was done before"})
		}},
		"failed verifications": {`{"rounds":1}`, func(g *goalGame) {
			g.spawn("lead", "w1", "implementer")
			g.wants("w1")
			g.finish("w1", Step{State: Done, Landed: "abc", Result: "I did it.\nWORKER_DONE: one"})
			g.ask("lead", coppice.VerbGoalDone, "first", nil)
			g.done("lead", "GOAL_DONE: first")
			g.wants("verify-1")
			g.verdict("verify-1", goalFail, "main.go:3 is wrong")
			g.wants("lead-2")
			if len(g.view.Asks) > 0 {
				g.t.Fatalf("expected that the request is settled, got %+v", g.view.Asks)
			}
			g.body("lead-2", "main.go:3 is wrong", "round 1 of 1", "landed as abc", "WORKER_DONE: one")
			g.spawn("lead-2", "w2", "implementer")
			g.wants("w2")
			if g.tasks["w2"].Below != "lead-2" {
				g.t.Fatalf("w2 is below %s", g.tasks["w2"].Below)
			}
			g.done("w2", "")
			g.done("lead-2", "GOAL_DONE: second")
			g.wants("verify-2")
			g.body("verify-2", "main.go:3 is wrong")
			g.verdict("verify-2", goalFail, "still wrong")
			g.wants()
			g.blocks(coppice.ClassVerification, "after 1 round of fixes: 1. still wrong")
			g.view.Resumes++
			g.wants("lead-3")
		}},
		"a message that says it failed": {`{}`, func(g *goalGame) {
			g.done("lead", "GOAL_FAILED: there is no X")
			g.wants()
			g.ends(End{Failed: true, Result: "there is no X"})
		}},
		"a request that says it failed": {`{}`, func(g *goalGame) {
			g.spawn("lead", "w1", "implementer")
			g.wants("w1")
			g.spawn("lead", "w2", "implementer")
			g.ask("lead", coppice.VerbGoalFailed, "no", nil)
			g.wants()
			if s := g.view.Step("w1"); s.State != Cancelled {
				g.t.Fatalf("expected that w1 is stopped, got %+v", s)
			}
			g.done("lead", "")
			g.wants()
			g.ends(End{Failed: true, Result: "no"})
		}},
		"no result": {`{}`, func(g *goalGame) {
			g.done("lead", "I think I am done.")
			g.wants("lead-2")
			g.body("lead-2", "ended without saying")
			g.done("lead-2", "Really.")
			g.wants()
			g.blocks(coppice.ClassImplementation, "ended twice")
			g.view.Resumes++
			g.wants("lead-3")
		}},
		"a compacted session": {`{}`, func(g *goalGame) {
			g.spawn("lead", "w1", "researcher")
			g.spawn("lead", "w2", "researcher")
			g.wants("w1", "w2")
			g.done("w1", "one\nold details")
			g.done("w2", "two\nnew details")
			g.spawn("lead", "w3", "researcher")
			g.wants("w3")
			g.done("lead", MarkContinues.Line("1"))
			g.wants("lead-2")
			g.body("lead-2", "w1 (task app-3, agent bob): done: one", "new details", "w3 (task app-5, agent bob): open")
			if strings.Contains(g.tasks["lead-2"].Task.Body, "old details") {
				g.t.Fatalf("expected only the last result in full:\n%s", g.tasks["lead-2"].Task.Body)
			}
			g.done("lead-2", "GOAL_DONE: x")
			g.wants() // w3 is open
			g.done("w3", "three")
			g.wants("verify-1")
		}},
		"sessions compacted without end": {`{}`, func(g *goalGame) {
			for n := 1; n <= mostContinues; n++ {
				g.done(g.open()[0].Key, MarkContinues.Line("0"))
				g.wants(fmt.Sprintf("lead-%d", n+1))
			}
			g.done(g.open()[0].Key, MarkContinues.Line("0"))
			g.wants()
			g.blocks(coppice.ClassContext, "21 further sessions")
		}},
		"a failed lead": {`{}`, func(g *goalGame) {
			g.spawn("lead", "w1", "implementer")
			g.wants("w1")
			g.spawn("lead", "w2", "implementer")
			g.finish("lead", Step{State: Failed, Class: coppice.ClassAuth, Result: "failed: not logged in"})
			g.wants()
			g.blocks(coppice.ClassAuth, "the lead failed: not logged in")
			g.leave(func(s Step) bool { return s.Key == "lead" })
			g.wants("lead")
			g.body("lead", "w1 (task app-3")
			if len(g.view.Asks) > 0 {
				g.t.Fatalf("expected that requests of the old lead are settled, got %+v", g.view.Asks)
			}
		}},
		"a stopped lead": {`{}`, func(g *goalGame) {
			g.finish("lead", Step{State: Cancelled})
			g.wants()
			g.blocks(coppice.ClassCancelled, "the lead was stopped")
		}},
		"a lead that waits for a person after its work": {`{}`, func(g *goalGame) {
			g.ask("lead", coppice.VerbGoalDone, "x", nil)
			g.view.Step("lead").Waits = "it changed files"
			g.wants("verify-1")
		}},
		"a verification that failed to run": {`{}`, func(g *goalGame) {
			g.done("lead", "GOAL_DONE: x")
			g.wants("verify-1")
			g.finish("verify-1", Step{State: Failed, Class: coppice.ClassLimit, Result: "failed: 40 turns"})
			g.wants()
			g.blocks(coppice.ClassLimit, "the verification failed: 40 turns")
		}},
		"an answer that cannot be read": {`{}`, func(g *goalGame) {
			g.done("lead", "GOAL_DONE: x")
			g.wants("verify-1")
			g.finish("verify-1", Step{State: Done, Answer: json.RawMessage(`{"result":"maybe"}`)})
			g.wants()
			g.blocks(coppice.ClassImplementation, "cannot be read")
		}},
		"requests that are not valid": {`{}`, func(g *goalGame) {
			g.ask("lead", coppice.VerbSpawn, "", Spawn{Key: "lead", Perspective: "tester", Task: "x"})
			g.ask("lead", coppice.VerbSpawn, "", Spawn{Key: "w1", Perspective: "cook", Task: "x"})
			g.ask("lead", coppice.VerbSpawn, "", "w1")
			g.wants()
			if len(g.view.Asks) > 0 {
				g.t.Fatalf("expected that all are settled, got %+v", g.view.Asks)
			}
		}},
		"the same request twice": {`{}`, func(g *goalGame) {
			g.spawn("lead", "w1", "implementer")
			g.spawn("lead", "w1", "implementer")
			g.wants("w1")
		}},
		"wrapped up with work": {`{}`, func(g *goalGame) {
			g.spawn("lead", "w1", "implementer")
			g.spawn("lead", "w2", "implementer")
			g.wants("w1", "w2")
			g.finish("w1", Step{State: Done, Landed: "abc", Result: "one"})
			g.view.WrapUp = true
			g.spawn("lead", "w3", "implementer")
			g.wants()
			if g.end == nil || !g.end.Land || !strings.Contains(g.end.Result, "w1 (task app-3, agent bob): done, landed as abc: one") || len(g.view.Asks) > 0 {
				g.t.Fatalf("expected a landing, got %+v, requests %+v", g.end, g.view.Asks)
			}
		}},
		"wrapped up without work": {`{}`, func(g *goalGame) {
			g.view.WrapUp = true
			g.wants()
			g.ends(End{Failed: true, Result: "It was wrapped up before any work had landed."})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := playGoal(t, c.spec)
			g.wants("lead")
			c.play(g)
		})
	}
}

// The rules of a project for leads, and its own perspectives, replace the built-in ones.
func TestGoalPrompts(t *testing.T) {
	t.Parallel()
	g := playGoal(t, `{}`)
	g.view.Prompts = map[string]string{"flow-goal-rules": "Ask Zoe.", "flow-perspective-tester": "Own: {{.Task}}{{range .Scope}} {{.}}{{end}}"}
	g.wants("lead")
	g.body("lead", "Ask Zoe.")
	g.ask("lead", coppice.VerbSpawn, "", Spawn{Key: "w1", Perspective: "tester", Agent: "bob", Task: "T", Scope: []string{"a.go"}})
	g.wants("w1")
	g.body("w1", "Own: T a.go")
	for _, p := range Perspectives {
		text := PromptText("flow-perspective-" + p.Name)
		if text == "" {
			t.Errorf("the perspective %s has no prompt", p.Name)
		}
		v := View{Prompts: map[string]string{"flow-perspective-" + p.Name: text}} // as a project's own text
		if _, err := v.text("perspective-"+p.Name, workerFields{Task: "x"}); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

// Agents whose account is limited are left out, or come last if a person names them.
func TestLimitedAgents(t *testing.T) {
	t.Parallel()
	best, ann, bob := Agent{Name: "best", Scores: coppice.Scores{Lead: 9, Implement: 9}, Limited: true}, Agent{Name: "ann"}, Agent{Name: "bob", Limited: true}
	for _, c := range []struct {
		kind   Kind
		spec   string
		agents []Agent
		want   string
	}{
		{goal{}, `{}`, []Agent{ann, best, bob}, `"agents":["ann"],"lead":"ann"`},
		{goal{}, `{"agents": ["best", "ann"]}`, []Agent{ann, best, bob}, `"agents":["ann","best"],"lead":"ann"`},
		{goal{}, `{"agents": ["best"]}`, []Agent{ann, best, bob}, `"agents":["best"],"lead":"best"`},
		{goal{}, `{}`, []Agent{best, bob}, `"agents":["best","bob"],"lead":"best"`},
		{goal{}, `{"lead": "best"}`, []Agent{ann, best, bob}, `"agents":["ann","best"],"lead":"best"`},
		{goal{}, `{"verifier": "bob"}`, []Agent{ann, best, bob}, `"agents":["ann","bob"],"lead":"ann"`},
		{cycle{}, `{}`, []Agent{ann, best, bob}, `"implementer":"ann","reviewer":"best"`},
		{cycle{}, `{"implementer": "best"}`, []Agent{ann, best, bob}, `"implementer":"best","reviewer":"ann"`},
	} {
		if got, err := c.kind.Check(json.RawMessage(c.spec), c.agents); err != nil || !strings.Contains(string(got), c.want) {
			t.Errorf("%T %s became %s, %v; want it to have %s", c.kind, c.spec, got, err, c.want)
		}
	}
}
