package engine

import (
	"testing"
	"time"

	"coppice"
)

// dep adds a dependency in a state.
func dep(key string, stage coppice.Stage, o coppice.Outcome) change {
	return func(v *View) { v.Deps = append(v.Deps, coppice.Task{Key: key, Stage: stage, Outcome: o}) }
}

func waitsOn(kind coppice.WaitKind, text string, until time.Time) change {
	return task(func(t *coppice.Task) { t.Wait = &coppice.Wait{On: kind, Text: text, Until: until} })
}

func next(agent string) change {
	return task(func(t *coppice.Task) { t.Next = &coppice.Next{Role: coppice.RoleImplement, Agent: agent} })
}

func TestWaiting(t *testing.T) {
	t.Parallel()
	schedule := task(func(t *coppice.Task) { t.NotBefore = noon.Add(time.Hour) })
	run(t, pipeline, []decision{
		{"free", viewOf(coppice.StageWaiting), "pipeline: task.stage; to queued"},
		{"never looked at", viewOf(""), "pipeline: task.stage; to queued"},
		{"keeps its next session", viewOf(coppice.StageWaiting, next("bob")), "pipeline: task.stage; to queued"},
		{"dependency done", viewOf(coppice.StageWaiting, dep("app-1", coppice.StageEnded, coppice.OutcomeDone)), "pipeline: task.stage; to queued"},
		{"dependency open", viewOf(coppice.StageWaiting, dep("app-1", coppice.StageSession, "")),
			"pipeline: task.stage; waits on dependency: waits for app-1"},
		{"one of two open", viewOf(coppice.StageWaiting, dep("app-1", coppice.StageEnded, coppice.OutcomeDone), dep("app-2", coppice.StageQueued, "")),
			"pipeline: task.stage; waits on dependency: waits for app-2"},
		{"two open", viewOf(coppice.StageWaiting, dep("app-1", coppice.StageWaiting, ""), dep("app-2", coppice.StageQueued, "")),
			"pipeline: task.stage; waits on dependency: waits for app-1, app-2"},
		{"dependency failed", viewOf(coppice.StageWaiting, dep("app-1", coppice.StageEnded, coppice.OutcomeFailed), dep("app-2", coppice.StageQueued, "")),
			"pipeline: task.stage; waits on dependency: waits for app-1, which failed [retry that task, or change the dependencies of this one]"},
		{"dependency cancelled", viewOf(coppice.StageWaiting, dep("app-1", coppice.StageEnded, coppice.OutcomeCancelled)),
			"pipeline: task.stage; waits on dependency: waits for app-1, which was cancelled [retry that task, or change the dependencies of this one]"},
		{"says so once", viewOf(coppice.StageWaiting, dep("app-1", coppice.StageSession, ""), waitsOn(coppice.WaitDependency, "waits for app-1", time.Time{})), "nothing"},
		{"dependency came", viewOf(coppice.StageWaiting, dep("app-1", coppice.StageEnded, coppice.OutcomeDone),
			waitsOn(coppice.WaitDependency, "waits for app-1", time.Time{})), "pipeline: task.stage; to queued"},
		{"scheduled", viewOf(coppice.StageWaiting, schedule), "pipeline: task.stage; waits on schedule: starts at 2026-03-01T13:00:00Z (1h0m0s)"},
		{"scheduled for now", viewOf(coppice.StageWaiting, task(func(t *coppice.Task) { t.NotBefore = noon })), "pipeline: task.stage; to queued"},
		{"dependency before schedule", viewOf(coppice.StageWaiting, schedule, dep("app-1", coppice.StageSession, "")),
			"pipeline: task.stage; waits on dependency: waits for app-1"},
		{"backoff", viewOf(coppice.StageWaiting, waitsOn(coppice.WaitBackoff, "retries", noon.Add(1))), "nothing"},
		{"backoff over", viewOf(coppice.StageWaiting, waitsOn(coppice.WaitBackoff, "retries", noon)), "pipeline: task.stage; to queued"},
		{"person", viewOf(coppice.StageWaiting, waitsOn(coppice.WaitPerson, "log in", time.Time{})), "nothing"},
		{"person before a dependency that continues", viewOf(coppice.StageWaiting, dep("app-1", coppice.StageSession, ""), waitsOn(coppice.WaitPerson, "the base fails", time.Time{})), "nothing"},
		{"queued is for dispatch", viewOf(coppice.StageQueued), "nothing"},
	})
}

