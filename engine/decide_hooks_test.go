package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/store"
)

// withHooks opens a bundle whose project has one hook for each event, and whose user
// has the hooks given.
func withHooks(t *testing.T, user coppice.Hooks, changes ...func(*coppice.Project)) *bundle {
	t.Helper()
	b := open(t, func(c *Config) { c.Hooks = func() coppice.Hooks { return user } })
	b.Intake.hooks = func() coppice.Hooks { return user }
	b.project(append([]func(*coppice.Project){func(p *coppice.Project) {
		p.Policy.Hooks = coppice.Hooks{}
		for _, e := range coppice.HookEvents {
			p.Policy.Hooks[e.Name] = []coppice.Hook{{Run: "./" + string(e.Name)}}
		}
	}}, changes...)...)
	return b
}

// hookRuns lists the runs of hooks, oldest first.
func (b *bundle) hookRuns() []coppice.HookRun {
	b.t.Helper()
	list := read(b, func(r store.Reader) ([]coppice.HookRun, error) { return r.Hooks.List(store.HookFilter{Most: 1000}) })
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// fired lists the events of the runs, oldest first.
func (b *bundle) fired() (out []string) {
	b.t.Helper()
	for _, r := range b.hookRuns() {
		out = append(out, string(r.Event))
	}
	return out
}

// running lists the commands of hooks that a worker can run now.
func (b *bundle) running(project int64) (out []string) {
	b.t.Helper()
	for _, w := range b.hookWork(project) {
		spec := specOf[coppice.HookSpec](b, w)
		out = append(out, spec.Run)
	}
	return out
}

func (b *bundle) hookWork(project int64) []coppice.Work {
	b.t.Helper()
	return read(b, func(r store.Reader) ([]coppice.Work, error) { return r.Work.Unsettled(coppice.HooksSubject(project)) })
}

// endHook ends the running hook with that command, and takes a turn.
func (b *bundle) endHook(project int64, run string, result any) {
	b.t.Helper()
	for _, w := range b.hookWork(project) {
		spec := specOf[coppice.HookSpec](b, w)
		if spec.Run != run {
			continue
		}
		b.settle(w, result)

		b.turn()
		return
	}
	b.t.Fatalf("no hook runs %s: %v", run, b.running(project))
}

// endHooks ends all hooks that a project has.
func (b *bundle) endHooks(project int64) {
	b.t.Helper()
	for range 100 {
		list := b.running(project)
		if len(list) == 0 {
			return
		}
		b.endHook(project, list[0], coppice.HookResult{})
	}
	b.t.Fatal("the hooks do not end")
}

// Each event of a task fires its hooks one time, in order, with the facts of that
// moment.
func TestEachEventFiresItsHooks(t *testing.T) {
	t.Parallel()
	b := withHooks(t, nil)
	b.create(coppice.NewTask{Title: "a"})
	b.prepares("app-1")
	b.update(func(tx store.Tx) error { // as the ledger does
		s, err := tx.Sessions.Last(1)
		if err != nil {
			return err
		}
		return tx.Log.Append(&coppice.Event{At: b.clock, Kind: coppice.EventSessionStarted, ProjectID: 1, TaskID: 1, SessionID: s.ID, By: "worker"})
	})
	b.turn()
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Head: "head1", From: "base1"})
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree1", Commit: "commit1"})
	b.finish("app-1", coppice.WorkCheck, proved)
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "commit1"})
	b.turn()
	want := []string{"task-created", "task-assigned", "session-started", "session-ended", "checks-done", "before-land", "landed"}
	if diff := cmp.Diff(want, b.fired()); diff != "" {
		t.Fatal(diff)
	}
	if got := b.running(1); len(got) != 1 || got[0] != "./task-created" {
		t.Errorf("hooks of a task run one after another: %v", got)
	}
	var in coppice.HookInput
	for _, r := range b.hookRuns() {
		if r.Event == coppice.HookLanded {
			b.must(json.Unmarshal(r.Input, &in))
			if in.ID != r.Key || in.Event != r.Event {
				t.Errorf("input %+v of run %s", in, r.Key)
			}
		}
	}
	if in.Task == nil || in.Task.Key != "app-1" || in.Landing == nil || in.Landing.Commit != "commit1" || in.Landing.Outcome != coppice.LandingLanded || in.Project.Path != "/src/app" {
		t.Errorf("input %s", coppice.Raw(in))
	}
	b.endHooks(1)
	for _, r := range b.hookRuns() {
		if r.Open() || r.Outcome != coppice.HookPassed {
			t.Errorf("%+v", r)
		}
	}
}

