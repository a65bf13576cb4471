package flow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"coppice"
)

func TestCyclePlans(t *testing.T) {
	t.Parallel()
	spec := `{"implementer": "bob", "reviewer": "ann"}`
	verify := `{"implementer": "bob", "reviewer": "ann", "verify": "run it", "verify_tries": 1}`
	for _, c := range []struct {
		name, spec string
		agents     []Agent
		events     []event
		keys, want string // want is a part of the outcome
	}{
		{"it starts", spec, twoAgents, nil, "assess", "open: assessing"},
		{"to the end", spec, twoAgents, []event{assessed("ab"), reviewed("ab"), landed(), reviewed("AB")},
			"assess c1/review c1/implement c2/review", "end land=true failed=false: 2 of 2 milestones done"},
		{"everything was done before", spec, twoAgents, []event{assessed("ab"), reviewed("AB")}, "assess c1/review", "end land=false failed=false"},
		{"the note", spec, twoAgents, []event{assessed("abc"), reviewed("Abc"), landed(), reviewed("ABc")},
			"assess c1/review c1/implement c2/review c2/implement", "open: cycle 2 of 10: implementing (2 of 3 milestones done)"},
		{"a threshold", `{"threshold": 0.5}`, twoAgents, []event{assessed("ab"), reviewed("ab"), landed(), reviewed("Ab")},
			"assess c1/review c1/implement c2/review", "end land=true"},

		{"an empty plan is repaired", spec, twoAgents, []event{assessed(""), assessed("ab")}, "assess assess/repair-1 c1/review", "open: cycle 1 of 10: reviewing (0 of 2"},
		{"repairs are bounded", spec, twoAgents, []event{assessed(""), assessed(""), assessed("")},
			"assess assess/repair-1 assess/repair-2", "block implementation: the answer of assess cannot be used after 2 repairs: the plan has no milestone"},
		{"too many milestones", spec, twoAgents, []event{assessed(strings.Repeat("a", 61))}, "assess assess/repair-1", "open: assessing"},
		{"no contract", spec, twoAgents, []event{answers(map[string]string{"plan": boxes("a")})}, "assess assess/repair-1", "open: assessing"},
		{"a review cannot remove a milestone", spec, twoAgents, []event{assessed("abc"), reviewed("Ab"), reviewed("Abc")},
			"assess c1/review c1/review/repair-1 c1/implement", "implementing (1 of 3"},
		{"a review can add one", spec, twoAgents, []event{assessed("ab"), reviewed("Abc")}, "assess c1/review c1/implement", "implementing (1 of 3"},
		{"a review that is blocked", spec, twoAgents, []event{assessed("ab"), answers(map[string]string{"plan": boxes("ab"), "feedback": "-", "blocked": "no key"})},
			"assess c1/review", "block implementation: the review cannot continue: no key"},

		{"a failed review", spec, twoAgents, []event{assessed("ab"), fails(coppice.ClassRateLimit), reviewed("Ab")},
			"assess c1/review c1/review-2 c1/implement", "open"},
		{"a failed implementation", spec, twoAgents, []event{assessed("ab"), reviewed("ab"), fails(coppice.ClassRateLimit), landed()},
			"assess c1/review c1/implement c1/implement-2 c2/review", "open"},
		{"a step fails twice", spec, twoAgents, []event{assessed("ab"), reviewed("ab"), fails(coppice.ClassRateLimit), fails(coppice.ClassAuth)},
			"assess c1/review c1/implement c1/implement-2", "block auth: the step c1/implement-2 failed: it broke (fix the cause, then run: coppice flow resume app-1 --from implement --cycle 1)"},
		{"a budget is spent", spec, twoAgents, []event{fails(coppice.ClassBudget)}, "assess", "block budget"},
		{"there is no other agent", "", twoAgents[:1], []event{fails(coppice.ClassRateLimit)}, "assess", "block rate_limit"},
		{"a person stops a step", spec, twoAgents, []event{assessed("a"), stops}, "assess c1/review", "block cancelled: the step c1/review was stopped"},

		{"a person edits during a review", spec, twoAgents, []event{assessed("ab"), edits("abc"), reviewed("Ab"), reviewed("Abc")},
			"assess c1/review c1/review-2 c1/implement", "implementing (1 of 3"},
		{"a person edits during every review", spec, twoAgents,
			[]event{assessed("ab"), edits("abc"), reviewed("Ab"), edits("ab"), reviewed("Ab"), edits("a"), reviewed("Ab"), edits("b"), reviewed("Ab")},
			"assess c1/review c1/review-2 c1/review-3 c1/review-4", "block limit: the plan was changed during each of 4 runs"},
		{"a person writes the plan during the assessment", spec, twoAgents, []event{edits("xyz"), assessed("ab")}, "assess c1/review", "reviewing (0 of 3"},
		{"a person removes all milestones", spec, twoAgents, []event{assessed("ab"), edits(""), reviewed("ab")}, "assess c1/review", "block implementation: the plan cannot be used"},

		{"no progress and no commit", spec, twoAgents, []event{assessed("ab"), reviewed("ab"), idle(), reviewed("ab"), idle(), reviewed("ab")},
			"assess c1/review c1/implement c2/review c2/implement c3/review", "block implementation: 2 cycles in a row made no progress, with 0 of 2"},
		{"one commit is progress", spec, twoAgents, []event{assessed("ab"), reviewed("ab"), landed(), reviewed("ab"), idle(), reviewed("ab")},
			"assess c1/review c1/implement c2/review c2/implement c3/review c3/implement", "open"},
		{"three commits are not", spec, twoAgents, []event{assessed("ab"), reviewed("ab"), landed(), reviewed("ab"), landed(), reviewed("ab"), landed(), reviewed("ab")},
			"assess c1/review c1/implement c2/review c2/implement c3/review c3/implement c4/review", "block implementation: 2 cycles in a row"},
		{"a mean that is too small", spec, twoAgents, []event{assessed("abc"), reviewed("abc"), landed(), reviewed("Abc"), landed(), reviewed("abc"), idle(), reviewed("abc")},
			"assess c1/review c1/implement c2/review c2/implement c3/review c3/implement c4/review", "block implementation: the last 3 cycles finished 0.0 milestones each"},
		{"a change of the plan restarts the count", spec, twoAgents,
			[]event{assessed("ab"), reviewed("ab"), idle(), reviewed("ab"), idle(), reviewed("ab"), edits("abc"), reviewed("abc"), idle(), reviewed("abc")},
			"assess c1/review c1/implement c2/review c2/implement c3/review c3/review-2 c3/implement c4/review c4/implement", "open"},
		{"a resume restarts the count", spec, twoAgents,
			[]event{assessed("ab"), reviewed("ab"), idle(), reviewed("ab"), idle(), reviewed("ab"), resumes("c3/review"), reviewed("ab")},
			"assess c1/review c1/implement c2/review c2/implement c3/review c3/review c3/implement", "open"},

		{"the cycles are used", `{"cycles": 1}`, twoAgents, []event{assessed("ab"), reviewed("ab"), landed(), reviewed("Ab")},
			"assess c1/review c1/implement c2/review", "block limit: all 1 cycles are used, with 1 of 2 milestones done (to land what is done, run: coppice flow wrap-up app-1; to continue, run: coppice flow resume app-1 --from review)"},
		{"as many cycles again", `{"cycles": 1}`, twoAgents, []event{assessed("ab"), reviewed("ab"), landed(), reviewed("Ab"), resumes("c1/review"), reviewed("Ab"), landed(), reviewed("AB")},
			"assess c1/review c1/implement c2/review c1/review c1/implement c2/review", "end land=true"},

		{"verified", verify, twoAgents, []event{assessed("a"), reviewed("a"), landed(), reviewed("A"), verified("pass")},
			"assess c1/review c1/implement c2/review c2/verify-1", "end land=true failed=false: 1 of 1 milestones done, and the result is verified"},
		{"verified after a fix", verify, twoAgents, []event{assessed("a"), reviewed("A"), verified("fail"), landed(), verified("pass")},
			"assess c1/review c1/verify-1 c1/fix-1 c1/verify-2", "end land=true"},
		{"fixes are bounded", verify, twoAgents, []event{assessed("a"), reviewed("A"), verified("fail"), landed(), verified("fail")},
			"assess c1/review c1/verify-1 c1/fix-1 c1/verify-2", "block verification: the result was not verified after 1 fixes: The button is dead."},
		{"a verdict that cannot be used", verify, twoAgents, []event{assessed("a"), reviewed("A"), verified("maybe"), verified("pass")},
			"assess c1/review c1/verify-1 c1/verify-1/repair-1", "end land=false"},
		{"a failed verification", verify, twoAgents, []event{assessed("a"), reviewed("A"), fails(coppice.ClassLost), verified("pass")},
			"assess c1/review c1/verify-1 c1/verify-1-2", "end land=false"},
		{"a milestone is added during the verification", verify, twoAgents, []event{assessed("a"), reviewed("A"), edits("Ab"), verified("pass")},
			"assess c1/review c1/verify-1 c2/review", "open"},

		{"wrap up before anything", spec, twoAgents, []event{wrapsUp}, "assess", "end land=false failed=true"},
		{"wrap up what landed", spec, twoAgents, []event{assessed("ab"), reviewed("ab"), landed(), wrapsUp},
			"assess c1/review c1/implement c2/review", "end land=true failed=false: wrapped up by a person with 0 of 2 milestones done"},
		{"wrap up without a commit", spec, twoAgents, []event{assessed("ab"), reviewed("ab"), idle(), wrapsUp},
			"assess c1/review c1/implement c2/review", "end land=false failed=true"},
		{"wrap up after a resume", spec, twoAgents, []event{assessed("ab"), reviewed("ab"), landed(), resumes("c1/review"), wrapsUp},
			"assess c1/review c1/implement c2/review c1/review", "end land=true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newCycleSim(t, c.spec, c.agents)
			s.settle()
			for _, e := range c.events {
				before := s.v.Docs[planDoc].Version
				e(s)
				if edited := s.v.Docs[planDoc].Version != before; edited && s.open() != nil {
					continue // the step that runs ends with the next event
				}
				s.settle()
			}
			if s.keys() != c.keys {
				t.Errorf("the steps are %s, expected %s", s.keys(), c.keys)
			}
			if got := outcome(s.last); !strings.Contains(got, c.want) {
				t.Errorf("the outcome is %q, expected %q in it", got, c.want)
			}
		})
	}
}