func TestCarry(t *testing.T) {
	t.Parallel()
	run(t, pipeline, []decision{
		{"no session", viewOf(coppice.StageSession), "pipeline: task.stage; to queued; next implement by ann"},
		{"needs a workspace", viewOf(coppice.StageSession, ran("", starting)),
			"pipeline: work.offered; workspace ready=false removed=false kept=false tries=0; offer workspace.prepare session/11/prepare to local"},
		{"workspace half made", viewOf(coppice.StageSession, ran("", starting), space(func(w *coppice.Workspace) { w.ReadyAt = time.Time{} })),
			"pipeline: work.offered; offer workspace.prepare session/11/prepare to local"},
		{"workspace in the trash", viewOf(coppice.StageSession, ran("", starting), removed),
			"pipeline: work.offered; workspace ready=false removed=false kept=false tries=0; offer workspace.restore session/11/restore to local"},
		{"trash expired", viewOf(coppice.StageSession, ran("", starting), removed, func(v *View) { v.Trash.PurgedAt = noon }),
			"pipeline: work.offered; workspace ready=false removed=false kept=false tries=0; offer workspace.prepare session/11/prepare to local"},
		{"preparing", viewOf(coppice.StageSession, ran("", starting), taken(coppice.WorkPrepare)), "nothing"},
		{"being removed", viewOf(coppice.StageSession, ran("", starting), space(), taken(coppice.WorkRemove)), "nothing"},
		{"ready", viewOf(coppice.StageSession, ran("", starting), space()), "pipeline: work.offered; offer session.run session/11/run to local"},
		{"offered", viewOf(coppice.StageSession, ran("", starting), space(), offered(coppice.WorkRun)), "nothing"},
		{"running", viewOf(coppice.StageSession, ran("", live), space(), taken(coppice.WorkRun)), "nothing"},
	})
}

func TestRunSpec(t *testing.T) {
	t.Parallel()
	v := viewOf(coppice.StageSession, ran("", starting, func(s *coppice.Session) { s.Prompt = "long" }), space(),
		policy(func(p *coppice.Policy) {
			p.Agents = map[string]coppice.Profile{"ann": {Protocol: "command"}}
			p.Agent.Use, p.Agent.Effort = "ann", "high"
			p.Agent.Identity = map[string]string{"ann": "Ann <ann@example.com>"}
		}))
	spec, err := coppice.DecodeSpec[coppice.RunSpec](*pipeline(v).Offer)
	if err != nil {
		t.Fatal(err)
	}
	if spec.Session.Prompt != "" || spec.Profile == nil || spec.Profile.Protocol != "command" || spec.Path != "/ws/app-7" ||
		spec.Base != "main" || spec.Session.ID != 11 || spec.Effort != "high" || spec.Identity != (coppice.Identity{Name: "Ann", Email: "ann@example.com"}) {
		t.Errorf("spec of a run: %+v", spec)
	}
	v.Project.Policy.Agent.Identity = map[string]string{"ben": "Ben <ben@example.com>"}
	if other, err := coppice.DecodeSpec[coppice.RunSpec](*pipeline(v).Offer); err != nil || other.Identity != (coppice.Identity{}) {
		t.Errorf("the identity of another agent: %+v, %v", other.Identity, err)
	}
	v.Project.Policy.Agent.Use = "ben" // whose word it is
	if spec, err = coppice.DecodeSpec[coppice.RunSpec](*pipeline(v).Offer); err != nil || spec.Effort != "" {
		t.Errorf("the effort of another agent: %q, %v", spec.Effort, err)
	}
}

const unchangedOnce = "pipeline: task.stage; to waiting; fails: unchanged; waits on person: the agent ended without changing anything " +
	"[if it is done as it is, run `coppice done app-7`; say what is missing with `coppice continue app-7 \"…\"`; or run `coppice retry app-7`]; next implement by ann"

func fixedNothingOnce(why string) string {
	return "pipeline: task.stage; to waiting; fails: unchanged; waits on person: the fix session changed nothing; " + why +
		" [say what to do with `coppice continue app-7 \"…\"`; check its branch again with `coppice land app-7`; or start another fix session with `coppice retry app-7`]; next fix by ann resuming talk1"
}

