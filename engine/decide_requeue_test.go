package engine

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// requeueAsked is a person's request to restart the task, with a note.
func requeueAsked(v *View) {
	say(coppice.VerbRequeue, "use the new API")(v)
}

func TestRequeueDecides(t *testing.T) {
	t.Parallel()
	restarts := `requeue: task.stage; to waiting; round 1; next implement by ann with "use the new API"`
	ask := "requeue: work.offered; session working; stop 1 for cancelled; offer session.stop session/11/stop/1 to local"
	asks := func(v *View) { v.Questions = []coppice.Question{{ID: 2, SessionID: 11, AskedAt: noon}} }
	person := waitsOn(coppice.WaitPerson, "log in", time.Time{})
	on := func(f func(*coppice.Next)) change {
		return task(func(t *coppice.Task) {
			t.Next = &coppice.Next{Role: coppice.RoleImplement, Agent: "ann", Resume: "talk1", Evidence: "before"}
			f(t.Next)
		})
	}
	run(t, stop, []decision{
		{"running", viewOf(coppice.StageSession, ran("", live), space(), taken(coppice.WorkRun), requeueAsked), ask},
		{"a verifier runs", viewOf(coppice.StageSession, steps, ran("head1"), ran("", verifying, live), space(), candidate(green),
			work(coppice.WorkRun, coppice.WorkTaken, 1, func(w *coppice.Work) { w.SessionID = 12 }), requeueAsked),
			"requeue: work.offered; session working; stop 1 for cancelled; offer session.stop session/12/stop/1 to local"},
		{"on a person's screen", viewOf(coppice.StageSession, ran("", live, func(s *coppice.Session) { s.Screen = true }), space(), taken(coppice.WorkRun), requeueAsked), ask},
		{"its run is offered", viewOf(coppice.StageSession, ran("", starting), space(), offered(coppice.WorkRun), requeueAsked), "requeue: work.cancelled; cancel session.run"},
		{"its workspace is made", viewOf(coppice.StageSession, ran("", starting), taken(coppice.WorkPrepare), requeueAsked), "nothing"},
		{"run over, its question is open", viewOf(coppice.StageSession, ran("head1", fails(coppice.ClassCancelled)), space(), asks, requeueAsked), "requeue: question.answered; question 2 closed=true"},
		{"run over", viewOf(coppice.StageSession, ran("head1", fails(coppice.ClassCancelled)), space(), requeueAsked), restarts},
		{"run over by itself", viewOf(coppice.StageSession, ran("head1"), space(), requeueAsked), restarts},
		{"checks run", viewOf(coppice.StageChecking, ran("head1"), candidate(merged), taken(coppice.WorkCheck), requeueAsked), "requeue: work.cancelled; cancel check.run"},
		{"checked", viewOf(coppice.StageChecking, ran("head1"), candidate(merged), requeueAsked), "requeue: landing.ended; landing cancelled"},
		{"held", viewOf(coppice.StageHeld, ran("head1"), candidate(green), requeueAsked), "requeue: landing.ended; landing cancelled"},
		{"in the queue", viewOf(coppice.StageLanding, ran("head1"), candidate(inQueue), requeueAsked), `requeue: task.changed; asks queue/1 to withdraw {"task":7}`},
		{"its candidate is dropped", viewOf(coppice.StageLanding, ran("head1"), candidate(ended(coppice.LandingDropped)), requeueAsked), restarts},
		{"asked the queue", viewOf(coppice.StageLanding, ran("head1"), candidate(inQueue), requested(coppice.Ask{Verb: coppice.VerbRequeue, Outcome: leaving})), "nothing"},
		{"landed before", viewOf(coppice.StageLanding, ran("head1"), candidate(ended(coppice.LandingLanded)), requeueAsked), `requeue: task.ended; to ended; outcome "done"; landed commit1`},
		{"waits for a person", viewOf(coppice.StageWaiting, ran("head1", fails(coppice.ClassAuth)), next("bob"), person, requeueAsked),
			`requeue: task.stage; round 1; next implement by ann with "use the new API"`},
		{"waits for a fix", viewOf(coppice.StageQueued, ran("head1"), on(func(n *coppice.Next) { n.Role = coppice.RoleFix }), requeueAsked), restarts},
		{"waits for a verifier of a branch that a person fixed", viewOf(coppice.StageQueued, on(func(n *coppice.Next) { n.Role = coppice.RoleVerify }), requeueAsked), restarts},
		{"queued, not begun", viewOf(coppice.StageQueued, on(func(n *coppice.Next) { n.Note = "and be brief" }), requeueAsked),
			"requeue: task.stage; to waiting; next implement by ann resuming talk1 with \"and be brief\\n\\nuse the new API\""},
		{"queued for a screen", viewOf(coppice.StageQueued, on(func(n *coppice.Next) { n.Screen = true }), requeueAsked),
			`requeue: task.stage; to waiting; next implement by ann resuming talk1 with "use the new API"`},
		{"queued, not begun, another agent", viewOf(coppice.StageQueued, on(func(n *coppice.Next) { n.Agent, n.Fork = "bob", true }), requeueAsked),
			`requeue: task.stage; to waiting; next implement by ann with "use the new API"`},
		{"queued, begun, its note undelivered", viewOf(coppice.StageQueued, ran("head1"), on(func(n *coppice.Next) { n.Note = "be brief" }), requeueAsked),
			`requeue: task.stage; to waiting; round 1; next implement by ann with "be brief\n\nuse the new API"`},
		{"its budget is used up", viewOf(coppice.StageSession, ran("head1", fails(coppice.ClassBudget), func(s *coppice.Session) { s.Usage.CostUSD = 3 }),
			policy(func(p *coppice.Policy) { p.Budget.Task = 2 }), requeueAsked), restarts + "; budget 5"},
		{"ended in the meantime", viewOf(coppice.StageEnded, endedAs(coppice.OutcomeFailed), requeueAsked), "nothing"},
	})
	run(t, retryTask, []decision{
		{"what is stopped first", viewOf(coppice.StageWaiting, next("bob"), person, requeueAsked), "nothing"},
	})
}

