package verb

import (
	"slices"
	"strings"

	"coppice"
)

func fitsStop(f Facts) error {
	if t := f.Task; t.Ended() {
		return coppice.Errorf(coppice.EConflict, "%s has ended already (%s)", t.Key, t.Outcome)
	}
	return nil
}

// WaitsForPerson reports whether a task waits for a person, or for a pause that a
// person can end.
func WaitsForPerson(t coppice.Task) bool {
	return t.Stage == coppice.StageWaiting && t.Wait != nil && (t.Wait.On == coppice.WaitPerson || t.Wait.On == coppice.WaitBackoff)
}

// AtLimit reports whether a task waits for a person because a session that worked
// on it reached a limit or the task's budget. What it did can land. The next session
// works on the task, or prepares the one that does.
func AtLimit(t coppice.Task) bool {
	return WaitsForPerson(t) && t.Failure != nil && (t.Failure.Class == coppice.ClassLimit || t.Failure.Class == coppice.ClassBudget) &&
		t.Next != nil && (t.Next.Role.Lands() || t.Next.Role.Info().Prepares)
}

// YourTurn reports whether an interactive task waits for a person because its agent
// has finished a turn. What it did can land.
func YourTurn(t coppice.Task) bool {
	return t.Interactive && t.Stage == coppice.StageWaiting && t.Wait != nil && t.Wait.On == coppice.WaitPerson && t.Wait.Text == coppice.ReasonTurn
}

// AwaitsVerdict reports whether a task's next session is a verifier.
func AwaitsVerdict(t coppice.Task) bool { return t.Next != nil && t.Next.Role == coppice.RoleVerify }

func fitsRetry(f Facts) error {
	t := f.Task
	switch {
	case t.Outcome == coppice.OutcomeDone:
		return isDone(t)
	case !t.Ended() && !WaitsForPerson(t) && !f.PutOff():
		return coppice.Errorf(coppice.EConflict, "%s has not ended", t.Key).WithFix("use `coppice requeue %s` to restart it immediately, or send it a message", t.Key)
	}
	return nil
}

func checkRetry(f Facts, r Request) error {
	note := r.Text != "" || r.Staff != (coppice.Staff{}) || len(r.Images) > 0
	if note && Blocked(f) {
		err := coppice.Errorf(coppice.EConflict, "a retry of %s runs its checks again, so no session would get the note", f.Task.Key)
		if f.reverting() {
			return err.WithFix("retry without a note and another agent")
		}
		return err.WithFix("retry without a note and another agent, or start a fix session with `coppice continue %s \"…\"`", f.Task.Key)
	}
	if note && f.PutOff() {
		return coppice.Errorf(coppice.EConflict, "%s waits for its landing, so no session would get the note", f.Task.Key).
			WithFix("retry without a note and another agent to retry the landing, or use `coppice requeue %s` to restart the task with them", f.Task.Key)
	}
	return nil
}

func isDone(t coppice.Task) error {
	return coppice.Errorf(coppice.EConflict, "%s is done", t.Key).WithFix("use `coppice continue %s` to say what is missing, or create a new task", t.Key)
}

func fitsRequeue(f Facts) error {
	t := f.Task
	switch {
	case f.reverting():
		return beingReverted(f)
	case t.Outcome == coppice.OutcomeDone:
		return isDone(t)
	case f.Moving:
		return coppice.Errorf(coppice.EConflict, "%s is landing at this moment; the base might already have its work", t.Key).
			WithFix("check the result with `coppice show %s`; if it landed, use `coppice continue %s`, otherwise requeue it then", t.Key, t.Key)
	}
	return nil
}

// wantsAnswer says why a verb does not apply to a task that wants an answer.
func wantsAnswer(t coppice.Task) error {
	if t.Checkout {
		return coppice.Errorf(coppice.EConflict, "%s works in your checkout, where nothing lands", t.Key).
			WithFix("see what it changed with `coppice diff %s`, or ask for more with `coppice continue %s`", t.Key, t.Key)
	}
	return coppice.Errorf(coppice.EConflict, "%s wants an answer, not a change", t.Key).
		WithFix("read its answer with `coppice show %s`, or ask more with `coppice continue %s`", t.Key, t.Key)
}