// Every event that the configuration knows follows an event of the log.
func TestEveryHookEventFires(t *testing.T) {
	t.Parallel()
	fires := map[coppice.HookEvent]coppice.EventKind{}
	for kind, rules := range hookRules {
		for _, r := range rules {
			fires[r.event] = kind
		}
	}
	for _, e := range coppice.HookEvents {
		if fires[e.Name] == "" {
			t.Errorf("nothing fires %s", e.Name)
		}
		delete(fires, e.Name)
	}
	delete(fires, coppice.HookReaction)
	if len(fires) > 0 {
		t.Errorf("the configuration does not know %v", fires)
	}
}

// A question, a verdict and what happens to a pull request fire their hooks, with
// their facts.
func TestFactsOfHooks(t *testing.T) {
	t.Parallel()
	b := withHooks(t, nil, func(p *coppice.Project) {
		for _, e := range []coppice.HookEvent{coppice.HookTaskCreated, coppice.HookTaskAssigned, coppice.HookSessionStarted} {
			delete(p.Policy.Hooks, e)
		}
	})
	b.create(coppice.NewTask{Title: "a"})
	s := b.working("app-1")
	b.update(func(tx store.Tx) error {
		q := coppice.Question{TaskID: 1, SessionID: s.ID, Text: "which?", Options: []string{"x"}, AskedAt: b.clock}
		if err := tx.Questions.Put(&q); err != nil {
			return err
		}
		task, err := tx.Tasks.Get(1)
		if err != nil {
			return err
		}
		task.Pull = true
		pull := coppice.Pull{TaskID: 1, ProjectID: 1, Number: 7, PullDetails: coppice.PullDetails{URL: "https://forge/7", Branch: "coppice/app-1", Base: "main"}}
		if err := errors.Join(tx.Tasks.Put(&task), tx.Pulls.Put(&pull)); err != nil {
			return err
		}
		for _, e := range []coppice.Event{
			{Kind: coppice.EventQuestionAsked, SessionID: s.ID, Reason: "which?"}, {Kind: coppice.EventLandingVerified}, {Kind: coppice.EventPullOpened}, {Kind: coppice.EventPullCI},
		} {
			e.At, e.ProjectID, e.TaskID, e.By = b.clock, 1, 1, "worker"
			if err := tx.Log.Append(&e); err != nil {
				return err
			}
		}
		return nil
	})
	b.turn()
	want := []string{"question-asked which? https://forge/7", "verified  https://forge/7", "pr-opened  https://forge/7", "ci-done  https://forge/7"}
	var got []string
	for _, r := range b.hookRuns() {
		var in coppice.HookInput
		b.must(json.Unmarshal(r.Input, &in))
		question, pull := "", ""
		if in.Question != nil {
			question = in.Question.Text
		}
		if in.Pull != nil {
			pull = in.Pull.URL
		}
		got = append(got, fmt.Sprint(in.Event, " ", question, " ", pull))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A task that fails fires task-failed, and pauses of people and of Coppice fire
// paused and resumed.
func TestFailuresAndPausesFireHooks(t *testing.T) {
	t.Parallel()
	b := withHooks(t, nil, func(p *coppice.Project) { p.Policy.Retry.Max, p.Policy.Hooks[coppice.HookTaskCreated] = 0, nil })
	b.create(coppice.NewTask{Title: "a"})
	b.prepares("app-1")
	one := 1
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Exit: &one, From: "base1", Head: "base1"})
	b.turn()
	for _, on := range []bool{true, true, false} {
		_, err := b.Pause(t.Context(), "app", "", on)
		b.must(err)
		b.turn()
	}
	b.update(func(tx store.Tx) error {
		for range mostStrikes {
			a := coppice.Ask{Subject: coppice.ProjectSubject(1), ProjectID: 1, Verb: coppice.VerbStrike, Text: "no network", Args: coppice.Raw(inTrack{"main"}), At: b.clock}
			if err := tx.Asks.Put(&a); err != nil {
				return err
			}
		}
		return tx.Log.Append(&coppice.Event{At: b.clock, Kind: coppice.EventTaskChanged, ProjectID: 1, About: coppice.ProjectSubject(1)})
	})
	b.turn()
	want := []string{"task-assigned", "session-ended", "task-failed", "paused", "resumed", "paused"}
	if diff := cmp.Diff(want, b.fired()); diff != "" {
		t.Fatal(diff)
	}
	last := b.hookRuns()[5]
	if !strings.Contains(string(last.Input), `"track":"main"`) {
		t.Errorf("input %s", last.Input)
	}
}

