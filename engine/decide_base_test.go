package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// exits is the result of make, run on a candidate whose base has the tree base0.
func exits(code int) coppice.CheckResult {
	return coppice.CheckResult{Env: "e1", BaseTree: "base0", Checks: []coppice.Check{{Command: "make", Exit: code, Log: "boom\n"}}}
}

// redTasks brings tasks to the check of their candidates, each on its own tree.
func redTasks(t *testing.T, n int) *bundle {
	t.Helper()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Limits.Sessions = n })
	for i := range n {
		b.create(coppice.NewTask{Title: fmt.Sprint("task ", i)})
	}
	b.turn()
	for i := range n {
		key := fmt.Sprint("app-", i+1)
		b.finish(key, coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws/" + key, BaseCommit: "base1", Head: "base1"})
		b.finish(key, coppice.WorkRun, coppice.RunResult{From: "base1", Head: "head-" + key, Conversation: "talk-" + key})
		b.finish(key, coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree-" + key, Commit: "commit-" + key})
	}
	return b
}

func (b *bundle) checks(key string) coppice.CheckSpec {
	b.t.Helper()
	return specOf[coppice.CheckSpec](b, b.wantWork(key, coppice.WorkCheck))
}

// wantBlocked checks that a task waits for a person because of its base, and that
// no fix session has started.
func (b *bundle) wantBlocked(key, text string) {
	b.t.Helper()
	x, s := b.task(key), b.status(key)
	if s.Status != coppice.StatusNeedsYou || s.Reason != text || x.Sessions != 1 || b.unsettled(key).Kind != "" {
		b.t.Fatalf("%s is %s (%q) after %d sessions, and has %q to do", key, s.Status, s.Reason, x.Sessions, b.unsettled(key).Kind)
	}
	for _, part := range []string{"coppice retry " + key, "coppice skip-check " + key, "coppice continue " + key} {
		if !strings.Contains(s.Fix, part) {
			b.t.Errorf("the fix %q does not have %q", s.Fix, part)
		}
	}
	e := b.entry("waiting/" + key)
	if e == nil {
		b.t.Fatalf("%s is not in the inbox", key)
	}
	var can []string
	for _, a := range e.Actions {
		can = append(can, string(a.Verb))
	}
	if got := strings.Join(can, " "); !strings.HasPrefix(got, "skip-check continue retry") {
		b.t.Errorf("the inbox offers %s", got)
	}
}

const redBase = `the base fails this check as well: "make"`

// A check that fails runs once on the base. If it fails there too, no session
// starts, for this task and for all others on the same base.
func TestARedBaseStartsNoFixSession(t *testing.T) {
	t.Parallel()
	b := redTasks(t, 3)
	b.finish("app-1", coppice.WorkCheck, exits(1))
	spec := b.checks("app-1")
	if !spec.OnBase || spec.Commit != "base1" || spec.Tree != "base0" || !slices.Equal(spec.Commands, []string{"make"}) {
		t.Fatalf("the check on the base is %+v", spec)
	}
	if s := b.status("app-1"); s.Status != coppice.StatusChecking || !strings.Contains(s.Reason, "runs on the base") {
		t.Errorf("%s: %q", s.Status, s.Reason)
	}
	b.finish("app-2", coppice.WorkCheck, exits(1)) // while the first one runs it on the base
	if s := b.status("app-2"); b.unsettled("app-2").Kind != "" || !strings.Contains(s.Reason, "another task runs it on the base") {
		t.Errorf("app-2 has %q to do: %q", b.unsettled("app-2").Kind, s.Reason)
	}
	b.finish("app-1", coppice.WorkCheck, exits(1))
	b.wantBlocked("app-1", redBase)
	b.wantBlocked("app-2", redBase)
	b.finish("app-3", coppice.WorkCheck, exits(1)) // later
	b.wantBlocked("app-3", redBase)
	n := 0
	b.view(func(r store.Reader) error {
		for id := range int64(3) {
			all, err := r.Checks.Of(id + 1)
			if err != nil {
				return err
			}
			for _, c := range all {
				if c.OnBase {
					n++
				}
			}
		}
		return nil
	})
	if n != 1 {
		t.Errorf("the check ran %d times on the base", n)
	}
}

// A landing that runs the check on the base keeps running it when a check refuses
// an older landing. That one waits.
func TestAnOlderLandingWaitsForTheBase(t *testing.T) {
	t.Parallel()
	b := redTasks(t, 2)
	b.finish("app-2", coppice.WorkCheck, exits(1))
	if !b.checks("app-2").OnBase {
		t.Fatal("app-2 does not check the base")
	}
	b.finish("app-1", coppice.WorkCheck, exits(1))
	if s := b.status("app-1"); b.unsettled("app-1").Kind != "" || !strings.Contains(s.Reason, "another task runs it on the base") {
		t.Errorf("app-1 has %q to do: %q", b.unsettled("app-1").Kind, s.Reason)
	}
	b.finish("app-2", coppice.WorkCheck, exits(1))
	b.wantBlocked("app-2", redBase)
	b.wantBlocked("app-1", redBase)
}

// A base that passes, or that cannot be checked, leads to the usual fix session.
func TestAGreenBaseStartsAFixSession(t *testing.T) {
	t.Parallel()
	for name, results := range map[string][]any{
		"passes":         {exits(0)},
		"killed, passes": {checked(killed("SIGKILL")), exits(0)},
		"broken":         {broke, broke, broke, broke},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := redTasks(t, 1)
			b.finish("app-1", coppice.WorkCheck, exits(1))
			for _, r := range results {
				if !b.checks("app-1").OnBase {
					t.Fatal("the base is not checked")
				}
				b.finish("app-1", coppice.WorkCheck, r)
				b.clock = b.clock.Add(time.Minute)
				b.turn()
			}
			run := b.runSpec("app-1")
			if run.Session.Role != coppice.RoleFix {
				t.Errorf("the next session is %+v", run.Session)
			}
			if text := b.prompt(run.Session.ID); !strings.Contains(text, "boom") {
				t.Errorf("the prompt has no evidence:\n%s", text)
			}
		})
	}
}

