package engine

import (
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

func retries(how string) change {
	return policy(func(p *coppice.Policy) { p.Retry.Policy = how })
}

// analyzed makes a session an analysis that ended with a text.
func analyzed(text string) func(*coppice.Session) {
	return func(s *coppice.Session) { s.Role, s.Summary = coppice.RoleAnalyze, text }
}

func TestRetryPolicies(t *testing.T) {
	t.Parallel()
	broken, lost := fails(coppice.ClassUnknown), fails(coppice.ClassLost)
	none, analyze := retries(coppice.RetryNone), retries(coppice.RetryAnalyze)
	own := func(how string) change { return task(func(t *coppice.Task) { t.Retry = how }) }
	const failed = `pipeline: task.ended; to ended; outcome "failed"; fails: `
	const waits = "pipeline: task.stage; to waiting; fails: unknown; waits on backoff: retries "
	run(t, pipeline, []decision{
		{"none", viewOf(coppice.StageSession, space(), none, ran("", broken)), failed + "unknown"},
		{"none, and a lost one", viewOf(coppice.StageSession, space(), none, ran("", lost)), failed + "lost"},
		{"none, and a limit", viewOf(coppice.StageSession, space(), none, ran("", fails(coppice.ClassRateLimit))),
			"pipeline: task.stage; to queued; next implement by ann resuming talk1; limit ann for 30s"},
		{"none, and a budget for the day", viewOf(coppice.StageSession, space(), none, ran("", fails(coppice.ClassDayBudget))),
			"pipeline: task.stage; to queued; next implement by ann resuming talk1"},
		{"the task's own comes first", viewOf(coppice.StageSession, space(), none, own(coppice.RetrySame), ran("", broken)),
			waits + "(1 of 2) after: it broke (10s); next implement by ann"},
		{"the task's own none", viewOf(coppice.StageSession, space(), own(coppice.RetryNone), ran("", broken)), failed + "unknown"},
		{"analyze", viewOf(coppice.StageSession, space(), analyze, ran("", broken)), waits + "(1 of 2) after: it broke (10s); next analyze by ann"},
		{"analyze, without tries left", viewOf(coppice.StageSession, space(), analyze, ran("", broken), ran("", broken), ran("", broken)), failed + "unknown"},
		{"after an analysis", viewOf(coppice.StageSession, space(), analyze, ran("", lost), ran("", analyzed("it lost its way"))),
			"pipeline: task.stage; to queued; next implement by ann resuming talk1"},
		{"an analysis that failed", viewOf(coppice.StageSession, space(), analyze, ran("", broken), ran("", analyzed(""), fails(coppice.ClassAuth))),
			"pipeline: task.stage; to queued; next implement by ann"},
		{"an analysis uses up no try", viewOf(coppice.StageSession, space(), analyze, ran("", broken), ran("", analyzed(""), broken), ran("", broken)),
			waits + "(2 of 2) after: it broke (20s); next analyze by ann"},
		{"a stopped analysis", viewOf(coppice.StageSession, space(), analyze, ran("", broken), ran("", analyzed(""), func(s *coppice.Session) { s.State = coppice.SessionCancelled })),
			`pipeline: task.ended; to ended; outcome "cancelled"`},
	})
}

// The next session reads the diagnosis, and the analysis reads what went wrong.
func TestDiagnosis(t *testing.T) {
	t.Parallel()
	changed := func(s *coppice.Session) { s.Summary, s.Failure.Diff = "I give up", "+the change" }
	v := viewOf(coppice.StageSession, space(), retries(coppice.RetryAnalyze), ran("", fails(coppice.ClassUnknown), changed))
	v.Cheap = func(string) string { return "small" }
	d := pipeline(v)
	n := d.Task.Next
	for _, text := range []string{"it broke", "I give up", "+the change"} {
		if !strings.Contains(n.Evidence, text) {
			t.Errorf("the analysis does not read %q: %s", text, n.Evidence)
		}
	}
	if n.Model != "small" || n.Resume != "" || d.Task.Failure.Diff != "" {
		t.Errorf("the analysis is %+v, the task's failure %+v", n, d.Task.Failure)
	}
	for text, want := range map[string]string{"Use the other file.": "Use the other file.", strings.Repeat("é", mostDiagnosis): "the rest is left out"} {
		v := viewOf(coppice.StageSession, space(), retries(coppice.RetryAnalyze), ran("", fails(coppice.ClassUnknown), changed), ran("", analyzed(text)))
		n := pipeline(v).Task.Next
		if !strings.Contains(n.Evidence, want) || !strings.Contains(n.Evidence, "it broke") || strings.Contains(n.Evidence, "+the change") || len(n.Evidence) > 2*mostDiagnosis {
			t.Errorf("the next session reads %.200s", n.Evidence)
		}
	}
}

// An analysis has limits of time and money, also if its task runs until it is
// done. At a limit, the next session starts without a diagnosis.
func TestLimitsOfAnalysis(t *testing.T) {
	t.Parallel()
	untilDone := task(func(t *coppice.Task) { t.UntilDone = true })
	longer := policy(func(p *coppice.Policy) {
		p.Agent.Limits = map[coppice.Role]coppice.RunLimits{coppice.RoleAnalyze: {Time: coppice.Duration(time.Hour), Budget: 2}}
	})
	on := func(age time.Duration, usd float64, changes ...change) *View {
		session := func(s *coppice.Session) { live(s); aged(age)(s); cost(usd)(s); s.Role = coppice.RoleAnalyze }
		all := []change{space(), retries(coppice.RetryAnalyze), ran("", fails(coppice.ClassUnknown)), ran("", session), taken(coppice.WorkRun)}
		return viewOf(coppice.StageSession, append(all, changes...)...)
	}
	stops := "limits: work.offered; session working; stop 1 for limit; offer session.stop session/12/stop/1 to local"
	run(t, runLimit, []decision{
		{"below both", on(10*time.Minute-1, 0.99), "nothing"},
		{"the time", on(10*time.Minute, 0), stops},
		{"the money", on(0, 1), stops},
		{"the time, until done", on(10*time.Minute, 0, untilDone), stops},
		{"the project allows more", on(time.Hour-1, 1.99, longer), "nothing"},
		{"the project's time", on(time.Hour, 0, longer), stops},
	})
	run(t, pipeline, []decision{{"at its limit", viewOf(coppice.StageSession, space(), retries(coppice.RetryAnalyze), ran("", fails(coppice.ClassUnknown)),
		ran("", analyzed(""), fails(coppice.ClassLimit))), "pipeline: task.stage; to queued; next implement by ann"}})
}

// An analysis works at the commit of the failed session and cannot edit. Messages
// wait for the session after it.
func TestAnalysisIsRestricted(t *testing.T) {
	t.Parallel()
	begun := func(s *coppice.Session) { starting(s); s.Role, s.From = coppice.RoleAnalyze, "" }
	v := viewOf(coppice.StageSession, space(), retries(coppice.RetryAnalyze), ran("", fails(coppice.ClassUnknown), func(s *coppice.Session) { s.Head = "head1" }), ran("", begun))
	prepare, err := coppice.DecodeSpec[coppice.PrepareSpec](*pipeline(v).Offer)
	if err != nil || !prepare.Detached || prepare.From != "head1" {
		t.Fatalf("%+v, %v", prepare, err)
	}
	s := v.lastSession()
	s.Path = "/ws/x"
	spec, err := coppice.DecodeSpec[coppice.RunSpec](*pipeline(v).Offer)
	if err != nil || !spec.ReadOnly || spec.Permissions.Rules[0].Do != coppice.RuleDeny || spec.Diff != 0 {
		t.Errorf("%+v, %v", spec, err)
	}
	s.State, s.StartedAt = coppice.SessionWorking, noon
	v.Messages = []coppice.Message{{ID: 1, Text: "wait"}}
	if d := talk(v); d != nil {
		t.Errorf("the analysis gets the message: %+v", d)
	}
	v.Messages[0].Kind = coppice.MessageInterrupt
	if d := talk(v); d == nil {
		t.Error("the analysis cannot be interrupted")
	}
}

// A person who takes a task over gets the failed session, not its analysis.
func TestTakeDuringAnalysis(t *testing.T) {
	t.Parallel()
	taken := func(v *View) { v.Asks = append(v.Asks, coppice.Ask{ID: 1, Verb: coppice.VerbTake}) }
	v := viewOf(coppice.StageSession, space(), retries(coppice.RetryAnalyze), ran("", fails(coppice.ClassLost)), ran("", analyzed("x")), taken)
	if n := pipeline(v).Task.Next; n.Role != coppice.RoleImplement || !n.Screen || n.Resume != "talk1" {
		t.Errorf("a running analysis: %+v", n)
	}
	v = viewOf(coppice.StageQueued, space(), retries(coppice.RetryAnalyze), ran("", fails(coppice.ClassLost)), taken)
	v.Task.Next = analysis(v, v.lastSession(), *v.lastSession().Failure)
	if d := handover(v); d == nil || d.Task.Next.Role != coppice.RoleImplement || !d.Task.Next.Screen {
		t.Errorf("an analysis that waits: %+v", d)
	}
}

// After two unclear failures in a row of one agent, another one takes over.
func TestOtherAgentTakesOver(t *testing.T) {
	t.Parallel()
	fallback := policy(func(p *coppice.Policy) { p.Agent.Fallback, p.Retry.Max = []string{"ann:small", "bob"}, 9 })
	lost, unknown, timeout := fails(coppice.ClassLost), fails(coppice.ClassUnknown), fails(coppice.ClassTimeout)
	for name, c := range map[string]struct {
		view *View
		next string
	}{
		"one":                       {viewOf(coppice.StageSession, space(), fallback, ran("", lost)), "ann talk1"},
		"two":                       {viewOf(coppice.StageSession, space(), fallback, ran("", unknown), ran("", lost)), "bob "},
		"a known cause between":     {viewOf(coppice.StageSession, space(), fallback, ran("", lost), ran("", fails(coppice.ClassMCP)), ran("", timeout)), "ann talk1"},
		"two of different agents":   {viewOf(coppice.StageSession, space(), fallback, ran("", lost), ran("", timeout, by("bob"))), "bob talk1"},
		"two of the other":          {viewOf(coppice.StageSession, space(), fallback, ran("", lost, by("bob")), ran("", timeout, by("bob"))), "ann "},
		"no fallback":               {viewOf(coppice.StageSession, space(), ran("", lost), ran("", lost)), "ann talk1"},
		"the fallback is limited":   {viewOf(coppice.StageSession, space(), fallback, limited("bob"), ran("", lost), ran("", lost)), "ann talk1"},
		"two, and then an analysis": {viewOf(coppice.StageSession, space(), fallback, retries(coppice.RetryAnalyze), ran("", lost), ran("", lost), ran("", analyzed("x"), by("bob"))), "bob "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if n := pipeline(c.view).Task.Next; n == nil || n.Agent+" "+n.Resume != c.next {
				t.Errorf("%+v; want %s", n, c.next)
			}
		})
	}
}

