//go:build linux

package e2e

import (
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

// redWorld is a repository whose check fails on every commit without the file ok.
// A fix session writes it.
func redWorld(t *testing.T, check string) *world {
	t.Helper()
	w := newWorld(t, files{
		"coppice.yaml": policy + "checks: [" + check + "]\n",
		"check.sh":     "[ -f ok ] || { echo the base is broken; exit 3; }\n",
		".coppice/scripted.yaml": `cases:
  - {match: 'Task app-(\d+)', role: implement, steps: [write: {path: work-$1, content: "done\n"}]}
  - {match: 'Task app-(\d+)', role: fix, steps: [write: {path: ok, content: "fixed\n"}]}
`})
	w.serve()
	return w
}

// blocked waits until a task waits for a person because of its base, after one
// session.
func (w *world) blocked(key, reason string) api.TaskDetail {
	w.t.Helper()
	d := w.await(key, "a person's turn", func(d api.TaskDetail) bool { return d.Status == coppice.StatusNeedsYou })
	if !strings.Contains(d.Reason, reason) || d.Sessions != 1 || d.Failure == nil || d.Failure.Class != coppice.ClassBase {
		w.t.Fatalf("%s waits with %q after %d sessions", key, d.Reason, d.Sessions)
	}
	for _, v := range []coppice.Verb{coppice.VerbSkipCheck, coppice.VerbContinue, coppice.VerbRetry} {
		if !slices.Contains(d.Can, v) {
			w.t.Errorf("%s does not offer %s: %v", key, v, d.Can)
		}
	}
	return d
}

func onBase(d api.TaskDetail) (n int) {
	for _, c := range d.CheckRuns {
		if c.OnBase {
			n++
		}
	}
	return n
}

const alsoRed = "the base fails this check as well"

// A check that the base fails as well starts no fix session, and runs once on the
// base for all tasks. A person decides.
func TestARedBase(t *testing.T) {
	t.Parallel()
	t.Run("fixed", func(t *testing.T) {
		t.Parallel()
		w := redWorld(t, "sh check.sh")
		one, two := w.new("One"), w.new("Two")
		ran, n := one, onBase(w.blocked(one, alsoRed)) // the task whose landing came first
		if m := onBase(w.blocked(two, alsoRed)); m > 0 {
			ran, n = two, n+m
		}
		if n != 1 {
			t.Errorf("the check ran %d times on the base", n)
		}
		for _, part := range []string{alsoRed, "the base is broken", "on the base, without its work", "coppice skip-check " + ran} {
			if out := w.cli("show", ran); !strings.Contains(out, part) {
				t.Errorf("show does not have %q:\n%s", part, out)
			}
		}
		if out := w.cli("inbox"); !strings.Contains(out, one) || !strings.Contains(out, two) || !strings.Contains(out, alsoRed) {
			t.Errorf("the inbox does not say it:\n%s", out)
		}
		w.write(w.repo, files{"ok": "by hand\n"})
		w.git("add", "ok")
		w.git("commit", "--quiet", "--message=Fix the base")
		w.cli("retry", one)
		if d := w.landed(one)[0]; d.Sessions != 1 {
			t.Errorf("%d sessions", d.Sessions)
		}
		if d := w.landed(two)[0]; d.Sessions != 1 { // the base has moved, so it tried again
			t.Errorf("%d sessions of the other", d.Sessions)
		}
	})
	t.Run("left out", func(t *testing.T) {
		t.Parallel()
		w := redWorld(t, "sh check.sh, 'true'")
		key := w.new("One")
		w.blocked(key, alsoRed)
		if r := w.try(w.repo, "", "skip-check", key, "true"); r.code == 0 || !strings.Contains(r.err, "sh check.sh") {
			t.Errorf("a check that passes: exit code %d, %s", r.code, r.err)
		}
		w.cli("skip-check", key)
		d := w.landed(key)[0]
		want(t, "checks left out", d.Skipped, []string{"sh check.sh"})
		if d.Sessions != 1 || !strings.Contains(w.git("log", "-1", "--format=%B", "main"), "Coppice-Skipped-Check: sh check.sh") {
			t.Errorf("%d sessions; the commit says:\n%s", d.Sessions, w.git("log", "-1", "--format=%B", "main"))
		}
		if out := w.cli("show", key); !strings.Contains(out, "left out") {
			t.Errorf("show does not name the check:\n%s", out)
		}
	})
	t.Run("anyway", func(t *testing.T) {
		t.Parallel()
		w := redWorld(t, "sh check.sh")
		key := w.new("One")
		w.blocked(key, alsoRed)
		w.cli("continue", key, "write the file ok")
		want(t, "roles", roles(w.landed(key)[0]), []coppice.Role{coppice.RoleImplement, coppice.RoleFix})
		w.wantPrompt(key+".2", "write the file ok", "the base is broken")
		w.wantOnBase("ok", "fixed")
	})
}

// A check whose command is missing starts no fix session and does not run on the
// base. A person decides.
func TestAMissingCommand(t *testing.T) {
	t.Parallel()
	const missing = "the command of this check is missing"
	w := redWorld(t, "no-such-linter --all")
	one, two := w.new("One"), w.new("Two")
	if n := onBase(w.blocked(one, missing)) + onBase(w.blocked(two, missing)); n != 0 {
		t.Errorf("it ran %d times on the base", n)
	}
	w.write(w.repo, files{"coppice.yaml": policy + "checks: ['true']\n"})
	w.git("add", "--all")
	w.git("commit", "--quiet", "--message=Another check")
	w.cli("project", "add")
	for _, d := range w.landed(one, two) { // the base has moved, so both continue by themselves
		if d.Sessions != 1 {
			t.Errorf("%s: %d sessions", d.Key, d.Sessions)
		}
	}
}

// A session that changed nothing is not retried. Its final message is the answer,
// and a person decides.
func TestASessionWithoutChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - {match: write it down, steps: [{write: {path: tree.txt, content: "a tree\n"}}]}
  - {match: Try, session: 2, steps: [{write: {path: tried.txt, content: "tried\n"}}]}
  - {match: is it complete, steps: [{say: It is complete.}]}
  - steps: [{say: It is a tree.}]
`})
	w.serve()
	unchanged := func(key string) {
		t.Helper()
		d := w.await(key, "a person's turn", func(d api.TaskDetail) bool { return d.Status == coppice.StatusNeedsYou })
		if d.Sessions != 1 || d.Answer == nil || d.Answer.Text != "It is a tree." {
			t.Fatalf("%d sessions, answer %+v, %q", d.Sessions, d.Answer, d.Reason)
		}
		if out := w.cli("show", key); !strings.Contains(out, "Answer\n  It is a tree.") || !strings.Contains(out, "coppice done "+key) {
			t.Errorf("show does not have the answer and the choices:\n%s", out)
		}
	}
	asItIs, note, retry := w.new("Explain the tree"), w.new("Explain it again"), w.new("Try twice")
	for _, key := range []string{asItIs, note, retry} {
		unchanged(key)
	}
	if out := w.cli("inbox"); !strings.Contains(out, "It is a tree.") {
		t.Errorf("the inbox does not have the answer:\n%s", out)
	}
	w.cli("done", asItIs)
	d := w.await(asItIs, "the end", func(d api.TaskDetail) bool { return d.Stage == coppice.StageEnded })
	if d.Outcome != coppice.OutcomeDone || d.Landed != "" || d.Sessions != 1 {
		t.Errorf("it is %s, landed as %q after %d sessions", d.Outcome, d.Landed, d.Sessions)
	}
	w.cli("continue", note, "write it down")
	w.landed(note)
	w.wantOnBase("tree.txt", "a tree")
	w.cli("retry", retry)
	before := w.landed(retry)[0]

	// A task that has landed stays done if a continue changes nothing.
	w.cli("continue", retry, "is it complete?")
	d = w.await(retry, "its third session's end", func(d api.TaskDetail) bool { return d.Stage == coppice.StageEnded && d.Sessions == 3 })
	if d.Outcome != coppice.OutcomeDone || d.Landed != before.Landed || !d.EndedAt.Equal(before.EndedAt) || d.Reason == "" || d.Answer == nil || d.Answer.Text != "It is complete." {
		t.Errorf("it is %s, landed as %q at %s (was %s), %q, answer %+v", d.Outcome, d.Landed, d.EndedAt, before.EndedAt, d.Reason, d.Answer)
	}
}
