package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// inReview returns an engine with a task whose proven landing waits for a review.
func inReview(t *testing.T, changes ...func(*coppice.Project)) *bundle {
	t.Helper()
	b := openApp(t, append([]func(*coppice.Project){func(p *coppice.Project) { p.Policy.Land.How = coppice.LandReview }}, changes...)...)
	b.create(coppice.NewTask{Title: "a"})
	b.prepares("app-1")
	b.proves("head1", "commit1")
	b.wantStage(coppice.StageReview)
	return b
}

// proves takes the task from its run to a proven candidate.
func (b *bundle) proves(head, commit string) {
	b.t.Helper()
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Head: head, From: "base1", Conversation: "talk of " + head})
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree of " + head, Commit: commit})
	b.finish("app-1", coppice.WorkCheck, proved)
}

func (b *bundle) wantStage(want coppice.Stage) {
	b.t.Helper()
	if got := b.task("app-1").Stage; got != want {
		b.t.Fatalf("the task is at %s, want %s", got, want)
	}
}

func (b *bundle) approves() {
	b.t.Helper()
	b.annAsks("app-1", coppice.VerbLand, "")
}

// The base moves while a landing waits for its review: the approval is for its
// head, and the merge and the checks are repeated in the queue. If they refuse
// it, the fix needs a new approval.
func TestAnApprovalIsForAHead(t *testing.T) {
	t.Parallel()
	b := inReview(t)
	if s := b.status("app-1"); s.Reason != "waiting for your review" || !strings.Contains(s.Fix, "coppice land app-1") {
		t.Errorf("reason %q, fix %q", s.Reason, s.Fix)
	}
	b.approves()
	if l := b.landing("app-1"); l.ApprovedBy != "person:ann" || !l.ApprovedAt.Equal(noon) || l.QueueID == 0 {
		t.Errorf("approved by %q at %s, queue %d", l.ApprovedBy, l.ApprovedAt, l.QueueID)
	}
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Now: "base2"})
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base2", Tree: "tree2", Commit: "commit2"})
	b.finish("app-1", coppice.WorkCheck, coppice.CheckResult{Env: "e", Checks: []coppice.Check{{Command: "make", Exit: 1}}})
	b.proves("head2", "commit3")
	b.wantStage(coppice.StageReview)
	b.approves()
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base2", Tree: "tree3", Commit: "commit4"})
	b.finish("app-1", coppice.WorkCheck, proved)
	b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "commit4"})
	if x := b.task("app-1"); x.Landed != "commit4" {
		t.Errorf("landed as %q, outcome %s", x.Landed, x.Outcome)
	}
}

// A request to land a candidate that is refused before the engine reads the
// request does not approve the next candidate.
func TestAnApprovalIsNotForTheNextHead(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Land.How = coppice.LandReview })
	b.create(coppice.NewTask{Title: "a"})
	b.prepares("app-1")
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Head: "head1", From: "base1"})
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree1", Commit: "commit1"})
	_, err := b.Land(t.Context(), "app-1")
	b.must(err)
	b.finish("app-1", coppice.WorkCheck, coppice.CheckResult{Env: "e", Checks: []coppice.Check{{Command: "make", Exit: 1}}})
	b.proves("head2", "commit2")
	b.wantStage(coppice.StageReview)
	if a := b.asks(b.task("app-1")); len(a) != 0 {
		t.Errorf("open requests: %+v", a)
	}
}

// A request to land a task that ended does not approve what a later session does:
// a retry or continue that comes first replaces it.
func TestALandingIsNotForALaterSession(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(*bundle) error{
		"retry":    func(b *bundle) error { _, err := b.Retry(b.t.Context(), "app-1", ""); return err },
		"continue": func(b *bundle) error { _, err := b.Continue(b.t.Context(), "app-1", "more"); return err },
	} {
		b := inReview(t)
		_, err := b.Stop(t.Context(), "app-1")
		b.must(err)
		b.turn()
		b.must(again(b))
		_, err = b.Land(t.Context(), "app-1")
		b.must(err)
		b.turn()
		if a := b.asks(b.task("app-1")); len(a) != 0 || b.task("app-1").Stage == coppice.StageChecking {
			t.Errorf("%s: at %s, open requests %+v", name, b.task("app-1").Stage, a)
		}
	}
}

// A person asks for changes instead of landing: the candidate is dropped, and the
// agent continues in its conversation with the message, which needs a new
// approval in the end.
func TestContinueInReview(t *testing.T) {
	t.Parallel()
	b := inReview(t)
	if _, err := b.Continue(t.Context(), "app-1", " "); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("without a text: %v", err)
	}
	_, err := b.Continue(t.Context(), "app-1", "in German")
	b.must(err)
	b.turn()
	if l := b.landing("app-1"); l.Outcome != coppice.LandingDropped {
		t.Errorf("the landing is %q", l.Outcome)
	}
	s := b.lastSession("app-1")
	if s.Resume != "talk of head1" || s.Role != coppice.RoleImplement || strings.Count(b.prompt(s.ID), "in German") != 1 {
		t.Errorf("%s resumes %q:\n%s", s.Role, s.Resume, b.prompt(s.ID))
	}
	b.proves("head2", "commit2")
	b.wantStage(coppice.StageReview)
}

