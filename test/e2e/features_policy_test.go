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
	"coppice/api/client"
	"coppice/test/harness"
)

// policyOf returns the current policy.
func (w *world) policyOf() coppice.Policy {
	w.t.Helper()
	list, err := w.client.Projects(w.t.Context())
	if err != nil || len(list) != 1 {
		w.t.Fatalf("%d projects: %v", len(list), err)
	}
	return list[0].Policy
}

// awaitPolicy waits until the policy is as f expects it.
func (w *world) awaitPolicy(what string, f func(coppice.Policy) bool) {
	w.t.Helper()
	w.eventually(what, func() bool { return f(w.policyOf()) })
}

// eventually waits for something that is not a fact of one task.
func (w *world) eventually(what string, f func() bool) {
	w.t.Helper()
	ctx, cancel := hangGuard(w.t)
	defer cancel()
	for !f() {
		if harness.Tick(ctx) != nil {
			w.t.Fatalf("%s did not come about\n%s", what, w.cli("status"))
		}
	}
}

// waitingScript lets every session wait for a message before it works.
const waitingScript = `cases:
  - {match: 'Do (\w+)', steps: [{wait_message: true}, {write: {path: $1.txt, content: "$1\n"}}]}
`

// Tracks, limits, categories and prompts change while everything runs, by an
// edit alone: nothing is restarted, and nobody has to say so.
func TestThePolicyChangesAtRunTime(t *testing.T) {
	t.Parallel()
	narrow := strings.Replace(policy, "sessions: 8", "sessions: 1", 1) + "features: features.json\nverify: {by: none}\n"
	w := newWorld(t, files{"coppice.yaml": narrow, ".coppice/scripted.yaml": waitingScript,
		"features.json": `[
  {"id": 1, "name": "Do one", "category": "ui", "status": "open"},
  {"id": 2, "name": "Do two", "category": "ui", "status": "open"},
  {"id": 3, "name": "Do three", "category": "db", "status": "open"}
]
`})
	w.serve()
	w.cli("project", "add")
	w.working("app-1", coppice.SessionIdle)
	w.await("app-2", "a reason to wait", func(d api.TaskDetail) bool {
		return strings.Contains(d.Reason, "all 1 sessions of the project are taken")
	})

	// More sessions, and a track for each category: tasks that have not begun move
	// there.
	wide := strings.Replace(narrow, "sessions: 1", "sessions: 5", 1)
	tracks := "tracks:\n  - {name: main, default: true}\n  - {name: web, categories: [ui], limit: 1, color: '#336699'}\n  - {name: data, categories: [db]}\n"
	w.write(w.repo, files{"coppice.yaml": wide + tracks})
	for _, key := range []string{"app-2", "app-3"} {
		w.working(key, coppice.SessionIdle)
	}
	if a, b, c := w.task("app-1").Track, w.task("app-2").Track, w.task("app-3").Track; a != "main" || b != "web" || c != "data" {
		t.Errorf("they run in %s, %s and %s", a, b, c)
	}

	// A broken edit is reported with its position, and changes nothing.
	w.write(w.repo, files{"coppice.yaml": wide + "tracks: [{nam: main}]\n"})
	said := w.warned("coppice.yaml:")
	if !strings.Contains(strings.Join(said, "\n"), "the policy before this edit stays in effect") || len(w.policyOf().Tracks) != 3 {
		t.Errorf("said %q; tracks %+v", said, w.policyOf().Tracks)
	}
	// Nor does a file that is gone for a moment, or for longer.
	if err := os.Remove(filepath.Join(w.repo, "coppice.yaml")); err != nil {
		t.Fatal(err)
	}
	w.warned("coppice.yaml is missing or empty")
	if p := w.policyOf(); len(p.Tracks) != 3 || p.Limits.Sessions != 5 || p.Features != "features.json" {
		t.Errorf("the policy is %+v", p)
	}

	// Prompts as well; one that cannot be used leaves the last good one.
	w.write(w.repo, files{"coppice.yaml": wide + tracks, ".coppice/prompts/implement.md": "Do as {{.Title}} says"})
	w.need(coppice.NeedPolicy, "prompts") // sessions run: it could have been one of them
	w.cli("project", "add")
	w.awaitPolicy("the prompt", func(p coppice.Policy) bool { return p.Prompts["implement"] != "" })
	w.warned("")
	w.write(w.repo, files{".coppice/prompts/implement.md": "{{.Nonsense}}"})
	w.warned(".coppice/prompts/implement.md")
	if got := w.policyOf().Prompts["implement"]; got != "Do as {{.Title}} says" {
		t.Errorf("the prompt is %q", got)
	}

	// New features find the new tracks, and a category that none has is named
	// with the track it falls to.
	text := w.features("the file", func(string) bool { return true })
	w.edit(strings.Replace(text, "\n]", ",\n  {\"id\": 4, \"name\": \"Do four\", \"category\": \"mail\"}\n]", 1))
	w.warned(`the category "mail" belongs to no track; such features go to main`)
	w.working("app-4", coppice.SessionIdle)
	found := 0
	page, err := w.client.Events(t.Context(), client.EventQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range page.Events {
		if e.Kind == coppice.EventProjectWarned && strings.Contains(e.Reason, `"mail"`) {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d events name the new category, want 1", found)
	}
	if got := w.session("app-4.1").Prompt; !strings.HasPrefix(got, "Do as Do four says") {
		t.Errorf("its prompt is:\n%s", got)
	}

	// An edit that is not committed keeps nothing from landing.
	for i := range 4 {
		w.cli("send", fmt.Sprintf("app-%d", i+1), "continue")
	}
	w.features("all passed", all("passed", 4))
	if got := w.git("status", "--porcelain", "--untracked-files=no"); got != " M coppice.yaml\n M features.json" {
		t.Errorf("the checkout: %q", got)
	}
}

// Checks that an agent landed do not apply until a person confirms them.
func TestALandedPolicyWaitsForAPerson(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{coppice.StrategySquash, coppice.StrategyMerge, coppice.StrategyRebase} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			strict := policy + "land: {strategy: " + strategy + "}\nchecks: [sh check.sh]\n"
			w := newWorld(t, files{"coppice.yaml": strict, "check.sh": "test ! -e wrong\n", ".coppice/scripted.yaml": `cases:
  - match: Loosen
    steps:
      - run: sed -i '/^checks/d' coppice.yaml
      - commit: Loosen it
      - write: {path: other, content: "other\n"}
      - commit: More
  - {steps: [{write: {path: wrong, content: "wrong\n"}}]}
`})
			w.serve()
			w.cli("project", "add")
			w.landed(w.new("Loosen the checks"))
			n := w.need(coppice.NeedPolicy, "checks")
			if strategy != coppice.StrategyRebase && !strings.Contains(n.Text, "coppice.yaml changed by app-1") || !strings.Contains(n.Diff, "-- sh check.sh") {
				t.Errorf("it needs %+v", n)
			}
			if got := w.onBase("coppice.yaml"); strings.Contains(got, "checks") {
				t.Fatalf("nothing landed:\n%s", got)
			}
			if p := w.policyOf(); len(p.Checks) != 1 {
				t.Errorf("the checks are %q", p.Checks)
			}
			// A further task does not confirm them.
			w.cli("new", "Continue")
			if p := w.policyOf(); len(p.Checks) != 1 {
				t.Errorf("after a further task the checks are %q", p.Checks)
			}
			w.cli("stop", "app-2")
			w.await("app-2", "its end", func(d api.TaskDetail) bool { return d.Stage == coppice.StageEnded })
			if out := w.cli("project", "add"); !strings.Contains(out, "confirmed: the policy") || !strings.Contains(out, "-- sh check.sh") {
				t.Errorf("adding it said\n%s", out)
			}
			w.noNeed(coppice.NeedPolicy)
			if p := w.policyOf(); len(p.Checks) != 0 {
				t.Errorf("a person confirmed, and the checks are %q", p.Checks)
			}
			// A person's own edit applies without a confirmation again.
			w.write(w.repo, files{"coppice.yaml": strict})
			w.awaitPolicy("the checks", func(p coppice.Policy) bool { return len(p.Checks) == 1 })
		})
	}
}
