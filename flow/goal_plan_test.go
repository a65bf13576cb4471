package flow

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coppice"
)

const samplePlan = `{"tasks": [
  {"id": "lexer", "title": "Write the lexer", "description": "Tokens.\n\n- [ ] with tests", "dependencies": [], "effort": "low", "scope": ["lex/*.go", "go.mod"]},
  {"id": "parser", "title": "Write the parser", "description": "Trees.", "dependencies": ["lexer"], "effort": "high", "scope": ["parse/**", "go.mod"]},
  {"id": "docs", "title": "Write the docs", "description": "", "dependencies": [], "effort": "medium", "scope": ["go.mod"]}]}`

func TestGoalPlan(t *testing.T) {
	t.Parallel()
	g := playGoal(t, `{"plan":true,"workers":2}`)
	g.view.Resumes = 2 // of something before the plan
	g.wants("plan")
	if s := g.tasks["plan"].Task; !s.Answer || s.Schema == nil || s.Agent != "ann" {
		t.Errorf("expected that the lead answers with a plan, got %+v", s)
	}
	g.finish("plan", Step{State: Done, Answer: []byte(samplePlan)})
	g.wants()
	g.blocks(coppice.ClassUnknown, "waiting for you to approve the plan (lexer and docs change the same files: go.mod; parser and docs change the same files: go.mod)")
	text := g.view.Docs["plan"].Text
	for _, want := range []string{"- [ ] lexer: Write the lexer\n  - description: Tokens.\n    \n    - [ ] with tests\n  - effort: low\n  - scope: lex/*.go, go.mod\n", "  - after: lexer\n", "> Warning: lexer and docs"} {
		if !strings.Contains(text, want) {
			t.Errorf("expected %q in the plan:\n%s", want, text)
		}
	}

	g.edit("plan", strings.Replace(text, "  - after: lexer", "  - after: laxer", 1))
	g.wants()
	g.blocks(coppice.ClassUnknown, `line 15 of the plan: there is no task "laxer"`)
	g.view.Resumes++ // does not help
	g.wants()
	g.blocks(coppice.ClassUnknown, "line 15")

	g.edit("plan", strings.Replace(text, "go.mod\n", "lex/go.sum\n", 1)+"\nNotes\n")
	g.wants()
	g.blocks(coppice.ClassUnknown, `"Notes" is neither a task`)
	g.edit("plan", strings.Replace(text, ", go.mod", "", 1))
	g.wants("w-lexer", "w-docs")
	g.body("w-lexer", "Write the lexer\n\nTokens.", "- lex/*.go")
	if n := g.last.Note; n != "0 of 3 tasks of the plan done; parser and docs change the same files: go.mod" {
		t.Errorf("the note is %q", n)
	}
	g.finish("w-lexer", Step{State: Done, Landed: "abc", Result: "WORKER_DONE: lexed"})
	g.wants("w-parser")
	if text := g.view.Docs["plan"].Text; !strings.Contains(text, "- [x] lexer:") || !strings.Contains(text, "- [ ] parser:") {
		t.Errorf("expected a check-box for the lexer:\n%s", text)
	}
	g.finish("w-docs", Step{State: Failed, Class: coppice.ClassLimit, Result: "failed: 40 turns"})
	g.wants() // the parser is open
	if g.block != nil {
		t.Errorf("expected no block while a worker is open, got %+v", g.block)
	}
	g.done("w-parser", "parsed")
	g.wants()
	g.blocks(coppice.ClassLimit, "w-docs failed: 40 turns")
	g.view.Resumes++
	g.leave(func(s Step) bool { return s.State == Failed })
	g.wants("w-docs")
	g.done("w-docs", "written")
	g.wants("verify-1")
	g.body("verify-1", "lexed", "parsed", "written", "- [x] docs: ")
	g.verdict("verify-1", goalFail, "no tests")
	g.wants("lead")
	g.body("lead", "no tests", "w-parser", "- [x] docs: ")
	g.done("lead", "GOAL_DONE: fixed")
	g.wants("verify-2")
	g.verdict("verify-2", goalPass)
	g.wants()
	g.ends(End{Land: true, Result: "fixed"})
}