// A command that is missing is not run on the base, and starts no session.
func TestAMissingCommandStartsNoFixSession(t *testing.T) {
	t.Parallel()
	for _, code := range []int{126, 127} {
		b := redTasks(t, 1)
		b.finish("app-1", coppice.WorkCheck, exits(code))
		b.wantBlocked("app-1", fmt.Sprintf(`the command of this check is missing: "make" (exit code %d)`, code))
	}
}

// A check of the base that a landing waits for is taken over by the next one if
// the first is stopped.
func TestTheNextLandingChecksTheBase(t *testing.T) {
	t.Parallel()
	b := redTasks(t, 2)
	b.finish("app-1", coppice.WorkCheck, exits(1))
	b.finish("app-2", coppice.WorkCheck, exits(1))
	_, err := b.Stop(t.Context(), "app-1")
	b.must(err)
	b.turn()
	if !b.checks("app-2").OnBase {
		t.Fatal("nobody checks the base")
	}
	b.finish("app-2", coppice.WorkCheck, exits(1))
	b.wantBlocked("app-2", redBase)
}

// blockedTask returns a bundle whose task app-1 waits because of its base.
func blockedTask(t *testing.T) *bundle {
	t.Helper()
	b := redTasks(t, 1)
	b.finish("app-1", coppice.WorkCheck, exits(1))
	b.finish("app-1", coppice.WorkCheck, exits(1))
	b.wantBlocked("app-1", redBase)
	return b
}

func (b *bundle) ask(key string, v coppice.Verb, text string) {
	b.t.Helper()
	_, err := b.Ask(b.t.Context(), key, v, verb.Request{Text: text})
	b.must(err)
	b.turn()
}

// runSpec returns the session that a task is about to run.
func (b *bundle) runSpec(key string) coppice.RunSpec {
	b.t.Helper()
	return specOf[coppice.RunSpec](b, b.wantWork(key, coppice.WorkRun))
}

// provesAndEnds lets the checks of the merged app-1 pass. It lands with a commit.
func (b *bundle) provesAndEnds(commit string, sessions int) {
	b.t.Helper()
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree-app-1", Commit: commit})
	b.finish("app-1", coppice.WorkCheck, exits(0))
	b.movesAndEnds("app-1", commit, sessions)
}

// annAsks is ask as the person ann.
func (b *bundle) annAsks(key string, v coppice.Verb, text string) {
	b.t.Helper()
	_, err := b.As(coppice.Actor{Kind: coppice.ActorPerson, Name: "ann"}).Ask(b.t.Context(), key, v, request(text))
	b.must(err)
	b.turn()
}