// The fourth failure within 30 minutes leads to a person, whatever retry.max is.
func TestRecoveriesAreLimited(t *testing.T) {
	t.Parallel()
	many := policy(func(p *coppice.Policy) { p.Retry.Max = 9 })
	ended := func(ago time.Duration) func(*coppice.Session) {
		return func(s *coppice.Session) { s.EndedAt = noon.Add(-ago) }
	}
	broken := fails(coppice.ClassEnvironment)
	failed := func(agos ...time.Duration) []change {
		list := []change{space(), many}
		for _, ago := range agos {
			list = append(list, ran("", broken, ended(ago)))
		}
		return list
	}
	copies := func(v *View) {
		for range 3 {
			v.Copies = append(v.Copies, *viewOf(coppice.StageSession, ran("", broken, ended(time.Minute))).lastSession())
		}
	}
	more := policy(func(p *coppice.Policy) { p.Retry.Recoveries = 4 })
	for name, c := range map[string]struct {
		changes []change
		on      coppice.WaitKind
	}{
		"three":                  {failed(2*time.Minute, time.Minute, 0), coppice.WaitBackoff},
		"four":                   {failed(29*time.Minute, 2*time.Minute, time.Minute, 0), coppice.WaitPerson},
		"the first is older":     {failed(30*time.Minute, 2*time.Minute, time.Minute, 0), coppice.WaitBackoff},
		"four are allowed":       {append(failed(3*time.Minute, 2*time.Minute, time.Minute, 0), more), coppice.WaitBackoff},
		"those of its copies":    {append(failed(0), copies), coppice.WaitPerson},
		"an analysis is not one": {append(failed(2*time.Minute, time.Minute), ran("", analyzed(""), broken), ran("", broken, ended(0))), coppice.WaitBackoff},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := pipeline(viewOf(coppice.StageSession, c.changes...))
			if w := d.Task.Wait; w == nil || w.On != c.on || d.Task.Next == nil {
				t.Errorf("%+v, %+v; want %s", w, d.Task.Next, c.on)
			} else if c.on == coppice.WaitPerson && (!strings.Contains(w.Text, "3 times in 30m") || !strings.Contains(w.Fix, "coppice retry app-7")) {
				t.Errorf("%+v", w)
			}
		})
	}
}

