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
