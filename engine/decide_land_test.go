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

// proven adds a judgement on tree1.
func proven(command, env string, exit int) change {
	return func(v *View) {
		v.Checks = append(v.Checks, coppice.Check{Tree: "tree1", Command: command, Env: env, Exit: exit})
	}
}

func checkEnv(env string) change { return func(v *View) { v.CheckEnv = env } }

// half is a move that failed, perhaps after it moved the base.
func half(l *coppice.Landing) { l.Failure = coppice.Failf(coppice.ClassEnvironment, "it broke", "") }

// doubtful is a workspace that failed to be removed.
func doubtful(tries int) func(*coppice.Workspace) {
	return func(w *coppice.Workspace) { w.Tries = tries }
}

func held(v *View) { v.Project.Policy.Land.How = coppice.LandBranch }

// reviewed has work wait for a review before it lands.
func reviewed(v *View) { v.Project.Policy.Land.How = coppice.LandReview }

// pushes has work pushed before it lands.
func pushes(v *View) { v.Project.Policy.Land.Push, v.Project.Policy.Land.Remote = true, "upstream" }

// onRemote is a landing whose commit the remote has.
func onRemote(l *coppice.Landing) { l.Pushed = true }

// tip is where the branch was last seen.
func tip(commit string) change { return func(v *View) { v.Queue.Tip = commit } }

func onto(branch string) change { return task(func(t *coppice.Task) { t.Onto = branch }) }

var landAsked = say(coppice.VerbLand)

// landAskedFor is a person's request to land one landing.
func landAskedFor(id int64) change {
	return func(v *View) {
		landAsked(v)
		v.Asks[len(v.Asks)-1].Args = landArgs{Landing: id}.raw()
	}
}

// askReview has some changes wait for a review.
func askReview(v *View) {
	v.Project.Policy.Land.Ask = coppice.LandAsk{Paths: []string{"migrations/*"}, Lines: 500, Categories: []string{"security"}}
}

func category(name string) change { return task(func(t *coppice.Task) { t.Category = name }) }

// ruled is a landing that was merged with the rules of askReview.
func ruled(l *coppice.Landing) {
	l.Rules = coppice.LandAsk{Paths: []string{"migrations/*"}, Lines: 500}.Mark()
}

// ruleApplies is a landing that one of these rules concerns.
func ruleApplies(l *coppice.Landing) {
	ruled(l)
	l.Review = "it changes migrations/1.sql (land.ask.paths)"
}

func waitsFor(l *coppice.Landing) { l.Waits = "waiting for your review: " + l.Review }

func approved(l *coppice.Landing) { l.ApprovedBy, l.ApprovedAt = "person:ann", noon }