// The recoveries of a task's copies count: those of the task that it was forked from,
// of that task's other forks, and of their forks.
func TestRecoveriesOfCopies(t *testing.T) {
	t.Parallel()
	b := open(t, func(c *Config) { c.Resumes = func(string, *coppice.Profile) bool { return true } })
	b.project(func(p *coppice.Project) { p.Policy.Retry.Max = 9 })
	b.create(coppice.NewTask{Title: "a"}, coppice.NewTask{Title: "another one"})
	fail := func(key string) *coppice.Wait {
		t.Helper()
		for b.turn(); b.unsettled(key).Kind != coppice.WorkRun; b.turn() {
			if b.unsettled(key).Kind == coppice.WorkPrepare {
				b.finish(key, coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws/" + key, BaseCommit: "base1", Head: "base1"})
				continue
			}
			if b.clock = b.clock.Add(time.Minute); b.clock.Sub(noon) > time.Hour {
				t.Fatalf("%s does not run: %+v", key, b.task(key))
			}
		}
		b.finish(key, coppice.WorkRun, coppice.RunResult{Failure: coppice.Failf(coppice.ClassUnknown, "it broke", ""), Conversation: "talk of " + key})
		return b.task(key).Wait
	}
	fork := func(key string) string {
		t.Helper()
		made, err := b.Fork(t.Context(), key, "another way")
		b.must(err)
		return made.Key
	}
	first, other := "app-1", "app-2"
	if w := fail(first); w.On != coppice.WaitBackoff {
		t.Fatalf("the first failure: %+v", w)
	}
	second, sibling := fork(first), fork(first)
	if w := fail(second); w.On != coppice.WaitBackoff {
		t.Fatalf("the failure of %s: %+v", second, w)
	}
	third := fork(second)
	if w := fail(third); w.On != coppice.WaitBackoff {
		t.Fatalf("the failure of %s: %+v", third, w)
	}
	for _, key := range []string{sibling, first} {
		if w := fail(key); w.On != coppice.WaitPerson || !strings.Contains(w.Text, "3 times in 30m") {
			t.Errorf("the failure of %s, after three in its family: %+v", key, w)
		}
	}
	if w := fail(other); w.On != coppice.WaitBackoff {
		t.Errorf("the failure of another task: %+v", w)
	}
}

// A task whose budget is spent before its analysis starts can land, and the note of a
// retry reaches the session after the analysis too.
func TestBudgetIsSpentBeforeAnAnalysis(t *testing.T) {
	t.Parallel()
	spent := func(t *testing.T) *bundle {
		t.Helper()
		b := open(t)
		b.project(func(p *coppice.Project) { p.Policy.Retry.Policy, p.Policy.Budget.Task = coppice.RetryAnalyze, 1 })
		b.create(coppice.NewTask{Title: "a"})
		b.prepares("app-1")
		b.finish("app-1", coppice.WorkRun, coppice.RunResult{
			Failure: coppice.Failf(coppice.ClassUnknown, "it broke", ""), From: "base1", Head: "head1", Usage: coppice.Usage{CostUSD: 1.5},
		})
		b.clock = b.clock.Add(time.Hour)
		b.turn()
		x := b.task("app-1")
		if x.Failure == nil || x.Failure.Class != coppice.ClassBudget || x.Next == nil || x.Next.Role != coppice.RoleAnalyze || x.Wait.On != coppice.WaitPerson {
			t.Fatalf("it waits as %+v, next %+v, failure %+v", x.Wait, x.Next, x.Failure)
		}
		return b
	}
	t.Run("retry", func(t *testing.T) {
		t.Parallel()
		b := spent(t)
		b.ask("app-1", coppice.VerbRetry, "mind the gap")
		b.finish("app-1", coppice.WorkPrepare, coppice.PrepareResult{Path: "/look", BaseCommit: "base1", Head: "head1"})
		b.finish("app-1", coppice.WorkRun, coppice.RunResult{Summary: "it fell into the gap", From: "head1", Head: "head1"})
		s := b.lastSession("app-1")
		if p := b.prompt(s.ID); s.Role != coppice.RoleImplement || !strings.Contains(p, "mind the gap") || !strings.Contains(p, "it fell into the gap") {
			t.Errorf("%s gets:\n%s", s.Role, p)
		}
		b.view(func(r store.Reader) error {
			all, err := r.Messages.Of(s.TaskID)
			for _, m := range all {
				if m.Open() {
					t.Errorf("a message is still open: %+v", m)
				}
			}
			return err
		})
	})
	t.Run("land", func(t *testing.T) {
		t.Parallel()
		b := spent(t)
		b.ask("app-1", coppice.VerbLand, "")
		if w := b.unsettled("app-1"); w.Kind == coppice.WorkPrepare {
			b.finish("app-1", coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws", BaseCommit: "base1", Head: "head1"})
		}
		b.wantWork("app-1", coppice.WorkMerge)
	})
}