// After a retry the checks run again, on the base too: the person might have
// installed what it needs.
func TestRetryAfterARedBase(t *testing.T) {
	t.Parallel()
	b := blockedTask(t)
	if _, err := b.Retry(t.Context(), "app-1", "a note"); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("a note that no session gets: %v", err)
	}
	b.ask("app-1", coppice.VerbRetry, "")
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree-app-1", Commit: "c2"})
	b.finish("app-1", coppice.WorkCheck, exits(1))
	if spec := b.checks("app-1"); !spec.OnBase {
		t.Fatalf("an earlier result on the base counts: %+v", spec)
	}
	b.finish("app-1", coppice.WorkCheck, exits(1))
	b.wantBlocked("app-1", redBase)
	b.ask("app-1", coppice.VerbRetry, "")
	b.provesAndEnds("c3", 1)
}

// A person approves a head. The approval stays valid when the same head lands again.
func TestAnApprovedHeadLandsAgain(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Limits.Sessions, p.Policy.Land.How = 1, coppice.LandReview })
	b.create(coppice.NewTask{Title: "task"})
	b.prepares("app-1")
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{From: "base1", Head: "head1", Conversation: "talk"})
	b.ask("app-1", coppice.VerbLand, "")
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree1", Commit: "c1"})
	b.finish("app-1", coppice.WorkCheck, exits(1))
	b.finish("app-1", coppice.WorkCheck, exits(1))
	if l := b.landing("app-1"); l.ApprovedBy == "" || l.Outcome != coppice.LandingRefused {
		t.Fatalf("%+v", l)
	}
	b.ask("app-1", coppice.VerbRetry, "")
	b.provesAndEnds("c2", 1)
	if l := b.landing("app-1"); l.ApprovedBy == "" || l.ApprovedAt.IsZero() || l.Head != "head1" {
		t.Errorf("%+v", l)
	}
}

// When the base has moved, blocked tasks try again without a person.
func TestABaseThatMovedUnblocks(t *testing.T) {
	t.Parallel()
	b := redTasks(t, 2)
	b.finish("app-1", coppice.WorkCheck, exits(1))
	b.finish("app-1", coppice.WorkCheck, exits(1))
	b.finish("app-2", coppice.WorkCheck, exits(0))
	b.finish("app-2", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "commit-app-2"})
	if x := b.task("app-2"); x.Outcome != coppice.OutcomeDone {
		t.Fatalf("%+v", x)
	}
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "commit-app-2", Tree: "tree3", Commit: "c3"})
	b.finish("app-1", coppice.WorkCheck, exits(0))
	b.movesAndEnds("app-1", "c3", 1)
}

// A check that a person left out is a fact of the task, and of its commit.
func TestSkipCheck(t *testing.T) {
	t.Parallel()
	b := redTasks(t, 1)
	if _, err := b.Ask(t.Context(), "app-1", coppice.VerbSkipCheck, verb.Request{}); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("while it is checked: %v", err)
	}
	b.finish("app-1", coppice.WorkCheck, exits(127))
	if _, err := b.Ask(t.Context(), "app-1", coppice.VerbSkipCheck, verb.Request{Text: "lint"}); coppice.ErrorCode(err) != coppice.EInvalid || !strings.Contains(err.Error(), `"lint"`) {
		t.Errorf("another check: %v", err)
	}
	b.ask("app-1", coppice.VerbSkipCheck, "make")
	w := b.wantWork("app-1", coppice.WorkMerge)
	spec := specOf[coppice.MergeSpec](b, w)
	if !strings.Contains(spec.Message, "Coppice-Skipped-Check: make\n") {
		t.Errorf("its commit says:\n%s", spec.Message)
	}
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree-app-1", Commit: "c2"})
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "c2"})
	if x := b.task("app-1"); x.Outcome != coppice.OutcomeDone || !slices.Equal(x.Skip, []string{"make"}) || x.Sessions != 1 {
		t.Errorf("%+v", x)
	}
}

// A person can have a fix session anyway.
func TestContinueDespiteARedBase(t *testing.T) {
	t.Parallel()
	b := blockedTask(t)
	b.ask("app-1", coppice.VerbContinue, "skip that test")
	run := b.runSpec("app-1")
	if s := run.Session; s.Role != coppice.RoleFix || s.Resume != "talk-app-1" {
		t.Errorf("it continues as %+v", s)
	}
	if text := b.prompt(run.Session.ID); !strings.Contains(text, "skip that test") || !strings.Contains(text, "boom") {
		t.Errorf("its prompt is:\n%s", text)
	}
	if x := b.task("app-1"); x.Failure != nil || x.Round != 0 {
		t.Errorf("%+v", x)
	}
}

