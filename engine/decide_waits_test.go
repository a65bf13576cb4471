package engine

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/store"
)

// openFamily opens a bundle whose agents can resume, with as many sessions as given.
func openFamily(t *testing.T, sessions int) *bundle {
	t.Helper()
	b := open(t, func(c *Config) { c.Resumes = func(string, *coppice.Profile) bool { return true } })
	b.project(func(p *coppice.Project) { p.Policy.Limits.Sessions = sessions })
	return b
}

// waitFor lets a session wait for tasks.
func (b *bundle) waitFor(s coppice.Session, keys ...string) []int64 {
	b.t.Helper()
	_, ids, err := b.Wait(b.t.Context(), s, s.Key+"/1", keys, time.Hour)
	b.must(err)
	return ids
}

// over reports whether a session can have the results.
func (b *bundle) over(s coppice.Session, ids []int64) bool {
	b.t.Helper()
	_, err := store.Read(b.t.Context(), b.store, func(r store.Reader) (coppice.Session, error) { return WaitOver(r, s.ID, ids, b.clock) })
	if !errors.Is(err, ErrNotYet) {
		b.must(err)
	}
	return err == nil
}

// answers lets the session of a task that wants an answer end.
func (b *bundle) answers(key, text string) {
	b.t.Helper()
	if w := b.unsettled(key); w.Kind == coppice.WorkPrepare {
		b.finish(key, coppice.WorkPrepare, coppice.PrepareResult{Path: "/look"})
	}
	b.finish(key, coppice.WorkRun, coppice.RunResult{Summary: text})
}

// A session that waits for tasks is parked, so that they can run. It gets the
// results when a session is free.
func TestWaitForTasks(t *testing.T) {
	t.Parallel()
	b := openFamily(t, 1)
	b.create(coppice.NewTask{Title: "a"})
	one := b.runs("app-1")
	b.child(one, coppice.NewTask{Title: "b", Answer: true})
	b.turn()
	if got := b.task("app-2").Stage; got != coppice.StageQueued {
		t.Fatalf("app-2 is %s", got)
	}
	ids := b.waitFor(one, "app-2")
	if b.over(one, ids) {
		t.Error("it has the results")
	}
	b.turn()
	if s := b.session("app-1.1"); !s.Parked() || b.task("app-2").Stage != coppice.StageSession {
		t.Fatalf("parked: %t; app-2 is %s", s.Parked(), b.task("app-2").Stage)
	}
	st := b.status("app-1")
	if st.Status != coppice.StatusWaiting || st.Reason != "waits for app-2" {
		t.Errorf("app-1 is %s: %s", st.Status, st.Reason)
	}
	b.answers("app-2", "42")
	if s := b.session("app-1.1"); s.Parked() || !b.over(one, ids) {
		t.Fatalf("parked: %t", s.Parked())
	}
	list := read(b, func(r store.Reader) ([]TaskResult, error) { return Results(r, ids, 100) })
	if len(list) != 1 || list[0] != (TaskResult{"app-2", "b", coppice.StatusDone, "42"}) {
		t.Errorf("the results are %+v", list)
	}
	now := b.session("app-1.1")
	b.update(func(tx store.Tx) error { return b.as(one).EndWait(tx, now) })
	b.turn()
	if s := b.session("app-1.1"); s.Waits != nil || s.Parked() {
		t.Errorf("it still waits: %+v", s.Waits)
	}
}