func TestLanding(t *testing.T) {
	t.Parallel()
	checkThe := "landing: work.offered; landing commit1 on base1 green=false; offer check.run landing/5/1 to local"
	enter := "landing: landing.queued; to landing; landing queued"
	move := "landing: work.offered; landing queued; offer land.move landing/5/1 to control"
	push := "landing: work.offered; landing queued; offer git.push landing/5/1 to control"
	onlyMove := "landing: work.offered; landing queued; pushed; offer land.move landing/5/1 to control"
	mergeAgain := "landing: work.offered; landing queued; offer land.merge landing/5/1 to control"
	approves := "landing: landing.approved; landing commit1 on base1 green=true; approved by person"
	toReview := "landing: task.stage; to review; landing commit1 on base1 green=true; put off at once (0): waiting for your review: "
	isProven := "landing: landing.merged; landing commit1 on base1 green=true"
	run(t, anyLanding, []decision{
		{"other stages", viewOf(coppice.StageSession, candidate()), "nothing"},
		{"merge", viewOf(coppice.StageChecking, candidate()), "landing: work.offered; landing of head1; offer land.merge landing/5/1 to control"},
		{"under way", viewOf(coppice.StageChecking, candidate(), offered(coppice.WorkMerge)), "nothing"},
		{"put off", viewOf(coppice.StageChecking, candidate(func(l *coppice.Landing) { l.RetryAt = noon.Add(1) })), "nothing"},
		{"put off until now", viewOf(coppice.StageChecking, candidate(func(l *coppice.Landing) { l.RetryAt = noon })),
			"landing: work.offered; landing of head1; offer land.merge landing/5/1 to control"},
		{"over", viewOf(coppice.StageChecking, candidate(ended(coppice.LandingRefused))), "nothing"},
		{"unproven", viewOf(coppice.StageChecking, candidate(merged), checkEnv("e1")), checkThe},
		{"proven", viewOf(coppice.StageChecking, candidate(merged), checkEnv("e1"), proven("make", "e1", 0)), isProven},
		{"proven in another environment", viewOf(coppice.StageChecking, candidate(merged), checkEnv("e1"), proven("make", "e2", 0)), checkThe},
		{"red before", viewOf(coppice.StageChecking, candidate(merged), checkEnv("e1"), proven("make", "e1", 1)), checkThe},
		{"another command proven", viewOf(coppice.StageChecking, candidate(merged), checkEnv("e1"), proven("lint", "e1", 0)), checkThe},
		{"no checks at all", viewOf(coppice.StageChecking, candidate(merged), policy(func(p *coppice.Policy) { p.Checks = nil })), isProven},
		{"empty", viewOf(coppice.StageChecking, candidate(green, func(l *coppice.Landing) { l.Commit = l.Base })), "landing: landing.ended; landing empty"},
		{"enters the queue", viewOf(coppice.StageChecking, candidate(green)), enter},
		{"is held", viewOf(coppice.StageChecking, candidate(green), held), "landing: task.stage; to held"},
		{"stays held", viewOf(coppice.StageHeld, candidate(green), held), "nothing"},
		{"held, a person asks to land", viewOf(coppice.StageHeld, candidate(green), held, landAsked), approves},
		{"held and approved", viewOf(coppice.StageHeld, candidate(green, approved), held), enter},
		{"asked to land while checking", viewOf(coppice.StageChecking, candidate(green), held, landAsked), approves},
		{"asked to land while a check runs", viewOf(coppice.StageChecking, candidate(merged), offered(coppice.WorkCheck), held, landAsked),
			"landing: landing.approved; landing commit1 on base1 green=false; approved by person"},
		{"approved while checking", viewOf(coppice.StageChecking, candidate(green, approved), held), enter},
		{"approved, left the queue, and returns", viewOf(coppice.StageLanding, candidate(green, approved), held), "landing: landing.queued; landing queued"},
		{"the policy changed", viewOf(coppice.StageHeld, candidate(green)), enter},
		{"waits for a review", viewOf(coppice.StageChecking, candidate(green), reviewed), "landing: task.stage; to review"},
		{"still waits for a review", viewOf(coppice.StageReview, candidate(green), reviewed), "nothing"},
		{"reviewed, a person asks to land", viewOf(coppice.StageReview, candidate(green), reviewed, landAsked), approves},
		{"a person asked to land this candidate", viewOf(coppice.StageReview, candidate(green), reviewed, landAskedFor(5)), approves},
		{"a person asked to land an earlier candidate", viewOf(coppice.StageReview, candidate(green), reviewed, landAskedFor(4)), "landing: task.changed"},
		{"reviewed and approved", viewOf(coppice.StageReview, candidate(green, approved), reviewed), enter},
		{"approved, and verified again", viewOf(coppice.StageChecking, candidate(green, approved), reviewed), enter},
		{"a rule asks for a review", viewOf(coppice.StageChecking, candidate(green, ruleApplies), askReview), toReview + "it changes migrations/1.sql (land.ask.paths)"},
		{"a rule asks, still", viewOf(coppice.StageReview, candidate(green, ruleApplies, waitsFor), askReview), "nothing"},
		{"a rule asks, approved", viewOf(coppice.StageReview, candidate(green, ruleApplies, waitsFor, approved), askReview), enter},
		{"no rule applies", viewOf(coppice.StageChecking, candidate(green, ruled), askReview), enter},
		{"the rules have changed", viewOf(coppice.StageReview, candidate(green, ruleApplies), askReview, policy(func(p *coppice.Policy) { p.Land.Ask.Lines = 9 })),
			"landing: work.offered; landing commit1 on base1 green=true; offer land.merge landing/5/1 to control"},
		{"the rules are gone", viewOf(coppice.StageReview, candidate(green, ruleApplies)),
			"landing: work.offered; landing commit1 on base1 green=true; offer land.merge landing/5/1 to control"},
		{"the rules have changed, it is queued", viewOf(coppice.StageLanding, candidate(inQueue), askReview), move},
		{"queued, and a rule applies to the new merge", viewOf(coppice.StageLanding, candidate(inQueue, ruleApplies), askReview),
			"landing: landing.waits; landing commit1 on base1 green=true"},
		{"queued and approved, and a rule applies", viewOf(coppice.StageLanding, candidate(inQueue, ruleApplies, approved), askReview), move},
		{"queued, and the policy asks for a review now", viewOf(coppice.StageLanding, candidate(inQueue), reviewed),
			"landing: landing.waits; landing commit1 on base1 green=true"},
		{"its category asks for a review", viewOf(coppice.StageChecking, candidate(green, ruled), askReview, category("security")), toReview + "its category is security (land.ask.categories)"},
		{"another category", viewOf(coppice.StageChecking, candidate(green, ruled), askReview, category("docs")), enter},
		{"rules, no checks: merged first", viewOf(coppice.StageChecking, candidate(), askReview, policy(func(p *coppice.Policy) { p.Checks = nil })),
			"landing: work.offered; landing of head1; offer land.merge landing/5/1 to control"},
		{"held, now to be reviewed", viewOf(coppice.StageHeld, candidate(green), reviewed), "landing: task.stage; to review"},
		{"to be reviewed, now by itself", viewOf(coppice.StageReview, candidate(green)), enter},
		{"first in the queue", viewOf(coppice.StageLanding, candidate(inQueue)), move},
		{"push first", viewOf(coppice.StageLanding, candidate(inQueue), pushes), push},
		{"pushed", viewOf(coppice.StageLanding, candidate(inQueue, onRemote), pushes), onlyMove},
		{"pushed, the base has moved since", viewOf(coppice.StageLanding, candidate(inQueue, onRemote), pushes, tip("base2")), onlyMove},
		{"pushed, nothing is pushed any more", viewOf(coppice.StageLanding, candidate(inQueue, onRemote)), onlyMove},
		{"a push failed, perhaps", viewOf(coppice.StageLanding, candidate(inQueue, half), pushes, tip("base2")), push},
		{"only the base is pushed", viewOf(coppice.StageLanding, candidate(inQueue), pushes, onto("side")), move},
		{"the base has moved", viewOf(coppice.StageLanding, candidate(inQueue), tip("base2")), mergeAgain},
		{"a move failed half-way, perhaps", viewOf(coppice.StageLanding, candidate(inQueue, half)), move},
		{"a move failed half-way, the base has moved since", viewOf(coppice.StageLanding, candidate(inQueue, half), tip("base2")), move},
		{"merged again in the queue", viewOf(coppice.StageLanding, candidate(inQueue, func(l *coppice.Landing) { l.Green = false }), checkEnv("e1")),
			"landing: work.offered; landing queued; offer check.run landing/5/1 to local"},
		{"no landing, workspace half made", viewOf(coppice.StageChecking, space(func(w *coppice.Workspace) { w.ReadyAt = time.Time{} })),
			"landing: work.offered; offer workspace.prepare task/7/land/0/prepare to local"},
		{"no landing, waits for its request", viewOf(coppice.StagePull), "landing: task.stage; to checking"},
		{"no landing, in its queue", viewOf(coppice.StageLanding), "landing: task.stage; to checking"},
		{"no landing, workspace maybe in the trash", viewOf(coppice.StageChecking, space(doubtful(1))),
			"landing: work.offered; offer workspace.remove workspace/3/remove/2 to local"},
		{"no landing, workspace maybe in the trash, later", viewOf(coppice.StageChecking, space(doubtful(1), func(w *coppice.Workspace) { w.RetryAt = noon.Add(1) })), "nothing"},
		{"no landing, workspace in the trash", viewOf(coppice.StageChecking, removed, task(func(t *coppice.Task) { t.Round = 2 })),
			"landing: work.offered; workspace ready=false removed=false kept=false tries=0; offer workspace.restore task/7/land/2/restore to local"},
	})
}

