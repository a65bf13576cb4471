package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// wonders makes a session wait for a person.
func wonders(s *coppice.Session) { live(s); s.State = coppice.SessionWaiting }

// parkedFor makes a session one that was parked so long ago.
func parkedFor(d time.Duration) func(*coppice.Session) {
	return func(s *coppice.Session) { wonders(s); s.ParkedAt = noon.Add(-d) }
}

// question adds a question of the newest session.
func question(changes ...func(*coppice.Question)) change {
	return func(v *View) {
		q := coppice.Question{ID: int64(30 + len(v.Questions)), SessionID: v.lastSession().ID, Ref: "q1", Text: "which way?", AskedAt: noon}
		for _, c := range changes {
			c(&q)
		}
		v.Questions = append(v.Questions, q)
	}
}

func left(q *coppice.Question) { q.Answer, q.AnsweredAt = "left", noon }

func resumable(v *View) { v.Resumes = func(*coppice.Session) bool { return true } }

func rested(s *coppice.Session) { s.StopWhy = coppice.StopParked }

func TestPark(t *testing.T) {
	t.Parallel()
	at := func(state func(*coppice.Session), c ...change) *View {
		return viewOf(coppice.StageSession, append([]change{space(), ran("", state), taken(coppice.WorkRun)}, c...)...)
	}
	stops := "park: work.offered; session waiting; stop 1 for parked; offer session.stop session/11/stop/1 to local"
	asked := func(s *coppice.Session) {
		parkedFor(time.Hour)(s)
		s.StopWhy, s.StopTries, s.StopAt = coppice.StopParked, 1, noon.Add(-stopPause)
	}
	run(t, park, []decision{
		{"works", at(live), "nothing"},
		{"waits for an answer", at(wonders, question()), "park: session.parked; session waiting parked"},
		{"asked, and continues", at(live, question()), "nothing"},
		{"waits, and has no open question", at(wonders), "nothing"},
		{"another session asked", at(wonders, question(func(q *coppice.Question) { q.SessionID = 10 })), "nothing"},
		{"has its answer", at(wonders, question(left)), "nothing"},
		{"has one of two answers", at(wonders, question(left), question()), "nothing"},
		{"gets something first", at(wonders, question(), said(coppice.MessageNow, "hi")), "nothing"},
		{"something is in progress", at(wonders, question(), offered(coppice.WorkSend)), "nothing"},
		{"a message for its next turn", at(wonders, question(), said(coppice.MessageNext, "then")), "park: session.parked; session waiting parked"},
		{"on a person's screen", at(func(s *coppice.Session) { wonders(s); s.Screen = true }, question()), "nothing"},
		{"being stopped", at(func(s *coppice.Session) { wonders(s); s.StopAt = noon }, question()), "nothing"},
		{"not up yet", at(starting, question()), "nothing"},
		{"parked", at(parkedFor(time.Minute), question(), resumable), "nothing"},
		{"parked, answered", at(parkedFor(time.Minute), question(left)), "park: session.state; session waiting parked ready"},
		{"says so once", at(func(s *coppice.Session) { parkedFor(time.Minute)(s); s.ReadyAt = noon }, question(left)), "nothing"},
		{"parked, gets something", at(parkedFor(time.Minute), question(), said(coppice.MessageNow, "hi")), "park: session.state; session waiting parked ready"},
		{"continues", at(func(s *coppice.Session) { parkedFor(time.Minute)(s); s.State = coppice.SessionWorking }, question()),
			"park: session.unparked; session working after 1m0s"},
		{"almost too long", at(parkedFor(mostParked-1), question(), resumable), "nothing"},
		{"too long", at(parkedFor(mostParked), question(), resumable), stops},
		{"too long, the stop of an older session is in progress",
			at(parkedFor(mostParked), question(), resumable, work(coppice.WorkStop, coppice.WorkOffered, 0, func(w *coppice.Work) { w.SessionID = 10 })), stops},
		{"too long, answered", at(parkedFor(mostParked), question(left), resumable), stops},
		{"too long, and cannot resume", at(parkedFor(mostParked), question()), "nothing"},
		{"asked again to stop", at(asked, question()), "park: work.offered; session waiting; stop 2 for parked; offer session.stop session/11/stop/2 to local"},
	})
	if got := at(parkedFor(time.Minute), question(), resumable).due(); !got.Equal(noon.Add(14 * time.Minute)) {
		t.Errorf("due at %v", got)
	}
	run(t, talk, []decision{
		{"parked, gets nothing", at(parkedFor(time.Minute), question(left)), "nothing"},
	})
}

