package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coppice"
)

func verifyBy(by string) change { return policy(func(p *coppice.Policy) { p.Verify.By = by }) }

func isVerified(l *coppice.Landing) { green(l); l.Verified = true }

// ofVerifier makes work that of a session's own worktree.
func ofVerifier(w *coppice.Work) {
	w.SessionID, w.Spec = 11, coppice.Raw(coppice.RemoveSpec{Key: "app-7.1", Try: 1})
}

func TestWantsVerdict(t *testing.T) {
	t.Parallel()
	wants := "landing: task.stage; to queued; next verify by ann"
	enter := "landing: landing.queued; to landing; landing queued"
	role := func(agent string) change {
		return policy(func(p *coppice.Policy) { p.Agent.Roles = map[coppice.Role]string{coppice.RoleVerify: agent} })
	}
	model := task(func(t *coppice.Task) { t.Model = "big" })
	run(t, anyLanding, []decision{
		{"no steps", viewOf(coppice.StageChecking, candidate(green)), enter},
		{"steps", viewOf(coppice.StageChecking, candidate(green), steps), wants},
		{"steps, nobody verifies", viewOf(coppice.StageChecking, candidate(green), steps, verifyBy(coppice.VerifyNone)), enter},
		{"no steps, an agent verifies all", viewOf(coppice.StageChecking, candidate(green), verifyBy(coppice.VerifyAgent)), wants},
		{"not green yet", viewOf(coppice.StageChecking, candidate(merged), steps, checkEnv("e1")),
			"landing: work.offered; landing commit1 on base1 green=false; offer check.run landing/5/1 to local"},
		{"another agent", viewOf(coppice.StageChecking, candidate(green), steps, model, role("bob")), "landing: task.stage; to queued; next verify by bob"},
		{"the task's own agent", viewOf(coppice.StageChecking, candidate(green), steps, model, role("ann")), "landing: task.stage; to queued; next verify by ann/big"},
		{"verified", viewOf(coppice.StageChecking, candidate(isVerified), steps), enter + "; verified"},
		{"verified, held", viewOf(coppice.StageChecking, candidate(isVerified), steps, held), "landing: task.stage; to held"},
		{"verified, the base has moved", viewOf(coppice.StageLanding, candidate(isVerified, inQueue), steps, tip("base2")),
			"landing: work.offered; landing queued; verified; offer land.merge landing/5/1 to control"},
		{"verified, merged again and green", viewOf(coppice.StageLanding, candidate(isVerified, inQueue), steps),
			"landing: work.offered; landing queued; verified; offer land.move landing/5/1 to control"},
		{"held, then steps", viewOf(coppice.StageHeld, candidate(green), steps, held), wants},
		{"in the queue, then steps", viewOf(coppice.StageLanding, candidate(inQueue), steps),
			"landing: landing.waits; landing commit1 on base1 green=true"},
		{"in the queue, a move failed half-way", viewOf(coppice.StageLanding, candidate(inQueue, half), steps),
			"landing: work.offered; landing queued; offer land.move landing/5/1 to control"},
		{"the base has it already", viewOf(coppice.StageChecking, candidate(green, func(l *coppice.Landing) { l.Commit = l.Base }), steps), wants},
		{"the base has it already, verified", viewOf(coppice.StageChecking, candidate(isVerified, func(l *coppice.Landing) { l.Commit = l.Base }), steps),
			"landing: landing.ended; landing empty; verified"},
	})
}

func TestStartVerifier(t *testing.T) {
	t.Parallel()
	bare := func(s *coppice.Session) { starting(s); verifying(s); s.Path = "" }
	ready := func(s *coppice.Session) { starting(s); verifying(s) }
	run(t, pipeline, []decision{
		{"needs a worktree", viewOf(coppice.StageSession, space(), candidate(green), ran("", bare)), "pipeline: work.offered; offer workspace.prepare session/11/prepare to local"},
		{"is being made", viewOf(coppice.StageSession, space(), candidate(green), ran("", bare), taken(coppice.WorkPrepare)), "nothing"},
		{"has one", viewOf(coppice.StageSession, space(), candidate(green), ran("", ready)), "pipeline: work.offered; offer session.run session/11/run to local"},
		{"runs", viewOf(coppice.StageSession, space(), candidate(green), ran("", ready), taken(coppice.WorkRun)), "nothing"},
		{"the one before is being removed", viewOf(coppice.StageSession, space(), candidate(green), ran("", ready), work(coppice.WorkRemove, coppice.WorkTaken, 1, ofVerifier)),
			"pipeline: work.offered; offer session.run session/11/run to local"},
		{"no candidate", viewOf(coppice.StageSession, space(), ran("", bare)), "pipeline: session.ended; session failed; session fails: unknown"},
	})
}

