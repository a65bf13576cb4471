//go:build linux

package e2e

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/api"
)

// sixMilestones writes the answer of an assessment or a review: six milestones, of which the
// first ones are done.
func sixMilestones(done int) string {
	var b strings.Builder
	for n := 1; n <= 6; n++ {
		box := "[ ]"
		if n <= done {
			box = "[x]"
		}
		fmt.Fprintf(&b, `- %s milestone %d\n`, box, n)
	}
	return fmt.Sprintf(`{"plan": "%s", "contract": "Six files.", "feedback": "Continue."}`, b.String())
}

// A cycle repairs an empty plan, survives a cycle without progress and a server that is
// killed, and lands when its last milestone is checked off.
func TestCycleReachesItsMilestones(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - {match: 'An earlier session answered the request below', role: answer, steps: [{say: '` + sixMilestones(0) + `'}]}
  - {match: 'Write the plan for the goal', role: answer, steps: [{say: '{"plan": "Nothing yet.", "contract": "Six files."}'}]}
  - {match: 'Review the work on the goal.*This is cycle 1 of', role: answer, steps: [{say: '` + sixMilestones(0) + `'}]}
  - {match: 'Review the work on the goal.*This is cycle [23] of', role: answer, steps: [{run: test -f m2}, {say: '` + sixMilestones(2) + `'}]}
  - {match: 'Review the work on the goal.*This is cycle 4 of', role: answer, steps: [{run: test -f m2 -a -f notes -a -f m6}, {say: '` + sixMilestones(6) + `'}]}
  - {match: 'Implement the next milestones.*This is cycle 1 of', steps: [{run: touch m1 m2}]}
  - {match: 'Implement the next milestones.*This is cycle 2 of', steps: [{run: touch notes}]}
  - {match: 'Implement the next milestones.*This is cycle 3 of', steps: [{run: touch m3 m4 m5 m6}]}
`})
	s := w.serve()
	w.cli("cycle", "Write six files", "--implementer", "scripted:one", "--reviewer", "scripted:two")
	w.killedTwice(s, 40, nil)
	d := w.landed("app-1")[0]
	want(t, "steps", steps(w.flow("app-1")), []string{"assess", "assess/repair-1", "c1/review", "c1/implement", "c2/review", "c2/implement", "c3/review", "c3/implement", "c4/review"})
	if names := w.git("ls-tree", "--name-only", "main"); !strings.Contains(names, "m6") || d.Landed != w.git("rev-parse", "main") {
		t.Errorf("main has %q at %s, want the files of all cycles as one landing %s", names, w.git("rev-parse", "main"), d.Landed)
	}
	if text := w.cli("flow", "doc", "app-1", "plan"); strings.Count(text, "- [x]") != 6 {
		t.Errorf("the plan does not have 6 milestones that are done:\n%s", text)
	}
}

// noProgress has a cycle whose first implementation is the only one that changes a file,
// and whose reviews never check a milestone off.
var noProgress = files{".coppice/scripted.yaml": `cases:
  - {match: 'Write the plan for the goal|Review the work on the goal', role: answer, steps: [{say: '` + sixMilestones(0) + `'}]}
  - {match: 'Implement the next milestones.*This is cycle 1 of', steps: [{run: touch part}]}
  - {match: 'Implement the next milestones', steps: [{say: I do not know how.}]}
`}

// A cycle without progress waits for a person and says why. It can be resumed from a
// step, and what is on its branch can be landed.
func TestCycleWithoutProgress(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noProgress)
	w.serve()
	got := w.try(w.repo, "", "cycle", "Write six files", "--implementer", "scripted:one", "--reviewer", "scripted:two", "--wait")
	if got.code != 1 || !strings.Contains(got.out, "2 cycles in a row made no progress, with 0 of 6 milestones done") {
		t.Fatalf("exit code %d, want 1 and the reason:\n%s%s\n%s", got.code, got.out, got.err, w.story("app-1"))
	}
	keys := []string{"assess", "c1/review", "c1/implement", "c2/review", "c2/implement", "c3/review", "c3/implement", "c4/review"}
	want(t, "steps", steps(w.flow("app-1")), keys)
	blocked := func() api.TaskDetail {
		t.Helper()
		return w.await("app-1", "to wait for a person", func(d api.TaskDetail) bool { return d.Status == coppice.StatusNeedsYou })
	}
	if d := blocked(); d.Failure == nil || d.Failure.Class != coppice.ClassImplementation || !strings.Contains(d.Fix, "coppice flow wrap-up app-1") {
		t.Errorf("it waits because of %+v, with the fix %q; want a class and a command", d.Failure, d.Fix)
	}
	w.cli("flow", "resume", "app-1", "--from", "review", "--cycle", "3")
	w.await("app-1", "the steps from there", func(api.TaskDetail) bool { return len(w.flow("app-1").Steps) > len(keys) })
	blocked()
	want(t, "steps", steps(w.flow("app-1"))[len(keys):], []string{"c3/review", "c3/implement", "c4/review", "c4/implement", "c5/review"})
	w.cli("flow", "wrap-up", "app-1")
	w.landed("app-1")
	w.wantOnBase("part", "")
}

// The implementer of a cycle is limited for a day while it works. The project's first
// choice continues, and does the later steps.
func TestCycleWithALimitedModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{
		"coppice.yaml": strings.Replace(policy, "agent: {use: scripted}", `agent: {use: scripted, model: big, fallback: ["scripted:small"]}`, 1),
		".coppice/scripted.yaml": `cases:
  - {match: 'Write the plan for the goal', role: answer, steps: [{say: '` + sixMilestones(0) + `'}]}
  - {match: 'Review the work on the goal.*This is cycle 1 of', role: answer, steps: [{say: '` + sixMilestones(0) + `'}]}
  - {match: 'Review the work on the goal.*This is cycle 2 of', role: answer, steps: [{run: test -f m3}, {say: '` + sixMilestones(3) + `'}]}
  - {match: 'Review the work on the goal', role: answer, steps: [{run: test -f m6}, {say: '` + sixMilestones(6) + `'}]}
  - {match: 'Implement the next milestones.*This is cycle 1 of', session: 1, steps: [{run: touch m1}, {fail: {class: rate_limit, text: the small one is used up, retry_in: 24h}}]}
  - {match: 'the small one is used up', session: 2, steps: [{run: test -f m1 && touch m2 m3}]}
  - {match: 'Implement the next milestones.*This is cycle 2 of', steps: [{run: touch m4 m5 m6}]}
`})
	w.serve()
	w.cli("cycle", "Write six files", "--implementer", "scripted:small", "--reviewer", "scripted:big")
	w.landed("app-1")
	want(t, "steps", steps(w.flow("app-1")), []string{"assess", "c1/review", "c1/implement", "c2/review", "c2/implement", "c3/review"})
	var used []string
	for _, key := range []string{"app-4", "app-6"} {
		for _, s := range w.task(key).History {
			used = append(used, s.Model)
		}
	}
	want(t, "models of the implementer", used, []string{"small", "big", "big"})
}

// Two sides that never agree use all three rounds. One acts, the other finds an issue,
// and the fixed work lands, although the server is killed.
func TestDebateWithActionAndVerification(t *testing.T) {
	t.Parallel()
	say := func(verdict string) string {
		return fmt.Sprintf(`{say: '{"verdict": "%s", "summary": "A view.", "position": "Reasons.", "changed": ""}'}`, verdict)
	}
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - {match: 'You answer alone', role: answer, steps: [` + say("disagree") + `]}
  - {match: 'This is round [23] of 3', role: answer, steps: [` + say("partial") + `]}
  - {match: 'The issues that you found before', role: answer, steps: [{run: 'grep -q right choice.txt'}, {say: '{"result": "no_issues", "issues": []}'}]}
  - {match: 'You verify it', role: answer, steps: [{run: 'grep -q wrong choice.txt'}, {say: '{"result": "has_issues", "issues": ["choice.txt is wrong"]}'}]}
  - {match: 'you now do the work that follows', steps: [{write: {path: choice.txt, content: "wrong\n"}}]}
  - {match: 'It found issues', steps: [{write: {path: choice.txt, content: "right\n"}}, {say: Fixed.}]}
`})
	s := w.serve()
	w.cli("debate", "Left or right?", "--between", "scripted:one,scripted:two", "--action", "Write the choice", "--verify")
	w.killedTwice(s, 40, nil)
	w.landed("app-1")
	want(t, "steps", steps(w.flow("app-1")), []string{"l1/r0/a", "l1/r0/b", "l1/r1/a", "l1/r1/b", "l1/r2/a", "l1/r2/b", "l1/action", "l1/verify/1", "l1/respond/1", "l1/verify/2"})
	w.wantOnBase("choice.txt", "right")
	w.await("app-1", "the removal of its branch", func(api.TaskDetail) bool { return w.git("for-each-ref", "refs/heads/coppice") == "" })
}

