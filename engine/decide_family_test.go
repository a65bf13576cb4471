package engine

import (
	"strings"
	"testing"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// runs takes a task until its agent's process runs, and returns its session.
func (b *bundle) runs(key string) coppice.Session {
	b.t.Helper()
	b.turn()
	if b.unsettled(key).Kind == coppice.WorkPrepare {
		b.finish(key, coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws/" + key, BaseCommit: "base1", Head: "base1"})
	}
	w := b.unsettled(key)
	if w.Kind != coppice.WorkRun {
		b.t.Fatalf("%s has %q to do, not a run", key, w.Kind)
	}
	w.State, w.Attempt, w.Worker = coppice.WorkTaken, 1, "w"
	s := read(b, func(r store.Reader) (coppice.Session, error) { return r.Sessions.Get(w.SessionID) })
	s.State, s.StartedAt, s.OutputAt, s.Conversation = coppice.SessionWorking, b.clock, b.clock, "talk-"+s.Key
	b.update(func(tx store.Tx) error {
		if err := tx.Work.Put(&w); err != nil {
			return err
		}
		return tx.Sessions.Put(&s)
	})
	return s
}

// as makes a request as a session.
func (b *bundle) as(s coppice.Session) *Intake {
	return b.Intake.As(coppice.Actor{Kind: coppice.ActorSession, Name: s.Key})
}

// child lets a session create a task.
func (b *bundle) child(s coppice.Session, n coppice.NewTask) coppice.Task {
	b.t.Helper()
	made, err := b.as(s).CreateTasks(b.t.Context(), "app", []coppice.NewTask{n})
	b.must(err)
	return made[0]
}

// costs stores what a session has used.
func (b *bundle) costs(key string, usd float64) {
	b.t.Helper()
	s := b.session(key)
	s.Usage.CostUSD = usd
	b.update(func(tx store.Tx) error {
		if err := tx.Sessions.Put(&s); err != nil {
			return err
		}
		return tx.Log.Append(&coppice.Event{At: b.clock, Kind: coppice.EventSessionUsage, ProjectID: s.ProjectID, TaskID: s.TaskID, SessionID: s.ID})
	})
}

// A task that a session creates inherits from the session's task.
func TestInherit(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Limits.Depth, p.Policy.Limits.Children = 2, 2 })
	b.create(coppice.NewTask{Title: "a", Group: "g", Agent: "bob", Model: "big", Labels: []string{"x"}})
	one := b.runs("app-1")
	two := b.child(one, coppice.NewTask{Title: "b"})
	if p := b.task("app-1"); two.Parent != p.ID || two.Group != p.Group || two.Group == 0 || two.Agent != "bob" || two.Model != "big" || len(two.Labels) > 0 {
		t.Errorf("it inherited %+v", two)
	}
	if two.CreatedBy != "session:app-1.1" {
		t.Errorf("created by %s", two.CreatedBy)
	}
	if three := b.child(one, coppice.NewTask{Title: "c", Agent: "ann", Group: "other"}); three.Agent != "ann" || three.Model == "big" || three.Group == two.Group {
		t.Errorf("it names its own, and has %+v", three)
	}
	refused := func(s coppice.Session, n coppice.NewTask, want string) {
		t.Helper()
		_, err := b.as(s).CreateTasks(t.Context(), "app", []coppice.NewTask{n})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("not refused with %q: %v", want, err)
		}
	}
	refused(one, coppice.NewTask{Title: "d"}, "2 tasks that app-1 created are open, and limits.children is 2")
	four := b.child(b.runs("app-2"), coppice.NewTask{Title: "d"})
	if four.Parent != two.ID {
		t.Errorf("its parent is %d", four.Parent)
	}
	refused(b.session("app-2.1"), coppice.NewTask{Title: "e", After: []string{"app-1"}}, "cannot come after app-1")
	refused(b.runs("app-4"), coppice.NewTask{Title: "e"}, "app-4 is 2 levels below the first task of its family, and limits.depth is 2")
	after := []string{"app-1"}
	if _, err := b.ChangeTask(t.Context(), "app-3", coppice.TaskChange{After: &after}); coppice.Public(err).Field != "after" {
		t.Errorf("a task waits for the one above it: %v", err)
	}
}

