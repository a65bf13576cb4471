package engine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coppice"
)

// Every class of failure has one policy, and this is what it does to a task
// whose first session failed with it.
func TestRemedies(t *testing.T) {
	t.Parallel()
	again := func(class, resume string) string {
		return "pipeline: task.stage; to waiting; fails: " + class + "; waits on backoff: retries (1 of 2) after: it broke (10s); next implement by ann" + resume
	}
	patient := "pipeline: task.stage; to queued; next implement by ann resuming talk1; limit ann for 30s"
	person := func(class string) string {
		return "pipeline: task.stage; to waiting; fails: " + class + "; waits on person: it broke [fix the problem, then retry the task]; next implement by ann resuming talk1"
	}
	shuts := func(agent string) string { return "; limit " + agent + " until a person clears it" }
	const resumes = " resuming talk1"
	want := map[coppice.Class]string{
		coppice.ClassRateLimit:      patient,
		coppice.ClassOverload:       patient,
		coppice.ClassAuth:           person("auth") + shuts("ann"),
		coppice.ClassBilling:        person("billing") + shuts("ann"),
		coppice.ClassBudget:         person("budget"),
		coppice.ClassDayBudget:      "pipeline: task.stage; to queued; next implement by ann resuming talk1",
		coppice.ClassLimit:          person("limit"),
		coppice.ClassCapability:     person("capability"),
		coppice.ClassEnvironment:    again("environment", "") + "; asks project/1 to strike {\"track\":\"main\"}",
		coppice.ClassTestOnly:       again("test_only", ""),
		coppice.ClassImplementation: again("implementation", ""),
		coppice.ClassVerification:   again("verification", ""),
		coppice.ClassConflict:       again("conflict", ""),
		coppice.ClassMemory:         again("out_of_memory", ""),
		coppice.ClassDisk:           person("disk"),
		coppice.ClassContext:        again("context_overflow", ""),
		coppice.ClassMCP:            again("mcp_lost", resumes),
		coppice.ClassTimeout:        again("timeout", resumes),
		coppice.ClassLost:           again("lost", resumes),
		coppice.ClassCancelled:      `pipeline: task.ended; to ended; outcome "cancelled"`,
		coppice.ClassBase:           person("base"),
		coppice.ClassUnchanged:      person("unchanged"),
		coppice.ClassUnknown:        again("unknown", ""),
	}
	got := map[coppice.Class]string{}
	for _, class := range coppice.Classes {
		if _, ok := remedies[class]; !ok {
			t.Errorf("%s has no policy", class)
		}
		v := viewOf(coppice.StageSession, space(), ran("", fails(class)))
		got[class] = describe(v, pipeline(v))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("what follows each class (-want +got):\n%s", d)
	}
	if len(remedies) != len(coppice.Classes) {
		t.Errorf("%d policies for %d classes", len(remedies), len(coppice.Classes))
	}
}

func TestTriesRunOut(t *testing.T) {
	t.Parallel()
	broken := fails(coppice.ClassUnknown)
	none := policy(func(p *coppice.Policy) { p.Retry.Max = 0 })
	long := policy(func(p *coppice.Policy) { p.Retry.Backoff = coppice.Duration(9 * time.Minute) })
	run(t, pipeline, []decision{
		{"second", viewOf(coppice.StageSession, space(), ran("", broken), ran("", broken)),
			"pipeline: task.stage; to waiting; fails: unknown; waits on backoff: retries (2 of 2) after: it broke (20s); next implement by ann"},
		{"third", viewOf(coppice.StageSession, space(), ran("", broken), ran("", broken), ran("", broken)),
			`pipeline: task.ended; to ended; outcome "failed"; fails: unknown`},
		{"none allowed", viewOf(coppice.StageSession, space(), none, ran("", broken)), `pipeline: task.ended; to ended; outcome "failed"; fails: unknown`},
		{"pause is bounded", viewOf(coppice.StageSession, space(), long, ran("", broken), ran("", broken)),
			"pipeline: task.stage; to waiting; fails: unknown; waits on backoff: retries (2 of 2) after: it broke (10m0s); next implement by ann"},
		{"limits use up no try", viewOf(coppice.StageSession, space(), ran("", fails(coppice.ClassRateLimit)), ran("", fails(coppice.ClassOverload)), ran("", broken)),
			"pipeline: task.stage; to waiting; fails: unknown; waits on backoff: retries (1 of 2) after: it broke (10s); next implement by ann"},
		{"a session that worked uses up no try", viewOf(coppice.StageSession, space(), ran("head1"), ran("", broken, fixing)),
			"pipeline: task.stage; to waiting; fails: unknown; waits on backoff: retries (1 of 2) after: it broke (10s); next fix by ann"},
	})
}

func limited(agent string) change {
	return func(v *View) { v.Limited[agent] = coppice.AgentLimit{Agent: agent, Until: noon.Add(time.Hour)} }
}