// A template with twenty tasks is a batch, which outlives a killed server. A file of the
// same name comes first.
func TestBatchOfATemplate(t *testing.T) {
	t.Parallel()
	var tasks strings.Builder
	for n := range 20 {
		fmt.Fprintf(&tasks, "  - {title: 'Write {{what}} %d'}\n", n+1)
	}
	w := newWorld(t, files{
		".coppice/scripted.yaml":       "cases: [{match: 'Write file (\\d+)', steps: [{write: {path: $1.txt, content: \"$1\\n\"}}]}]\n",
		".coppice/templates/twenty.md": "---\ntitle: Twenty files\nvariables: {what: {default: file}}\ntasks:\n" + tasks.String() + "---\n",
	})
	s := w.serve()
	made := decode[api.Task](t, w.cli("batch", "twenty", "--most", "8", "--budget", "5", "--json"))
	if made.Title != "Twenty files" || made.Flow == nil || made.Flow.Kind != coppice.FlowBatch || made.Budget != 5 {
		t.Fatalf("created %+v, want the batch of the template, with a budget", made)
	}
	w.killedTwice(s, 70, nil)
	d := w.await(made.Key, "the end", func(d api.TaskDetail) bool { return d.Stage == coppice.StageEnded })
	f := w.flow(made.Key)
	if d.Outcome != coppice.OutcomeDone || len(f.Steps) != 20 {
		t.Fatalf("the batch is %s with %d steps, want done with 20", d.Outcome, len(f.Steps))
	}
	for n := range 20 {
		w.wantOnBase(fmt.Sprintf("%d.txt", n+1), fmt.Sprint(n+1))
	}
	w.write(w.repo, files{"twenty": "Write file 21\n"})
	if made := decode[api.Task](t, w.cli("batch", "twenty", "--json")); made.Title != "1 task of twenty" {
		t.Errorf("created %q, want the batch of the file", made.Title)
	}
	if got := w.try(w.repo, "", "batch", "nowhere"); got.code == 0 || !strings.Contains(got.err, "template") {
		t.Errorf("%+v, want a refusal that names files and templates", got)
	}
}