// TestParkedClock: the time that a session is parked is not time that it takes.
func TestParkedClock(t *testing.T) {
	t.Parallel()
	old := func(s *coppice.Session) { live(s); s.StartedAt, s.OutputAt = noon.Add(-4*time.Hour), noon }
	at := func(f func(*coppice.Session)) *View {
		return viewOf(coppice.StageSession, space(), ran("", old, f), taken(coppice.WorkRun))
	}
	run(t, health, []decision{
		{"parked", at(parkedFor(time.Minute)), "nothing"},
		{"was parked most of the time", at(func(s *coppice.Session) { s.ParkedFor = coppice.Duration(3*time.Hour + 1) }), "nothing"},
		{"was parked for a moment", at(func(s *coppice.Session) { s.ParkedFor = coppice.Duration(time.Minute) }),
			`health: session.warned; warns "long-running: more than 1h; 80% of its time of 4h is used"; session working`},
	})
	if got := at(func(s *coppice.Session) { s.ParkedFor = coppice.Duration(3*time.Hour + time.Minute) }).due(); !got.Equal(noon.Add(time.Minute)) {
		t.Errorf("due at %v", got)
	}
	if got := at(parkedFor(time.Minute)).due(); !got.IsZero() {
		t.Errorf("a parked session is due at %v", got)
	}
}

func TestRest(t *testing.T) {
	t.Parallel()
	run(t, pipeline, []decision{
		{"its question is open", viewOf(coppice.StageSession, space(), ran("", rested), question()),
			`pipeline: task.stage; to waiting; waits on person: which way? [answer it: coppice answer app-7 "…"]; next implement by ann resuming talk1`},
		{"it asks permission", viewOf(coppice.StageSession, space(), ran("", rested), question(func(q *coppice.Question) { q.Kind = coppice.QuestionPermission })),
			`pipeline: task.stage; to waiting; waits on person: asks permission: which way? [answer it: coppice answer app-7 "…"]; next implement by ann resuming talk1`},
		{"it has its answer", viewOf(coppice.StageSession, space(), ran("", rested), question(left)),
			"pipeline: task.stage; to queued; next implement by ann resuming talk1"},
		{"somebody said something else", viewOf(coppice.StageSession, space(), ran("", rested), question(), said(coppice.MessageNow, "hi")),
			"pipeline: task.stage; to queued; next implement by ann resuming talk1"},
		{"it failed", viewOf(coppice.StageSession, space(), ran("", fails(coppice.ClassLost), rested), question()),
			"pipeline: question.answered; question 30 closed=true"},
	})
	waits := func(c ...change) *View {
		return viewOf(coppice.StageWaiting, append([]change{space(), ran("", rested), waitsOn(coppice.WaitPerson, "which way?", time.Time{}), next("ann")}, c...)...)
	}
	run(t, pipeline, []decision{
		{"waits for the other answer", waits(question(left), question(func(q *coppice.Question) { q.Text = "how far?" })),
			`pipeline: task.stage; waits on person: how far? [answer it: coppice answer app-7 "…"]`},
		{"answered", waits(question(left)), "pipeline: task.stage; to queued"},
		{"got another message", waits(question(), said(coppice.MessageNow, "hi")), "pipeline: task.stage; to queued"},
		{"got a message for its next turn", waits(question(), said(coppice.MessageNext, "then")),
			`pipeline: task.stage; waits on person: which way? [answer it: coppice answer app-7 "…"]`},
		{"waits for its budget", waits(question(left), task(func(t *coppice.Task) { t.Failure = coppice.Failf(coppice.ClassBudget, "spent", "") })), "nothing"},
	})
	v := viewOf(coppice.StageSession, ran("", rested, fixing), ran("", rested), ran("", fails(coppice.ClassLost)))
	if failures(v) != 1 || v.fixes() != 0 {
		t.Errorf("%d tries and %d fixes are used up", failures(v), v.fixes())
	}
}