// The hooks of a project run in parallel up to the limit, and those of a task in
// order, the user's after the project's.
func TestHooksRunInOrderUpToTheLimit(t *testing.T) {
	t.Parallel()
	user := coppice.Hooks{coppice.HookTaskCreated: {{Run: "mine"}}}
	b := withHooks(t, user, func(p *coppice.Project) {
		p.Policy.Hooks = coppice.Hooks{coppice.HookTaskCreated: {{Run: "first"}, {Run: "second"}}}
		p.Policy.Limits.Hooks = 2
	})
	b.create(coppice.NewTask{Title: "a"}, coppice.NewTask{Title: "b"}, coppice.NewTask{Title: "c"})
	b.turn()
	var order []string
	for range 9 {
		got := b.running(1)
		if len(got) > 2 || len(got) == 0 {
			t.Fatalf("%d hooks run", len(got))
		}
		order = append(order, got[0])
		b.endHook(1, got[0], coppice.HookResult{})
	}
	if got := b.running(1); len(got) != 0 {
		t.Errorf("still running %v", got)
	}
	byTask := map[int64][]string{}
	for _, r := range b.hookRuns() {
		byTask[r.TaskID] = append(byTask[r.TaskID], fmt.Sprint(r.Run, r.User))
	}
	for task, runs := range byTask {
		if diff := cmp.Diff([]string{"firstfalse", "secondfalse", "minetrue"}, runs); diff != "" {
			t.Errorf("task %d: %s", task, diff)
		}
	}
	if order[0] != "first" || order[8] != "mine" {
		t.Errorf("order %v", order)
	}
}

// A failed hook that warns is shown on its task, also while a session runs, and one
// that ignores is not.
func TestAFailedHookWarns(t *testing.T) {
	t.Parallel()
	b := withHooks(t, nil, func(p *coppice.Project) {
		p.Policy.Hooks = coppice.Hooks{coppice.HookTaskCreated: {{Run: "quiet", OnFailure: coppice.HookIgnore}, {Run: "loud"}, {Run: "late", Timeout: coppice.DefaultHookTimeout}}}
	})
	b.create(coppice.NewTask{Title: "a"})
	b.prepares("app-1")
	b.endHook(1, "quiet", coppice.HookResult{Exit: 3})
	if w := b.task("app-1").Warnings(); w != "" {
		t.Errorf("an ignored failure warns: %s", w)
	}
	b.endHook(1, "loud", coppice.HookResult{Exit: 3, Output: "no\n"})
	if w := b.task("app-1").Warnings(); w != "the hook task-created (loud) failed with exit code 3" {
		t.Errorf("warning %q", w)
	}
	b.endHook(1, "late", coppice.HookResult{Exit: 124, TimedOut: true})
	b.turn()
	if w := b.task("app-1").Warnings(); w != "the hook task-created (late) was stopped after 30s" {
		t.Errorf("warning %q", w)
	}
	if got := len(b.events(store.EventFilter{Kinds: []coppice.EventKind{coppice.EventHookEnded}})); got != 3 {
		t.Errorf("%d ends in the log", got)
	}
}

// gated opens a bundle whose landings wait for a hook, with a landing in its queue.
func gated(t *testing.T, hooks ...coppice.Hook) *bundle {
	t.Helper()
	b := withHooks(t, nil, func(p *coppice.Project) { p.Policy.Hooks = coppice.Hooks{coppice.HookBeforeLand: hooks} })
	b.queueUp(1)
	return b
}

var gate = coppice.Hook{Run: "gate", OnFailure: coppice.HookBlock}

