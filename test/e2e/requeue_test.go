//go:build linux

package e2e

import (
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

// twoAgents is a policy with a second agent, which plays another script.
const twoAgents = policy + "agents: {other: {protocol: scripted, command: [\"{coppice}\", scripted], args: [.coppice/other.yaml]}}\n"

// A session that went astray is ended, and another agent takes the task over in
// the same workspace. Its prompt says what was done, and what to do differently.
func TestRequeueARunningTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{"coppice.yaml": twoAgents, ".coppice/scripted.yaml": `cases:
  - steps:
      - write: {path: half.txt, content: "half\n"}
      - commit: Half of it
      - write: {path: left.txt, content: "left\n"}
      - run: "sleep 1000 &"
      - hang: true
`, ".coppice/other.yaml": `cases:
  - steps:
      - run: test -f half.txt && test -f left.txt
      - write: {path: rest.txt, content: "rest\n"}
`})
	w.serve()
	key := w.new("Go astray")
	w.said(key+".1", "hanging")
	before := w.task(key)

	out := decode[api.TaskList](t, w.cli("requeue", key, "--note", "leave the schema alone", "--agent", "other", "--json"))
	if len(out.Tasks) != 1 || out.Tasks[0].Key != key || out.Tasks[0].Agent != "other" {
		t.Errorf("it answers %+v", out.Tasks)
	}
	d := w.landed(key)[0]
	if len(d.History) != 2 || d.Round != 1 || d.History[0].State != coppice.SessionCancelled || d.History[1].Agent != "other" {
		t.Fatalf("round %d, sessions %+v", d.Round, d.History)
	}
	if d.Workspace.Path != before.Workspace.Path {
		t.Errorf("it continued in %s, not in %s", d.Workspace.Path, before.Workspace.Path)
	}
	w.wantOnBase("half.txt", "half")
	w.wantOnBase("left.txt", "left")
	w.wantOnBase("rest.txt", "rest")
	w.wantPrompt(key+".2", "A person adds: leave the schema alone", "A person ended the work on this task", "What "+key+".1 (scripted) did", "half.txt")
	w.await(key, "an empty workspace", func(d api.TaskDetail) bool { return !d.Workspace.RemovedAt.IsZero() })
	w.quiet(t)

	r := w.try(w.repo, "", "requeue", key)
	if r.code != 1 || !strings.Contains(r.err, key+" is done") || !strings.Contains(r.err, "coppice continue "+key) {
		t.Errorf("what has landed is requeued: %+v", r)
	}
	if now := w.task(key); now.Round != d.Round || now.Outcome != coppice.OutcomeDone {
		t.Errorf("a refused word changed it: %s, round %d", now.Outcome, now.Round)
	}
}

// Asked twice and by two at once it happens once, also when the server is killed
// right after it.
func TestRequeueSurvivesAKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - session: 1
    steps:
      - write: {path: a.txt, content: "a\n"}
      - hang: true
  - steps:
      - write: {path: b.txt, content: "b\n"}
`})
	s := w.serve()
	key := w.new("Begin again")
	w.said(key+".1", "hanging")
	w.cli("requeue", key, "--note", "first word")
	s.Kill()
	w.serve()
	d := w.landed(key)[0]
	if len(d.History) != 2 || d.Round != 1 {
		t.Errorf("round %d, %d sessions", d.Round, len(d.History))
	}
	if p := w.session(key + ".2").Prompt; strings.Count(p, "first word") != 1 {
		t.Errorf("the second session has the prompt\n%s", p)
	}
	w.wantOnBase("a.txt", "a")
	w.wantOnBase("b.txt", "b")
}

// A queued task keeps its place, a task that waits for a person is restarted, and
// a held task gives its candidate up. One command names several tasks, and an
// unknown key does not stop it.
func TestRequeueTasksWithoutSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{"coppice.yaml": twoAgents + "land: {how: branch}\n", ".coppice/scripted.yaml": `cases:
  - match: Wait
    steps:
      - fail: {class: disk, text: the disk is full}
  - match: Hold
    steps:
      - write: {path: held.txt, content: "held\n"}
  - steps:
      - write: {path: queued.txt, content: "queued\n"}
`, ".coppice/other.yaml": `cases:
  - match: 'Task (\S+):'
    steps:
      - write: {path: $1.txt, content: "again\n"}
`})
	w.serve()
	waits, held := w.new("Wait for me"), w.new("Hold it")
	w.await(waits, "a person's turn", func(d api.TaskDetail) bool { return d.Status == coppice.StatusNeedsYou })
	w.await(held, "a word", func(d api.TaskDetail) bool { return d.Stage == coppice.StageHeld })
	w.cli("project", "pause")
	queued := w.new("Wait in line")
	w.await(queued, "a place in the queue", func(d api.TaskDetail) bool { return d.Stage == coppice.StageQueued })

	r := w.try(w.repo, "", "requeue", waits, "app-99", held, queued, "--agent", "other", "--note", "take care")
	if r.code != 1 || !strings.Contains(r.err, "app-99") || strings.Count(r.out, "\n") != 3 {
		t.Errorf("requeue of many: %+v", r)
	}
	keys := []string{waits, held, queued}
	for _, key := range keys {
		d := w.await(key, "the queue", func(d api.TaskDetail) bool { return d.Stage == coppice.StageQueued })
		if d.Agent != "other" {
			t.Errorf("%s is done by %s", key, d.Agent)
		}
	}
	w.cli("project", "resume")
	for _, key := range keys {
		d := w.await(key, "a word", func(d api.TaskDetail) bool { return d.Stage == coppice.StageHeld })
		if s := last(d.History); s.Agent != "other" || !strings.Contains(w.session(s.Key).Prompt, "take care") {
			t.Errorf("%s: session %+v", key, s)
		}
		w.cli("land", key)
		w.landed(key)
		w.wantOnBase(key+".txt", "again")
	}
	if d := w.task(held); !slices.Contains(outcomes(d), coppice.LandingDropped) || w.onBase("held.txt") != "held" {
		t.Errorf("%s: its landings ended as %v", held, outcomes(d))
	}
	if d := w.task(queued); d.Round != 0 || len(d.History) != 1 {
		t.Errorf("%s, which had not begun, is in round %d with %d sessions", queued, d.Round, len(d.History))
	}
	w.quiet(t)
}

// A check that never ends is given up with the candidate it judged.
func TestRequeueWhileChecksRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{"coppice.yaml": policy + "checks: ['test -f second.txt || sleep 1000']\n", ".coppice/scripted.yaml": `cases:
  - session: 1
    steps:
      - write: {path: first.txt, content: "first\n"}
  - steps:
      - write: {path: second.txt, content: "second\n"}
`})
	w.serve()
	key := w.new("Check without end")
	w.await(key, "a check", func(d api.TaskDetail) bool { return d.Stage == coppice.StageChecking })
	w.cli("requeue", key)
	d := w.landed(key)[0]
	want(t, "landings", outcomes(d), []coppice.LandingOutcome{coppice.LandingDropped, coppice.LandingLanded})
	if len(d.History) != 2 || d.Round != 1 {
		t.Errorf("round %d, %d sessions", d.Round, len(d.History))
	}
}
