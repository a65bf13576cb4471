package flow

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"coppice"
)

// drawn writes an outline: each part with what it comes after, how often it has run, and
// whether it has no step yet (~) or depends on results (?).
func drawn(parts []Part) string {
	lines := make([]string, len(parts))
	for n, p := range parts {
		line := p.Key
		if len(p.Steps) == 0 {
			line = "~" + line
		}
		if p.Maybe {
			line += "?"
		}
		if p.Most > 1 {
			line += fmt.Sprintf(" %d/%d", p.Runs, p.Most)
		} else if p.Runs > 1 {
			line += fmt.Sprintf(" %d", p.Runs)
		}
		if len(p.After) > 0 {
			line += " < " + strings.Join(p.After, " ")
		}
		lines[n] = line
	}
	return strings.Join(lines, ", ")
}

func TestOutline(t *testing.T) {
	t.Parallel()
	plan := "- [ ] parser: Parse\n  - after: lexer\n- [ ] lexer: Lex\n- [ ] docs: Write\n"
	for _, c := range []struct {
		name  string
		kind  coppice.FlowKind
		spec  string
		plan  string
		steps string // that exist
		want  string
		over  string // the outline when the flow is over
	}{
		{"a new goal", coppice.FlowGoal, `{}`, "", "", "~lead, ~workers? < lead, ~verify- < workers, ~fix? 0/3 < verify-", ""},
		{"workers of a lead", coppice.FlowGoal, `{}`, "", "lead w1 w2 lead-2", "lead 2, w1 < lead, w2 < lead, ~verify- < w1 w2, ~fix? 0/3 < verify-", "lead 2, w1 < lead, w2 < lead"},
		{"a lead that works alone", coppice.FlowGoal, `{}`, "", "lead verify-1", "lead, verify-1 < lead, ~fix? 0/3 < verify-1", "lead, verify-1 < lead"},
		{"a round of fixes", coppice.FlowGoal, `{"rounds":1}`, "", "lead w1 verify-1 verify-2 lead-2 w2", "lead, w1 < lead, verify-1 2 < w1, lead-2 < verify-1, w2 < lead-2, ~verify- < w2", "lead, w1 < lead, verify-1 2 < w1, lead-2 < verify-1, w2 < lead-2"},
		{"a goal before its plan", coppice.FlowGoal, `{"plan":true}`, "", "plan plan-2", "plan 2, ~workers < plan, ~verify- < workers, ~fix? 0/3 < verify-", "plan 2"},
		{"a plan that is carried out", coppice.FlowGoal, `{"plan":true}`, plan, "plan w-lexer", "plan, w-lexer < plan, ~w-docs < plan, ~w-parser < w-lexer, ~verify- < w-docs w-parser, ~fix? 0/3 < verify-", "plan, w-lexer < plan"},
		{"a worker whose task a person removed", coppice.FlowGoal, `{"plan":true}`, "- [ ] docs: Write\n", "plan w-lexer w-docs", "plan, w-docs < plan, w-lexer < plan, ~verify- < w-docs w-lexer, ~fix? 0/3 < verify-", "plan, w-docs < plan, w-lexer < plan"},
		{"a new cycle", coppice.FlowCycle, `{"cycles":4}`, "", "", "~assess, ~review 0/4 < assess, ~implement 0/4 < review", ""},
		{"cycles with a repair", coppice.FlowCycle, `{"cycles":2,"verify":"make run"}`, "", "assess c1/review c1/review/repair-1 c1/implement c1/implement-2 c2/review", "assess, review 2/2 < assess, implement 1/2 < review, ~verify 0/3 < review, ~fix? 0/2 < verify", "assess, review 2/2 < assess, implement 1/2 < review"},
		{"more reviews than cycles", coppice.FlowCycle, `{"cycles":1}`, "", "assess c1/review c1/implement c2/review", "assess, review 2/2 < assess, implement < review", "assess, review 2/2 < assess, implement < review"},
		{"verified twice", coppice.FlowCycle, `{"verify":"make run"}`, "", "assess c1/review c1/verify-1 c1/fix-1 c1/verify-2", "assess, review 1/10 < assess, ~implement 0/10 < review, verify 2/3 < review, fix? 1/2 < verify", "assess, review 1/10 < assess, verify 2/3 < review, fix? 1/2 < verify"},
		{"a new debate", coppice.FlowDebate, `{"rounds":2}`, "", "", "~r0/a, ~r0/b, ~r1/a? < r0/a r0/b, ~r1/b? < r0/a r0/b", ""},
		{"a debate with an action", coppice.FlowDebate, `{"rounds":3,"action":"Do it","verify":true,"verify_rounds":2}`, "", "l1/r0/a l1/r0/b l1/action l1/verify/1", "r0/a, r0/b, action < r0/a r0/b, verify/1 < action, ~respond/1? < verify/1, ~verify/2? < respond/1", "r0/a, r0/b, action < r0/a r0/b, verify/1 < action"},
		{"loops of a debate", coppice.FlowDebate, `{"rounds":2,"loops":2,"then":{"title":"Do"}}`, "", "l1/r0/a l1/r0/b l2/r0/a l2/r0/b", "r0/a 2/2, r0/b 2/2, ~r1/a? 0/2 < r0/a r0/b, ~r1/b? 0/2 < r0/a r0/b, ~then < r1/a r1/b", "r0/a 2/2, r0/b 2/2"},
		{"a batch with an order", coppice.FlowBatch, `{"tasks":[{"title":"a","after":["b"]},{"title":"b","ref":"b"}]}`, "", "2", "~1 < 2, 2", "2"},
		{"a batch of debates", coppice.FlowBatch, `{"tasks":[{"title":"a"}],"debate":{"rounds":1}}`, "", "1/l1/r0/a 1/l1/r0/b", "1 2", "1 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := play(t, c.kind, json.RawMessage(c.spec))
			if c.plan != "" {
				p.edit("plan", c.plan)
			}
			for _, key := range strings.Fields(c.steps) {
				p.view.Steps = append(p.view.Steps, Step{Key: key, State: Done})
			}
			if got := drawn(p.outline(false)); got != c.want {
				t.Errorf("expected\n%s\ngot\n%s", c.want, got)
			}
			if got := drawn(p.outline(true)); got != c.over {
				t.Errorf("when it is over, expected\n%s\ngot\n%s", c.over, got)
			}
		})
	}
	if _, err := Outline("other", View{}, false); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("expected an error about the kind, got %v", err)
	}
}

