//go:build linux

package e2e

import (
	"strings"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/config"
)

const journeyScript = `cases:
  - match: "Task [^ ]+: Add (one|two)"
    steps:
      - say: I will add $1.
      - write: {path: $1.txt, content: "$1\n"}
      - commit: Add $1
      - usage: {input_tokens: 10, output_tokens: 2, cost_usd: 0.5}
`

func TestJourney(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": journeyScript})
	w.git("rm", "--quiet", "coppice.yaml")
	w.git("commit", "--quiet", "--message=Without a policy")

	if out := w.cli("init", "--yes", "--agent", "scripted", "--base", "main"); !strings.Contains(out, "coppice.yaml") {
		t.Errorf("init says nothing of what it wrote:\n%s", out)
	}
	for _, k := range decode[[]config.Key](t, w.cli("config", "--json")) {
		if k.Name == "agent.use" && k.Value != "scripted" {
			t.Errorf("agent.use is %s", k.Value)
		}
	}
	w.write(w.repo, files{"coppice.yaml": policy})
	w.git("add", "--all")
	w.git("commit", "--quiet", "--message=With a policy")

	w.serve()
	one := w.new("Add one", "--check", "test -f one.txt", "--priority", "5")
	two := w.new("Add two", "--check", "grep -q two two.txt", "--after", one)
	want(t, "keys", []string{one, two}, []string{"app-1", "app-2"})
	logs := w.cli("logs", "-f", two)
	if !strings.Contains(logs, "I will add two.") || !strings.Contains(logs, "done") {
		t.Errorf("logs -f shows\n%s", logs)
	}

	d := w.landed(one, two)
	if d[0].Priority != 5 || len(d[1].After) != 1 || d[1].After[0] != one {
		t.Errorf("priority %d, after %v", d[0].Priority, d[1].After)
	}
	if d[1].History[0].CreatedAt.Before(d[0].EndedAt) {
		t.Error("the second began before the first was done")
	}
	w.git("merge-base", "--is-ancestor", d[0].Landed, d[1].Landed)
	if got := w.git("rev-parse", "main"); got != d[1].Landed {
		t.Errorf("main is at %s, not at %s", got, d[1].Landed)
	}
	body := w.git("log", "-1", "--format=%B", d[0].Landed)
	for _, line := range []string{"Add one", "Coppice-Task: " + one, "Coppice-Session: " + one + ".1"} {
		if !strings.Contains(body, line) {
			t.Errorf("the commit's message lacks %q:\n%s", line, body)
		}
	}
	if got := w.git("status", "--porcelain"); got != "" {
		t.Errorf("the checkout did not follow cleanly:\n%s", got)
	}
	if diff := w.cli("diff", one); !strings.Contains(diff, "+one\n") || !strings.Contains(diff, "one.txt") {
		t.Errorf("diff shows\n%s", diff)
	}
	readEverything(t, w, one)
	w.quiet(t)
}

// readEverything looks at what every reading command prints for programs.
func readEverything(t *testing.T, w *world, one string) {
	t.Helper()
	if page := decode[api.TaskPage](t, w.cli("list", "--json")); len(page.Tasks) != 2 {
		t.Errorf("list shows %d tasks", len(page.Tasks))
	}
	if s := decode[api.Status](t, w.cli("status", "--json")); s.Counts[coppice.StatusDone] != 2 {
		t.Errorf("status counts %v", s.Counts)
	}
	show := decode[api.TaskDetail](t, w.cli("show", one, "--json"))
	if show.Usage.CostUSD != 0.5 || len(show.CheckRuns) == 0 || show.Status != coppice.StatusDone {
		t.Errorf("show: %s, %v, %d checks", show.Status, show.Usage, len(show.CheckRuns))
	}
	events := objects[coppice.Event](t, w.cli("events", "--after", "0", "-n", "1000", "--json"))
	for i, e := range events {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has number %d", i+1, e.Seq)
		}
	}
	if p := decode[api.ProjectList](t, w.cli("project", "list", "--json")); len(p.Projects) != 1 || p.Projects[0].Prefix != "app" {
		t.Errorf("projects: %v", p)
	}
	if out := w.cli("agents", "--json"); !strings.Contains(out, `"agent scripted"`) {
		t.Errorf("agents: %s", out)
	}
	decode[any](t, w.cli("doctor", "--json"))
	for _, args := range [][]string{{"list"}, {"status"}, {"show", one}, {"events"}, {"project", "list"}, {"agents"}, {"doctor"}, {"config"}} {
		if out := w.cli(args...); strings.TrimSpace(out) == "" {
			t.Errorf("%v prints nothing", args)
		}
	}
}

func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": journeyScript})
	s := w.serve()
	one := w.new("Add one")
	w.landed(one)
	backup := decode[api.Backup](t, w.cli("backup", "--json")).Path
	two := w.new("Add two")
	w.landed(two)

	if r := w.try(w.repo, "", "restore", "--yes", backup); r.code != 1 || !strings.Contains(r.err, "→") {
		t.Errorf("restore under a running server: %+v", r)
	}
	s.Stop(t)
	if r := w.try(w.repo, "", "restore", backup); r.code != 1 || !strings.Contains(r.err, "--yes") {
		t.Errorf("restore without a confirmation: %+v", r)
	}
	w.cli("restore", "--yes", backup)
	w.serve()
	if page := decode[api.TaskPage](t, w.cli("list", "--json")); len(page.Tasks) != 1 || page.Tasks[0].Key != one {
		t.Errorf("after the restore there are %v", page.Tasks)
	}
}