func TestUnprovenOnly(t *testing.T) {
	t.Parallel()
	v := viewOf(coppice.StageChecking, candidate(merged), checkEnv("e1"), proven("make", "e1", 0),
		task(func(t *coppice.Task) { t.Checks = []string{"make", "go vet", "go test"} }), proven("go vet", "e1", 2))
	spec, err := coppice.DecodeSpec[coppice.CheckSpec](*anyLanding(v).Offer)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"go vet", "go test"}, spec.Commands); d != "" {
		t.Errorf("checks to run (-want +got):\n%s", d)
	}
}

// What belongs to the branch is in the specs: a task lands on its own branch, or
// on the base.
func TestSpecsOfLastSteps(t *testing.T) {
	t.Parallel()
	const repo, ref = "/src/app", "refs/coppice/landing/app-7/5"
	for _, c := range []struct {
		name string
		view *View
		want any
	}{
		{"push", viewOf(coppice.StageLanding, candidate(inQueue), pushes),
			coppice.PushSpec{Repo: repo, RepoID: 1, Base: "main", Old: "base1", New: "commit1", Remote: "upstream"}},
		{"move, pushed", viewOf(coppice.StageLanding, candidate(inQueue, onRemote), pushes),
			coppice.MoveSpec{Repo: repo, RepoID: 1, Base: "main", Old: "base1", New: "commit1", Pushed: true, Remote: "upstream", Ref: ref}},
		{"move", viewOf(coppice.StageLanding, candidate(inQueue), onto("side")),
			coppice.MoveSpec{Repo: repo, RepoID: 1, Base: "side", Old: "base1", New: "commit1", Ref: ref}},
		{"merge", viewOf(coppice.StageChecking, candidate(func(l *coppice.Landing) { l.CreatedAt = noon.Add(-time.Hour) }), onto("side")),
			coppice.MergeSpec{Repo: repo, RepoID: 1, Base: "side", Head: "head1", Strategy: "squash", Message: "Greet\n\nCoppice-Task: app-7\n",
				At: noon.Add(-time.Hour), Ref: ref, Seen: "base1"}},
	} {
		if d := cmp.Diff(string(coppice.Raw(c.want)), string(anyLanding(c.view).Offer.Spec)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func says(text string) func(*coppice.Session) {
	return func(s *coppice.Session) { s.Summary = text }
}

func TestLandMessage(t *testing.T) {
	t.Parallel()
	body := task(func(t *coppice.Task) { t.Body = "In all languages.\n" })
	huge := task(func(t *coppice.Task) { t.Body = strings.Repeat("x", 5000) })
	for _, c := range []struct {
		name string
		view *View
		want string
	}{
		{"plain", viewOf(coppice.StageChecking, ran("head1"), candidate()), "Greet\n\nCoppice-Task: app-7\nCoppice-Session: app-7.1\nCoppice-Agent: ann\n"},
		{"with a body", viewOf(coppice.StageChecking, body, ran("head1"), candidate()),
			"Greet\n\nIn all languages.\n\nCoppice-Task: app-7\nCoppice-Session: app-7.1\nCoppice-Agent: ann\n"},
		{"with the agent's message", viewOf(coppice.StageChecking, body, ran("head1", says("I added\r\n\x1b[1mthree\x1b[0m greetings.\n\n")), candidate()),
			"Greet\n\nIn all languages.\n\nI added\nthree greetings.\n\nCoppice-Task: app-7\nCoppice-Session: app-7.1\nCoppice-Agent: ann\n"},
		{"a message too long", viewOf(coppice.StageChecking, ran("head1", says(strings.Repeat("many words ", 1000))), candidate()),
			"Greet\n\n" + strings.Repeat("many words ", 186) + "…\n\nCoppice-Task: app-7\nCoppice-Session: app-7.1\nCoppice-Agent: ann\n"},
		{"from a screen", viewOf(coppice.StageChecking, ran("head1", says("ASCII art"), onScreen), candidate()), "Greet\n\nCoppice-Task: app-7\nCoppice-Session: app-7.1\nCoppice-Agent: ann\n"},
		{"a body too long", viewOf(coppice.StageChecking, huge, candidate()), "Greet\n\nCoppice-Task: app-7\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(c.want, landMessage(c.view, *c.view.Landing)); d != "" {
				t.Error(d)
			}
		})
	}
}

// A task whose landing is missing gets another one from the head of its branch.
func TestAMissingLanding(t *testing.T) {
	t.Parallel()
	b := openApp(t, withPulls())
	_, err := b.Pause(t.Context(), "app", "", true)
	b.must(err)
	made := b.create(coppice.NewTask{Title: "a"})
	b.turn()
	made[0].Stage, made[0].Wait, made[0].Next = coppice.StagePull, nil, nil
	b.update(func(tx store.Tx) error {
		return errors.Join(tx.Tasks.Put(&made[0]), tx.Log.Append(&coppice.Event{Kind: coppice.EventTaskStage, ProjectID: 1, TaskID: made[0].ID}))
	})
	b.turn()
	b.finish("app-1", coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws", BaseCommit: "base1", Head: "head1"})
	if w := b.unsettled("app-1"); w.Kind != coppice.WorkMerge {
		t.Errorf("%s is at %s and has %s to do", made[0].Key, b.task("app-1").Stage, w.Kind)
	}
}