// A plan that cannot be used is written again one time. A person who starts the step
// again gets another plan.
// A worker of the plan that says that it is blocked has not done its task. It can
// continue.
func TestGoalPlanBlockedWorker(t *testing.T) {
	t.Parallel()
	g := playGoal(t, `{"plan":true}`)
	g.wants("plan")
	g.finish("plan", Step{State: Done, Answer: []byte(samplePlan)})
	g.wants()
	g.view.Resumes++
	g.wants("w-lexer", "w-docs")
	if c := g.tasks["w-lexer"].Task.Completion; !slices.Equal(c, []string{coppice.CompletionNone}) {
		t.Errorf("its completion checks are %q, want none, so that it can end without a change", c)
	}
	for _, c := range []struct{ said, want string }{{"WORKER_BLOCKED: which tokens?", "w-lexer is blocked: which tokens?"}, {"I tried.\nWORKER_FAILED:", "w-lexer could not do its task"}} {
		g.done("w-lexer", c.said)
		if g.view.Step("w-docs").State == Open {
			g.done("w-docs", "WORKER_DONE: written")
		}
		g.wants()
		g.blocks(coppice.ClassImplementation, c.want)
		if text := g.view.Docs[goalPlanDoc].Text; strings.Contains(text, "[x] lexer") || !strings.Contains(text, "[x] docs") {
			t.Errorf("after %q the plan is\n%s", c.said, text)
		}
		g.block, g.view.Step("w-lexer").State = nil, Open // a person continues it
	}
	g.done("w-lexer", "WORKER_DONE: with all tokens")
	g.wants("w-parser")
}

func TestGoalPlanAgain(t *testing.T) {
	t.Parallel()
	g := playGoal(t, `{"plan":true}`)
	g.wants("plan")
	bad := []byte(strings.Replace(samplePlan, `["lexer"]`, `["parser"]`, 1))
	g.finish("plan", Step{State: Done, Answer: bad})
	g.wants("plan-2")
	g.body("plan-2", "parser comes after itself")
	g.finish("plan-2", Step{State: Done, Answer: bad})
	g.wants()
	g.blocks(coppice.ClassImplementation, "parser comes after itself")
	g.view.Resumes++
	g.leave(func(Step) bool { return true })
	g.wants("plan")
	g.finish("plan", Step{State: Done, Answer: []byte(samplePlan)})
	g.wants()
	g.blocks(coppice.ClassUnknown, "approve the plan")
	g.view.Resumes++
	g.leave(func(Step) bool { return true })
	g.wants("plan")
	g.finish("plan", Step{State: Done, Answer: []byte(strings.ReplaceAll(samplePlan, "lexer", "scanner"))})
	g.wants()
	g.blocks(coppice.ClassUnknown, "approve the plan (scanner")
	g.view.Resumes++
	g.wants("w-scanner", "w-docs")
}

func TestParsePlan(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                     "the plan has 0 tasks",
		"- [ ] a: x\n- [ ] a: y":               `line 2 of the plan: the id "a" is used twice`,
		"\n- [ ] A b: x":                       "line 2 of the plan: ",
		"- [ ] Ab: x":                          "line 1 of the plan: \"Ab\" is not a valid id",
		"- [ ] a: ":                            "line 1 of the plan: the title is empty",
		"  - effort: low":                      "line 1 of the plan: a field comes before the first task",
		"- [ ] a: x\n  - effort: huge":         `line 2 of the plan: "huge" is not a valid effort`,
		"- [ ] a: x\n  - price: 1":             `line 2 of the plan: there is no field "price"`,
		"- [ ] a: x\n  - scope: b\n  - scope:": "line 3 of the plan: the field scope is given twice",
		"- [ ] a: x\n  - scope: ../b":          "line 2 of the plan: ",
		"- [ ] a: x\n  - after: a":             "line 2 of the plan: a comes after itself",
		"- [ ] a: x\n- b":                      `line 2 of the plan: "- b" is neither`,
		"- [ ] a: x\n    more":                 `line 2 of the plan: "more" is neither`,
		"- [ ] a: x\n  - after: b\n- [ ] b: y\n  - after: a": "line 2 of the plan: a comes after itself",
	} {
		if tasks, problem := parsePlan(text); problem == "" || !strings.HasPrefix(problem, want) {
			t.Errorf("%q: expected %q, got %q and %+v", text, want, problem, tasks)
		}
	}
	tasks, problem := parsePlan("# Any\r\n\r\n* [X] a: x: y\r\n  * description: one\r\n    two\r\n\r\n    three\r\n\r\n- [ ] b: z\r\n")
	want := []planTask{{ID: "a", Title: "x: y", Description: "one\ntwo\n\nthree", Effort: "medium", lines: map[string]int{"id": 3, "description": 4}}, {ID: "b", Title: "z", Effort: "medium", lines: map[string]int{"id": 9}}}
	if problem != "" || !reflect.DeepEqual(tasks, want) {
		t.Errorf("expected %+v, got %+v, %s", want, tasks, problem)
	}
}

