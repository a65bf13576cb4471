package flow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coppice"
)

func TestBatchSpec(t *testing.T) {
	t.Parallel()
	defaults(t, coppice.FlowBatch, `{"tasks":[{"body":"Fix it. Soon."},{"title":"Two","after":["app-7"]}],"most":2}`,
		`{"tasks":[{"title":"Fix it","body":"Fix it. Soon."},{"title":"Two","after":["app-7"]}],"most":2}`)
	defaults(t, coppice.FlowBatch, `{"tasks":[{"title":"One","checks":["make"]}],"debate":{"rounds":2,"then":{}}}`,
		`{"tasks":[{"title":"One","checks":["make"]}],"debate":{"between":["ann","bob"],"rounds":2,"loops":1,"then":{}}}`)
	many := func(n int) string { return strings.TrimSuffix(strings.Repeat(`{"title":"t"},`, n), ",") }
	defaults(t, coppice.FlowBatch, `{"tasks":[`+many(200)+`]}`, `{"tasks":[`+many(200)+`]}`)
	badSpecs(t, coppice.FlowBatch, map[string]string{
		``:                              "tasks",
		`{"tasks":[]}`:                  "tasks",
		`{"tasks":[` + many(201) + `]}`: "tasks",
		`{"tasks":[` + many(200) + `],"debate":{}}`:                   "tasks",
		`{"tasks":[{"title":"t"}],"most":-1}`:                         "most",
		`{"tasks":[{"title":"t"}],"most":201}`:                        "most",
		`{"tasks":[{"title":"t"},{}]}`:                                "tasks[1].title",
		`{"tasks":[{"title":"t","flow":{"kind":"goal"}}]}`:            "tasks[0].flow",
		`{"tasks":[{"title":"t","agent":"cid"}]}`:                     "tasks[0].agent",
		`{"tasks":[{"title":"t","unknown":1}]}`:                       "spec",
		`{"tasks":[{"title":"t","ref":"r"},{"title":"t","ref":"r"}]}`: "tasks[0].ref",
		`{"tasks":[{"title":"t","after":["x"]}]}`:                     "tasks[0].after",
		`{"tasks":[{"title":"t","after":["app-1.2"]}]}`:               "tasks[0].after",
		`{"tasks":[{"title":"t","ref":"r","after":["r"]}]}`:           "tasks[0].after",
		`{"tasks":[{"title":"t","ref":"c","after":["b"]},{"title":"t","ref":"a","after":["b"]},{"title":"t","ref":"b","after":["a"]}]}`: "tasks[2].after",
		`{"tasks":[{"title":"t"}],"debate":{"rounds":11}}`:            "debate.rounds",
		`{"tasks":[{"title":"t"}],"debate":{"then":{"title":"x"}}}`:   "debate.then",
		`{"tasks":[{"title":"t"}],"debate":{"action":"a","then":{}}}`: "debate.then",
		`{"tasks":[{"title":"t","checks":["make"]}],"debate":{}}`:     "tasks[0].checks",
	})
}