func TestSettleParked(t *testing.T) {
	t.Parallel()
	at := func(r coppice.RunResult) *View {
		return viewOf(coppice.StageSession, space(), ran("", parkedFor(time.Minute), rested), finished(coppice.WorkRun, r))
	}
	run(t, settle, []decision{
		{"stopped", at(coppice.RunResult{Stopped: true}), "settle: session.ended; session done after 1m0s; settled"},
		{"lost first", at(coppice.RunResult{Lost: true}), "settle: session.ended; session lost after 1m0s; session fails: lost; settled"},
	})
	zero := 0
	if s := settle(at(coppice.RunResult{Exit: &zero})).Session; s.Rests() {
		t.Error("it ended by itself, and is taken for stopped")
	}
}

// wonder lets the newest session of a task ask a question, and takes a turn.
func (b *bundle) wonder(key string, q coppice.Question) {
	b.t.Helper()
	id := b.task(key).ID
	b.update(func(tx store.Tx) error {
		s, err := tx.Sessions.Last(id)
		if err != nil {
			return err
		}
		q.TaskID, q.SessionID, q.Text, q.AskedAt = s.TaskID, s.ID, "which way?", b.clock
		s.State = coppice.SessionWaiting
		if err := tx.Sessions.Put(s); err != nil {
			return err
		}
		if err := tx.Questions.Put(&q); err != nil {
			return err
		}
		return tx.Log.Append(&coppice.Event{At: b.clock, Kind: coppice.EventQuestionAsked, ProjectID: s.ProjectID, TaskID: s.TaskID})
	})
	b.turn()
}

// sessions lists the sessions of a task: their state, and whether they are parked.
func (b *bundle) sessions(key string) (out []string) {
	b.t.Helper()
	for _, s := range b.sessionsOf(b.task(key).ID) {
		text := string(s.State)
		if s.Parked() {
			text += " parked"
		}
		if s.Resume != "" {
			text += " resumes " + s.Resume
		}
		out = append(out, text)
	}
	return out
}

func (b *bundle) want(key string, status coppice.Status, reason string, sessions ...string) {
	b.t.Helper()
	if s := b.status(key); s.Status != status || s.Reason != reason {
		b.t.Errorf("%s is %s (%s), want %s (%s)", key, s.Status, s.Reason, status, reason)
	}
	if d := cmp.Diff(sessions, b.sessions(key)); d != "" {
		b.t.Errorf("sessions of %s (-want +got):\n%s", key, d)
	}
}

// oneSession has a project with one session, whose agent ann can resume.
func oneSession(t *testing.T, parked int, changes ...func(*coppice.Project)) *bundle {
	b := open(t, func(c *Config) { c.Resumes = func(agent string, _ *coppice.Profile) bool { return agent == "ann" } })
	b.project(append(changes, func(p *coppice.Project) { p.Policy.Limits.Sessions, p.Policy.Limits.Parked = 1, parked })...)
	return b
}

