//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

// A task that wants an answer reads the newest commit of the base, gets another try
// when what it said does not match, and leaves nothing behind: no branch, no
// landing, no change.
func TestAnAnswerIsStoredAndNothingLands(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{"coppice.yaml": policy, ".coppice/scripted.yaml": `cases:
  - {match: 'How many lines', session: 1, role: answer, steps: [{say: Some.}]}
  - {match: 'the answer has no JSON value', session: 2, role: answer, steps: [{run: 'test "$(wc -l < three.txt)" = 3'}, {say: 'I counted: {"lines": 3}'}]}
  - {match: 'and in another language', role: answer, steps: [{say: 'tres'}]}
  - {match: 'Say three', role: answer, steps: [{run: 'chmod u+w . three.txt && echo x >> three.txt'}, {say: '  three  '}]}
  - {match: 'Add three', steps: [{write: {path: three.txt, content: "1\n2\n3\n"}}]}
`})
	w.serve()
	w.cli("project", "add")
	first := w.new("Add three")
	w.landed(first)
	base := w.git("rev-parse", "main")
	schema := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(schema, []byte(`{"type": "object", "required": ["lines"], "properties": {"lines": {"type": "integer"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	key := w.new("How many lines has three.txt?", "--schema", schema, "--after", first)
	d := w.await(key, "to be answered", func(d api.TaskDetail) bool { return d.Stage == coppice.StageEnded })
	if d.Outcome != coppice.OutcomeDone || d.Answer == nil || string(d.Answer.Value) != `{"lines":3}` || d.Wants != coppice.WantsAnswer {
		t.Fatalf("the answer is %+v, want {\"lines\":3}\n%s", d.Answer, w.story(key))
	}
	want(t, "roles", roles(d), []coppice.Role{coppice.RoleAnswer, coppice.RoleAnswer})
	if p := d.History[0].Answer; p == nil || !strings.Contains(p.Problem, "no JSON value") {
		t.Errorf("the first answer: %+v", p)
	}
	if text := w.cli("show", key); !strings.Contains(text, "Answer\n  {\n    \"lines\": 3\n  }\n") {
		t.Errorf("shows:\n%s", text)
	}
	if got := w.try(w.repo, "", "land", key); got.code == 0 || !strings.Contains(got.err, "wants an answer, not a change") {
		t.Errorf("land: %+v", got)
	}
	text := w.new("Say three", "--answer")
	d = w.await(text, "to be answered", func(d api.TaskDetail) bool { return d.Stage == coppice.StageEnded })
	if d.Answer == nil || d.Answer.Text != "three" || !strings.Contains(d.History[0].Warning, "three.txt") {
		t.Errorf("the answer is %+v, the sessions %+v; want three, and a warning about three.txt\n%s", d.Answer, d.History, w.story(text))
	}
	w.cli("continue", text, "and in another language")
	d = w.await(text, "to be answered again", func(d api.TaskDetail) bool { return d.Stage == coppice.StageEnded && d.Round == 1 })
	if d.Answer == nil || d.Answer.Text != "tres" {
		t.Errorf("the answer is %+v, want tres\n%s", d.Answer, w.story(text))
	}
	if now := w.git("rev-parse", "main"); now != base || len(d.Landings) != 0 || d.Workspace != nil {
		t.Errorf("main went from %s to %s", base, now)
	}
	w.eventually("its worktrees to go", func() bool { return len(w.left()) == 0 })
}

// What cannot be asked is refused, and makes no task.
func TestAnswersThatCannotBe(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{"coppice.yaml": policy})
	w.serve()
	w.cli("project", "add")
	for name, c := range map[string]struct{ schema, flag, says string }{
		"no JSON":     {schema: "{", says: "is not JSON"},
		"no schema":   {schema: `{"type": 5}`, says: "the schema of the answer cannot be used"},
		"endless":     {schema: `{"$ref": "#"}`, says: "leads back to itself"},
		"with checks": {schema: `{}`, flag: "--check=make", says: "has no checks"},
		"with steps":  {schema: `{}`, flag: "--step=it runs", says: "has no steps"},
	} {
		file := filepath.Join(t.TempDir(), "schema.json")
		if err := os.WriteFile(file, []byte(c.schema), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"new", "Ask", "--schema", file}
		if c.flag != "" {
			args = append(args, c.flag)
		}
		if got := w.try(w.repo, "", args...); got.code == 0 || !strings.Contains(got.err, c.says) {
			t.Errorf("%s: %+v, want a refusal that says %q", name, got, c.says)
		}
	}
	var page api.TaskPage
	if err := json.Unmarshal([]byte(w.cli("list", "--json")), &page); err != nil || len(page.Tasks) != 0 {
		t.Errorf("tasks %+v, %v; want none", page.Tasks, err)
	}
}
