package config

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/test/testfile"
)

const upgrade = `---
title: Upgrade {{module}}
agent: claude
checks: ["docker inspect -f '{{name}}' x"]
steps: ["{{module}} is at {{version}}"]
budget: 5
time: 30m
labels: [deps]
variables:
  module: {about: the module, required: true}
  version: {default: latest}
---
Upgrade {{module}} to {{version}}. Keep {{ this }} and {{.That}}.
`

func TestTemplateExpands(t *testing.T) {
	t.Parallel()
	tmpl, err := ParseTemplate("upgrade", []byte(upgrade))
	if err != nil {
		t.Fatal(err)
	}
	got, err := tmpl.Expand(coppice.NewTask{Template: "upgrade", Variables: map[string]string{"module": "cobra"}, Agent: "codex", Priority: 3})
	if err != nil {
		t.Fatal(err)
	}
	want := coppice.NewTask{
		Template: "upgrade", Title: "Upgrade cobra", Body: "Upgrade cobra to latest. Keep {{ this }} and {{.That}}.", Agent: "codex", Priority: 3,
		Checks: []string{"docker inspect -f '{{name}}' x"}, Steps: []string{"cobra is at latest"}, Budget: tmpl.Head.Budget, Time: tmpl.Head.Time, Labels: []string{"deps"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for name, tt := range map[string]struct {
		vars map[string]string
		want string
	}{
		"a required variable is missing": {nil, "the template upgrade needs the variable module"},
		"an undeclared variable":         {map[string]string{"module": "x", "modul": "y"}, `the template upgrade has no variable "modul"`},
	} {
		if _, err := tmpl.Expand(coppice.NewTask{Template: "upgrade", Variables: tt.vars}); err == nil || coppice.Public(err).Cause != tt.want || coppice.Public(err).Field != "variables" {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestTemplateOfFlow(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		kind coppice.FlowKind
		spec string
	}{
		"a flow":  {"title: x\nflow:\n  kind: debate\n  time: 8h\n  spec: {between: [a, \"{{who}}\"], rounds: 3}\nvariables: {who: {default: b}}\n", coppice.FlowDebate, `{"between":["a","b"],"rounds":3}`},
		"a batch": {"title: x\ntasks:\n- title: one {{who}}\n  checks: [\"echo {{ who }}\"]\n- title: two\nvariables: {who: {default: b}}\n", coppice.FlowBatch, `{"tasks":[{"checks":["echo {{ who }}"],"title":"one b"},{"title":"two"}]}`},
	} {
		tmpl, err := ParseTemplate("x", []byte("---\n"+tt.text+"---\n"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n, err := tmpl.Expand(coppice.NewTask{Template: "x"})
		if err != nil || n.Flow == nil || n.Flow.Kind != tt.kind || string(n.Flow.Spec) != tt.spec {
			b, _ := json.Marshal(n)
			t.Errorf("%s: %s, %v; want %s %s", name, b, err, tt.kind, tt.spec)
		}
	}
}

// The fields of a request's spec override those of the template.
func TestTemplateOfFlowWithARequest(t *testing.T) {
	t.Parallel()
	tmpl, err := ParseTemplate("x", []byte("---\ntitle: x\ntasks: [{title: one}]\n---\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		flow coppice.NewFlow
		spec string // empty if the request is refused
	}{
		"more fields":  {coppice.NewFlow{Kind: coppice.FlowBatch, Spec: json.RawMessage(`{"most":2}`)}, `{"most":2,"tasks":[{"title":"one"}]}`},
		"other fields": {coppice.NewFlow{Kind: coppice.FlowBatch, Spec: json.RawMessage(`{"tasks":[]}`)}, `{"tasks":[]}`},
		"no spec":      {coppice.NewFlow{Kind: coppice.FlowBatch}, `{"tasks":[{"title":"one"}]}`},
		"another kind": {coppice.NewFlow{Kind: coppice.FlowGoal}, ""},
	} {
		n, err := tmpl.Expand(coppice.NewTask{Template: "x", Flow: &tt.flow})
		if (err == nil) != (tt.spec != "") || err == nil && (n.Flow == nil || string(n.Flow.Spec) != tt.spec) || err != nil && coppice.Public(err).Fix == "" {
			t.Errorf("%s: %+v, %v; want the spec %q", name, n.Flow, err, tt.spec)
		}
	}
}

// An error names the line of the file.
func TestTemplateProblems(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"an unknown key":          {"---\ntitle: x\nagnet: y\n---\n", `.coppice/templates/x.md:3:1: unknown key "agnet", did you mean "agent"?`},
		"a wrong type":            {"---\ntitle: x\nturns: many\n---\n", ".coppice/templates/x.md:3:8: template.turns must be a whole number, this is text"},
		"no end":                  {"---\ntitle: x\n", ".coppice/templates/x.md:1:1: the front matter has no end"},
		"nothing":                 {"---\nagent: x\n---\n\n", ".coppice/templates/x.md:1:1: the template has neither a title nor a description"},
		"an unknown placeholder":  {"---\ntitle: x\n---\nOne.\nDo {{what}}.\n", `.coppice/templates/x.md:5:4: the variable "what" is not declared`},
		"one in the front matter": {"---\ntitle: x {{what}}\n---\n", `.coppice/templates/x.md:2:10: the variable "what" is not declared`},
		"an unknown kind":         {"---\ntitle: x\nflow: {kind: none}\n---\n", `.coppice/templates/x.md:3:14: there is no kind of flow "none"`},
		"no kind":                 {"---\ntitle: x\nflow: {time: 1h}\n---\n", ".coppice/templates/x.md:3:7: flow needs kind"},
		"a flow and tasks":        {"---\ntitle: x\nflow: {kind: goal}\ntasks: [{title: y}]\n---\n", ".coppice/templates/x.md:4:8: a template has either tasks or a flow"},
		"a task's unknown key":    {"---\ntitle: x\ntasks: [{titel: y}]\n---\n", `.coppice/templates/x.md:3:8: unknown field "titel"`},
		"a variable's bad name":   {"---\ntitle: x\nvariables: {a b: {}}\n---\n", `.coppice/templates/x.md:3:12: "a b" is not a valid name of a variable`},
		"required with a default": {"---\ntitle: x\nvariables: {a: {required: true, default: b}}\n---\n", `.coppice/templates/x.md:3:12: the variable "a" is required and has a default`},
	} {
		_, err := ParseTemplate("x", []byte(tt.text))
		if got, _, _ := strings.Cut(coppice.Public(err).Cause, "\n"); err == nil || got != tt.want || coppice.Public(err).Fix == "" {
			t.Errorf("%s: %q, want %q with a fix", name, got, tt.want)
		}
	}
}

func TestTemplateFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if all, err := Templates(dir); err != nil || len(all) != 0 {
		t.Fatalf("%v, %v", all, err)
	}
	change := TemplateChange{Name: "upgrade", Text: upgrade}
	if diff, err := PreviewTemplate(dir, change, ""); err != nil || !strings.Contains(diff, "+title: Upgrade {{module}}") {
		t.Errorf("%q, %v", diff, err)
	}
	if err := ApplyTemplate(dir, change, ""); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, filepath.Join(dir, TemplateDir, "broken.md"), "---\nx: 1\n---\n")
	testfile.Write(t, filepath.Join(dir, TemplateDir, "notes.txt"), "x")
	all, err := Templates(dir)
	if err != nil || len(all) != 2 || all[0].Name != "broken" || all[0].Problem == nil || all[1].Name != "upgrade" || all[1].Problem != nil {
		t.Fatalf("%+v, %v", all, err)
	}
	change.Text = "---\nagnet: y\n---\n"
	if err := ApplyTemplate(dir, change, ""); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("a broken text: %v", err)
	}
	change.Text = "Other."
	if err := ApplyTemplate(dir, change, "0000"); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("another revision: %v", err)
	}
	if now, err := ReadTemplate(dir, "upgrade"); err != nil || now.Text != upgrade {
		t.Errorf("%q, %v", now.Text, err)
	}
	if err := ApplyTemplate(dir, TemplateChange{Name: "upgrade", Unset: true}, all[1].Revision); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"upgrade", "../x"} {
		if _, err := ReadTemplate(dir, name); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}