func TestAnotherTaskStartsInTheMeantime(t *testing.T) {
	t.Parallel()
	b := oneSession(t, 0)
	b.create(coppice.NewTask{Title: "a"}, coppice.NewTask{Title: "b"}, coppice.NewTask{Title: "c", Priority: -1})
	b.working("app-1")
	b.want("app-2", coppice.StatusWaiting, "all 1 sessions of the project are taken")
	b.wonder("app-1", coppice.Question{Ref: "q1"})
	b.want("app-1", coppice.StatusNeedsYou, "which way?", "waiting parked")
	b.want("app-2", coppice.StatusWorking, "", "starting")
	_, err := b.Answer(t.Context(), "app-1", 0, "left")
	b.must(err)
	b.turn()
	b.want("app-1", coppice.StatusWaiting, coppice.ReasonAnswered, "waiting parked")
	if w := b.unsettled("app-1"); w.Kind != coppice.WorkRun {
		t.Errorf("it has %s to do", w.Kind)
	}
	_, err = b.Pause(t.Context(), "app", "", true)
	b.must(err)
	_, err = b.Stop(t.Context(), "app-2")
	b.must(err)
	b.turn()
	b.want("app-1", coppice.StatusWorking, "", "waiting")
	b.want("app-3", coppice.StatusWaiting, "the project is paused")
	b.finish("app-1", coppice.WorkSend, coppice.SendResult{Delivered: true})
	b.want("app-1", coppice.StatusWorking, "", "waiting")
}

func TestAnswerWithAFreeSession(t *testing.T) {
	t.Parallel()
	b := oneSession(t, 0)
	b.create(coppice.NewTask{Title: "a"})
	b.working("app-1")
	b.wonder("app-1", coppice.Question{Ref: "q1"})
	b.wonder("app-1", coppice.Question{Ref: "q2"})
	_, err := b.Answer(t.Context(), "app-1", 0, "left")
	b.must(err)
	b.turn()
	spec := specOf[coppice.SendSpec](b, b.unsettled("app-1"))
	if spec.Question != "q1" || spec.Text != "left" {
		t.Errorf("sends %+v", spec)
	}
	b.finish("app-1", coppice.WorkSend, coppice.SendResult{Delivered: true})
	b.want("app-1", coppice.StatusNeedsYou, "which way?", "waiting parked")
	_, err = b.Send(t.Context(), "app-1", "by the way")
	b.must(err)
	b.turn()
	b.want("app-1", coppice.StatusNeedsYou, "which way?", "waiting")
	b.finish("app-1", coppice.WorkSend, coppice.SendResult{Why: "it does not listen"})
	b.want("app-1", coppice.StatusNeedsYou, "which way?", "waiting parked")
}

// rests lets the task's session ask for a permission and be parked until it is
// stopped.
func (b *bundle) rests(key string) {
	b.t.Helper()
	b.wonder(key, coppice.Question{Ref: "q1", Kind: coppice.QuestionPermission, Rule: &coppice.Rule{Tool: "run", Match: "make *", Do: coppice.RuleAllow}})
	b.clock = b.clock.Add(mostParked)
	b.turn()
	b.finish(key, coppice.WorkStop, coppice.StopResult{})
	b.finish(key, coppice.WorkRun, coppice.RunResult{Stopped: true, Conversation: "talk1", Head: "base1"})
}