func TestFallbackAgents(t *testing.T) {
	t.Parallel()
	fallback := policy(func(p *coppice.Policy) { p.Agent.Fallback = []string{"bob", "cid"} })
	model := task(func(t *coppice.Task) { t.Model = "big" })
	auth, busy := fails(coppice.ClassAuth), fails(coppice.ClassRateLimit)
	run(t, pipeline, []decision{
		{"first fallback", viewOf(coppice.StageSession, space(), fallback, ran("", auth)), "pipeline: task.stage; to queued; next implement by bob; limit ann until a person clears it"},
		{"first is limited", viewOf(coppice.StageSession, space(), fallback, limited("bob"), ran("", auth)), "pipeline: task.stage; to queued; next implement by cid; limit ann until a person clears it"},
		{"first was unable", viewOf(coppice.StageSession, space(), fallback, ran("", auth), ran("", auth, by("bob"))), "pipeline: task.stage; to queued; next implement by cid; limit bob until a person clears it"},
		{"all were unable", viewOf(coppice.StageSession, space(), fallback, ran("", auth), ran("", auth, by("bob")), ran("", auth, by("cid"))),
			"pipeline: task.stage; to waiting; fails: auth; waits on person: it broke [fix the problem, then retry the task]; next implement by cid resuming talk1; limit cid until a person clears it"},
		{"a limit continues elsewhere", viewOf(coppice.StageSession, space(), fallback, ran("", busy)),
			"pipeline: task.stage; to queued; next implement by bob; limit ann for 30s"},
		{"a limit of the fallback goes back, model and all", viewOf(coppice.StageSession, space(), fallback, model, ran("", auth, by("cid")), ran("", busy, by("bob"))),
			"pipeline: task.stage; to queued; next implement by ann/big; limit bob for 30s"},
		{"everybody is limited", viewOf(coppice.StageSession, space(), fallback, limited("bob"), limited("cid"), ran("", busy)),
			"pipeline: task.stage; to queued; next implement by ann resuming talk1; limit ann for 30s"},
	})
}

func TestPatience(t *testing.T) {
	t.Parallel()
	busy := fails(coppice.ClassRateLimit)
	until := func(at time.Time) func(*coppice.Session) { return func(s *coppice.Session) { s.Failure.RetryAt = at } }
	many := func(n int) []change {
		c := []change{space()}
		for range n {
			c = append(c, ran("", busy))
		}
		return c
	}
	run(t, pipeline, []decision{
		{"with a time", viewOf(coppice.StageSession, space(), ran("", busy, until(noon.Add(3*time.Hour)))),
			"pipeline: task.stage; to queued; next implement by ann resuming talk1; limit ann for 3h0m0s"},
		{"with a time that has passed", viewOf(coppice.StageSession, space(), ran("", busy, until(noon.Add(-time.Hour)))),
			"pipeline: task.stage; to queued; next implement by ann resuming talk1; limit ann for 30s"},
		{"doubles", viewOf(coppice.StageSession, many(3)...), "pipeline: task.stage; to queued; next implement by ann resuming talk1; limit ann for 2m0s"},
		{"up to a bound", viewOf(coppice.StageSession, many(50)...), "pipeline: task.stage; to queued; next implement by ann resuming talk1; limit ann for 10m0s"},
		{"not without end", viewOf(coppice.StageSession, many(51)...), `pipeline: task.ended; to ended; outcome "failed"; fails: rate_limit`},
	})
}

func TestStrikes(t *testing.T) {
	t.Parallel()
	env := fails(coppice.ClassEnvironment)
	struck := project(func(p *coppice.Project) { p.Strikes = map[string]int{"main": 1} })
	none := policy(func(p *coppice.Policy) { p.Retry.Max = 0 })
	run(t, pipeline, []decision{
		{"second in a row pauses the track", viewOf(coppice.StageSession, space(), struck, ran("", env)),
			"pipeline: task.stage; to waiting; fails: environment; waits on backoff: retries (1 of 2) after: it broke (10s); next implement by ann; asks project/1 to strike {\"track\":\"main\"}"},
		{"also when the task ends with it", viewOf(coppice.StageSession, space(), struck, none, ran("", env)),
			`pipeline: task.ended; to ended; outcome "failed"; fails: environment; asks project/1 to strike {"track":"main"}`},
		{"another failure is not a strike", viewOf(coppice.StageSession, space(), struck, ran("", fails(coppice.ClassUnknown))),
			"pipeline: task.stage; to waiting; fails: unknown; waits on backoff: retries (1 of 2) after: it broke (10s); next implement by ann"},
		{"forgotten after a success", viewOf(coppice.StageSession, space(), struck, ran("head1")), `pipeline: landing.opened; to checking; landing of head1; asks project/1 to worked {"track":"main"}`},
	})
}

func TestEvidenceSaysWhatHappened(t *testing.T) {
	t.Parallel()
	v := viewOf(coppice.StageSession, space(), ran("", fails(coppice.ClassUnknown), func(s *coppice.Session) { s.Summary = "I got stuck." }))
	want := "The session before this one (app-7.1, ann) failed: it broke\n\nIts final message:\nI got stuck.\n"
	if d := cmp.Diff(want, pipeline(v).Task.Next.Evidence); d != "" {
		t.Error(d)
	}
	// Another agent that takes over knows what exists.
	v = viewOf(coppice.StageSession, space(), policy(func(p *coppice.Policy) { p.Agent.Fallback = []string{"bob"} }),
		ran("", fails(coppice.ClassAuth), func(s *coppice.Session) { s.Head, s.Stat, s.Summary = "head1", " a.go | 2 ++", "Half-way." }))
	want = "The session before this one (app-7.1, ann) failed: it broke\n\nWhat it did is committed on your branch, from base1 to head1:\n a.go | 2 ++\n\nIts final message:\nHalf-way.\n"
	if n := pipeline(v).Task.Next; n.Agent != "bob" || n.Evidence != want {
		t.Errorf("the prompt of %s: %s", n.Agent, cmp.Diff(want, n.Evidence))
	}
}