func TestJudge(t *testing.T) {
	t.Parallel()
	undelivered := func(v *View) { v.Messages = []coppice.Message{{ID: 1, TaskID: 7, Text: "also this"}} }
	asked := func(v *View) { v.Questions = []coppice.Question{{ID: 1, SessionID: 11}, {ID: 2, SessionID: 99}} }
	run(t, pipeline, []decision{
		{"candidate", viewOf(coppice.StageSession, space(), ran("head1")), "pipeline: landing.opened; to checking; landing of head1"},
		{"no change", viewOf(coppice.StageSession, space(), ran("base1")),
			unchangedOnce},
		{"no head", viewOf(coppice.StageSession, space(), ran("")),
			unchangedOnce},
		{"no change three times", viewOf(coppice.StageSession, space(), ran("base1"), ran("base1"), ran("base1")),
			unchangedOnce},
		{"no change, done before", viewOf(coppice.StageSession, space(), ran("base1"), task(func(t *coppice.Task) { t.DoneAt = noon.Add(-1) })),
			`pipeline: task.ended; to ended; outcome "done"`},
		{"fix that changed nothing", viewOf(coppice.StageSession, space(), ran("head1"), ran("head1", fixing), candidate(ended(coppice.LandingRefused))),
			fixedNothingOnce("its checks do not pass on the merged tree")},
		{"last fix that changed nothing", viewOf(coppice.StageSession, space(), ran("head1"), ran("head1", fixing), ran("head1", fixing), ran("head1", fixing),
			candidate(ended(coppice.LandingRefused))), `pipeline: task.ended; to ended; outcome "failed"; fails: test_only`},
		{"fix that did", viewOf(coppice.StageSession, space(), ran("head1"), ran("head2", fixing), candidate(ended(coppice.LandingRefused))),
			"pipeline: landing.opened; to checking; landing of head2"},
		{"message undelivered", viewOf(coppice.StageSession, space(), ran("head1"), undelivered), "pipeline: task.stage; to queued; next implement by ann resuming talk1"},
		{"message undelivered by a fix", viewOf(coppice.StageSession, space(), ran("head1", fixing, by("bob")), undelivered),
			"pipeline: task.stage; to queued; next fix by bob resuming talk1"},
		{"question open", viewOf(coppice.StageSession, space(), ran("head1"), asked), "pipeline: question.answered; question 1 closed=true"},
		{"cancelled", viewOf(coppice.StageSession, space(), ran("", func(s *coppice.Session) { s.State = coppice.SessionCancelled })),
			`pipeline: task.ended; to ended; outcome "cancelled"`},
		{"strikes forgotten", viewOf(coppice.StageSession, space(), ran("head1"), project(func(p *coppice.Project) { p.Strikes = map[string]int{"main": 1, "ui": 1} })),
			`pipeline: landing.opened; to checking; landing of head1; asks project/1 to worked {"track":"main"}`},
	})
}

func TestLanded(t *testing.T) {
	t.Parallel()
	roles := policy(func(p *coppice.Policy) { p.Agent.Roles = map[coppice.Role]string{coppice.RoleFix: "bob"} })
	run(t, pipeline, []decision{
		{"open", viewOf(coppice.StageChecking, candidate(merged)), "nothing"},
		{"landed", viewOf(coppice.StageLanding, candidate(ended(coppice.LandingLanded))), `pipeline: task.ended; to ended; outcome "done"; landed commit1`},
		{"empty", viewOf(coppice.StageChecking, candidate(ended(coppice.LandingEmpty))), `pipeline: task.ended; to ended; outcome "done"`},
		{"dropped", viewOf(coppice.StageHeld, candidate(ended(coppice.LandingDropped))), `pipeline: task.ended; to ended; outcome "cancelled"`},
		{"conflict", viewOf(coppice.StageChecking, ran("head1"), candidate(ended(coppice.LandingConflict))), "pipeline: task.stage; to queued; next fix by ann resuming talk1"},
		{"refused, another agent fixes", viewOf(coppice.StageChecking, ran("head1"), roles, candidate(ended(coppice.LandingRefused))),
			"pipeline: task.stage; to queued; next fix by bob"},
		{"refused without a session", viewOf(coppice.StageChecking, candidate(ended(coppice.LandingRefused))), "pipeline: task.stage; to queued; next fix by ann"},
		{"conflict, fixes used up", viewOf(coppice.StageChecking, ran("h", fixing), ran("h", fixing), ran("h", fixing), candidate(ended(coppice.LandingConflict))),
			`pipeline: task.ended; to ended; outcome "failed"; fails: conflict`},
		{"refused, fixes used up", viewOf(coppice.StageLanding, ran("h", fixing), ran("h", fixing), ran("h", fixing), candidate(ended(coppice.LandingRefused))),
			`pipeline: task.ended; to ended; outcome "failed"; fails: test_only`},
		{"could not be tried", viewOf(coppice.StageChecking, candidate(ended(coppice.LandingFailed), func(l *coppice.Landing) {
			l.Failure = coppice.Failf(coppice.ClassDisk, "full", "")
		})), `pipeline: task.ended; to ended; outcome "failed"; fails: disk`},
	})
}

func TestFixCarriesEvidence(t *testing.T) {
	t.Parallel()
	d := pipeline(viewOf(coppice.StageChecking, ran("head1"), candidate(ended(coppice.LandingRefused))))
	if d.Task.Next.Evidence != "the evidence" {
		t.Errorf("evidence %q", d.Task.Next.Evidence)
	}
}