func TestVerifierSpecs(t *testing.T) {
	t.Parallel()
	rule := coppice.Rule{Tool: "run", Do: coppice.RuleAllow}
	mine := coppice.Rule{Do: coppice.RuleAllow}
	v := viewOf(coppice.StageSession, space(), candidate(green), steps, ran("", starting, verifying, func(s *coppice.Session) { s.Ports = []int{4000} }),
		project(func(p *coppice.Project) { p.Rules = []coppice.Rule{mine} }),
		policy(func(p *coppice.Policy) {
			p.Permissions.Rules = []coppice.Rule{rule}
			p.Workspace.Serve = coppice.ServePolicy{Run: "npm start"}
			p.Workspace.Docker = coppice.DockerPolicy{Service: "app"}
		}))
	got, err := coppice.DecodeSpec[coppice.RunSpec](*pipeline(v).Offer)
	if err != nil {
		t.Fatal(err)
	}
	if !got.ReadOnly || got.Path != "/ws/app-7.1" || got.Branch != "" || !slices.Equal(got.Ports, []int{4000}) || got.Serve.Run != "npm start" || got.Docker.Service != "app" {
		t.Errorf("run of a verifier: %+v", got)
	}
	if d := cmp.Diff([]coppice.Rule{{Tool: "edit", Do: coppice.RuleDeny, Why: "a verifier changes nothing"}, mine, rule}, got.Permissions.Rules); d != "" {
		t.Errorf("rules (-want +got):\n%s", d)
	}
	v.Sessions[0].Path = ""
	made, err := coppice.DecodeSpec[coppice.PrepareSpec](*pipeline(v).Offer)
	if err != nil {
		t.Fatal(err)
	}
	want := coppice.PrepareSpec{Key: "app-7.1", Repo: "/src/app", RepoID: 1, Base: "main", From: "commit1", Detached: true, Policy: v.Project.Policy.Workspace}
	if d := cmp.Diff(want, made); d != "" {
		t.Errorf("worktree (-want +got):\n%s", d)
	}
	v.Sessions[0].Role = coppice.RoleImplement
	plain, err := coppice.DecodeSpec[coppice.RunSpec](*pipeline(v).Offer)
	if err != nil || plain.ReadOnly || plain.Serve.Set() || len(plain.Permissions.Rules) != 2 || plain.Path != "/ws/app-7" {
		t.Errorf("run of another session: %+v (%v)", plain, err)
	}
}

func TestSettleVerifier(t *testing.T) {
	t.Parallel()
	code := func(n int) *int { return &n }
	made := coppice.PrepareResult{Path: "/look", Head: "commit1", Ports: []int{4000}}
	bare := func(s *coppice.Session) { starting(s); verifying(s); s.Path = "" }
	prepared := func(result any, changes ...func(*coppice.Session)) *View {
		return viewOf(coppice.StageSession, space(), candidate(green), steps, ran("", append([]func(*coppice.Session){bare}, changes...)...), finished(coppice.WorkPrepare, result, ofVerifier))
	}
	of := func(r coppice.RunResult, changes ...func(*coppice.Session)) *View {
		return viewOf(coppice.StageSession, space(), candidate(green), steps, ran("", append([]func(*coppice.Session){live, verifying}, changes...)...), finished(coppice.WorkRun, r))
	}
	taken := func(s *coppice.Session) { s.StopWhy, s.StopTries = coppice.StopTaken, 1 }
	over := func(s *coppice.Session) { s.State = coppice.SessionCancelled }
	unknown := func(w *coppice.Work) { ofVerifier(w); w.SessionID = 99 }
	done := "settle: session.ended; session done; "
	run(t, anySettle, []decision{
		{"worktree", prepared(made), `settle: workspace.ready; session starting; in "/look"; settled`},
		{"worktree, too late", prepared(made, over), `settle: workspace.ready; session cancelled; in "/look"; settled`},
		{"no worktree", prepared(broke), "settle: session.ended; session failed; session fails: environment; settled; offer workspace.remove session/11/cleanup/1 to local"},
		{"no worktree, too late", prepared(broke, over), "settle: work.finished; settled; offer workspace.remove session/11/cleanup/1 to local"},
		{"worktree of nobody", viewOf(coppice.StageSession, finished(coppice.WorkPrepare, made, unknown)), "settle: work.finished; settled"},
		{"pass", of(coppice.RunResult{Exit: code(0), Summary: "STEP 1: PASS I saw it"}), done + "verdict pass=true; settled"},
		{"fail", of(coppice.RunResult{Exit: code(0), Summary: "STEP 1: FAIL it is silent"}), done + "verdict pass=false; settled"},
		{"silent", of(coppice.RunResult{Exit: code(0)}), done + "verdict pass=false; settled"},
		{"pass, but it changed files", of(coppice.RunResult{Exit: code(0), Summary: "STEP 1: PASS", Changed: []string{"a.go"}}), done + "verdict pass=false; settled"},
		{"pass, but it failed", of(coppice.RunResult{Exit: code(1), Summary: "STEP 1: PASS"}), "settle: session.ended; session failed; session fails: unknown; settled"},
		{"taken over", of(coppice.RunResult{Stopped: true, Summary: "STEP 1: PASS"}, taken), done + "stop 1 for taken; settled"},
		{"lost", of(coppice.RunResult{Lost: true}), "settle: session.ended; session lost; session fails: lost; settled"},
		{"another session says STEP", viewOf(coppice.StageSession, space(), steps, ran("", live), finished(coppice.WorkRun, coppice.RunResult{Exit: code(0), Summary: "STEP 1: PASS"})), done[:len(done)-2] + "; settled"},
	})
}