// A session that waited for too long is stopped, and one that ends while it waits
// has not failed. In both cases the task waits, and the next session gets the
// results.
func TestEndWhileWaiting(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*bundle){
		"stopped": func(b *bundle) {
			b.clock = b.clock.Add(mostParked)
			b.turn()
			if s := b.session("app-1.1"); s.StopWhy != coppice.StopParked {
				b.t.Fatalf("it was not stopped: %q", s.StopWhy)
			}
			b.finish("app-1", coppice.WorkStop, coppice.StopResult{})
			b.finish("app-1", coppice.WorkRun, coppice.RunResult{Stopped: true, Conversation: "talk"})
		},
		"ended": func(b *bundle) {
			zero := 0
			b.finish("app-1", coppice.WorkRun, coppice.RunResult{Exit: &zero, Summary: "waiting", Conversation: "talk"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := openFamily(t, 1)
			b.create(coppice.NewTask{Title: "a"})
			one := b.runs("app-1")
			b.child(one, coppice.NewTask{Title: "b", Answer: true})
			b.child(one, coppice.NewTask{Title: "c", Answer: true, After: []string{"app-2"}})
			b.waitFor(one, "app-2", "app-3")
			b.turn()
			end(b)
			if got := b.task("app-1"); got.Stage != coppice.StageWaiting || got.Wait.On != coppice.WaitTasks || got.Wait.Text != "waits for app-2 and 1 more" {
				t.Fatalf("app-1 is %s, waits %+v", got.Stage, got.Wait)
			}
			b.answers("app-2", "42")
			if got := b.task("app-1"); got.Wait == nil || got.Wait.Text != "waits for app-3" {
				t.Fatalf("app-1 waits %+v", got.Wait)
			}
			b.turn()
			b.answers("app-3", strings.Repeat("long ", 1000))
			two := b.runs("app-1")
			if two.N != 2 || two.Resume != "talk" || !strings.Contains(two.Prompt, "app-2 (b): done\n42\n") || !strings.Contains(two.Prompt, "app-3 (c): done\nlong ") {
				t.Errorf("the next session resumes %q with %s", two.Resume, two.Prompt)
			}
			if len(two.Prompt) > 2*coppice.MostResult+2000 {
				t.Errorf("its prompt has %d bytes", len(two.Prompt))
			}
		})
	}
}

// After the time of a wait, the session gets the results that exist.
func TestWaitTimeout(t *testing.T) {
	t.Parallel()
	b := openFamily(t, 2)
	b.create(coppice.NewTask{Title: "a"})
	one := b.runs("app-1")
	b.child(one, coppice.NewTask{Title: "b"})
	_, ids, err := b.Wait(t.Context(), one, "app-1.1/1", []string{"app-2"}, 10*time.Minute)
	b.must(err)
	due := b.turn().Due
	if want := b.clock.Add(10 * time.Minute); due.After(want) {
		t.Errorf("due at %v", due)
	}
	b.clock = b.clock.Add(10 * time.Minute)
	b.turn()
	if s := b.session("app-1.1"); s.Parked() || !b.over(one, ids) {
		t.Errorf("parked: %t", s.Parked())
	}
}

// What a session cannot wait for.
func TestWaitRefused(t *testing.T) {
	t.Parallel()
	b := openFamily(t, 3)
	b.create(coppice.NewTask{Title: "a"}, coppice.NewTask{Title: "b"})
	one := b.runs("app-1")
	b.child(one, coppice.NewTask{Title: "c"})
	three := b.runs("app-3")
	for name, c := range map[string]struct {
		s    coppice.Session
		keys []string
		most time.Duration
	}{
		"another's":   {one, []string{"app-2"}, time.Hour},
		"its own":     {one, []string{"app-1"}, time.Hour},
		"its parent":  {three, []string{"app-1"}, time.Hour},
		"none":        {one, nil, time.Hour},
		"not a task":  {one, []string{"app-9"}, time.Hour},
		"too long":    {one, []string{"app-3"}, 25 * time.Hour},
		"not at all":  {one, []string{"app-3"}, 0},
		"one of both": {one, []string{"app-3", "app-2"}, time.Hour},
	} {
		if _, _, err := b.Wait(t.Context(), c.s, "id", c.keys, c.most); err == nil {
			t.Errorf("%s: it waits", name)
		}
	}
	if s := b.session("app-1.1"); s.Waits != nil {
		t.Errorf("it waits for %+v", s.Waits)
	}
}

// A session that waits for tasks and a session below it that waits for its lock
// would both wait. Whichever comes second is refused, and reads who should release.
func TestWaitForTasksAndLocks(t *testing.T) {
	t.Parallel()
	for name, grandchild := range map[string]bool{"a child": false, "a grandchild": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := openFamily(t, 3)
			b.create(coppice.NewTask{Title: "a"})
			one := b.runs("app-1")
			b.child(one, coppice.NewTask{Title: "b"})
			below := b.runs("app-2")
			if grandchild {
				parent := below
				b.child(parent, coppice.NewTask{Title: "c"})
				below = b.runs("app-3")
				b.waitFor(parent, "app-3")
			}
			b.lock(one, 1, "a.go")
			b.lock(below, 1, "b.go")
			if a := b.lock(below, 2, "a.go"); !a.Waits {
				t.Fatal(a)
			}
			_, _, err := b.Wait(t.Context(), one, one.Key+"/2", []string{"app-2"}, time.Hour)
			if coppice.ErrorCode(err) != coppice.EConflict || !strings.Contains(err.Error(), below.Key+" waits for a.go") || !strings.Contains(coppice.Public(err).Fix, "release_files") {
				t.Fatal(err)
			}
			_, err = b.ReleaseLocks(t.Context(), one.ID, []string{"a.go"})
			b.must(err)
			b.lock(one, 3, "c.go")
			b.waitFor(one, "app-2")
			a := b.lock(below, 3, "c.go")
			if a.Refused == nil || cmp.Diff([]string{below.Key, "app-1.1"}, a.Refused.Cycle) != "" || !strings.Contains(a.Refused.Hint, "app-1.1 should release c.go") {
				t.Errorf("%+v", a)
			}
			if got := b.lock(below, 4, "d.go"); !got.Granted {
				t.Errorf("%+v", got)
			}
		})
	}
}

