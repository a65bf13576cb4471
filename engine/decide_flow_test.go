package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/flow"
	"coppice/store"
	"coppice/verb"
)

// openFlows opens a bundle whose project can use two agents.
func openFlows(t *testing.T) *bundle {
	t.Helper()
	agents := func(coppice.Project) []flow.Agent { return []flow.Agent{{Name: "ann"}, {Name: "bob"}} }
	b := open(t)
	b.Intake.usable = agents
	b.project(func(p *coppice.Project) { p.Policy.Retry.Max, p.Policy.Checks = 0, nil })
	return b
}

// debate creates a debate.
func (b *bundle) debate(spec string, more ...func(*coppice.NewTask)) coppice.Task {
	b.t.Helper()
	n := coppice.NewTask{Title: "Which way?", Flow: &coppice.NewFlow{Kind: coppice.FlowDebate, Spec: []byte(spec)}}
	for _, f := range more {
		f(&n)
	}
	made := b.create(n)
	b.turn()
	return made[0]
}

// replies lets the session of a step end with an answer.
func (b *bundle) replies(key, text string) {
	b.t.Helper()
	zero := 0
	b.runs(key)
	b.finish(key, coppice.WorkRun, coppice.RunResult{Exit: &zero, Summary: text, Head: "base1", From: "base1"})
	if w := b.unsettled(key); w.Kind == coppice.WorkRemove {
		b.finish(key, coppice.WorkRemove, coppice.RemoveResult{})
	}
}

// side is the answer of a side of a debate.
func side(verdict string) string {
	return fmt.Sprintf(`{"verdict": %q, "summary": "so", "position": "this way", "changed": ""}`, verdict)
}

// landsAs lets a session of a task change something, which then lands.
func (b *bundle) landsAs(key, commit string) {
	b.t.Helper()
	zero := 0
	b.runs(key)
	b.finish(key, coppice.WorkRun, coppice.RunResult{Exit: &zero, Summary: "changed it", From: "base1", Head: "head-" + key})
	b.merges(key, commit)
}