// A stopped task stops the tasks below it. One that failed or is done does not, and
// a stop that is undone does not restore them.
func TestStopFamily(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.create(coppice.NewTask{Title: "a"}, coppice.NewTask{Title: "other"})
	b.child(b.runs("app-1"), coppice.NewTask{Title: "b"})
	b.child(b.runs("app-3"), coppice.NewTask{Title: "c", After: []string{"app-2"}})
	_, err := b.Ask(t.Context(), "app-1", coppice.VerbStop, verb.Request{})
	b.must(err)
	b.turn()
	b.finish("app-1", coppice.WorkStop, coppice.StopResult{})
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Stopped: true})
	if w := b.unsettled("app-3"); w.Kind != coppice.WorkStop {
		t.Fatalf("app-3 has %s to do", w.Kind)
	}
	b.finish("app-3", coppice.WorkStop, coppice.StopResult{})
	b.finish("app-3", coppice.WorkRun, coppice.RunResult{Stopped: true})
	for _, key := range []string{"app-1", "app-3", "app-4"} {
		if got := b.task(key); got.Outcome != coppice.OutcomeCancelled {
			t.Errorf("%s is %s %s", key, got.Stage, got.Outcome)
		}
	}
	if got := b.task("app-2"); got.Ended() {
		t.Error("another task was stopped")
	}
	_, err = b.Ask(t.Context(), "app-1", coppice.VerbUnstop, verb.Request{})
	b.must(err)
	b.turn()
	if b.task("app-1").Ended() || !b.task("app-3").Ended() {
		t.Error("the stop of the first one was not undone, or that of the second one was")
	}
}

func TestFailedParent(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Retry.Max = 0 })
	b.create(coppice.NewTask{Title: "a"})
	b.child(b.runs("app-1"), coppice.NewTask{Title: "b"})
	b.runs("app-2")
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Failure: coppice.Failf(coppice.ClassUnknown, "no luck", "")})
	if got := b.task("app-1"); got.Outcome != coppice.OutcomeFailed {
		t.Fatalf("app-1 is %s %s", got.Stage, got.Outcome)
	}
	if got := b.task("app-2"); got.Stage != coppice.StageSession {
		t.Errorf("app-2 is %s", got.Stage)
	}
}

// A child gets its share of what is left. What it spends counts for its parent, and
// the nearest budget that is reached stops all that runs below it.
func TestFamilyBudget(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.create(coppice.NewTask{Title: "a", Budget: 10})
	one := b.runs("app-1")
	b.costs("app-1.1", 1)
	if two := b.child(one, coppice.NewTask{Title: "b"}); two.Budget != 9 {
		t.Errorf("the first gets %v", two.Budget)
	}
	if three := b.child(one, coppice.NewTask{Title: "c", Budget: 8}); three.Budget != 4.5 {
		t.Errorf("the second gets %v", three.Budget)
	}
	if four := b.child(one, coppice.NewTask{Title: "d", Budget: 2}); four.Budget != 2 {
		t.Errorf("the third gets %v", four.Budget)
	}
	two := b.runs("app-2")
	if two.Budget != 9 {
		t.Errorf("its session gets %v", two.Budget)
	}
	b.runs("app-3")
	b.costs("app-2.1", 8.5)
	b.turn()
	if s := b.session("app-3.1"); s.StopWhy != "" {
		t.Fatalf("app-3 was stopped for %s", s.StopWhy)
	}
	b.costs("app-3.1", 0.5) // 10 of 10
	b.turn()
	for _, key := range []string{"app-1", "app-2", "app-3"} {
		if s := b.session(key + ".1"); s.StopWhy != coppice.StopBudget {
			t.Errorf("%s was not stopped: %q", key, s.StopWhy)
		}
		b.finish(key, coppice.WorkStop, coppice.StopResult{})
		b.finish(key, coppice.WorkRun, coppice.RunResult{Stopped: true, Usage: b.session(key + ".1").Usage})
	}
	got := b.task("app-3")
	if want := "app-1 has cost 10 USD of 10 USD with the tasks that it created"; got.Wait == nil || got.Wait.Text != want || got.Failure.Of != "app-1" {
		t.Errorf("app-3 waits for %+v", got.Wait)
	}
	if _, err := b.as(one).CreateTasks(t.Context(), "app", []coppice.NewTask{{Title: "e"}}); err == nil || !strings.Contains(err.Error(), "nothing is left") {
		t.Errorf("another one: %v", err)
	}
	more := coppice.USD(20)
	_, err := b.ChangeTask(t.Context(), "app-1", coppice.TaskChange{Budget: &more})
	b.must(err)
	b.turn()
	if got := b.task("app-3"); got.Stage != coppice.StageSession || got.Budget != 4.5 {
		t.Errorf("app-3 is %s with a budget of %v, waits %+v", got.Stage, got.Budget, got.Wait)
	}
}