// The next session's prompt says what is on the branch, and who did it.
func TestRequeueSaysWhatWasDone(t *testing.T) {
	t.Parallel()
	did := func(from, stat, words string) func(*coppice.Session) {
		return func(s *coppice.Session) { s.From, s.Stat, s.Summary = from, stat, words }
	}
	v := viewOf(coppice.StageSession, ran("head1", did("base1", " a.go | 2 ++", "Half of it.")), ran("head1", did("head1", "", "I went astray.")),
		candidate(ended(coppice.LandingRefused)), requeueAsked)
	v.Earlier = []coppice.Session{{Key: "app-7.0", Agent: "bob", Role: coppice.RoleImplement, From: "base0", Head: "base1", Stat: " b.go | 1 +"}}
	got := requeue(v).Task.Next.Evidence
	want := `A person stopped the work on this task and restarted it.

What app-7.0 (bob) did is committed on your branch, from base0 to base1:
 b.go | 1 +

What app-7.1 (ann) did is committed on your branch, from base1 to head1:
 a.go | 2 ++

The final message of app-7.2:
I went astray.

the evidence`
	if got != want {
		t.Errorf("the evidence is:\n%s\nwant:\n%s", got, want)
	}
	v.Task.Landed = "commit0" // what came before is part of the base
	if got := requeue(v).Task.Next.Evidence; strings.Contains(got, "app-7.0") || !strings.Contains(got, "app-7.1") {
		t.Errorf("the evidence is:\n%s", got)
	}
}

// A running session is ended and another agent continues in the same workspace,
// with a note; said twice, it happens once.
func TestRequeueARunningTask(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.create(coppice.NewTask{Title: "a", Model: "big"})
	b.prepares("app-1")
	b.takes("app-1", coppice.WorkRun)
	for _, note := range []string{"look at the tests", "", "look at the tests", "and the docs"} {
		_, err := b.Requeue(t.Context(), "app-1", verb.Request{Text: note, Staff: coppice.Staff{Agent: "bob"}})
		b.must(err)
		b.turn()
	}
	if x := b.task("app-1"); x.Stage != coppice.StageSession || x.Agent != "bob" || x.Model != "" {
		t.Fatalf("it is ended first: %+v", x)
	}
	b.finish("app-1", coppice.WorkStop, coppice.StopResult{})
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Stopped: true, From: "base1", Head: "head1", Stat: " a.go | 1 +", Conversation: "talk"})
	x := b.task("app-1")
	if x.Stage != coppice.StageSession || x.Round != 1 || x.Sessions != 2 || len(b.asks(x)) > 0 {
		t.Fatalf("%+v", x)
	}
	w := b.unsettled("app-1")
	run := specOf[coppice.RunSpec](b, w)
	if w.Kind != coppice.WorkRun || run.Path != "/ws" || run.Session.Agent != "bob" || run.Session.Resume != "" {
		t.Errorf("it continues with %s %+v", w.Kind, run)
	}
	prompt := b.session("app-1.2").Prompt
	for _, part := range []string{"A person adds: look at the tests\n\nand the docs\n", "a.go | 1 +", "What app-1.1 ("} {
		if !strings.Contains(prompt, part) {
			t.Errorf("its prompt lacks %q:\n%s", part, prompt)
		}
	}
	b.lands("app-1", "head2", "commit1")
	if x := b.task("app-1"); x.Outcome != coppice.OutcomeDone || x.Landed != "commit1" {
		t.Errorf("%+v", x)
	}
}