func TestBatch(t *testing.T) {
	t.Parallel()
	three := `{"tasks":[{"title":"One","ref":"one"},{"title":"Two","after":["one","app-77"]},{"title":"Three"}]}`
	debated := `{"tasks":[{"title":"One","body":"Is X right?"},{"title":"Two"}],"debate":{"rounds":1}}`
	followed := `{"tasks":[{"title":"One","checks":["make"]}],"debate":{"rounds":1,"then":{}}}`
	for _, c := range []struct {
		name, spec string
		outcomes   map[string]string
		steps      string
		end        End
	}{
		{"all done", three, nil, "1 3 2", End{Result: "3 of 3 done"}},
		{"one failed", three, map[string]string{"3": "failed"}, "1 3 2", End{Failed: true, Result: "2 of 3 done, 1 failed: app-3"}},
		{"an item waits for one that failed", three, map[string]string{"1": "failed"}, "1 3", End{Failed: true, Result: "1 of 3 done, 1 failed: app-2, 1 not started"}},
		{"an item was stopped", three, map[string]string{"3": "stopped"}, "1 3 2", End{Result: "2 of 3 done, 1 stopped: app-3"}},
		{"wrapped up", three, map[string]string{"1": "wrap up"}, "1 3", End{Result: "2 of 3 done, 1 not started"}},
		{"one at a time", strings.Replace(three, "{", `{"most":1,`, 1), nil, "1 2 3", End{Result: "3 of 3 done"}},
		{"debates", debated, map[string]string{"1/l1/r0/a": agree, "1/l1/r0/b": agree, "2/l1/r0/a": agree, "2/l1/r0/b": disagree},
			"1/l1/r0/a 1/l1/r0/b 2/l1/r0/a 2/l1/r0/b", End{Result: "2 of 2 done"}},
		{"a debate fails", debated, map[string]string{"1/l1/r0/a": agree, "1/l1/r0/b": "failed", "2/l1/r0/a": agree, "2/l1/r0/b": disagree},
			"1/l1/r0/a 1/l1/r0/b 2/l1/r0/a 2/l1/r0/b", End{Failed: true, Result: "1 of 2 done, 1 failed: app-3"}},
		{"debates are wrapped up", debated, map[string]string{"1/l1/r0/a": agree, "1/l1/r0/b": agree, "2/l1/r0/a": "wrap up"},
			"1/l1/r0/a 1/l1/r0/b 2/l1/r0/a 2/l1/r0/b", End{Result: "1 of 2 done, 1 stopped: app-5"}},
		{"an item after its debate", followed, map[string]string{"1/l1/r0/a": agree, "1/l1/r0/b": disagree}, "1/l1/r0/a 1/l1/r0/b 1/then", End{Result: "1 of 1 done"}},
		{"an item fails after its debate", followed, map[string]string{"1/l1/r0/a": agree, "1/l1/r0/b": agree, "1/then": "failed"},
			"1/l1/r0/a 1/l1/r0/b 1/then", End{Failed: true, Result: "0 of 1 done, 1 failed: app-4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := play(t, coppice.FlowBatch, json.RawMessage(c.spec))
			outcomes := script(p, c.outcomes)
			p.run(30, func(open []NewStep) {
				if outcomes(open); p.view.WrapUp {
					outcomes = script(p, nil)
				}
			})
			if got := p.steps(); got != c.steps {
				t.Errorf("the steps are %s, expected %s", got, c.steps)
			}
			if p.end == nil || *p.end != c.end {
				t.Errorf("the batch ended with %+v, expected %+v", p.end, c.end)
			}
			if text := p.view.Docs[summaryDoc].Text; !strings.HasPrefix(text, "# "+c.end.Result+"\n") || strings.Count(text, "\n| ") != 2+strings.Count(c.spec, `"title"`) {
				t.Errorf("the summary is:\n%s", text)
			}
		})
	}
}

// The tasks of a batch are the items themselves, without their refs.
func TestBatchTasks(t *testing.T) {
	t.Parallel()
	p := play(t, coppice.FlowBatch, json.RawMessage(`{"tasks":[{"title":"One","ref":"one","budget":"5 USD"},{"title":"Two","after":["one","app-77"],"priority":3}]}`))
	p.run(10, script(p, nil))
	one, two := p.tasks["1"].Task, p.tasks["2"].Task
	if one.Ref != "" || one.Title != "One" || one.Budget != 5 {
		t.Errorf("the first task is %+v", one)
	}
	if !slices.Equal(two.After, []string{"app-77"}) || two.Priority != 3 {
		t.Errorf("the second task is %+v", two)
	}

	p = play(t, coppice.FlowBatch, json.RawMessage(`{"tasks":[{"title":"One","body":"Is X right?","agent":"bob","priority":3}],"debate":{"rounds":1,"then":{}}}`))
	p.run(10, script(p, map[string]string{"1/l1/r0/a": agree, "1/l1/r0/b": disagree}))
	side, then := p.tasks["1/l1/r0/a"], p.tasks["1/then"]
	if !strings.Contains(side.Task.Body, "Is X right?") || side.Task.Priority != 3 || side.Task.Agent != "ann" || !strings.Contains(side.Task.Title, "app-1, item 1") {
		t.Errorf("the debate of the item is %+v", side)
	}
	if then.Task.Title != "One" || then.Task.Agent != "bob" || !strings.HasPrefix(then.Task.Body, "Is X right?\n") || !strings.Contains(then.Task.Body, "# Disagreement after 1 round") || !slices.Equal(then.Saw, []string{"summary-1"}) {
		t.Errorf("the item after its debate is %+v", then)
	}
	if row := "| 1. One | app-4 | done | 1.00 USD | Disagreement after 1 round; app-4 is done: I did it. |\n"; !strings.Contains(p.view.Docs[summaryDoc].Text, row) {
		t.Errorf("the summary does not contain %s:\n%s", row, p.view.Docs[summaryDoc].Text)
	}
}