func TestVoidVerdictNamesTheFiles(t *testing.T) {
	t.Parallel()
	v := viewOf(coppice.StageSession, task(func(t *coppice.Task) { t.Steps = []string{"it greets", "it ends"} }))
	got := verdictOf(v, coppice.RunResult{Summary: "STEP 1: PASS I saw it\nSTEP 2: PASS", Changed: []string{"a.go", "b.go"}})
	if got.Pass() || got.Steps[0].Pass || got.Steps[1].Pass || !strings.Contains(got.String(), "the verifier changed a.go, b.go") || !strings.Contains(got.String(), "I saw it") {
		t.Errorf("verdict: %s", got)
	}
}

func TestJudgeVerifier(t *testing.T) {
	t.Parallel()
	of := func(verifier func(*coppice.Session), c ...change) *View {
		return viewOf(coppice.StageSession, append([]change{space(), candidate(green), steps, ran("head1"), ran("", verifier)}, c...)...)
	}
	broken := func(class coppice.Class) func(*coppice.Session) {
		return func(s *coppice.Session) { verifying(s); fails(class)(s) }
	}
	stopped := func(s *coppice.Session) { verifying(s); s.StopWhy = coppice.StopTaken }
	undelivered := func(v *View) { v.Messages = []coppice.Message{{ID: 1, TaskID: 7, Text: "also this"}} }
	interrupt := func(v *View) {
		v.Delivered = []coppice.Message{{ID: 1, TaskID: 7, SessionID: 12, Kind: coppice.MessageInterrupt, DeliveredAt: noon}}
	}
	passes, refuses := judged("STEP 1: PASS I saw it"), judged("STEP 1: FAIL it is silent")
	refused := "pipeline: landing.ended; to checking; landing refused"
	pauses := "pipeline: task.stage; to waiting; fails: environment; waits on backoff: retries (%s of 2) after: it broke (%s); next verify by ann"
	fallback := policy(func(p *coppice.Policy) { p.Agent.Fallback = []string{"bob"} })
	run(t, pipeline, []decision{
		{"pass", of(passes), "pipeline: landing.verified; to checking; landing commit1 on base1 green=true; verified"},
		{"fail", of(refuses), refused},
		{"silent", of(judged("")), refused},
		{"no verdict at all", of(verifying), refused},
		{"pass, a message undelivered", of(passes, undelivered), "pipeline: task.stage; to queued; next verify by ann"},
		{"fail, a message undelivered", of(refuses, undelivered), refused},
		{"interrupted", of(judged(""), interrupt), `pipeline: task.stage; to waiting; waits on person: was interrupted [to continue, run: coppice retry app-7 --note "…"]; next verify by ann`},
		{"perhaps interrupted", of(judged(""), work(coppice.WorkSend, coppice.WorkTaken, 1, func(w *coppice.Work) { w.SessionID = 12 })), "nothing"},
		{"another session gets something", of(refuses, taken(coppice.WorkSend)), refused},
		{"interrupted, then a message", of(judged(""), interrupt, undelivered), refused},
		{"strikes forgotten", of(passes, project(func(p *coppice.Project) { p.Strikes = map[string]int{"main": 1} })), `pipeline: landing.verified; to checking; landing commit1 on base1 green=true; verified; asks project/1 to worked {"track":"main"}`},
		{"cancelled", of(func(s *coppice.Session) { verifying(s); s.State = coppice.SessionCancelled }),
			`pipeline: task.ended; to ended; outcome "cancelled"; landing cancelled`},
		{"environment", of(broken(coppice.ClassEnvironment)), strings.NewReplacer("(%s of", "(1 of", "(%s)", "(10s)").Replace(pauses) + "; asks project/1 to strike {\"track\":\"main\"}"},
		{"a worker's failures are not its own", of(broken(coppice.ClassTimeout), func(v *View) {
			old := v.Sessions
			v.Sessions = nil
			ran("", fails(coppice.ClassUnknown))(v)
			ran("", fails(coppice.ClassUnknown))(v)
			v.Sessions = append(v.Sessions, old...)
		}), "pipeline: task.stage; to waiting; fails: timeout; waits on backoff: retries (1 of 2) after: it broke (10s); next verify by ann"},
		{"nor those on another candidate", of(broken(coppice.ClassUnknown), ran("", broken(coppice.ClassUnknown)), ran("head2", fixing), ran("", broken(coppice.ClassUnknown))),
			"pipeline: task.stage; to waiting; fails: unknown; waits on backoff: retries (1 of 2) after: it broke (10s); next verify by ann"},
		{"its tries are used up", of(broken(coppice.ClassUnknown), ran("", broken(coppice.ClassUnknown)), ran("", broken(coppice.ClassUnknown))),
			`pipeline: task.ended; to ended; outcome "failed"; fails: unknown; landing failed`},
		{"a verdict uses up no try", of(passes, ran("", broken(coppice.ClassUnknown))),
			"pipeline: task.stage; to waiting; fails: unknown; waits on backoff: retries (1 of 2) after: it broke (10s); next verify by ann"},
		{"limited", of(broken(coppice.ClassRateLimit)), "pipeline: task.stage; to queued; next verify by ann; limit ann for 30s"},
		{"limited, another agent may", of(broken(coppice.ClassRateLimit), fallback), "pipeline: task.stage; to queued; next verify by bob; limit ann for 30s"},
		{"not logged in", of(broken(coppice.ClassAuth)),
			"pipeline: task.stage; to waiting; fails: auth; waits on person: it broke [fix the problem, then retry the task]; next verify by ann; limit ann until a person clears it"},
		{"taken over", of(stopped), "pipeline: task.stage; to queued; next implement by ann resuming talk1 on a screen; landing cancelled"},
		{"a person wants to take over", of(passes, say(coppice.VerbTake)),
			"pipeline: task.stage; to queued; next implement by ann resuming talk1 on a screen; landing cancelled"},
		{"taken over, nobody has worked", viewOf(coppice.StageSession, space(), candidate(green), ran("", stopped)),
			"pipeline: task.stage; to queued; next implement by ann on a screen; landing cancelled"},
		{"its candidate is gone", viewOf(coppice.StageSession, space(), ran("", passes)), "pipeline: task.stage; to checking"},
		{"its candidate is over", viewOf(coppice.StageSession, space(), candidate(ended(coppice.LandingDropped)), ran("", passes)), "pipeline: task.stage; to checking"},
	})
}