// A schedule whose time passed while the server was down starts one run. A run that is
// open outlives a killed server, and no other one starts beside it.
func TestScheduleOutlivesAKilledServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": "cases: [{match: 'Clean', steps: [{run: 'date +%N > clean.txt'}, {wait_message: true}]}]\n"})
	s := w.serve()
	w.cli("schedule", "add", "clean", "Clean up", "--every", "1m")
	runs := func() int { return decode[api.ScheduleDetail](t, w.cli("schedule", "show", "clean", "--json")).Runs }
	for n := 1; n <= 2; n++ {
		s.Kill()
		w.due()
		s = w.serve()
		key := fmt.Sprintf("app-%d", n)
		w.await(key, "a run", func(d api.TaskDetail) bool { return d.Title == "Clean up" })
		w.working(key, coppice.SessionIdle)
		s.Kill()
		s = w.serve()
		if got := w.try(w.repo, "", "schedule", "run", "clean"); got.code == 0 || !strings.Contains(got.err, key) {
			t.Errorf("%+v, want a refusal: %s is open", got, key)
		}
		w.cli("send", key, "continue")
		w.landed(key)
		if got := runs(); got != n {
			t.Errorf("%d runs, want %d", got, n)
		}
	}
	w.cli("schedule", "run", "clean")
	w.await("app-3", "a run that a person starts", func(d api.TaskDetail) bool { return d.Title == "Clean up" })
	w.cli("stop", "app-3")
}

// due moves the next time of all schedules into the past. The server must be down.
func (w *world) due() {
	w.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(w.State, "coppice.db"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	at := time.Now().Add(-time.Hour).UnixNano()
	for _, change := range []string{"UPDATE schedules SET next_at = ?", "UPDATE timers SET at = ? WHERE kind = 'schedule'"} {
		if _, err := db.Exec(change, at); err != nil {
			w.t.Fatal(err)
		}
	}
}