// A batch ends with any outcomes of its items, and again after a person retried one. An
// item starts only when the items that it names are done and the limit allows it.
func TestBatchAlwaysEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		spec := BatchSpec{Most: rapid.IntRange(0, 3).Draw(rt, "most")}
		for n := range rapid.IntRange(1, 6).Draw(rt, "items") {
			item := coppice.NewTask{Title: fmt.Sprintf("Item %d", n+1), Ref: fmt.Sprintf("r%d", n+1)}
			for m := range n {
				if rapid.IntRange(0, 3).Draw(rt, "after") == 0 {
					item.After = append(item.After, fmt.Sprintf("r%d", m+1))
				}
			}
			spec.Tasks = append(spec.Tasks, item)
		}
		if rapid.Bool().Draw(rt, "debate") {
			spec.Debate = &DebateSpec{Rounds: 2, Loops: rapid.IntRange(1, 2).Draw(rt, "loops")}
			switch rapid.IntRange(0, 2).Draw(rt, "follows") {
			case 1:
				spec.Debate.Then = &coppice.NewTask{}
			case 2:
				spec.Debate.Action, spec.Debate.Verify = "Do it.", true
			}
		}
		p := play(rt, coppice.FlowBatch, spec)
		seen, retried := 0, false
		for retries := 0; ; retries++ {
			p.run(400, func(open []NewStep) {
				checkStarts(rt, p, spec, seen, retried)
				seen = len(p.view.Steps)
				randomAnswer(rt, p, open)
			})
			if p.block != nil {
				rt.Fatalf("a batch blocked: %+v", p.block)
			}
			failed := slices.IndexFunc(p.view.Steps, func(s Step) bool { return s.State == Failed })
			if p.end.Failed != (strings.Contains(p.end.Result, " failed") || strings.HasPrefix(p.end.Result, "0 of ")) || failed >= 0 && spec.Debate == nil && !p.end.Failed {
				rt.Fatalf("the batch ended with %+v, but its steps are %+v", p.end, p.view.Steps)
			}
			if failed < 0 || retries == 3 {
				break
			}
			p.view.Steps[failed].State, p.view.Steps[failed].Class, retried = Open, "", true // a person retries it
		}
		if spec.Debate != nil {
			for n := range spec.Tasks {
				checkSummaries(rt, p, *spec.Debate, fmt.Sprintf("%d/", n+1), docOf(n))
			}
		}
	})
}

// checkStarts checks the items that started since the view had a number of steps.
func checkStarts(rt *rapid.T, p *player, spec BatchSpec, before int, retried bool) {
	item := func(s Step) string { head, _, _ := strings.Cut(s.Key, "/"); return head }
	open, started := map[string]bool{}, map[string]bool{}
	for n, s := range p.view.Steps {
		if s.State == Open {
			open[item(s)] = true
		}
		started[item(s)] = started[item(s)] || n < before
	}
	for head, old := range started {
		if old {
			continue
		}
		var n int
		if _, err := fmt.Sscan(head, &n); err != nil {
			rt.Fatalf("the step %s belongs to no item", head)
		}
		for _, ref := range spec.Tasks[n-1].After {
			if _, ok := started[ref[1:]]; !ok || open[ref[1:]] {
				rt.Fatalf("item %d started before %s was done: %+v", n, ref, p.view.Steps)
			}
		}
		if spec.Most > 0 && len(open) > spec.Most && !retried {
			rt.Fatalf("%d items are open, at most %d are allowed: %+v", len(open), spec.Most, p.view.Steps)
		}
	}
}