// A landing in the queue leaves it while the base is checked: others land.
func TestARedCheckLeavesTheQueue(t *testing.T) {
	t.Parallel()
	b := atCheck(t)
	b.finish("app-1", coppice.WorkCheck, exits(1))
	if l := b.landing("app-1"); l.QueueID != 0 || !b.checks("app-1").OnBase {
		t.Errorf("%+v", l)
	}
	b.wantWork("app-2", coppice.WorkMerge)
	b.finish("app-1", coppice.WorkCheck, exits(1))
	b.wantBlocked("app-1", redBase)
}

// The final message of a session that changed nothing is its answer. Nobody tries
// again before a person decides.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) *bundle {
		t.Helper()
		b := openApp(t)
		b.create(coppice.NewTask{Title: "Explain the tree"}, coppice.NewTask{Title: "after it", After: []string{"app-1"}})
		b.prepares("app-1")
		b.finish("app-1", coppice.WorkRun, coppice.RunResult{From: "base1", Head: "base1", Conversation: "talk1", Summary: "It is a tree."})
		x, s := b.task("app-1"), b.status("app-1")
		if s.Status != coppice.StatusNeedsYou || s.Reason != "the agent ended without changing anything" || x.Sessions != 1 || s.Session.Answer == nil || s.Session.Answer.Text != "It is a tree." {
			t.Fatalf("%s (%q) after %d sessions: %+v", s.Status, s.Reason, x.Sessions, s.Session)
		}
		e := b.entry("waiting/app-1")
		if e == nil || !strings.Contains(e.Text, "It is a tree.") || len(e.Actions) < 3 || e.Actions[0].Verb != coppice.VerbDone || e.Actions[1].Verb != coppice.VerbContinue || e.Actions[2].Verb != coppice.VerbRetry {
			t.Fatalf("its entry is %+v", e)
		}
		return b
	}
	t.Run("done", func(t *testing.T) {
		t.Parallel()
		b := start(t)
		b.ask("app-1", coppice.VerbDone, "")
		if x := b.task("app-1"); x.Outcome != coppice.OutcomeDone || x.Landed != "" || x.Sessions != 1 || x.Note == "" || x.Failure != nil {
			t.Errorf("%+v", x)
		}
		b.wantWork("app-2", coppice.WorkPrepare)
	})
	t.Run("continue", func(t *testing.T) {
		t.Parallel()
		b := start(t)
		if _, err := b.Continue(t.Context(), "app-1", " "); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("without a text: %v", err)
		}
		b.ask("app-1", coppice.VerbContinue, "write it down")
		run := b.runSpec("app-1")
		if s := run.Session; s.Role != coppice.RoleImplement || s.Resume != "talk1" || !strings.Contains(b.prompt(s.ID), "write it down") {
			t.Errorf("it continues as %+v", s)
		}
	})
	t.Run("retry", func(t *testing.T) {
		t.Parallel()
		b := start(t)
		b.ask("app-1", coppice.VerbRetry, "")
		run := b.runSpec("app-1")
		if s := run.Session; s.Role != coppice.RoleImplement || s.Resume != "" {
			t.Errorf("it is retried as %+v", s)
		}
		b.finish("app-1", coppice.WorkRun, coppice.RunResult{From: "base1", Head: "base1"})
		if x := b.task("app-1"); x.Sessions != 2 || !verb.Unchanged(x) {
			t.Errorf("after another session without a change: %+v", x)
		}
	})
}

// A fix session that changed nothing leads to a person too. The refused work can
// be checked again, and is never done as it is.
func TestFixedNothing(t *testing.T) {
	t.Parallel()
	b := redTasks(t, 1)
	b.finish("app-1", coppice.WorkCheck, exits(1))
	b.finish("app-1", coppice.WorkCheck, exits(0))
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{From: "head-app-1", Head: "head-app-1", Summary: "It is flaky."})
	if s := b.status("app-1"); s.Status != coppice.StatusNeedsYou || !strings.Contains(s.Reason, "the fix session changed nothing") || s.Session.Answer == nil || b.task("app-1").Sessions != 2 {
		t.Fatalf("%s: %q", s.Status, s.Reason)
	}
	if _, err := b.Ask(t.Context(), "app-1", coppice.VerbDone, verb.Request{}); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("done with work that has not landed: %v", err)
	}
	b.ask("app-1", coppice.VerbLand, "")
	b.provesAndEnds("c2", 2)
}