// A landing waits for a hook that can block it, and a hook that only warns delays
// nothing.
func TestALandingWaitsForItsHooks(t *testing.T) {
	t.Parallel()
	b := gated(t, gate, coppice.Hook{Run: "after"})
	b.wantWork("app-1", "")
	if l := b.landing("app-1"); l.Waits != hooksWait {
		t.Errorf("waits %q", l.Waits)
	}
	b.endHook(1, "gate", coppice.HookResult{})
	b.wantWork("app-1", coppice.WorkMove)
	if l := b.landing("app-1"); l.Waits != "" {
		t.Errorf("waits %q", l.Waits)
	}
	if diff := cmp.Diff([]string{"after"}, b.running(1)); diff != "" {
		t.Error(diff)
	}
	// A blocked move is repeated without the hooks: the candidate is the same.
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Now: "base1", Blocked: "a lock"})
	b.clock = b.landing("app-1").RetryAt
	b.turn()
	b.wantWork("app-1", coppice.WorkMove)
	if got := len(b.hookRuns()); got != 2 {
		t.Errorf("%d runs", got)
	}
	// The base moved, so there is another candidate, and the hooks run for it.
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Now: "base2"})
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base2", Tree: "tree2", Commit: "commit2"})
	b.finish("app-1", coppice.WorkCheck, proved)
	b.wantWork("app-1", "")
	b.endHook(1, "gate", coppice.HookResult{})
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "commit2"})
	if x := b.task("app-1"); x.Outcome != coppice.OutcomeDone || x.Landed != "commit2" {
		t.Errorf("%+v", x)
	}
}

// A hook that fails refuses the landing with its output, like a check. The hooks
// after it are skipped.
func TestAFailedHookRefusesTheLanding(t *testing.T) {
	t.Parallel()
	b := gated(t, gate, coppice.Hook{Run: "after"})
	b.endHook(1, "gate", coppice.HookResult{Exit: 7, Output: "the changelog has no line\n"})
	l := b.landing("app-1")
	if l.Outcome != coppice.LandingRefused || !strings.Contains(l.Evidence, "the changelog has no line") || l.Failure == nil {
		t.Fatalf("%+v", l)
	}
	b.turn()
	s := b.lastSession("app-1")
	if s.Role != coppice.RoleFix || !strings.Contains(b.prompt(s.ID), "the changelog has no line") {
		t.Errorf("%s: %s", s.Role, b.prompt(s.ID))
	}
	runs := b.hookRuns()
	if len(runs) != 2 || runs[1].Outcome != coppice.HookSkipped {
		t.Errorf("%+v", runs)
	}
	if w := b.task("app-1").Warnings(); w != "" {
		t.Errorf("warning %q", w)
	}
}

// After the last attempt the task fails, and its failure names the hook.
func TestAHookCanFailTheTask(t *testing.T) {
	t.Parallel()
	b := withHooks(t, nil, func(p *coppice.Project) {
		p.Policy.Hooks, p.Policy.Verify.Attempts = coppice.Hooks{coppice.HookBeforeLand: {gate}}, 0
	})
	b.queueUp(1)
	b.endHook(1, "gate", coppice.HookResult{Exit: 1})
	b.turn()
	if x := b.task("app-1"); x.Outcome != coppice.OutcomeFailed || x.Failure.Text != "the hook before-land (gate) failed with exit code 1" {
		t.Errorf("%+v", x.Failure)
	}
}

// Slow hooks delay no landing: one that blocks it runs although the limit is
// reached.
func TestABlockingHookDoesNotWait(t *testing.T) {
	t.Parallel()
	b := withHooks(t, nil, func(p *coppice.Project) {
		p.Policy.Hooks = coppice.Hooks{coppice.HookTaskCreated: {{Run: "slow"}}, coppice.HookBeforeLand: {gate}}
		p.Policy.Limits.Hooks = 1
	})
	b.queueUp(1)
	if diff := cmp.Diff([]string{"slow", "gate"}, b.running(1)); diff != "" {
		t.Error(diff)
	}
}

// A person who takes a landing off does not wait for hooks, and a stopped task
// leaves the queue while its hook runs.
func TestAStoppedLandingLeavesItsHook(t *testing.T) {
	t.Parallel()
	b := gated(t, gate)
	_, err := b.Stop(t.Context(), "app-1")
	b.must(err)
	b.turn()
	if x := b.task("app-1"); x.Outcome != coppice.OutcomeCancelled {
		t.Errorf("%s %s", x.Stage, x.Outcome)
	}
	b.endHook(1, "gate", coppice.HookResult{Exit: 1})
	if x := b.task("app-1"); x.Outcome != coppice.OutcomeCancelled {
		t.Errorf("%s %s", x.Stage, x.Outcome)
	}
}