func TestAStoppedSessionResumes(t *testing.T) {
	t.Parallel()
	b := oneSession(t, 0, func(p *coppice.Project) {
		p.Policy.Retry.Max, p.Rules = 0, []coppice.Rule{{Tool: "run", Match: "make *", Do: coppice.RuleAsk}}
	})
	b.create(coppice.NewTask{Title: "a"})
	b.working("app-1")
	b.rests("app-1")
	b.want("app-1", coppice.StatusNeedsYou, "asks permission: which way?", "done")
	if q := b.status("app-1").Question; q == nil || !q.Open() {
		t.Fatalf("its question is %+v", q)
	}
	b.create(coppice.NewTask{Title: "b"})
	b.turn()
	_, err := b.Answer(t.Context(), "app-1", 0, "deny because it is slow")
	b.must(err)
	b.turn()
	b.want("app-1", coppice.StatusWaiting, coppice.ReasonAnswered, "done")
	_, err = b.Stop(t.Context(), "app-2")
	b.must(err)
	b.turn()
	b.want("app-1", coppice.StatusWorking, "", "done", "starting resumes talk1")
	if s := b.session("app-1.2"); !strings.Contains(s.Prompt, "A person adds: you asked: which way?\nThe answer is: deny because it is slow\n") {
		t.Errorf("its prompt is\n%s", s.Prompt)
	}
	rules := func() []coppice.Rule {
		spec := specOf[coppice.RunSpec](b, b.unsettled("app-1"))
		return spec.Permissions.Rules
	}
	once := coppice.Rule{Tool: "run", Match: "make *", Do: coppice.RuleDeny, Why: "it is slow"}
	if d := cmp.Diff(append([]coppice.Rule{once}, b.projectNow().Rules...), rules()); d != "" {
		t.Errorf("its rules (-want +got):\n%s", d)
	}
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Failure: coppice.Failf(coppice.ClassRateLimit, "later", "")})
	b.clock = b.clock.Add(time.Hour)
	b.turn()
	if d := cmp.Diff(b.projectNow().Rules, rules()); d != "" {
		t.Errorf("the session after that has rules (-want +got):\n%s", d)
	}
}

// TestAfterAStoppedSession: what else people can do with a task whose session was
// stopped while it waited for an answer.
func TestAfterAStoppedSession(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do       func(b *bundle) error
		sessions []string
		prompt   string
	}{
		"message": {func(b *bundle) error { _, err := b.Send(t.Context(), "app-1", "go left"); return err },
			[]string{"done", "starting resumes talk1"}, "Nobody has answered."},
		"retry": {func(b *bundle) error { _, err := b.Retry(t.Context(), "app-1", "as you like"); return err },
			[]string{"done", "starting resumes talk1"}, "Ask again if you still need to know.\n\nas you like"},
		"requeue": {func(b *bundle) error {
			_, err := b.Requeue(t.Context(), "app-1", verb.Request{Text: "once more"})
			return err
		}, []string{"done", "starting"}, "A person adds: once more"},
		"take": {func(b *bundle) error { _, err := b.Take(t.Context(), "app-1"); return err }, []string{"done", "starting resumes talk1"}, ""},
		"stop": {func(b *bundle) error { _, err := b.Stop(t.Context(), "app-1"); return err }, []string{"done"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := oneSession(t, 0)
			b.create(coppice.NewTask{Title: "a"})
			b.working("app-1")
			b.rests("app-1")
			b.must(c.do(b))
			b.turn()
			if d := cmp.Diff(c.sessions, b.sessions("app-1")); d != "" {
				t.Errorf("sessions (-want +got):\n%s", d)
			}
			b.view(func(r store.Reader) error {
				s, err := r.Sessions.Last(1)
				if err != nil {
					return err
				}
				last, err := r.Sessions.Get(s.ID)
				if err != nil {
					return err
				}
				if !strings.Contains(last.Prompt, c.prompt) {
					t.Errorf("its prompt is\n%s", last.Prompt)
				}
				questions, err := r.Questions.Of(1)
				if slices.ContainsFunc(questions, func(q coppice.Question) bool { return q.ClosedAt.IsZero() }) {
					t.Errorf("its questions are %+v", questions)
				}
				return err
			})
		})
	}
}

func TestBudgetOfAStoppedSession(t *testing.T) {
	t.Parallel()
	b := oneSession(t, 0)
	b.create(coppice.NewTask{Title: "a", Budget: 1})
	b.working("app-1")
	b.wonder("app-1", coppice.Question{Ref: "q1"})
	b.clock = b.clock.Add(mostParked)
	b.turn()
	b.finish("app-1", coppice.WorkStop, coppice.StopResult{})
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Stopped: true, Conversation: "talk1", Usage: coppice.Usage{CostUSD: 2}})
	_, err := b.Answer(t.Context(), "app-1", 0, "left")
	b.must(err)
	b.turn()
	b.want("app-1", coppice.StatusNeedsYou, "has cost 2 USD of 1 USD", "done")
	_, err = b.Retry(t.Context(), "app-1", "")
	b.must(err)
	b.turn()
	b.want("app-1", coppice.StatusWorking, "", "done", "starting resumes talk1")
}