func TestCycleSteps(t *testing.T) {
	t.Parallel()
	s := newCycleSim(t, `{"implementer": "bob:big", "reviewer": "ann", "limits": {"review": {"turns": 31, "time": "5m", "budget": "2 USD"}, "implement": {"until_done": true}}}`, twoAgents)
	wide := "abcdefghijklmnopqrstuvw" // 23
	for _, e := range []event{assessed(""), assessed(wide), reviewed("a"), reviewed("A" + wide[1:]), fails(coppice.ClassLost), landed()} {
		s.settle()
		e(s)
	}
	s.settle()
	for _, c := range []struct {
		key, agent, model string
		turns             int
		answer            bool
		contains          []string
	}{
		{"assess", "bob", "big", 50, true, []string{"Goal app-1: Build it", "All of it."}},
		{"assess/repair-1", "bob", "big", 75, true, []string{"the plan has no milestone", "The earlier answer", "Goal app-1"}},
		{"c1/review", "ann", "", 31, true, []string{"cycle 1 of 10", "wide scope", "milestone w", "It works.", "Look at main."}},
		{"c1/review/repair-1", "ann", "", 46, true, []string{"has lost 22 of its 23 milestones"}},
		{"c1/implement", "bob", "big", 0, false, []string{"Do b first.", "- milestone b\n", "It works."}},
		{"c1/implement-2", "ann", "", 0, false, []string{"An earlier session on this step failed", "it broke"}},
		{"c2/review", "ann", "", 31, true, []string{"I did it.", "Commit: c0ffee"}},
	} {
		i := slices.IndexFunc(s.all, func(n NewStep) bool { return n.Key == c.key })
		if i < 0 {
			t.Fatalf("there is no step %s among %s", c.key, s.keys())
		}
		task := s.all[i].Task
		if task.Agent != c.agent || task.Model != c.model || task.Turns != c.turns || task.Answer != c.answer || (len(task.Schema) > 0) != c.answer {
			t.Errorf("%s is %s:%s with %d turns and answer=%t, expected %s:%s, %d and %t", c.key, task.Agent, task.Model, task.Turns, task.Answer, c.agent, c.model, c.turns, c.answer)
		}
		if free := slices.Equal(task.Completion, []string{coppice.CompletionNone}); free == c.answer {
			t.Errorf("%s has the completion checks %q; an implementation that changes nothing must end", c.key, task.Completion)
		}
		for _, part := range c.contains {
			if !strings.Contains(task.Body, part) {
				t.Errorf("the description of %s does not contain %q:\n%s", c.key, part, task.Body)
			}
		}
		if err := coppice.ValidTitle(task.Title); err != nil {
			t.Errorf("the title of %s: %v", c.key, err)
		}
		if !json.Valid(task.Schema) && c.answer {
			t.Errorf("the schema of %s is not JSON", c.key)
		}
	}
	if text := s.v.Docs["worklog/cycle-1-implement"].Text; text != "Commit: c0ffee\n\nI did it." {
		t.Errorf("the worklog of the implementation is %q", text)
	}
	if s.v.Docs["worklog/assess"].Text != "Look at main." || s.v.Docs["worklog/cycle-1-review"].Text != "Do b first." || s.v.Docs[contractDoc].Text != "It works." {
		t.Errorf("the documents are %+v", s.v.Docs)
	}
}