// If coppice.yaml no longer asks for a review, the landing joins the queue.
func TestAReviewEndsWithItsRule(t *testing.T) {
	t.Parallel()
	b := inReview(t)
	p := b.projectNow()
	p.Policy.Land.How = coppice.LandQueue
	_, err := b.ChangePolicy(t.Context(), p)
	b.must(err)
	b.turn()
	b.wantWork("app-1", coppice.WorkMove)
}

// With land.ask, a merge says which rule applies, and the landing waits for a
// review with that reason.
func TestARuleAsksForAReview(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Land.Ask = coppice.LandAsk{Paths: []string{"*.sql"}, Lines: 7} })
	b.create(coppice.NewTask{Title: "a"})
	b.prepares("app-1")
	b.finish("app-1", coppice.WorkRun, coppice.RunResult{Head: "head1", From: "base1"})
	spec := specOf[coppice.MergeSpec](b, b.wantWork("app-1", coppice.WorkMerge))
	if spec.Ask.Lines != 7 || len(spec.Ask.Paths) != 1 {
		t.Errorf("the merge has the rules %+v", spec.Ask)
	}
	b.finish("app-1", coppice.WorkMerge, coppice.MergeResult{Base: "base1", Tree: "tree1", Commit: "commit1", Review: "it changes 1.sql (land.ask.paths)"})
	b.finish("app-1", coppice.WorkCheck, proved)
	if s := b.status("app-1"); s.Status != coppice.StatusNeedsYou || s.Reason != "waiting for your review: it changes 1.sql (land.ask.paths)" {
		t.Errorf("%s: %q", s.Status, s.Reason)
	}
	b.approves()
	b.wantWork("app-1", coppice.WorkMove)
}

// Whatever the facts are: no landing is queued, pushed or moved without the
// approval that the policy asks for, unless it might have landed already.
func TestNothingLandsUnapproved(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		v := randomView(rt)
		v.Task.Stage = one(rt, "landing stage", coppice.StagesThat(coppice.Stage.Lands))
		randomLanding(rt, v)
		one(rt, "proven", []func(*coppice.Landing){green, inQueue})(v.Landing)
		v.Landing.Verified, v.Landing.Outcome, v.Landing.EndedAt, v.Landing.RetryAt, v.Work = true, "", time.Time{}, time.Time{}, nil // so that it can take a step
		l, land := *v.Landing, v.Project.Policy.Land
		d := anyLanding(v)
		if d == nil || l.ApprovedBy != "" || mightHaveLanded(l) {
			return
		}
		if land.How == coppice.LandQueue && l.Review == "" && !slices.Contains(land.Ask.Categories, v.Task.Category) {
			return
		}
		if d.Landing != nil && d.Landing.QueueID != 0 && l.QueueID == 0 {
			rt.Fatal("it was queued")
		}
		if d.Offer != nil && slices.Contains(lastSteps, d.Offer.Kind) {
			rt.Fatalf("%s was offered", d.Offer.Kind)
		}
	})
}

func (b *bundle) prompt(session int64) string {
	b.t.Helper()
	return read(b, func(r store.Reader) (string, error) {
		s, err := r.Sessions.Get(session)
		return s.Prompt, err
	})
}

// A request to land can name the commit that the person has read. It is refused
// if the change is at another one.
func TestLandNamesTheHeadThatWasRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, head string
		refused    bool
	}{
		{"no head", "", false},
		{"the candidate's head", "head1", false},
		{"its first characters", "hea", false},
		{"an earlier head", "head0", true},
		{"more than the head", "head12", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := inReview(t)
			_, err := b.Ask(t.Context(), "app-1", coppice.VerbLand, verb.Request{Head: c.head})
			if refused := coppice.ErrorCode(err) == coppice.EConflict; refused != c.refused {
				t.Fatalf("refused: %v, want %v: %v", refused, c.refused, err)
			}
			if c.refused && !strings.Contains(err.Error(), "the change of app-1 is now at head1") {
				t.Errorf("the error is %v", err)
			}
			b.turn()
			if approved := b.landing("app-1").ApprovedBy != ""; approved == c.refused {
				t.Errorf("approved: %v", approved)
			}
		})
	}
}

// A task without a candidate gets one from its branch. If that is not the commit
// that the person has read, nothing lands.
func TestLandOfABranchNamesTheHeadThatWasRead(t *testing.T) {
	t.Parallel()
	for head, outcome := range map[string]coppice.Outcome{"": "", "head2": "", "head1": coppice.OutcomeFailed} {
		b := openApp(t, func(p *coppice.Project) { p.Policy.Retry.Max = 0 })
		b.create(coppice.NewTask{Title: "a"})
		b.prepares("app-1")
		b.finish("app-1", coppice.WorkRun, coppice.RunResult{Head: "head1", Failure: coppice.Failf(coppice.ClassUnknown, "x", "")})
		_, err := b.Ask(t.Context(), "app-1", coppice.VerbLand, verb.Request{Head: head})
		b.must(err)
		b.turn()
		b.finish("app-1", coppice.WorkPrepare, coppice.PrepareResult{Path: "/ws", Head: "head2"})
		got := b.task("app-1")
		if got.Outcome != outcome {
			t.Errorf("head %q: at %s, outcome %q, want %q", head, got.Stage, got.Outcome, outcome)
		} else if outcome != "" && !strings.Contains(got.Failure.Text, "is now at head2, not at head1") {
			t.Errorf("the failure is %q", got.Failure.Text)
		}
	}
}
