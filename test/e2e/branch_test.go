//go:build linux

package e2e

import (
	"maps"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

// A task works on the branch that a person named, or that the project's template
// names, through a removal of its workspace and its return. What exists is refused.
func TestABranchHasTheNameThatAPersonChose(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{"coppice.yaml": policy + "land: {how: branch}\nworkspace: {branch: 'feature/{key}-{words}'}\n", ".coppice/scripted.yaml": `cases:
  - {match: 'on branch login\.', steps: [{run: 'test "$(git symbolic-ref --short HEAD)" = login'}, {write: {path: login.txt, content: "1\n"}}]}
  - {match: 'on branch feature/app-2-user-authentication\.', steps: [{write: {path: auth.txt, content: "1\n"}}]}
`})
	w.serve()
	w.cli("project", "add")
	key := w.new("Add a form", "--branch", "login")
	held := func(d api.TaskDetail) bool { return d.Stage == coppice.StageHeld }
	d := w.await(key, "to be held", held)
	if d.Branch != "login" || d.Workspace == nil || d.Workspace.Branch != "login" {
		t.Errorf("the branch is %q, the workspace %+v", d.Branch, d.Workspace)
	}
	w.cli("branch", key)
	if head := w.git("rev-parse", "login"); head != d.Landings[0].Head {
		t.Errorf("login is at %s, want %s", head, d.Landings[0].Head)
	}
	for name, says := range map[string]string{
		"login": "there is a branch \"login\" already", "login/x": "does not fit beside", "main": "there is a branch \"main\" already",
		"coppice/app-9": "named after their tasks", "a b": "not a valid branch name",
	} {
		if got := w.try(w.repo, "", "new", "x", "--branch", name); got.code == 0 || !strings.Contains(got.err, says) {
			t.Errorf("%s: %+v, want a refusal that says %q", name, got, says)
		}
	}
	w.cli("stop", key)
	w.await(key, "to lose its workspace", func(d api.TaskDetail) bool {
		return d.Stage == coppice.StageEnded && d.Workspace != nil && !d.Workspace.RemovedAt.IsZero()
	})
	w.cli("trash", "restore", key)
	w.await(key, "to get its workspace back", func(d api.TaskDetail) bool {
		return d.Workspace != nil && d.Workspace.Ready() && d.Workspace.Branch == "login"
	})
	other := w.new("User authentication")
	if d := w.await(other, "to be held", held); d.Branch != "feature/app-2-user-authentication" {
		t.Errorf("the branch is %q", d.Branch)
	}
	w.cli("land", other)
	w.landed(other)
	if text := w.cli("show", other); !strings.Contains(text, "feature/app-2-user-authentication") {
		t.Errorf("shows:\n%s", text)
	}
}

// Context values reach the agent, and coppice show prints them.
func TestContextValuesReachTheAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - {match: '(?s)release = 2\.1\nticket = APP-7\n</data-', steps: [{write: {path: fix.txt, content: "1\n"}}]}
`})
	w.serve()
	w.cli("project", "add")
	key := w.new("Fix the crash", "--context", "ticket=APP-7", "--context", "release=2.1")
	if d := w.landed(key)[0]; !maps.Equal(d.Context, map[string]string{"ticket": "APP-7", "release": "2.1"}) {
		t.Errorf("the context is %v", d.Context)
	}
	if text := w.cli("show", key); !strings.Contains(text, "Context\n  release = 2.1\n  ticket = APP-7\n") {
		t.Errorf("shows:\n%s", text)
	}
	for arg, says := range map[string]string{"ticket": "is not a context value", "a b=c": "not a valid context value name", "big=" + strings.Repeat("x", 5000): "4096 are allowed"} {
		if got := w.try(w.repo, "", "new", "x", "--context", arg); got.code == 0 || !strings.Contains(got.err, says) {
			t.Errorf("%.20s: %+v, want a refusal that says %q", arg, got, says)
		}
	}
}
