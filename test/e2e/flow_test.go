//go:build linux

package e2e

import (
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

// flow returns a flow as it is now.
func (w *world) flow(key string) api.FlowDetail {
	w.t.Helper()
	f, err := w.client.Flow(w.t.Context(), key)
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

// steps returns the keys of a flow's steps, oldest first.
func steps(f api.FlowDetail) (keys []string) {
	for _, s := range f.Steps {
		keys = append(keys, s.Key)
	}
	return keys
}

// Two agents that agree in the first round are asked one time each. The summary is a
// document, and nothing lands.
func TestDebateThatAgrees(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - {match: 'SQLite or files', role: answer, steps: [{say: '{"verdict": "agree", "summary": "SQLite it is.", "position": "One file, and transactions.", "changed": ""}'}]}
`})
	w.serve()
	base := w.git("rev-parse", "main")
	got := w.try(w.repo, "", "debate", "SQLite or files?", "--between", "scripted:one,scripted:two", "--wait")
	if got.code != 0 || !strings.Contains(got.out, "✓ l1/r0/a  app-2  scripted") || !strings.Contains(got.out, "✓ l1/r0/b  app-3  scripted") {
		t.Fatalf("exit code %d, want 0 and a line for each step that is done:\n%s%s\n%s", got.code, got.out, got.err, w.story("app-1"))
	}
	f := w.flow("app-1")
	want(t, "steps", steps(f), []string{"l1/r0/a", "l1/r0/b"})
	if f.Task.Outcome != coppice.OutcomeDone || f.Kind != coppice.FlowDebate || w.git("rev-parse", "main") != base {
		t.Errorf("the debate is %s (%s), want done, and main where it was", f.Task.Outcome, f.Kind)
	}
	if text := w.cli("flow", "doc", "app-1", "summary"); !strings.Contains(text, "SQLite it is.") {
		t.Errorf("the summary does not have what the sides said:\n%s", text)
	}
	if text := w.cli("show", "app-2"); !strings.Contains(text, "step l1/r0/a of app-1") {
		t.Errorf("coppice show of a step does not name its flow:\n%s", text)
	}
	if text := w.cli("flow", "show", "app-1"); !strings.Contains(text, "[x]  l1/r0/b  app-3  done") {
		t.Errorf("coppice flow show does not list the step as done:\n%s", text)
	}
}

// A server that is killed between two steps, and while a step works, runs no step twice.
func TestBatchOutlivesAKilledServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{
		".coppice/scripted.yaml": `cases:
  - match: "Write file (\\d+)"
    steps: [{write: {path: $1.txt, content: "$1\n"}}, {wait_message: true}]
`,
		"tasks.txt": "# three tasks\n- Write file 1\n- Write file 2\n\n- Write file 3\n",
	})
	s := w.serve()
	made := decode[api.Task](t, w.cli("batch", "tasks.txt", "--most", "1", "--json"))
	if made.Key != "app-1" || made.Flow == nil || made.Flow.Kind != coppice.FlowBatch || made.Title != "3 tasks of tasks.txt" {
		t.Fatalf("created %+v, want the batch app-1", made)
	}
	for _, key := range []string{"app-2", "app-3", "app-4"} {
		w.await("app-1", "the step "+key, func(api.TaskDetail) bool { return len(w.flow("app-1").Steps) >= int(key[4]-'1') })
		w.working(key, coppice.SessionIdle)
		s.Kill()
		s = w.serve()
		w.cli("send", key, "continue")
		w.landed(key)
		s.Kill()
		s = w.serve()
	}
	d := w.await("app-1", "the end", func(d api.TaskDetail) bool { return d.Stage == coppice.StageEnded })
	f := w.flow("app-1")
	want(t, "steps", steps(f), []string{"1", "2", "3"})
	if d.Outcome != coppice.OutcomeDone {
		t.Errorf("the batch is %s: %v", d.Outcome, d.Failure)
	}
	for i, step := range f.Steps {
		if step.State != "done" || step.Landed == "" || step.Left {
			t.Errorf("the step %s is %+v, want done and landed", step.Key, step)
		}
		if n := len(w.task(step.Task).History); n != 1 {
			t.Errorf("the step %s had %d sessions, want 1", step.Key, n)
		}
		name := string(rune('1' + i))
		w.wantOnBase(name+".txt", name)
	}
	if text := w.cli("flow", "doc", "app-1", "summary"); !strings.Contains(text, "Write file 2") {
		t.Errorf("the summary does not name the tasks:\n%s", text)
	}
	if text := w.cli("flow", "list", "--all"); !strings.Contains(text, "3/3") {
		t.Errorf("coppice flow list does not say that 3 of 3 steps are done:\n%s", text)
	}
}

// What the flags of the commands say is in the spec, and a task that is debated first
// waits for its debate.
func TestFlagsOfFlows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": "cases: [{steps: [{hang: true}]}]\n"})
	w.serve()
	first := w.new("Hang") // the flows wait for it
	for _, c := range []struct {
		args []string
		has  []string
	}{
		{
			[]string{"cycle", "Import CSV", "--implementer", "scripted:one", "--reviewer", "scripted:two", "--cycles", "5", "--threshold", "0.5", "--verify", "run it", "--phase-turns", "implement=7", "--phase-time", "review=30m", "--phase-budget", "assess=2", "--phase-until-done", "verify"},
			[]string{`"implementer":"scripted:one"`, `"reviewer":"scripted:two"`, `"cycles":5`, `"threshold":0.5`, `"verify":"run it"`, `"turns":7`, `"time":"30m"`, `"until_done":true`},
		},
		{
			[]string{"debate", "Which?", "--between", "scripted:one,scripted:two", "--rounds", "2", "--loops", "3", "--action", "Do it", "--action-by", "scripted:two", "--verify"},
			[]string{`"between":["scripted:one","scripted:two"]`, `"rounds":2`, `"loops":3`, `"action":"Do it"`, `"action_by":"scripted:two"`, `"verify":true`},
		},
		{[]string{"batch", "tasks.txt", "--debate-first", "--between", "scripted:one,scripted:two"}, []string{`"tasks":[{"title":"One"}]`, `"then":`}},
	} {
		w.write(w.repo, files{"tasks.txt": "One\n"})
		made := decode[api.Task](t, w.cli(append(c.args, "--after", first, "--time", "8h", "--budget", "3", "--json")...))
		f := w.flow(made.Key)
		for _, part := range c.has {
			if !strings.Contains(string(f.Spec), part) {
				t.Errorf("coppice %s: the spec does not have %s: %s", c.args[0], part, f.Spec)
			}
		}
		if f.Task.Budget != 3 || len(f.Task.After) != 1 || string(f.Kind) != c.args[0] {
			t.Errorf("coppice %s: %+v, want a budget of 3 and a dependency", c.args[0], f.Task.Task)
		}
	}
	key := w.new("Choose a cache", "--debate-first", "--between", "scripted:one,scripted:two", "--after", first, "--check", "true")
	f := w.flow(key)
	if f.Kind != coppice.FlowDebate || len(f.Task.After) != 1 || !strings.Contains(string(f.Spec), `"then":{"title":"Choose a cache"`) || !strings.Contains(string(f.Spec), `"checks":["true"]`) {
		t.Errorf("%s with %s, want a debate whose task follows", f.Kind, f.Spec)
	}
	if got := w.try(w.repo, "", "debate", "x", "--between", "scripted,nobody"); got.code == 0 || !strings.Contains(got.err, "nobody") {
		t.Errorf("%+v, want a refusal of an agent that does not exist", got)
	}
	w.cli("stop", first)
}
