//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

// need waits until the project needs a person for something of a kind, with the
// words in its text, and returns it.
func (w *world) need(kind coppice.NeedKind, words string) (n coppice.Need) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("a need of kind %s with %q", kind, words), func() bool {
		p, err := w.client.Project(w.t.Context(), "app")
		if got := p.Need(kind); err == nil && got != nil && strings.Contains(got.Text, words) {
			n = *got
			return true
		}
		return false
	})
	return n
}

// noNeed waits until the project needs nobody for anything of a kind.
func (w *world) noNeed(kind coppice.NeedKind) {
	w.t.Helper()
	w.eventually("the end of a need of kind "+string(kind), func() bool {
		p, err := w.client.Project(w.t.Context(), "app")
		return err == nil && p.Need(kind) == nil
	})
}

// file reads a file of the person's checkout.
func (w *world) file(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.repo, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

// An agent that edits coppice.yaml and the prompts in the person's checkout
// loosens nothing: settings that decide about landing wait, all others apply. An
// edit of the same file while no session runs applies immediately.
func TestAnAgentLoosensNothingInTheCheckout(t *testing.T) {
	t.Parallel()
	strict := policy + "checks: [test ! -e wrong]\nverify: {attempts: 0}\n"
	w := newWorld(t, files{"coppice.yaml": strict})
	attack := fmt.Sprintf("sed -i -e '/^checks/d' -e 's/sessions: 8/sessions: 7/' %[1]s/coppice.yaml; mkdir -p %[1]s/.coppice/prompts; echo Obey > %[1]s/.coppice/prompts/implement.md", w.repo)
	w.write(w.repo, files{".coppice/scripted.yaml": "cases:\n  - {match: Loosen, steps: [{run: " + fmt.Sprintf("%q", attack) + "}, {write: {path: wrong, content: x}}, {wait_message: true}]}\n  - {steps: [{write: {path: fine, content: x}}]}\n"})
	w.git("add", "-A")
	w.git("commit", "-qm", "script")
	s := w.serve()
	w.cli("project", "add")
	w.new("Loosen the checks")
	w.working("app-1", coppice.SessionIdle)
	n := w.need(coppice.NeedPolicy, "checks, prompts")
	if !strings.Contains(n.Diff, "-- test ! -e wrong") || !strings.Contains(n.Diff, "+Obey") || strings.Contains(n.Diff, "sessions") {
		t.Errorf("the diff is\n%s", n.Diff)
	}
	w.awaitPolicy("the limit", func(p coppice.Policy) bool { return p.Limits.Sessions == 7 })
	if out := w.cli("status"); !strings.Contains(out, "Needs you (1)") || !strings.Contains(out, "-- test ! -e wrong") || !strings.Contains(out, "coppice project add") {
		t.Errorf("the status is\n%s", out)
	}

	// A key that is set through the server applies, and no other change does.
	w.cli("config", "set", "land.how", "branch")
	if p := w.policyOf(); p.Land.How != coppice.LandBranch || len(p.Checks) != 1 || len(p.Prompts) != 0 {
		t.Errorf("the policy is %+v", p)
	}
	w.cli("config", "unset", "land.how")

	// The need survives a restart, and the agent's work does not pass.
	s.Stop(t)
	w.serve()
	w.need(coppice.NeedPolicy, "checks, prompts")
	w.cli("send", "app-1", "continue")
	w.await("app-1", "its end", func(d api.TaskDetail) bool { return d.Outcome == coppice.OutcomeFailed })
	if p := w.policyOf(); len(p.Checks) != 1 || len(p.Prompts) != 0 {
		t.Errorf("the policy is %+v", p)
	}

	// Undoing the change ends the need.
	if err := os.RemoveAll(filepath.Join(w.repo, ".coppice/prompts")); err != nil {
		t.Fatal(err)
	}
	w.git("checkout", "-q", "--", "coppice.yaml")
	w.noNeed(coppice.NeedPolicy)

	// No session runs: an edit applies immediately.
	w.cli("project", "add")
	w.write(w.repo, files{"coppice.yaml": strings.Replace(strict, "! -e wrong", "! -e bad", 1)})
	w.awaitPolicy("the check", func(p coppice.Policy) bool { return len(p.Checks) == 1 && p.Checks[0] == "test ! -e bad" })
	if got := w.policyOf(); len(got.Prompts) != 0 {
		t.Errorf("prompts %q", got.Prompts)
	}
}

// An agent that ticks off another feature cancels nothing before a person agrees.
func TestAnAgentTicksOffNothing(t *testing.T) {
	t.Parallel()
	narrow := strings.Replace(policy, "sessions: 8", "sessions: 1", 1) + "features: features.json\nverify: {by: none}\n"
	w := newWorld(t, files{"coppice.yaml": narrow, "features.json": `[
  {"id": 1, "name": "Do one", "status": "open"},
  {"id": 2, "name": "Do two", "status": "open"},
  {"id": 3, "name": "Do three", "status": "open"}
]
`})
	attack := fmt.Sprintf(`sed -i -e '/"id": 2/s/open/passed/' -e '/"id": 3/s/Do three/Do more/' %s/features.json`, w.repo)
	w.write(w.repo, files{".coppice/scripted.yaml": "cases:\n  - {match: 'Do one', steps: [{run: " + fmt.Sprintf("%q", attack) + "}, {wait_message: true}, {write: {path: one, content: x}}]}\n  - {steps: [{write: {path: two, content: x}}]}\n"})
	w.git("add", "-A")
	w.git("commit", "-qm", "script")
	w.serve()
	w.cli("project", "add")
	w.working("app-1", coppice.SessionIdle)
	n := w.need(coppice.NeedFeatures, "a status in features.json changed")
	if n.Diff != "feature 2: open → passed\n" {
		t.Errorf("the diff is %q", n.Diff)
	}
	w.await("app-3", "the edit of its feature", func(d api.TaskDetail) bool { return d.Title == "Do more" })
	if d := w.task("app-2"); d.Stage == coppice.StageEnded || d.Stage == "" {
		t.Errorf("app-2 is %s", d.Status)
	}
	if got := w.file("features.json"); !strings.Contains(got, `"id": 2, "name": "Do two", "status": "passed"`) {
		t.Errorf("the file was written over:\n%s", got)
	}
	if r := w.try(w.repo, "", "project", "confirm", "app", "--base"); r.code == 0 {
		t.Error("a base is confirmed that did not move")
	}
	if out := w.cli("project", "confirm", "app", "--features"); !strings.Contains(out, "feature 2: open → passed") {
		t.Errorf("confirming said\n%s", out)
	}
	w.await("app-2", "its end", func(d api.TaskDetail) bool { return d.Outcome == coppice.OutcomeCancelled })
	w.noNeed(coppice.NeedFeatures)
	w.cli("send", "app-1", "continue")
	w.landed("app-1", "app-3")
}

// An agent that moves the base itself is noticed before anything is built upon
// what it did, and the base can be moved back, or kept.
func TestAnAgentMovesTheBase(t *testing.T) {
	t.Parallel()
	for _, choice := range []string{"restore", "keep"} {
		t.Run(choice, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, files{"coppice.yaml": policy})
			attack := fmt.Sprintf("echo bad > bad; git add bad; git commit -qm bad; git -C %[1]s fetch -q $PWD HEAD; git -C %[1]s update-ref refs/heads/main $(git rev-parse HEAD)", w.repo)
			w.write(w.repo, files{".coppice/scripted.yaml": "cases:\n  - {match: Move, steps: [{run: " + fmt.Sprintf("%q", attack) + "}]}\n  - {steps: [{write: {path: fine, content: x}}]}\n"})
			w.git("add", "-A")
			w.git("commit", "-qm", "script")
			before := w.git("rev-parse", "main")
			w.serve()
			w.cli("project", "add")
			w.new("Move the base")
			n := w.need(coppice.NeedBase, "main moved from")
			bad := w.git("rev-parse", "main")
			if n.From != before || n.To != bad || bad == before || !strings.Contains(n.Diff, "bad") {
				t.Errorf("it needs %+v", n)
			}
			w.new("Something fine")
			d := w.await("app-2", "a reason to wait", func(d api.TaskDetail) bool { return strings.Contains(d.Reason, "waits for you: main moved") })
			if d.Status != coppice.StatusChecking || !strings.Contains(d.Fix, "restore-base") || w.git("rev-parse", "main") != bad {
				t.Errorf("app-2 is %s, %s", d.Status, d.Fix)
			}
			if choice == "keep" {
				w.cli("project", "confirm", "--base")
				w.landed("app-2")
				w.await("app-1", "its end: the base has its changes", func(d api.TaskDetail) bool { return d.Outcome == coppice.OutcomeDone })
				if got := w.git("log", "--format=%s", "-1", bad); got != "bad" || !strings.Contains(w.git("log", "--format=%H", "main"), bad) {
					t.Errorf("the base lost %s", bad)
				}
				return
			}
			w.cli("project", "restore-base", "app")
			w.noNeed(coppice.NeedBase)
			w.landed("app-1", "app-2")
			if log := w.git("log", "--format=%H", "main"); strings.Contains(log, bad) || !strings.Contains(log, before) {
				t.Errorf("the base has\n%s", log)
			}
			if got := w.git("status", "--porcelain"); got != "" {
				t.Errorf("the checkout: %q", got)
			}
		})
	}
}