func fitsLand(f Facts) error {
	t := f.Task
	switch {
	case t.Wants == coppice.WantsAnswer:
		return wantsAnswer(t)
	case f.reverting():
		return beingReverted(f)
	case t.Outcome == coppice.OutcomeDone:
		return coppice.Errorf(coppice.EConflict, "%s has landed already", t.Key)
	case f.asked(coppice.VerbStop, coppice.VerbRequeue) && !t.Ended():
		return beingStopped(t)
	case t.Stage == coppice.StageLanding && !f.PutOff():
		return coppice.Errorf(coppice.EConflict, "%s is landing already", t.Key)
	case t.Stage.Lands(), Relands(f):
		return nil
	case (t.Ended() || AtLimit(t) || YourTurn(t)) && f.Branch:
		return nil
	case t.Ended():
		return coppice.Errorf(coppice.EConflict, "%s has no branch to land", t.Key).WithFix("retry it")
	}
	return coppice.Errorf(coppice.EConflict, "%s has nothing to land yet", t.Key).WithFix("wait for its session to end, or stop it first")
}

// checkLand refuses to approve a change that the person has not read. A task
// without a candidate is checked when it gets one.
func checkLand(f Facts, r Request) error {
	if l := f.Candidate(); l != nil && !strings.HasPrefix(l.Head, r.Head) {
		return OtherHead(f.Task, l.Head, r.Head)
	}
	return nil
}

// OtherHead says that the change of a task is at another commit than the one that
// the person has read.
func OtherHead(t coppice.Task, now, read string) *coppice.Error {
	return coppice.Errorf(coppice.EConflict, "the change of %s is now at %.10s, not at %.10s", t.Key, now, read).
		WithFix("read it again with `coppice diff %s` or on its review page, then land %.10s", t.Key, now)
}

// hideLand hides the button for tasks that land automatically. It shows it for a
// failed task whose work could not land: a person can fix its branch. It also shows
// it for a task at a limit, so that a person can land the work so far, and after a
// fix session that changed nothing: the check might pass now.
func hideLand(f Facts) bool {
	l := f.Landing
	refused := f.Task.Outcome == coppice.OutcomeFailed && l != nil && !l.EndedAt.IsZero() && l.Outcome != coppice.LandingEmpty
	return !f.Task.Stage.Awaits() && !f.PutOff() && !refused && !AtLimit(f.Task) && !YourTurn(f.Task) && (!Relands(f) || Blocked(f))
}

// beingStopped says why a task takes no request at this moment.
func beingStopped(t coppice.Task) error {
	return coppice.Errorf(coppice.EConflict, "the running session of %s is being stopped", t.Key).WithFix("retry in a moment; see `coppice show %s`", t.Key)
}

func fitsContinue(f Facts) error {
	switch t := f.Task; {
	case f.reverting():
		return beingReverted(f)
	case t.Stage.Awaits() && f.asked(coppice.VerbStop, coppice.VerbRequeue):
		return beingStopped(t)
	case Blocked(f), Unchanged(t), YourTurn(t):
		if f.asked(coppice.VerbStop, coppice.VerbRequeue) {
			return beingStopped(t)
		}
	case !t.Ended() && !t.Stage.Awaits():
		return coppice.Errorf(coppice.EConflict, "%s has not ended", t.Key).WithFix("use `coppice send %s` to send it a message", t.Key)
	}
	return nil
}

func checkContinue(f Facts, r Request) error {
	t := f.Task
	if strings.TrimSpace(r.Text) != "" || t.Outcome != coppice.OutcomeDone && !t.Stage.Awaits() && !Unchanged(t) && !YourTurn(t) {
		return nil
	}
	state := "is done"
	switch {
	case t.Stage.Awaits():
		state = "waits for your approval"
	case Unchanged(t):
		state = "changed nothing"
	case YourTurn(t):
		state = "waits for you"
	}
	return coppice.Errorf(coppice.EInvalid, "%s %s, and the request does not say what is missing", t.Key, state).
		WithFix("say what it should do now").WithField("text")
}

func fitsTake(f Facts) error {
	t, s := f.Task, f.live()
	switch {
	case t.Wants == coppice.WantsAnswer:
		return wantsAnswer(t)
	case f.reverting():
		return beingReverted(f)
	case t.Ended():
		return coppice.Errorf(coppice.EConflict, "%s has ended (%s)", t.Key, t.Outcome).WithFix("use `coppice continue %s` first", t.Key)
	case f.asked(coppice.VerbStop, coppice.VerbRequeue):
		return beingStopped(t)
	case s != nil && (s.Screen || f.asked(coppice.VerbTake)):
		return coppice.Errorf(coppice.EConflict, "%s is taken already", t.Key).WithFix("use `coppice attach %s`", t.Key)
	case s != nil, Takeable(t) && (t.Sessions > 0 || AwaitsVerdict(t)):
		return nil
	}
	return coppice.Errorf(coppice.EConflict, "%s has no session to take over", t.Key).WithFix("wait until one runs; see `coppice show %s`", t.Key)
}