// A parked session reserves nothing of a day's budget, so what it waits for can run. It
// continues with what is left.
func TestAParkedSessionReservesNothing(t *testing.T) {
	t.Parallel()
	b := oneSession(t, 0, func(p *coppice.Project) { p.Policy.Budget.Day = 2 })
	b.create(coppice.NewTask{Title: "a"}, coppice.NewTask{Title: "b"})
	b.working("app-1")
	if got := b.lastSession("app-1").Budget; got != 2 {
		t.Fatalf("its budget is %v", got)
	}
	b.wonder("app-1", coppice.Question{Ref: "q1"})
	b.want("app-2", coppice.StatusWorking, "", "starting")
	b.prepares("app-2")
	b.begins("app-2", 2)
	b.spends("app-2", 0.5)
	_, err := b.Answer(t.Context(), "app-1", 0, "left")
	b.must(err)
	b.turn()
	b.finish("app-2", coppice.WorkRun, coppice.RunResult{Head: "base1", From: "base1", Usage: coppice.Usage{CostUSD: 0.5}})
	b.turn()
	if s := b.lastSession("app-1"); s.Parked() || s.Budget != 1.5 {
		t.Errorf("it continues with %v USD, parked %v", s.Budget, s.Parked())
	}
}

func TestMostParked(t *testing.T) {
	t.Parallel()
	b := oneSession(t, 1)
	b.create(coppice.NewTask{Title: "a", Agent: "bob"}, coppice.NewTask{Title: "b"}, coppice.NewTask{Title: "c"})
	for _, key := range []string{"app-1", "app-2"} {
		b.working(key)
		b.clock = b.clock.Add(time.Second)
		b.wonder(key, coppice.Question{Ref: "q1"})
	}
	b.want("app-1", coppice.StatusNeedsYou, "which way?", "waiting parked") // bob cannot resume
	if w := b.unsettled("app-2"); w.Kind != coppice.WorkStop {
		t.Fatalf("app-2 has %s to do", w.Kind)
	}
	b.working("app-3")
	b.clock = b.clock.Add(time.Second)
	b.wonder("app-3", coppice.Question{Ref: "q1"})
	if w := b.unsettled("app-3"); w.Kind != coppice.WorkStop {
		t.Errorf("app-3 has %s to do", w.Kind)
	}
}

// TestOnceRules shows that an answer which a session got while it ran does not
// apply to the next one.
func TestOnceRules(t *testing.T) {
	t.Parallel()
	permission := func(match string, closed time.Time, answer string) change {
		return question(func(q *coppice.Question) {
			q.Kind, q.Rule, q.ClosedAt = coppice.QuestionPermission, &coppice.Rule{Tool: "run", Match: match}, closed
			q.Answer, q.AnsweredAt = answer, noon
		})
	}
	created := func(s *coppice.Session) { starting(s); s.CreatedAt = noon }
	v := viewOf(coppice.StageSession, space(), ran("", rested),
		permission("git push *", noon.Add(-time.Minute), coppice.AnswerAllow), permission("make *", noon, coppice.AnswerAllow), question(left), ran("", created))
	if d := cmp.Diff([]coppice.Rule{{Tool: "run", Match: "make *", Do: coppice.RuleAllow}}, onceRules(v, v.lastSession())); d != "" {
		t.Errorf("rules (-want +got):\n%s", d)
	}
	ran("", created)(v)
	if got := onceRules(v, v.lastSession()); got != nil {
		t.Errorf("the session after that has rules %v", got)
	}
}