// A session after a verifier continues the work, not the verifier. A verifier
// that changed nothing does not count as an agent that did nothing.
func TestAfterAVerifier(t *testing.T) {
	t.Parallel()
	no := func(l *coppice.Landing) { ended(coppice.LandingRefused)(l); l.Green = true }
	verifier := ran("", judged("STEP 1: FAIL"), by("vera"), func(s *coppice.Session) { s.Conversation = "hers" })
	run(t, pipeline, []decision{
		{"fix", viewOf(coppice.StageChecking, space(), ran("head1"), verifier, candidate(no)), "pipeline: task.stage; to queued; next fix by ann resuming talk1"},
		{"fix, nobody has worked in this round", viewOf(coppice.StageChecking, space(), verifier, candidate(no)), "pipeline: task.stage; to queued; next fix by ann"},
		{"fix that changed nothing", viewOf(coppice.StageSession, space(), ran("head1"), verifier, ran("head1", fixing), candidate(no)),
			fixedNothingOnce("its verifier refused it")},
		{"fixes used up", viewOf(coppice.StageChecking, ran("h", fixing), ran("h", fixing), ran("h", fixing), verifier, candidate(no)),
			`pipeline: task.ended; to ended; outcome "failed"; fails: verification`},
		{"a fix fails for the first time", viewOf(coppice.StageSession, space(), ran("head1"), verifier, ran("", fixing, fails(coppice.ClassUnknown)), candidate(no)),
			"pipeline: task.stage; to waiting; fails: unknown; waits on backoff: retries (1 of 2) after: it broke (10s); next fix by ann"},
	})
	d := pipeline(viewOf(coppice.StageChecking, ran("h", fixing), ran("h", fixing), ran("h", fixing), verifier, candidate(no)))
	if want := "its verifier refused it"; d.Task.Failure.Text != want {
		t.Errorf("fails with %q, not %q", d.Task.Failure.Text, want)
	}
}