// Takeable reports whether a person can have a task's next session on a screen.
func Takeable(t coppice.Task) bool {
	return t.Next != nil && (t.Stage == coppice.StageQueued || WaitsForPerson(t))
}

// hideTake hides the button while no session runs.
func hideTake(f Facts) bool { return f.Task.Stage != coppice.StageSession }

func fitsGive(f Facts) error {
	if s := f.live(); s == nil || !s.Screen {
		return coppice.Errorf(coppice.EConflict, "%s is not taken; there is nothing to give back", f.Task.Key)
	}
	return nil
}

func fitsUndo(f Facts) error {
	switch t := f.Task; {
	case !t.Ended():
		return coppice.Errorf(coppice.EConflict, "%s is being worked on again", t.Key)
	case !f.Trashed:
		return coppice.Errorf(coppice.ENotFound, "the trash has no workspace of %s; there is nothing to undo", t.Key).
			WithFix("see `coppice trash list`; trash.ttl in coppice.yaml says how long the trash keeps removed workspaces")
	}
	return nil
}

// fitsUnstop accepts a task that is being stopped: it continues when it has
// stopped.
func fitsUnstop(f Facts) error {
	switch t := f.Task; {
	case !t.Ended() && f.asked(coppice.VerbStop):
		return nil
	case t.Reverted != nil && t.Outcome == coppice.OutcomeCancelled:
		return coppice.Errorf(coppice.EConflict, "%s was reverted, not stopped", t.Key).WithFix("to land its work again, run `coppice retry %s`", t.Key)
	case t.Outcome != coppice.OutcomeCancelled:
		return coppice.Errorf(coppice.EConflict, "%s was not stopped", t.Key)
	}
	return nil
}

// hideUnstop hides the button while the task is being stopped.
func hideUnstop(f Facts) bool { return !f.Task.Ended() }

// FitsDropBranches accepts a task whose workspace has branches that agents created,
// while no session works there.
func FitsDropBranches(f Facts) error {
	t := f.Task
	switch some := slices.ContainsFunc(t.Strays, func(b coppice.StrayBranch) bool { return b.Ref == "" }); {
	case !some && len(t.Strays) > 0:
		return coppice.Errorf(coppice.EConflict, "the stray branches of %s are in the trash already", t.Key).
			WithFix("to remove them permanently, run `coppice trash empty %s`", t.Key)
	case !some:
		return coppice.Errorf(coppice.ENotFound, "%s has no branches besides its own", t.Key)
	case f.live() != nil:
		return coppice.Errorf(coppice.EConflict, "a session of %s is working in the workspace", t.Key).WithFix("wait for its end, or stop it first")
	}
	return nil
}

func fitsRevert(f Facts) error {
	switch t := f.Task; {
	case f.reverting():
		return beingReverted(f)
	case t.Outcome != coppice.OutcomeDone:
		return coppice.Errorf(coppice.EConflict, "%s has not landed; there is nothing to revert", t.Key).
			WithFix("if it is about to land, take it out of the queue with `coppice stop %s`", t.Key)
	case t.Landed == "":
		return coppice.Errorf(coppice.EConflict, "%s is done, but it changed nothing on its branch", t.Key)
	}
	return nil
}

// beingReverted says why a task takes no request while it is being reverted.
func beingReverted(f Facts) error {
	t := f.Task
	if Blocked(f) {
		return coppice.Errorf(coppice.EConflict, "a check blocks the revert of %s", t.Key).
			WithFix("%s", t.Failure.Fix)
	}
	return coppice.Errorf(coppice.EConflict, "the landing of %s is being reverted", t.Key).WithFix("wait for the result; see `coppice show %s`", t.Key)
}

func failed(f Facts) bool { return f.Task.Outcome == coppice.OutcomeFailed }

// landsNext reports whether work is more likely to land than to be retried. Work that
// failed must be fixed first.
func landsNext(f Facts) bool { return !failed(f) }

// ReviewOf says whether the dashboard offers the review of a task: a task that wants
// an answer has no change, and one that has not started has none yet.
func ReviewOf(t coppice.Task) coppice.Reviewing {
	switch {
	case t.Wants == coppice.WantsAnswer, t.Sessions == 0 && t.Flow == nil:
		return ""
	case t.Stage == coppice.StageReview:
		return coppice.ReviewWanted
	}
	return coppice.ReviewPossible
}

func ended(f Facts) bool { return f.Task.Ended() }