// A plan that is written and read again is the same, also after its check-boxes changed.
func TestPlanRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var tasks []planTask
		for n := range rapid.IntRange(1, 6).Draw(t, "tasks") {
			task := planTask{
				ID: fmt.Sprintf("t%d", n), Title: rapid.StringMatching(`[a-z][a-z :\[\]#>-]{0,20}[a-z]`).Draw(t, "title"), Effort: rapid.SampledFrom(efforts).Draw(t, "effort"),
				Description: strings.TrimSpace(rapid.StringMatching(`([ a-z#>:\[\]*-]{0,12}\n){0,5}`).Draw(t, "description")),
				Scope:       rapid.SliceOfN(rapid.SampledFrom([]string{"a.go", "b/**", "c/*.go"}), 0, 3).Draw(t, "scope"),
			}
			for m := range n {
				if rapid.Bool().Draw(t, "after") {
					task.After = append(task.After, fmt.Sprintf("t%d", m))
				}
			}
			tasks = append(tasks, task)
		}
		text := writePlan(tasks)
		for range 3 {
			got, problem := parsePlan(text)
			for n := range got {
				got[n].lines = nil
				if len(got[n].Scope) == 0 {
					got[n].Scope = tasks[n].Scope
				}
			}
			if problem != "" || !reflect.DeepEqual(got, tasks) {
				t.Fatalf("expected %+v\ngot %+v, %s\nfrom %s", tasks, got, problem, text)
			}
			odd := rapid.Bool().Draw(t, "odd")
			text = refreshPlan(text, tasks, func(id string) bool { return odd == (id == "t1") })
			if again := refreshPlan(text, tasks, func(id string) bool { return odd == (id == "t1") }); again != text {
				t.Fatalf("expected the same document again, got\n%s\nafter\n%s", again, text)
			}
		}
	})
}

func TestReadMark(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"GOAL_DONE: a":                          "GOAL_DONE|a",
		"text\n\n**GOAL_DONE:** a\nb\n":         "GOAL_DONE|a\nb",
		"- `GOAL_FAILED`: c":                    "GOAL_FAILED|c",
		"GOAL_DONE: a\nthen\nGOAL_FAILED: no":   "GOAL_FAILED|no",
		"I will write GOAL_DONE: when finished": "|",
		"GOAL_DONE":                             "|",
		"WORKER_DONE: x":                        "|",
		"":                                      "|",
	} {
		if m, text := ReadMark(message, MarkDone, MarkFailed); string(m)+"|"+text != want {
			t.Errorf("%q: expected %q, got %q and %q", message, want, m, text)
		}
	}
}

func TestOverlaps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a.go", "a.go", true}, {"a.go", "./a.go", true}, {"a.go", "b.go", false}, {"src", "src/a.go", true}, {"src/", "srcs/a.go", false},
		{"*.go", "a.go", true}, {"*.go", "a.md", false}, {"src/*.go", "src/a.go", true}, {"src/*.go", "src", true}, {"src/*.go", "doc", false},
		{"src/**", "src/x/y.go", true}, {"src/**", "doc/x", false}, {"src/**/x.go", "src/a/x.go", true}, {"src/*", "src/lib/a.go", true},
		{"src/*.go", "src/**", true}, {"src/*.go", "doc/*.go", false}, {"**", "anything", true}, {".", "a", true}, {"[", "a", true},
	} {
		for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			if got := len(Overlaps(pair[:1], pair[1:])) > 0; got != c.want {
				t.Errorf("%s and %s: expected %v, got %v", pair[0], pair[1], c.want, got)
			}
		}
	}
}