// An agent that asks with a tool is parked, and the tool has the answer when a
// session is free. No message is sent.
func TestAskWithTool(t *testing.T) {
	t.Parallel()
	b := openFamily(t, 1)
	b.create(coppice.NewTask{Title: "a"}, coppice.NewTask{Title: "b", Answer: true})
	one := b.runs("app-1")
	ask := func(text string) int64 {
		t.Helper()
		_, q, err := b.AskPerson(t.Context(), one, "app-1.1/"+text, "which way?", nil, 5*time.Minute)
		b.must(err)
		return q
	}
	q := ask("1")
	if again := ask("2"); again != q {
		t.Error("the same question is there twice")
	}
	answered := func() error {
		_, err := store.Read(t.Context(), b.store, func(r store.Reader) (coppice.Question, error) { return Answered(r, q) })
		return err
	}
	b.turn()
	if s := b.session("app-1.1"); !s.Parked() || !errors.Is(answered(), ErrNotYet) {
		t.Fatalf("parked: %t", s.Parked())
	}
	_, err := b.Answer(t.Context(), "app-1", 0, "left")
	b.must(err)
	b.turn() // the other task has the session
	if s := b.session("app-1.1"); !s.Parked() || s.ReadyAt.IsZero() || !errors.Is(answered(), ErrNotYet) {
		t.Fatalf("parked: %t", s.Parked())
	}
	b.answers("app-2", "42")
	if s := b.session("app-1.1"); s.Parked() || answered() != nil || b.unsettled("app-1").Kind != coppice.WorkRun {
		t.Errorf("parked: %t; %v", s.Parked(), answered())
	}
	got := read(b, func(r store.Reader) (coppice.Question, error) { return r.Questions.Get(q) })
	b.update(func(tx store.Tx) error { return b.as(one).EndQuestion(tx, got) })
	b.turn()
	q = ask("3")
	b.clock = b.clock.Add(5 * time.Minute)
	b.turn()
	got = read(b, func(r store.Reader) (coppice.Question, error) { return r.Questions.Get(q) })
	if !strings.HasPrefix(got.Answer, "[TIMEOUT] Nobody answered in 5m") {
		t.Errorf("the answer is %q", got.Answer)
	}
}

// A session whose agent has finished stops, and has succeeded.
func TestFinish(t *testing.T) {
	t.Parallel()
	b := openFamily(t, 2)
	b.create(coppice.NewTask{Title: "a", Answer: true, Schema: []byte(`{"type":"integer"}`)})
	b.turn()
	b.finish("app-1", coppice.WorkPrepare, coppice.PrepareResult{Path: "/look"})
	one := b.runs("app-1")
	end := func(result string) error {
		return b.store.Update(t.Context(), func(tx store.Tx) error { return b.as(one).Finish(tx, one.ID, result) })
	}
	if err := end("many"); coppice.Public(err).Field != "result" {
		t.Errorf("not an integer: %v", err)
	}
	b.must(end("42"))
	b.must(end("42"))
	b.turn()
	if s := b.session("app-1.1"); s.StopWhy != coppice.StopFinished || b.unsettled("app-1").Kind != coppice.WorkStop {
		t.Fatalf("it stops for %q", s.StopWhy)
	}
	b.finish("app-1", coppice.WorkStop, coppice.StopResult{})
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Stopped: true, Signal: "SIGTERM"})
	s := b.session("app-1.1")
	if got := b.task("app-1"); got.Outcome != coppice.OutcomeDone || s.State != coppice.SessionDone || s.Answer == nil || s.Answer.Text != "42" {
		t.Errorf("app-1 is %s %s, its session %s with %+v", got.Stage, got.Outcome, s.State, s.Answer)
	}
}