// merges takes a landing without checks to its end.
func (b *bundle) merges(key, commit string) {
	b.t.Helper()
	b.finish(key, coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree-" + commit, Commit: commit})
	b.finish(key, coppice.WorkMove, coppice.MoveResult{Moved: true, Now: commit})
	if w := b.unsettled(key); w.Kind == coppice.WorkRemove {
		b.finish(key, coppice.WorkRemove, coppice.RemoveResult{})
	}
}

func (b *bundle) steps(of coppice.Task) (keys []string) {
	b.t.Helper()
	for _, s := range read(b, func(r store.Reader) ([]coppice.Task, error) { return r.Families.Steps(of.ID) }) {
		keys = append(keys, s.Step.Key+"="+s.Key)
	}
	return keys
}

func (b *bundle) wantSteps(of coppice.Task, want string) {
	b.t.Helper()
	if got := strings.Join(b.steps(of), " "); got != want {
		b.t.Fatalf("the steps are %s, want %s", got, want)
	}
}

// stops reports whether a task was stopped, or was asked to stop.
func (b *bundle) stops(key string) bool {
	b.t.Helper()
	t := b.task(key)
	asks := read(b, func(r store.Reader) ([]coppice.Ask, error) { return r.Asks.Open(coppice.TaskSubject(t.ID)) })
	return t.Outcome == coppice.OutcomeCancelled || coppice.Asked(asks, coppice.VerbStop) != nil
}

// A flow creates its branch, works through its steps, and lands its branch as a task
// does. Then the branch goes to the trash.
func TestAFlowLands(t *testing.T) {
	t.Parallel()
	b := openFlows(t)
	f := b.debate(`{"between": ["ann", "bob"], "action": "Do it."}`)
	if got := b.task(f.Key); got.Stage != coppice.StageFlow || got.Group == 0 || got.Next != nil {
		t.Fatalf("the flow is %+v", got)
	}
	b.wantSteps(f, "")
	b.finish(f.Key, coppice.WorkBranch, coppice.BranchResult{Tip: "base1"})
	b.wantSteps(f, "l1/r0/a=app-2 l1/r0/b=app-3")
	one := b.task("app-2")
	if one.Parent != f.ID || one.Onto != "coppice/app-1" || one.Agent != "ann" || one.Wants != coppice.WantsAnswer || one.Group != b.task(f.Key).Group {
		t.Errorf("the first step is %+v", one)
	}
	b.replies("app-2", side("agree"))
	b.wantSteps(f, "l1/r0/a=app-2 l1/r0/b=app-3")
	b.replies("app-3", side("agree"))
	b.wantSteps(f, "l1/r0/a=app-2 l1/r0/b=app-3 l1/action=app-4")
	docs := read(b, func(r store.Reader) ([]coppice.Document, error) { return r.Documents.Newest(f.ID) })
	if len(docs) != 1 || docs[0].Name != "summary" || docs[0].Version != 1 {
		t.Errorf("the documents are %+v", docs)
	}
	b.landsAs("app-4", "c1")
	got := b.task(f.Key)
	if got.Stage != coppice.StageLanding && got.Stage != coppice.StageChecking || !got.Flow.Lands {
		t.Fatalf("the flow does not land: %s, %+v", got.Stage, got.Flow)
	}
	if w := b.unsettled(f.Key); !strings.Contains(string(w.Spec), `"head":"c1"`) {
		t.Errorf("it merges %s", w.Spec)
	}
	b.merges(f.Key, "c2")
	if got := b.task(f.Key); got.Outcome != coppice.OutcomeDone || got.Landed != "c2" {
		t.Fatalf("the flow is %s, landed %q", got.Outcome, got.Landed)
	}
	b.finish(f.Key, coppice.WorkBranch, coppice.BranchResult{Tip: "c1"})
	if got := b.task(f.Key); got.Flow.Dropped.IsZero() || b.unsettled(f.Key).ID != 0 {
		t.Errorf("its branch is not removed: %+v", got.Flow)
	}
}

// A step that failed blocks the flow, and nothing else. When a person retries the
// step, or resumes the flow, it continues.
func TestABlockedFlow(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(*bundle, coppice.Task) error{
		"the step is retried": func(b *bundle, _ coppice.Task) error {
			_, err := b.Ask(b.t.Context(), "app-2", coppice.VerbRetry, verb.Request{})
			return err
		},
		"the flow is resumed": func(b *bundle, f coppice.Task) error {
			_, err := b.Ask(b.t.Context(), f.Key, coppice.VerbResume, verb.Request{})
			return err
		},
		"the flow is retried": func(b *bundle, f coppice.Task) error {
			_, err := b.Ask(b.t.Context(), f.Key, coppice.VerbRetry, verb.Request{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := openFlows(t)
			f := b.debate(`{"between": ["ann", "bob"]}`)
			b.wantSteps(f, "l1/r0/a=app-2 l1/r0/b=app-3")
			b.replies("app-3", side("agree"))
			b.runs("app-2")
			b.finish("app-2", coppice.WorkRun, coppice.RunResult{Failure: coppice.Failf(coppice.ClassUnknown, "cannot do this", "")})
			if got := b.task("app-2"); got.Outcome != coppice.OutcomeFailed {
				t.Fatalf("the step is %s %s, %+v", got.Stage, got.Outcome, got.Wait)
			}
			got := b.task(f.Key)
			if got.Wait == nil || got.Wait.On != coppice.WaitPerson || got.Failure == nil || got.Failure.Class != coppice.ClassUnknown {
				t.Fatalf("the flow waits for %+v because of %+v", got.Wait, got.Failure)
			}
			b.must(again(b, f))
			b.turn()
			if got := b.task(f.Key); got.Stage != coppice.StageFlow || got.Wait != nil {
				t.Fatalf("the flow does not continue: %s, %+v", got.Stage, got.Wait)
			}
			open := "app-2"
			if len(b.steps(f)) == 3 {
				open = "app-4"
			}
			b.replies(open, side("agree"))
			if got := b.task(f.Key); got.Outcome != coppice.OutcomeDone || got.Flow.Result == "" {
				t.Errorf("the flow is %s %s, %q", got.Stage, got.Outcome, got.Flow.Result)
			}
		})
	}
}

// A stop of a flow stops its steps. An undo of the stop starts them again.
func TestAStoppedFlow(t *testing.T) {
	t.Parallel()
	b := openFlows(t)
	f := b.debate(`{"between": ["ann", "bob"]}`)
	_, err := b.Ask(t.Context(), f.Key, coppice.VerbStop, verb.Request{})
	b.must(err)
	b.turn()
	for _, key := range []string{f.Key, "app-2", "app-3"} {
		if !b.stops(key) {
			t.Errorf("%s was not stopped", key)
		}
	}
	_, err = b.Ask(t.Context(), f.Key, coppice.VerbUnstop, verb.Request{})
	b.must(err)
	b.turn()
	if got := b.task(f.Key); got.Stage != coppice.StageFlow {
		t.Errorf("after the undo the flow is at %s", got.Stage)
	}
}

// The branch of a stopped flow is removed, also if the work that created it is said to
// have failed: it might have had its effect.
func TestAStoppedFlowLeavesNoBranch(t *testing.T) {
	t.Parallel()
	b := openFlows(t)
	f := b.debate(`{"between": ["ann", "bob"], "action": "Do it."}`)
	_, err := b.Ask(t.Context(), f.Key, coppice.VerbStop, verb.Request{})
	b.must(err)
	b.finish(f.Key, coppice.WorkBranch, coppice.Failf(coppice.ClassEnvironment, "the disk was busy", ""))
	w := b.unsettled(f.Key)
	spec, err := coppice.DecodeSpec[coppice.BranchSpec](w)
	if err != nil || w.Kind != coppice.WorkBranch || !spec.Drop {
		t.Errorf("the stopped flow has %q to do (%+v, %v), want it to remove its branch", w.Kind, spec, err)
	}
	b.finish(f.Key, coppice.WorkBranch, coppice.BranchResult{})
	if got := b.task(f.Key); got.Outcome != coppice.OutcomeCancelled || got.Flow.Dropped.IsZero() {
		t.Errorf("the flow is %q, its branch removed at %s", got.Outcome, got.Flow.Dropped)
	}
}

// A removal of a flow's branch that failed might have had its effect. A flow that is
// resumed repeats it with the same ref, and creates its branch again from there.
func TestAResumedFlowWhoseBranchMightBeGone(t *testing.T) {
	t.Parallel()
	b := openFlows(t)
	f := b.debate(`{"between": ["ann", "bob"], "action": "Do it."}`)
	b.finish(f.Key, coppice.WorkBranch, coppice.BranchResult{Tip: "base1"})
	_, err := b.Ask(t.Context(), f.Key, coppice.VerbStop, verb.Request{})
	b.must(err)
	b.turn()
	drop := specOf[coppice.BranchSpec](b, b.unsettled(f.Key))
	_, err = b.Ask(t.Context(), f.Key, coppice.VerbResume, verb.Request{})
	b.must(err)
	b.finish(f.Key, coppice.WorkBranch, coppice.Failf(coppice.ClassEnvironment, "the disk was busy", ""))
	again := specOf[coppice.BranchSpec](b, b.unsettled(f.Key))
	if !drop.Drop || again != drop {
		t.Errorf("it does %+v, want %+v", again, drop)
	}
	b.finish(f.Key, coppice.WorkBranch, coppice.BranchResult{Tip: "c1", Kept: true})
	spec := specOf[coppice.BranchSpec](b, b.unsettled(f.Key))
	if spec.Drop || spec.Head != "c1" || spec.Ref != drop.Ref {
		t.Errorf("it continues with %+v", spec)
	}
}

// A paused flow starts no step. One whose time is over stops its steps, and waits for
// a person.
func TestAFlowPausesAndHasATime(t *testing.T) {
	t.Parallel()
	b := openFlows(t)
	f := b.debate(`{"between": ["ann", "bob"]}`, func(n *coppice.NewTask) { n.Flow.Time = coppice.Duration(time.Hour) })
	_, err := b.Ask(t.Context(), f.Key, coppice.VerbPause, verb.Request{})
	b.must(err)
	b.turn()
	b.replies("app-2", side("agree"))
	b.replies("app-3", side("disagree"))
	b.wantSteps(f, "l1/r0/a=app-2 l1/r0/b=app-3")
	_, err = b.Ask(t.Context(), f.Key, coppice.VerbResume, verb.Request{})
	b.must(err)
	b.turn()
	b.wantSteps(f, "l1/r0/a=app-2 l1/r0/b=app-3 l1/r1/a=app-4 l1/r1/b=app-5")
	b.clock = b.clock.Add(61 * time.Minute)
	b.turn()
	got := b.task(f.Key)
	if got.Failure == nil || got.Failure.Class != coppice.ClassTimeout {
		t.Fatalf("the flow is at %s because of %+v", got.Stage, got.Failure)
	}
	if !b.stops("app-4") {
		t.Error("its step was not stopped")
	}
	if _, err := b.Ask(t.Context(), f.Key, coppice.VerbResume, verb.Request{Text: "nothing"}); coppice.Public(err).Field != "from" {
		t.Errorf("a step that does not exist is not refused: %v", err)
	}
}

// A goal that names no number of workers has that of its project.
func TestTheWorkersOfAGoal(t *testing.T) {
	t.Parallel()
	b := openFlows(t)
	for _, c := range []struct {
		policy, want int
		spec         string
	}{{0, 4, `{}`}, {2, 2, ``}, {2, 2, `{"workers": 0}`}, {2, 7, `{"workers": 7}`}} {
		b.project(func(p *coppice.Project) { p.Policy.Goal.Workers = c.policy })
		f := b.create(coppice.NewTask{Title: "Reach it", Flow: &coppice.NewFlow{Kind: coppice.FlowGoal, Spec: []byte(c.spec)}})[0]
		if s, err := flow.ReadGoal(f.Flow.Spec); err != nil || s.Workers != c.want {
			t.Errorf("%q with goal.workers %d: %d workers, %v; want %d", c.spec, c.policy, s.Workers, err, c.want)
		}
	}
}

// The verifier of a goal works at the tip of the branch with the work of all workers,
// and sees what the lead says about it. What it refuses goes to a further lead.
func TestTheVerifierOfAGoal(t *testing.T) {
	t.Parallel()
	b := openFlows(t)
	f := b.create(coppice.NewTask{Title: "Reach it", Flow: &coppice.NewFlow{Kind: coppice.FlowGoal, Spec: []byte(`{"lead": "ann"}`)}})[0]
	b.turn()
	b.finish(f.Key, coppice.WorkBranch, coppice.BranchResult{Tip: "base1"})
	b.runs("app-2")
	by := coppice.Actor{Kind: coppice.ActorSession, Name: "app-2.1"}
	asks := func(v coppice.Verb, text string, args any) {
		t.Helper()
		now := b.task(f.Key)
		b.must(b.store.Update(t.Context(), func(tx store.Tx) error { return b.As(by).AskFlow(tx, now, v, text, args) }))
		b.turn()
	}
	asks(coppice.VerbSpawn, "one", flow.Spawn{Key: "w1", Perspective: flow.Implementer, Agent: "bob", Task: "Write it."})
	b.wantSteps(f, "lead=app-2 w1=app-3")
	if w := b.task("app-3"); w.Parent != b.task("app-2").ID || w.Onto != "coppice/app-1" || w.Agent != "bob" {
		t.Errorf("the worker is %+v", w)
	}
	b.landsAs("app-3", "c1")
	asks(coppice.VerbGoalDone, "It is written.", flow.GoalDone{Criteria: "the file exists"})
	b.replies("app-2", "GOAL_DONE: It is written.")
	b.wantSteps(f, "lead=app-2 w1=app-3 verify-1=app-4")
	v := b.task("app-4")
	for _, part := range []string{"Reach it", "It is written.", "the file exists"} {
		if !strings.Contains(v.Body, part) {
			t.Errorf("the prompt of the verifier does not have %q:\n%s", part, v.Body)
		}
	}
	if v.Agent != "bob" || v.Onto != "coppice/app-1" || v.Wants != coppice.WantsAnswer || len(v.Schema) == 0 {
		t.Errorf("the verifier is %+v", v)
	}
	b.replies("app-4", `{"result": "fail", "findings": ["it has no test"]}`)
	b.wantSteps(f, "lead=app-2 w1=app-3 verify-1=app-4 lead-2=app-5")
	if body := b.task("app-5").Body; !strings.Contains(body, "it has no test") || !strings.Contains(body, "landed as c1") {
		t.Errorf("the further lead does not have the findings and the state:\n%s", body)
	}
}

// A flow that resumes from a step stops the open steps from there on: their work must
// not land beside that of the new ones.
func TestResumeStopsOpenSteps(t *testing.T) {
	t.Parallel()
	b := openFlows(t)
	f := b.debate(`{"between": ["ann", "bob"]}`)
	b.replies("app-2", side("agree"))
	b.replies("app-3", side("disagree"))
	b.runs("app-4")
	_, err := b.Ask(t.Context(), f.Key, coppice.VerbPause, verb.Request{})
	b.must(err)
	b.turn()
	_, err = b.Ask(t.Context(), f.Key, coppice.VerbResume, verb.Request{Text: "r1"})
	if coppice.Public(err).Field != "from" { // l1/r1 is one
		t.Errorf("r1 names a step: %v", err)
	}
	_, err = b.Ask(t.Context(), f.Key, coppice.VerbResume, verb.Request{Text: "l1/r1"})
	b.must(err)
	b.turn()
	b.wantSteps(f, "l1/r0/a=app-2 l1/r0/b=app-3 l1/r1/a=app-4 l1/r1/b=app-5 l1/r1/a=app-6 l1/r1/b=app-7")
	for key, want := range map[string]bool{"app-4": true, "app-5": true, "app-6": false, "app-7": false} {
		if b.stops(key) != want {
			t.Errorf("%s stops: %t, want %t", key, !want, want)
		}
	}
}

// A batch that resumes from an item repeats this one and the later ones, except those
// whose work is on the base.
func TestResumeKeepsLandedItems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ spec, from, want string }{
		{`{"tasks": [{"title": "a"}, {"title": "b"}, {"title": "c"}, {"title": "d"}]}`, "2", "1=app-2 2=app-3 3=app-4 4=app-5 2=app-6 4=app-7"},
		{`{"tasks": [{"title": "a"}, {"title": "b"}, {"title": "c"}, {"title": "d"}]}`, "3", "1=app-2 2=app-3 3=app-4 4=app-5 3=app-6 4=app-7"},
		{`{"debate": {"between": ["ann", "bob"], "rounds": 1, "then": {}}, "tasks": [{"title": "a"}, {"title": "b"}]}`, "1",
			"1/l1/r0/a=app-2 1/l1/r0/b=app-3 2/l1/r0/a=app-4 2/l1/r0/b=app-5 2/then=app-6 1/l1/r0/a=app-7 1/l1/r0/b=app-8"},
		{`{"debate": {"between": ["ann", "bob"], "rounds": 1, "then": {}}, "tasks": [{"title": "a"}, {"title": "b"}]}`, "2",
			"1/l1/r0/a=app-2 1/l1/r0/b=app-3 2/l1/r0/a=app-4 2/l1/r0/b=app-5 2/then=app-6 2/l1/r0/a=app-7 2/l1/r0/b=app-8"},
	} {
		b := openFlows(t)
		f := b.create(coppice.NewTask{Title: "Some tasks", Flow: &coppice.NewFlow{Kind: coppice.FlowBatch, Spec: []byte(c.spec)}})[0]
		b.turn()
		if strings.Contains(c.spec, "debate") {
			b.replies("app-4", side("agree"))
			b.replies("app-5", side("agree"))
			b.landsAs("app-6", "c6")
		} else {
			b.landsAs("app-4", "c4")
		}
		_, err := b.Ask(t.Context(), f.Key, coppice.VerbPause, verb.Request{})
		b.must(err)
		b.turn()
		_, err = b.Ask(t.Context(), f.Key, coppice.VerbResume, verb.Request{Text: c.from})
		b.must(err)
		b.turn()
		b.wantSteps(f, c.want)
	}
}