// A task that has landed stays done, since when it was, if a continue changes
// nothing.
func TestContinueThatChangesNothing(t *testing.T) {
	t.Parallel()
	b := preparedTask(t)
	b.lands("app-1", "head1", "commit1")
	before := b.task("app-1")
	b.finish("app-1", coppice.WorkRemove, coppice.RemoveResult{Head: "head1", Ref: "refs/trash/1"})
	for range 2 {
		b.clock = b.clock.Add(time.Hour)
		b.ask("app-1", coppice.VerbContinue, "is it complete?")
		b.finish("app-1", coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws2", BaseCommit: "commit1", Head: "commit1"})
		b.finish("app-1", coppice.WorkRun, coppice.RunResult{From: "commit1", Head: "commit1", Summary: "Yes."})
		x, s := b.task("app-1"), b.status("app-1")
		if x.Outcome != coppice.OutcomeDone || x.Landed != "commit1" || !x.EndedAt.Equal(before.EndedAt) || s.Reason != x.Note || x.Note == "" || !x.DoneAt.IsZero() {
			t.Fatalf("%+v, ended at first at %s", x, before.EndedAt)
		}
		b.finish("app-1", coppice.WorkRemove, coppice.RemoveResult{Head: "commit1", Ref: "refs/trash/2"})
	}
}

// A commit of a person to the base unblocks tasks, too. Without a move, or if a landing
// is queued, nothing is asked.
func TestAPersonsCommitUnblocks(t *testing.T) {
	t.Parallel()
	b := blockedTask(t)
	b.must(b.BaseSeen(t.Context(), 1, "base1", "base1"))
	b.must(b.BaseSeen(t.Context(), 1, "elsewhere", "base2"))
	b.turn()
	b.wantBlocked("app-1", redBase)
	b.must(b.BaseSeen(t.Context(), 1, "base1", "base2"))
	b.must(b.BaseSeen(t.Context(), 1, "base1", "base2"))
	b.turn()
	if got := b.tip(); got != "base2" {
		t.Errorf("the base was seen at %s", got)
	}
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base2", Tree: "tree2", Commit: "c2"})
	red := exits(1)
	red.BaseTree = "tree of base2"
	b.finish("app-1", coppice.WorkCheck, red)
	if spec := b.checks("app-1"); !spec.OnBase {
		t.Fatalf("the new base is not checked: %+v", spec)
	}
	b.finish("app-1", coppice.WorkCheck, exits(1))
	b.wantBlocked("app-1", redBase)
	b.must(b.BaseSeen(t.Context(), 1, "base2", "base3"))
	b.turn()
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base3", Tree: "tree3", Commit: "c3"})
	b.finish("app-1", coppice.WorkCheck, exits(0))
	b.must(b.BaseSeen(t.Context(), 1, "base3", "base4")) // its landing is queued, and finds it
	if got := b.tip(); got != "base3" {
		t.Errorf("the base was seen at %s", got)
	}
	b.movesAndEnds("app-1", "c3", 1)
}

// A check that was left out can be put back: the candidate is checked again.
func TestUnskipCheck(t *testing.T) {
	t.Parallel()
	b := blockedTask(t)
	b.update(func(tx store.Tx) error {
		p, err := tx.Projects.Get(1)
		p.Policy.Land.How = coppice.LandReview
		return errors.Join(err, tx.Projects.Put(&p))
	})
	if _, err := b.Ask(t.Context(), "app-1", coppice.VerbUnskipCheck, verb.Request{}); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("without such a check: %v", err)
	}
	b.ask("app-1", coppice.VerbSkipCheck, "")
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree-app-1", Commit: "c2"})
	b.wantStage(coppice.StageReview)
	skipped := b.task("app-1").Skip
	if _, err := b.Ask(t.Context(), "app-1", coppice.VerbUnskipCheck, verb.Request{Text: "another"}); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("another check: %v", err)
	}
	b.ask("app-1", coppice.VerbUnskipCheck, "")
	if x := b.task("app-1"); len(x.Skip) > 0 || x.Stage != coppice.StageChecking {
		t.Errorf("at %s, left out %v", x.Stage, x.Skip)
	}
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base2", Tree: "tree3", Commit: "c3"})
	if spec := b.checks("app-1"); !slices.Equal(spec.Commands, skipped) {
		t.Fatalf("checks %v, want %v", spec.Commands, skipped)
	}
	b.finish("app-1", coppice.WorkCheck, exits(0))
	b.wantStage(coppice.StageReview)
}