// What ended without landing is retried, by another agent where one is named.
func TestRequeueAnEndedTask(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	for _, o := range []coppice.Outcome{coppice.OutcomeFailed, coppice.OutcomeCancelled} {
		key := b.staged("a", func(t *coppice.Task) { t.Stage, t.Outcome, t.Archived = coppice.StageEnded, o, noon }).Key
		x, err := b.Requeue(t.Context(), key, verb.Request{Text: "restarts", Staff: coppice.Staff{Agent: "bob", Model: "small"}})
		b.must(err)
		if len(b.asks(x)) != 1 || !x.Archived.IsZero() {
			t.Errorf("%s: %+v", o, x)
		}
		b.turn()
		if x := b.task(key); x.Stage != coppice.StageSession || x.Round != 1 || x.Agent != "bob" || x.Model != "small" {
			t.Errorf("%s: %+v", o, x)
		}
	}
}

// The last of several stops and requeues counts.
func TestTheLastRequestCounts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		x := coppice.Task{Key: "app-1", Stage: rapid.SampledFrom([]coppice.Stage{coppice.StageWaiting, coppice.StageQueued, coppice.StageSession, coppice.StageHeld}).Draw(r, "stage")}
		b := openApp(t)
		key := b.staged("a", func(t *coppice.Task) { t.Stage = x.Stage }).Key
		last := ""
		for range rapid.IntRange(1, 6).Draw(r, "words") {
			last = rapid.SampledFrom([]string{"stop", "requeue"}).Draw(r, "word")
			var err error
			if last == "stop" {
				_, err = b.Stop(t.Context(), key)
			} else {
				_, err = b.Requeue(t.Context(), key, verb.Request{})
			}
			b.must(err)
		}
		b.turn()
		if got := b.task(key); len(b.asks(got)) > 0 || (last == "stop") != (got.Outcome == coppice.OutcomeCancelled) || got.Ended() != (last == "stop") {
			r.Errorf("after %s it is %s %s", last, got.Stage, got.Outcome)
		}
	})
}

func TestRequeueRefuses(t *testing.T) {
	t.Parallel()
	b := open(t)
	p := b.project()
	in := func(stage coppice.Stage, o coppice.Outcome) coppice.Task {
		return b.staged("a", func(t *coppice.Task) { t.Stage, t.Outcome = stage, o })
	}
	runs, done, moves, unsure := in(coppice.StageSession, ""), in(coppice.StageEnded, coppice.OutcomeDone), in(coppice.StageLanding, ""), in(coppice.StageLanding, "")
	b.update(func(tx store.Tx) error {
		err := tx.Work.Put(&coppice.Work{Kind: coppice.WorkMove, Key: "move", Pool: PoolControl, ProjectID: p.ID, TaskID: moves.ID, Subject: coppice.QueueSubject(1),
			State: coppice.WorkTaken, Attempt: 1, LeaseUntil: noon.Add(time.Hour), Spec: coppice.Raw(struct{}{}), OfferedAt: noon})
		if err != nil {
			return err
		}
		if err := tx.Landings.Put(&coppice.Landing{ProjectID: p.ID, TaskID: moves.ID, Head: "head1", CreatedAt: noon, QueueID: 1, QueuedAt: noon, Candidate: coppice.Candidate{Green: true}}); err != nil {
			return err
		}
		return tx.Landings.Put(&coppice.Landing{ProjectID: p.ID, TaskID: unsure.ID, QueueID: 1, Head: "head1", CreatedAt: noon, QueuedAt: noon,
			Candidate: coppice.Candidate{Base: "base1", Tree: "tree1", Commit: "commit1", Green: true}, Failure: coppice.Failf(coppice.ClassUnknown, "the remote is away", "")})
	})
	for _, c := range []struct {
		name string
		key  string
		r    verb.Request
		code coppice.Code
		says string
	}{
		{"what is done", done.Key, verb.Request{}, coppice.EConflict, "coppice continue " + done.Key},
		{"what is not there", "app-999", verb.Request{}, coppice.ENotFound, ""},
		{"what moves the base", moves.Key, verb.Request{}, coppice.EConflict, "is landing at this moment"},
		{"what may have moved the base", unsure.Key, verb.Request{}, coppice.EConflict, "coppice show " + unsure.Key},
		{"an agent nobody knows", runs.Key, verb.Request{Staff: coppice.Staff{Agent: "nobody"}}, coppice.EInvalid, "nobody"},
		{"no name", runs.Key, verb.Request{Staff: coppice.Staff{Agent: "a b"}}, coppice.EInvalid, "agent"},
		{"no model", runs.Key, verb.Request{Staff: coppice.Staff{Model: "-x"}}, coppice.EInvalid, "model"},
		{"a huge note", runs.Key, verb.Request{Text: strings.Repeat("x", coppice.MaxMessage+1)}, coppice.ETooLarge, "note"},
		{"no text", runs.Key, verb.Request{Text: "\xff"}, coppice.EInvalid, "UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := b.seq()
			_, err := b.Requeue(t.Context(), c.key, c.r)
			if coppice.ErrorCode(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %q (%s), want %s with %q", err, coppice.ErrorCode(err), c.code, c.says)
			}
			if b.seq() != before {
				t.Error("the log has grown")
			}
		})
	}
	if x := b.task(runs.Key); len(b.asks(x)) > 0 || x.Agent != runs.Agent {
		t.Errorf("a refused word changed %+v", x)
	}
}