func TestStepNamed(t *testing.T) {
	t.Parallel()
	var steps []coppice.Task
	for _, key := range []string{
		"10", "1", "assess", "c1/review", "c1/implement", "c2/review", "c2/review-2", "c2/verify-1", "c2/verify-1/repair-1", "c2/fix-1", "c2/verify-2",
		"lead", "w1", "w10", "verify-1", "lead-2", "verify-2", "l1/r0/a", "l1/action", "7/l1/r0/a",
	} {
		s := coppice.Task{}
		s.Step = &coppice.Step{Key: key}
		steps = append(steps, s)
	}
	for text, want := range map[string]string{
		"1": "1", "w1": "w1", "7": "7/l1/r0/a", "assess": "assess", "c2": "c2/review", "c2/": "c2/review", "review": "c2/review", "c1/review": "c1/review",
		"c2/review": "c2/review", "implement": "c1/implement", "c2/verify": "c2/verify-2", "fix": "c2/fix-1", "c2/verify-1": "c2/verify-1",
		"lead": "lead", "verify": "verify-2", "l1/r0": "l1/r0/a", "action": "l1/action", "c3/review": "", "rev": "", "": "", "2": "", "c1/verify": "",
	} {
		got := ""
		if n := stepNamed(steps, text); n >= 0 {
			got = steps[n].Step.Key
		}
		if got != want {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
}

// A plan that writes a document after another version than the current one is refused.
func TestPlansReplaceNoNewerDocument(t *testing.T) {
	t.Parallel()
	for after, refused := range map[int64]bool{0: true, 1: true, 2: false, 3: true} {
		v := &View{Docs: map[string]coppice.Document{"plan": {Name: "plan", Version: 2}}}
		v.Task.Key, v.Task.Flow, v.Task.Stage = "app-1", &coppice.Flow{}, coppice.StageFlow
		d := carryOut(v, flow.Plan{Docs: []flow.NewDoc{{Name: "plan", Text: "x", After: after}}})
		if blocked := d.Task != nil && d.Task.Wait != nil && len(d.More) == 0; blocked != refused {
			t.Errorf("a version after %d: %+v, refused is %t, want %t", after, d, blocked, refused)
		}
	}
}

// Comments on a plan that waits for an approval go to its author as one document, and
// other drafts stay.
func TestCommentsOnAPlan(t *testing.T) {
	t.Parallel()
	b := openFlows(t)
	f := b.create(coppice.NewTask{Title: "Reach it", Flow: &coppice.NewFlow{Kind: coppice.FlowGoal, Spec: []byte(`{"plan": true}`)}})[0]
	b.turn()
	b.finish(f.Key, coppice.WorkBranch, coppice.BranchResult{Tip: "base1"})
	add := func(side coppice.Side, path, text string) int64 {
		t.Helper()
		c, err := b.AddComment(t.Context(), f.Key, coppice.Comment{Path: path, Side: side, First: 5, Last: 5, Blob: "1", Code: "- [ ] one: Do it\n", Text: text})
		b.must(err)
		return c.ID
	}
	first, second, other := add(coppice.SideDocument, "plan", "Split it."), add(coppice.SideDocument, "plan", "Why?"), add(coppice.SideNew, "a.go", "later")
	_, err := b.SendComments(t.Context(), f.Key, "")
	wantCode(t, "no plan waits yet", err, coppice.EConflict)
	b.replies("app-2", `{"tasks": [{"id": "one", "title": "Do it", "description": "", "dependencies": [], "effort": "low", "scope": []}]}`)
	now := b.task(f.Key)
	if o := read(b, func(r store.Reader) (FlowOutline, error) { return OutlineOf(r, now) }); o.Approves != "plan" || len(o.Parts) != 4 {
		t.Fatalf("the outline is %+v", o)
	}
	m, err := b.SendComments(t.Context(), f.Key, "Nearly.")
	b.must(err)
	for _, want := range []string{"Nearly.\n", "Comment 1 on plan, line 5:\n", "Split it.\n", "Why?\n"} {
		if !strings.Contains(m.Text, want) {
			t.Errorf("the message has no %q:\n%s", want, m.Text)
		}
	}
	if strings.Contains(m.Text, "later") || b.comment(first).State != coppice.CommentSent || b.comment(second).State != coppice.CommentSent || b.comment(other).State != coppice.CommentDraft {
		t.Errorf("the wrong drafts were sent:\n%s", m.Text)
	}
	b.turn()
	b.wantSteps(f, "plan=app-2 plan-2=app-3")
	if body := b.task("app-3").Body; !strings.Contains(body, "Split it.") {
		t.Errorf("the step does not have the comments:\n%s", body)
	}
	_, err = b.SendComments(t.Context(), f.Key, "more")
	wantCode(t, "the plan is written again", err, coppice.EConflict)
}

// A person's edit of a document is a version, and an edit of another version is
// refused.
func TestWriteDocument(t *testing.T) {
	t.Parallel()
	b := openFlows(t)
	f := b.debate(`{"between": ["ann", "bob"]}`)
	zero, one := int64(0), int64(1)
	doc, err := b.WriteDocument(t.Context(), f.Key, "plan", "first", &zero)
	b.must(err)
	if doc.Version != 1 || doc.By.Kind != coppice.ActorPerson {
		t.Errorf("it is %+v", doc)
	}
	if _, err := b.WriteDocument(t.Context(), f.Key, "plan", "second", &zero); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("a lost update is not refused: %v", err)
	}
	if doc, err = b.WriteDocument(t.Context(), f.Key, "plan", "second", &one); err != nil || doc.Version != 2 {
		t.Errorf("version %d, %v", doc.Version, err)
	}
	if _, err := b.WriteDocument(t.Context(), "app-2", "plan", "x", nil); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("a step has a document: %v", err)
	}
}