func TestTakeOverBeforeAVerdict(t *testing.T) {
	t.Parallel()
	asked := func(v *View) {
		v.Task.Next = &coppice.Next{Role: coppice.RoleVerify, Agent: "vera"}
		say(coppice.VerbTake)(v)
	}
	takes := "handover: task.stage; %snext implement by ann resuming talk1 on a screen; landing cancelled"
	run(t, handover, []decision{
		{"queued", viewOf(coppice.StageQueued, asked, ran("head1"), candidate(green)), strings.Replace(takes, "%s", "", 1)},
		{"waits for a person", viewOf(coppice.StageWaiting, asked, ran("head1"), candidate(green), waitsOn(coppice.WaitPerson, "log in", time.Time{})),
			strings.Replace(takes, "%s", "to queued; ", 1)},
		{"no candidate", viewOf(coppice.StageQueued, asked, ran("head1")), "handover: task.stage; next implement by ann resuming talk1 on a screen"},
		{"runs", viewOf(coppice.StageSession, asked, space(), ran("head1"), ran("", live, verifying), taken(coppice.WorkRun)),
			"handover: work.offered; session working; stop 1 for taken; offer session.stop session/12/stop/1 to local"},
	})
}

func TestCleanupDetached(t *testing.T) {
	t.Parallel()
	goes := "cleanup: work.offered; offer workspace.remove session/11/cleanup/1 to local"
	earlier := func(v *View) { v.Earlier, v.Sessions = v.Sessions, nil }
	run(t, cleanupDetached, []decision{
		{"none", viewOf(coppice.StageSession, ran("head1")), "nothing"},
		{"runs", viewOf(coppice.StageSession, ran("", live, verifying)), "nothing"},
		{"done", viewOf(coppice.StageChecking, ran("", judged("STEP 1: PASS"))), goes},
		{"lost", viewOf(coppice.StageWaiting, ran("", verifying, fails(coppice.ClassLost))), goes},
		{"its task has ended", viewOf(coppice.StageEnded, endedAs(coppice.OutcomeFailed), ran("", verifying)), goes},
		{"of an earlier round", viewOf(coppice.StageQueued, ran("", verifying), earlier), goes},
		{"in progress", viewOf(coppice.StageChecking, ran("", verifying), work(coppice.WorkRemove, coppice.WorkTaken, 1, ofVerifier)), "nothing"},
		{"another's is in progress", viewOf(coppice.StageChecking, ran("", verifying), taken(coppice.WorkRemove)), goes},
	})
	try := func(n int) func(*coppice.Work) {
		return func(w *coppice.Work) { ofVerifier(w); w.Spec = coppice.Raw(coppice.RemoveSpec{Try: n}) }
	}
	odd := func(w *coppice.Work) { ofVerifier(w); w.Spec = []byte("odd") }
	gone := func(w *coppice.Work) { ofVerifier(w); w.SessionID = 99 }
	warns := `settle: task.warned; warns "the worktree of app-7.1 at /ws/app-7.1 could not be removed: it broke"; session done; in ""; settled`
	over := func(result any, how func(*coppice.Work)) *View {
		return viewOf(coppice.StageChecking, space(), ran("", verifying), finished(coppice.WorkRemove, result, how))
	}
	run(t, anySettle, []decision{
		{"removed", over(coppice.RemoveResult{}, ofVerifier), `settle: workspace.removed; session done; in ""; settled`},
		{"not removed", over(broke, ofVerifier), "settle: work.offered; settled; offer workspace.remove session/11/cleanup/2 to local"},
		{"not removed again", over(broke, try(3)), "settle: work.offered; settled; offer workspace.remove session/11/cleanup/4 to local"},
		{"never removed", over(broke, try(4)), warns},
		{"of an earlier version", over(broke, try(0)), "settle: work.offered; settled; offer workspace.remove session/11/cleanup/1 to local"},
		{"that cannot be read", over(broke, odd), warns},
		{"of nobody", over(broke, gone), "settle: work.finished; settled"},
	})
	spec, err := coppice.DecodeSpec[coppice.RemoveSpec](*cleanupDetached(viewOf(coppice.StageChecking, ran("", verifying))).Offer)
	if want := (coppice.RemoveSpec{Key: "app-7.1", Repo: "/src/app", RepoID: 1, Path: "/ws/app-7.1", Try: 1}); err != nil || !cmp.Equal(want, spec) {
		t.Errorf("removes %+v (%v)", spec, err)
	}
}