// The start of the server fires the hooks of each project, and those of the user
// one time.
func TestAServerThatStartsFiresHooks(t *testing.T) {
	t.Parallel()
	b := withHooks(t, coppice.Hooks{coppice.HookServerStarted: {{Run: "hello"}}})
	for range 2 {
		b.must(b.ServerStarted(t.Context()))
		b.turn()
	}
	if diff := cmp.Diff([]string{"./server-started"}, b.running(1)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"hello"}, b.running(0)); diff != "" {
		t.Error(diff)
	}
	b.endHooks(0)
	b.endHooks(1)
	keys := map[string]bool{}
	for _, r := range b.hookRuns() {
		keys[r.Key] = true
	}
	if len(keys) != 4 {
		t.Errorf("%d different runs: %v", len(keys), keys)
	}
}

// A test of hooks runs them with a sample or a task, and nothing follows from it.
func TestTestsOfHooks(t *testing.T) {
	t.Parallel()
	b := withHooks(t, coppice.Hooks{coppice.HookPaused: {{Run: "mine"}}}, func(p *coppice.Project) {
		p.Policy.Hooks = coppice.Hooks{coppice.HookBeforeLand: {gate}, coppice.HookLanded: {{Run: "announce"}}}
	})
	b.queueUp(1)
	for _, e := range []coppice.HookTest{
		{Event: coppice.HookBeforeLand, Project: "app"}, {Event: coppice.HookLanded, Task: "app-1"}, {Event: coppice.HookPaused}, {Event: coppice.HookPaused, Project: "app"},
	} {
		runs, err := b.TestHooks(t.Context(), e)
		b.must(err)
		if len(runs) != 1 || !runs[0].Test || runs[0].Blocks || !strings.Contains(string(runs[0].Input), `"test":true`) {
			t.Errorf("%+v: %+v", e, runs)
		}
		b.turn()
		b.endHook(runs[0].ProjectID, runs[0].Run, coppice.HookResult{Exit: 1})
	}
	for e, code := range map[coppice.HookTest]coppice.Code{
		{Event: "landing", Project: "app"}: coppice.EInvalid, {Event: coppice.HookVerified, Project: "app"}: coppice.ENotFound,
		{Event: coppice.HookLanded, Project: "none"}: coppice.ENotFound, {Event: coppice.HookLanded}: coppice.ENotFound,
		{Event: coppice.HookLanded, Project: "lib", Task: "app-1"}: coppice.EInvalid,
	} {
		if _, err := b.TestHooks(t.Context(), e); coppice.ErrorCode(err) != code {
			t.Errorf("%+v: %v", e, err)
		}
	}
	if w := b.task("app-1").Warnings(); w != "" {
		t.Errorf("a test warns: %s", w)
	}
}

// A project is not removed before its hooks have run, and a hook of a removed task
// warns nobody.
func TestARemovedProjectRunsItsHooksFirst(t *testing.T) {
	t.Parallel()
	b := withHooks(t, nil, func(p *coppice.Project) {
		p.Policy.Hooks = coppice.Hooks{coppice.HookTaskCreated: {{Run: "one"}, {Run: "two"}}}
	})
	b.create(coppice.NewTask{Title: "a"})
	p, err := b.RemoveProject(t.Context(), "app", coppice.Remove{Force: true})
	b.must(err)
	_, err = b.StopOpen(t.Context(), p.ID, 0, 0)
	b.must(err)
	b.turn()
	for _, run := range []string{"one", "two"} {
		if _, err := b.Forget(t.Context(), p, 100); coppice.ErrorCode(err) != coppice.EConflict {
			t.Fatalf("before %s: %v", run, err)
		}
		b.endHook(1, run, coppice.HookResult{Exit: 1})
	}
	for more := true; more; {
		more, err = b.Forget(t.Context(), p, 100)
		b.must(err)
	}
	if got := len(b.hookRuns()); got != 0 {
		t.Errorf("%d runs are left", got)
	}
}

// A project without hooks costs one read of the project for an event, and stores
// nothing.
func TestNoHooksNoRuns(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.create(coppice.NewTask{Title: "a"})
	b.prepares("app-1")
	b.lands("app-1", "head1", "commit1")
	if got := len(b.hookRuns()); got != 0 {
		t.Errorf("%d runs", got)
	}
}