func TestCycleContextIsBounded(t *testing.T) {
	t.Parallel()
	s := newCycleSim(t, "", twoAgents)
	s.put(planDoc, boxes("ab"), "")
	for i := range 9 {
		s.put(fmt.Sprintf("worklog/cycle-%d-implement", 9-i), fmt.Sprintf("log %d ", i)+strings.Repeat("ä", 6000), "")
	}
	r := &cycleRun{View: s.v}
	got := r.recent(mostContext)
	if len(got) > mostContext || len(got) < mostContext*9/10 {
		t.Errorf("the worklogs have %d bytes, expected a little less than %d", len(got), mostContext)
	}
	if !strings.Contains(got, "log 8 ") || strings.Contains(got, "log 0 ") {
		t.Errorf("the newest worklog is missing, or the oldest is present")
	}
	if short := r.recent(10); short != "" {
		t.Errorf("without space there are worklogs: %q", short)
	}
}

func TestCycleSpecs(t *testing.T) {
	t.Parallel()
	got, err := cycle{}.Check(nil, twoAgents)
	want := `{"implementer":"bob","reviewer":"ann","cycles":10,"threshold":1,"verify_tries":2,"limits":{"assess":{"turns":50},"review":{"turns":30},"implement":{"turns":100},"verify":{"turns":40}}}`
	if err != nil || string(got) != want {
		t.Errorf("the defaults are %s (%v), expected %s", got, err, want)
	}
	if again, err := (cycle{}).Check(got, twoAgents); err != nil || string(again) != want {
		t.Errorf("the stored spec becomes %s (%v)", again, err)
	}
	if one, err := (cycle{}).Check(json.RawMessage(`{}`), twoAgents[:1]); err != nil || !strings.Contains(string(one), `"implementer":"ann","reviewer":"ann"`) {
		t.Errorf("with one agent the spec is %s (%v)", one, err)
	}
	if !(cycle{}).Branch(got) {
		t.Error("the steps of a cycle do not land on its branch")
	}
	for spec, field := range map[string]string{
		`{"cycles": 0}`: "cycles", `{"cycles": 51}`: "cycles", `{"cycles": "x"}`: "cycles", `{"threshold": 0}`: "threshold", `{"threshold": 1.01}`: "threshold",
		`{"verify_tries": -1}`: "verify_tries", `{"verify_tries": 11}`: "verify_tries", `{"loops": 1}`: "spec", `[]`: "", `{} {}`: "spec", `{`: "spec",
		`{"implementer": "cid"}`: "implementer", `{"reviewer": "ann:"}`: "reviewer", `{"reviewer": "a b"}`: "reviewer",
		`{"limits": {"review": {"turns": 1001}}}`: "limits.review.turns", `{"limits": {"assess": {"turns": 5, "until_done": true}}}`: "limits.assess.until_done",
		`{"limits": {"verify": {"time": "1ms"}}}`: "limits.verify.time", `{"limits": {"implement": {"budget": "lots"}}}`: "", `{"limits": {"fix": {}}}`: "spec",
		`{"verify": "` + strings.Repeat("x", mostVerify+1) + `"}`: "verify",
	} {
		_, err := cycle{}.Check(json.RawMessage(spec), twoAgents)
		if e := coppice.Public(err); err == nil || e.Code == coppice.EInternal || e.Field != field || e.Fix == "" {
			t.Errorf("%s: %v, expected an error for the field %s with a fix", coppice.Quote(spec), err, field)
		}
	}
	if _, err := (cycle{}).Check(nil, nil); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("without agents: %v", err)
	}
}

func TestCycleWorklogs(t *testing.T) {
	t.Parallel()
	s := newCycleSim(t, "", twoAgents)
	play := func(events ...event) {
		for _, e := range events {
			s.settle()
			e(s)
		}
		s.settle()
	}
	name := "worklog/cycle-1-implement"
	play(assessed("ab"), reviewed("ab"), landed(), resumes("c1/implement"), idle())
	if d := s.v.Docs[name]; d.Version != 2 || d.Text != "Nothing to do." {
		t.Errorf("after a second run the worklog is %+v, expected a second version with its message", d)
	}
	s.put(name, "A person's words.", "")
	play(resumes("c1/implement"), landed())
	if d := s.v.Docs[name]; d.Text != "A person's words." {
		t.Errorf("the worklog that a person changed is %q", d.Text)
	}
}
