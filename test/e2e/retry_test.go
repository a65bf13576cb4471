//go:build linux

package e2e

import (
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

// With the policy analyze, a session that cannot edit finds out why another one
// failed, at the commit that it left. The next session reads the diagnosis.
func TestAFailedSessionIsAnalyzed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{"coppice.yaml": policy, ".coppice/scripted.yaml": `cases:
  - match: 'Task app-1'
    session: 1
    role: implement
    steps: [{write: {path: half.txt, content: "half of it\n"}}, {say: I cannot find the other half.}, {fail: {class: unknown, text: the script broke}}]
  - match: 'the script broke'
    role: analyze
    steps: [{run: 'grep half half.txt'}, {run: 'chmod u+w . && echo x > stray.txt'}, {say: The other half belongs to other.txt.}]
  - match: 'The other half belongs to other.txt.'
    session: 3
    role: implement
    steps: [{write: {path: other.txt, content: "the other half\n"}}, {say: done}]
  - {match: 'Task app-2', role: implement, steps: [{fail: {class: unknown, text: it broke}}]}
`})
	w.serve()
	key := w.new("Write both halves", "--retry", "analyze")
	d := w.landed(key)[0]
	want(t, "roles", roles(d), []coppice.Role{coppice.RoleImplement, coppice.RoleAnalyze, coppice.RoleImplement})
	w.wantPrompt(key+".2", "You change nothing", "the script broke", "I cannot find the other half.", "+half of it")
	w.wantPrompt(key+".3", "the script broke", "The other half belongs to other.txt.")
	if p := w.session(key + ".3").Prompt; strings.Contains(p, "+half of it") {
		t.Errorf("the next session reads the diff:\n%s", p)
	}
	if d.Retry != coppice.RetryAnalyze || !strings.Contains(w.cli("show", key), "analyze") {
		t.Errorf("show does not say the policy:\n%s", w.cli("show", key))
	}
	w.wantOnBase("half.txt", "half of it")
	w.wantOnBase("other.txt", "the other half")
	if list := w.git("ls-tree", "--name-only", "main"); strings.Contains(list, "stray") {
		t.Errorf("what the analysis wrote has landed:\n%s", list)
	}
	w.eventually("its worktrees to go", func() bool { return len(w.left()) == 0 })
	none := w.new("Fail", "--retry", "none")
	d = w.await(none, "to fail", func(d api.TaskDetail) bool { return d.Stage == coppice.StageEnded })
	if d.Outcome != coppice.OutcomeFailed || d.Sessions != 1 {
		t.Errorf("%s is %s after %d sessions", none, d.Outcome, d.Sessions)
	}
	if r := w.try(w.repo, "", "new", "Again", "--retry", "often"); r.code == 0 || !strings.Contains(r.err, "none, same, analyze") {
		t.Errorf("a policy that does not exist: %+v", r)
	}
}

// Completion checks decide about sessions that end without a failure.
func TestCompletionChecks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{"coppice.yaml": policy + "verify: {completion: [diff_not_empty, no_error_in_output]}\n", ".coppice/scripted.yaml": `cases:
  - match: 'Task app-1'
    session: 1
    steps: [{write: {path: one.txt, content: "1\n"}}, {say: 'Error: the tests could not be run'}]
  - {match: 'no_error_in_output.*the tests could not be run', steps: [{append: {path: one.txt, content: "2\n"}}, {say: All tests pass.}]}
  - {match: 'Task app-\d', steps: [{say: 'Error: nothing to do'}]}
`})
	w.serve()
	key := w.new("Write one")
	d := w.landed(key)[0]
	if f := d.History[0].Failure; f == nil || f.Class != coppice.ClassImplementation || d.Sessions != 2 {
		t.Errorf("%d sessions; the first failed with %+v", d.Sessions, f)
	}
	w.wantOnBase("one.txt", "1\n2")
	free := w.new("Look at it", "--completion", "none")
	d = w.await(free, "to be done", func(d api.TaskDetail) bool { return d.Stage == coppice.StageEnded })
	if d.Outcome != coppice.OutcomeDone || d.Sessions != 1 || d.Landed != "" {
		t.Errorf("%s is %s after %d sessions\n%s", free, d.Outcome, d.Sessions, w.story(free))
	}
	if out := w.cli("show", free); !strings.Contains(out, "done without a change") || !strings.Contains(out, "completion") {
		t.Errorf("show does not say why it is done:\n%s", out)
	}
	waits := w.new("Look at it too", "--completion", "diff_not_empty")
	w.await(waits, "a person's turn", func(d api.TaskDetail) bool {
		return d.Status == coppice.StatusNeedsYou && d.Failure != nil && d.Failure.Class == coppice.ClassUnchanged
	})
	if r := w.try(w.repo, "", "new", "Again", "--completion", "none,diff_not_empty"); r.code == 0 || !strings.Contains(r.err, "none cannot be combined") {
		t.Errorf("a list that contradicts itself: %+v", r)
	}
}