// The newest statement of each side counts, in each debate of a flow.
func TestRoundsAndHeads(t *testing.T) {
	t.Parallel()
	v := View{
		Steps: []Step{{Key: "1/l1/r0/a", Task: "app-2"}, {Key: "1/l1/r0/b", Task: "app-3"}, {Key: "1/l1/r0/a", Task: "app-4"}, {Key: "2/l1/r0/b", Task: "app-5"}, {Key: "2/l1/action", Task: "app-6"}},
		Docs:  map[string]coppice.Document{"plan": {Name: "plan"}, "summary": {Name: "summary"}},
	}
	want := []Round{{"Item 1, loop 1, round 1", []string{"app-4", "app-3"}}, {"Item 2, loop 1, round 1", []string{"", "app-5"}}}
	if got := Rounds(v); !reflect.DeepEqual(got, want) {
		t.Errorf("expected %+v\ngot %+v", want, got)
	}
	for kind, want := range map[coppice.FlowKind][2]string{coppice.FlowGoal: {"plan", ""}, coppice.FlowCycle: {"plan", ""}, coppice.FlowDebate: {"", "summary"}, coppice.FlowBatch: {}} {
		plan, verdict := Heads(kind, v)
		if got := [2]string{plan, verdict}; got != want {
			t.Errorf("%s: expected %q, got %q", kind, want, got)
		}
		if plan, verdict := Heads(kind, View{}); plan+verdict != "" {
			t.Errorf("%s without documents: %q, %q", kind, plan, verdict)
		}
	}
}

func TestCycles(t *testing.T) {
	t.Parallel()
	review := func(key, plan, feedback string) Step {
		return Step{Key: key, State: Done, Answer: coppice.Raw(map[string]string{"plan": plan, "feedback": feedback})}
	}
	v := View{Steps: []Step{
		{Key: "assess", State: Done}, review("c1/review", "- [ ] one\n- [ ] two\n- [ ] three", "Start with one."), {Key: "c1/implement", State: Done},
		review("c2/review", "- [x] one\n- [x] **two**\n- [ ] three", "Three is left."), {Key: "c2/implement", State: Open},
	}}
	want := []CycleRow{
		{Cycle: 1, Found: "Start with one.", Done: []string{"one", "**two**"}, Left: 1, Of: 3, Known: true, Steps: []string{"c1/review", "c1/implement"}},
		{Cycle: 2, Found: "Three is left.", Left: 1, Of: 3, Steps: []string{"c2/review", "c2/implement"}},
	}
	if got := Cycles(coppice.FlowCycle, v); !reflect.DeepEqual(got, want) {
		t.Errorf("expected %+v\ngot %+v", want, got)
	}
	for want, row := range map[string]CycleRow{"": want[0], "nothing": {Known: true, Of: 3}, "nothing was left to do": {Of: 3}, "not reviewed yet": want[1]} {
		if got := row.None(); got != want {
			t.Errorf("%+v has %q, want %q", row, got, want)
		}
	}
	if got := Cycles(coppice.FlowGoal, v); got != nil {
		t.Errorf("a goal has the cycles %+v", got)
	}
}

// The lead writes the plan again after comments of a person, as often as they comment. A
// plan that cannot be used is written again one more time for the same comments.
func TestGoalPlanComments(t *testing.T) {
	t.Parallel()
	g := playGoal(t, `{"plan":true}`)
	approves := func(want string) {
		t.Helper()
		if doc, _ := Approves(coppice.FlowGoal, g.view); doc != want {
			t.Errorf("expected that a person approves %q, got %q", want, doc)
		}
	}
	approves("")
	g.wants("plan")
	g.finish("plan", Step{State: Done, Answer: []byte(samplePlan)})
	approves("")
	g.wants()
	approves("plan")
	g.edit("plan-comments", "Comment 1 on line 5: use a generator")
	approves("")
	g.wants("plan-2")
	g.body("plan-2", "use a generator", "- [ ] lexer: Write the lexer")
	if s := g.view.Step("plan-2"); s.Saw["plan-comments"] != 1 || s.Saw["plan"] == 0 {
		t.Errorf("the step has seen %v", s.Saw)
	}
	g.finish("plan-2", Step{State: Done, Answer: []byte(`{}`)})
	g.wants("plan-3")
	g.body("plan-3", "use a generator", "the plan has 0 tasks")
	g.view.Resumes++ // before the new plan exists, this approves nothing
	g.finish("plan-3", Step{State: Done, Answer: []byte(strings.ReplaceAll(samplePlan, "lexer", "scanner"))})
	g.wants()
	g.blocks(coppice.ClassUnknown, "approve the plan (scanner")
	approves("plan")
	g.edit("plan-comments", "Comment 2 on line 5: no, write it by hand")
	g.wants("plan-4")
	g.finish("plan-4", Step{State: Done, Answer: []byte(samplePlan)})
	g.wants()
	g.view.Resumes++
	approves("")
	g.wants("w-lexer", "w-docs")
	g.edit("plan-comments", "too late")
	g.wants()
	approves("")
}