func TestCritical(t *testing.T) {
	t.Parallel()
	patterns := policy(func(p *coppice.Policy) {
		p.Critical = []coppice.FailurePattern{{Match: "("}, {Match: "no space left", Label: "the disk is full"}, {Match: "ECONNREFUSED"}}
	})
	of := func(log string, exit int, c ...change) *View {
		return viewOf(coppice.StageChecking, append([]change{candidate(merged), checkEnv("e"),
			finished(coppice.WorkCheck, coppice.CheckResult{Env: "e", Checks: []coppice.Check{{Command: "make", Exit: exit, Log: log}}})}, c...)...)
	}
	off := "settle: landing.waits; landing commit1 on base1 green=false; put off 5s (1): "
	run(t, anySettle, []decision{
		{"no patterns", of("no space left", 1), "settle: landing.ended; landing refused; check make on tree1 in e: 1; settled"},
		{"another failure", of("a test failed", 1, patterns), "settle: landing.ended; landing refused; check make on tree1 in e: 1; settled"},
		{"it passed anyway", of("no space left", 0, patterns), "settle: check.ended; landing commit1 on base1 green=false; check make on tree1 in e: 0; settled"},
		{"labelled", of("cp: no space left on it", 1, patterns), off + `check "make": the disk is full: "no space left"; asks project/1 to strike {"track":"main"}; settled`},
		{"not labelled", of("ECONNREFUSED", 1, patterns), off + `check "make": the environment is broken: "ECONNREFUSED"; asks project/1 to strike {"track":"main"}; settled`},
		{"too long ago", of("no space left"+strings.Repeat("x", criticalTail), 1, patterns), "settle: landing.ended; landing refused; check make on tree1 in e: 1; settled"},
		{"the second in a row", of("no space left", 1, patterns, project(func(p *coppice.Project) { p.Strikes = map[string]int{"main": 1} })),
			off + `check "make": the disk is full: "no space left"; asks project/1 to strike {"track":"main"}; settled`},
		{"could not be run", viewOf(coppice.StageChecking, candidate(merged), patterns, finished(coppice.WorkCheck, broke)), off + "it broke; asks project/1 to strike {\"track\":\"main\"}; settled"},
		{"could not be run, no patterns", viewOf(coppice.StageChecking, candidate(merged), finished(coppice.WorkCheck, broke)), off + "it broke; settled"},
	})
}

func TestPromptOfAVerifier(t *testing.T) {
	t.Parallel()
	next := &coppice.Next{Role: coppice.RoleVerify, Agent: "ann", Evidence: "it was lost\n", Note: "look at the colours"}
	v := viewOf(coppice.StageQueued, task(func(t *coppice.Task) { t.Body, t.Steps = "In all languages.\n", []string{"it greets", "it ends"} }))
	got := promptFor(v, next, nil)
	for _, part := range []string{
		"Task app-7: Greet\n\nIn all languages.\n", "\n1. it greets\n2. it ends\n", "Change nothing", "it was lost", "A person adds: look at the colours",
		`{"steps":[{"n":1,"pass":true,`, "STEP 1: PASS",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("%q is missing in:\n%s", part, got)
		}
	}
	for _, part := range []string{"COPPICE_URL", "Commit your work", "coppice/app-7"} {
		if strings.Contains(got, part) {
			t.Errorf("%q is in:\n%s", part, got)
		}
	}
	v.Task.Steps, v.Project.Policy.Workspace.Serve.Run = nil, "npm start"
	if got := promptFor(v, next, nil); !strings.Contains(got, "\n1. "+coppice.WholeStep+"\n") || !strings.Contains(got, "$COPPICE_URL") {
		t.Errorf("without steps, with an app:\n%s", got)
	}
}