// A requeue of what waits for a person to fix its agent says that the agent is
// fixed, unless another one takes over.
func TestRequeueClearsWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	for agent, cleared := range map[string]bool{"": true, "bob": false} {
		b := openApp(t)
		b.update(func(tx store.Tx) error {
			return tx.Limits.Put(coppice.AgentLimit{Agent: "ann", Class: coppice.ClassAuth, Text: "log in"})
		})
		key := b.staged("a", func(t *coppice.Task) {
			t.Agent = "ann"
			t.Next = &coppice.Next{Role: coppice.RoleImplement, Agent: "ann"}
			t.Wait = &coppice.Wait{On: coppice.WaitPerson, Text: "log in"}
			t.Failure = coppice.Failf(coppice.ClassAuth, "log in", "")
		}).Key
		_, err := b.Requeue(t.Context(), key, verb.Request{Staff: coppice.Staff{Agent: agent}})
		b.must(err)
		if limits := b.agentLimits(); (len(limits) == 0) != cleared {
			t.Errorf("requeued with agent %q: limits %+v", agent, limits)
		}
		b.turn()
		want := "ann"
		if agent != "" {
			want = agent
		}
		if x := b.task(key); x.Stage != coppice.StageSession || x.Agent != want {
			t.Errorf("%+v", x)
		}
	}
}

// A stop stays a stop when an agent can be used again, or a budget is raised,
// before it is carried out.
func TestAStopBecomesNoRequeue(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.update(func(tx store.Tx) error {
		return tx.Limits.Put(coppice.AgentLimit{Agent: "ann", Class: coppice.ClassAuth, Text: "log in"})
	})
	stopped := func(class coppice.Class) string {
		key := b.staged("a", func(t *coppice.Task) {
			t.Next = &coppice.Next{Role: coppice.RoleImplement, Agent: "ann"}
			t.Wait = &coppice.Wait{On: coppice.WaitPerson, Text: "look"}
			t.Failure = coppice.Failf(class, "look", "")
		}).Key
		_, err := b.Stop(t.Context(), key)
		b.must(err)
		return key
	}
	shut, poor := stopped(coppice.ClassAuth), stopped(coppice.ClassBudget)
	b.must(b.ClearLimit(t.Context(), "ann"))
	more := coppice.USD(5)
	_, err := b.ChangeTask(t.Context(), poor, coppice.TaskChange{Budget: &more})
	b.must(err)
	b.turn()
	for _, key := range []string{shut, poor} {
		if x := b.task(key); x.Outcome != coppice.OutcomeCancelled {
			t.Errorf("%s, which was stopped, is %s %s", key, x.Stage, x.Outcome)
		}
	}
}

// While its session is being stopped, a task cannot be landed or taken, and the
// error says so.
func TestNothingElseWhileItEnds(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	task := b.staged("a", func(t *coppice.Task) { t.Stage = coppice.StageHeld })
	_, err := b.Requeue(t.Context(), task.Key, verb.Request{})
	b.must(err)
	for name, ask := range map[string]func() (coppice.Task, error){
		"take": func() (coppice.Task, error) { return b.Take(t.Context(), task.Key) },
		"land": func() (coppice.Task, error) { return b.Land(t.Context(), task.Key) },
	} {
		if _, err := ask(); coppice.ErrorCode(err) != coppice.EConflict || !strings.Contains(err.Error(), "is being stopped") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
