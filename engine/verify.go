package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"coppice"
	"coppice/store"
)

// verifies tells whether a verifier has to pass the task's candidates.
func verifies(v *View) bool {
	switch v.Project.Policy.Verify.By {
	case coppice.VerifyNone:
		return false
	case coppice.VerifyAgent:
		return true
	}
	return len(v.Task.Steps) > 0
}

// wantVerdict queues the task for a verifier. Its landing stays open.
func wantVerdict(v *View, l coppice.Landing) *Decision {
	n := &coppice.Next{Role: coppice.RoleVerify, Agent: v.Task.Agent, Model: v.Task.Model}
	if a := v.Project.Policy.Agent.Roles[coppice.RoleVerify]; a != "" && a != n.Agent {
		n.Agent, n.Model = a, ""
	}
	return enqueue(v, n, fmt.Sprintf("tree %s waits for a verdict", short(l.Tree)))
}

// runVerifier holds a verifier's last words to the form of a verdict.
func runVerifier(v *View, spec *coppice.RunSpec) {
	spec.Schema, spec.Browser = coppice.VerdictSchema(len(v.Task.Steps)), v.Project.Policy.Verify.Browser
}

// endVerifier keeps the verdict of a verifier's run.
func endVerifier(v *View, r coppice.RunResult, s *coppice.Session) { s.Verdict = verdictOf(v, r) }

// settleDetached takes note of a session's own worktree, or fails the session that
// waits for it; what was made of it by then is cleared away.
func settleDetached(v *View, w coppice.Work) *Decision {
	r, fail := result[coppice.PrepareResult](w)
	s := v.byID(w.SessionID)
	switch {
	case s == nil:
		return &Decision{Kind: coppice.EventWorkFinished, Reason: "its session is not known"}
	case fail == nil:
		c := *s
		c.Path, c.Ports, c.From = r.Path, r.Ports, r.Head
		return &Decision{Kind: coppice.EventWorkspaceReady, Reason: "for " + s.Key, Session: &c}
	}
	d := &Decision{Kind: coppice.EventWorkFinished, Reason: fail.Text}
	if last := v.session(); last != nil && last.ID == s.ID && s.State.Live() {
		d = endSession(v, coppice.SessionFailed, fail)
	}
	d.Offer = removeDetached(v, s, 1)
	return d
}

// verdictOf reads what a verifier's run says of the candidate. One that changed
// files has looked at something else: whatever it says, it passes nothing.
func verdictOf(v *View, r coppice.RunResult) *coppice.Verdict {
	verdict := coppice.ParseVerdict(r.Summary, v.Task.Steps)
	if len(r.Changed) == 0 {
		return &verdict
	}
	void := "The verdict is void: the verifier changed " + strings.Join(r.Changed, ", ")
	for i := range verdict.Steps {
		s := &verdict.Steps[i]
		s.Pass, s.Evidence = false, strings.TrimSpace(void+"\n"+s.Evidence)
	}
	return &verdict
}

// judgeVerifier decides what follows a verifier that ended. Only a verdict
// counts for or against the candidate; whatever else went wrong has its own
// remedy, and the candidate waits meanwhile.
func judgeVerifier(v *View, s *coppice.Session) *Decision {
	t, l := v.Task, v.Landing
	if l == nil || !l.EndedAt.IsZero() {
		t.Stage = coppice.StageChecking
		return &Decision{Kind: coppice.EventTaskStage, Reason: "there is no candidate to verify", Task: &t}
	}
	switch {
	case s.State == coppice.SessionCancelled:
		return giveUp(v, endTask(v, coppice.OutcomeCancelled, nil))
	case v.asked(coppice.VerbTake) != nil || s.StopWhy == coppice.StopTaken:
		return takeBack(v)
	case v.sending(s.ID):
		return nil // if that was an interrupt, its silence is no verdict
	case interrupted(v, s) && len(v.Messages) == 0:
		return pause(v, s)
	case s.Failure != nil:
		return giveUp(v, remedy(v, s, *s.Failure))
	}
	d := judgeVerdict(v, s)
	d.Tell = append(d.Tell, worked(v)...)
	return d
}

// judgeVerdict decides what follows a verifier that ended as it should.
func judgeVerdict(v *View, s *coppice.Session) *Decision {
	t, l := v.Task, v.Landing
	verdict := s.Verdict
	if verdict == nil {
		verdict = verdictOf(v, coppice.RunResult{})
	}
	if verdict.Pass() && len(v.Messages) > 0 {
		return enqueue(v, follows(v, s), "has a message to hear")
	}
	c := *l
	t.Stage = coppice.StageChecking
	if verdict.Pass() {
		c.Verified = true
		return &Decision{Kind: coppice.EventLandingVerified, Reason: fmt.Sprintf("%s passes %s", s.Key, short(c.Head)), Task: &t, Landing: &c}
	}
	d := &Decision{Task: &t, Landing: &c}
	return endLanding(v, d, coppice.LandingRefused, fmt.Sprintf("A verifier (%s, %s) looked at your work and does not pass it:\n\n%s", s.Key, s.Agent, verdict))
}

// giveUp ends the landing together with its task, when a decision ends that.
func giveUp(v *View, d *Decision) *Decision {
	if d.Task == nil || !d.Task.Ended() {
		return d
	}
	l := *v.Landing
	l.EndedAt, l.Failure, l.Outcome = v.Now, d.Task.Failure, coppice.LandingFailed
	if d.Task.Outcome == coppice.OutcomeCancelled {
		l.Outcome = coppice.LandingDropped
	}
	d.Landing = &l
	return d
}

// takeBack withdraws the candidate for a person who takes the task over: they go
// on with the work itself, not with whoever looks at it.
func takeBack(v *View) *Decision {
	n := worker(v)
	n.Screen = true
	d := enqueue(v, n, "a person takes over; its candidate is withdrawn")
	d.Asks = v.settled(coppice.VerbTake, coppice.VerbGive)
	if l := v.Landing; l != nil && l.EndedAt.IsZero() {
		c := *l
		c.Outcome, c.EndedAt = coppice.LandingDropped, v.Now
		d.Landing = &c
	}
	return d
}

// worker is the session that goes on with the work on a task after a verifier.
func worker(v *View) *coppice.Next {
	s := v.talked()
	if s == nil {
		return firstSession(v.Task, "")
	}
	n := follows(v, s)
	n.Role = coppice.RoleImplement
	return n
}

// tidy removes the worktrees of sessions that have ended, however they did.
func tidy(v *View) *Decision {
	for _, list := range [][]coppice.Session{v.Sessions, v.Earlier} {
		for i := range list {
			s := &list[i]
			if s.Path == "" || s.State.Live() || v.removing(s.ID) {
				continue
			}
			return &Decision{By: "tidy", Kind: coppice.EventWorkOffered, Reason: "the worktree of " + s.Key + " goes", Offer: removeDetached(v, s, 1)}
		}
	}
	return nil
}

// removing tells whether a session's own worktree is being removed.
func (v *View) removing(session int64) bool {
	return slices.ContainsFunc(v.Work, func(w coppice.Work) bool { return w.Kind == coppice.WorkRemove && w.SessionID == session })
}

// sending tells whether somebody's word is on its way to a session.
func (v *View) sending(session int64) bool {
	w := v.open(coppice.WorkSend)
	return w != nil && w.SessionID == session
}

func removeDetached(v *View, s *coppice.Session, try int) *coppice.Work {
	return &coppice.Work{
		Kind: coppice.WorkRemove, Key: fmt.Sprintf("session/%d/remove/%d", s.ID, try), Pool: v.place(coppice.WorkRemove), SessionID: s.ID,
		Spec: coppice.Raw(coppice.RemoveSpec{Key: s.Key, Repo: v.Project.Path, RepoID: v.Project.ID, Path: s.Path}),
	}
}

// settleDetachedRemove forgets a session's own worktree that is gone. One that
// could not be removed is tried again a few times, and then told of.
func settleDetachedRemove(v *View, w coppice.Work) *Decision {
	s := v.byID(w.SessionID)
	if s == nil {
		return &Decision{Kind: coppice.EventWorkFinished, Reason: "its session is not known"}
	}
	_, fail := result[coppice.RemoveResult](w)
	if try := removeTry(w.Key); fail != nil && try < mostRemovals {
		return &Decision{Kind: coppice.EventWorkOffered, Reason: fail.Text, Offer: removeDetached(v, s, try+1)}
	}
	c := *s
	c.Path, c.Ports = "", nil
	d := &Decision{Kind: coppice.EventWorkspaceRemoved, Reason: "of " + s.Key, Session: &c}
	if fail != nil {
		t := v.Task
		t.Warning = fmt.Sprintf("the worktree of %s at %s could not be removed: %s", s.Key, s.Path, fail.Text)
		d.Kind, d.Reason, d.Task = coppice.EventTaskWarned, t.Warning, &t
	}
	return d
}

// removeTry is the number at the end of a removal's key.
func removeTry(key string) int {
	n, err := strconv.Atoi(key[strings.LastIndexByte(key, '/')+1:])
	if err != nil {
		return mostRemovals
	}
	return n
}

// unverify forgets the verdict on a task's candidate, since what it is measured
// by has changed. A verifier that runs has been told the old steps.
func unverify(tx store.Tx, t *coppice.Task) error {
	s, err := liveSession(tx.Reader(), t)
	if err != nil {
		return err
	}
	if s != nil && s.Role == coppice.RoleVerify {
		return coppice.Errorf(coppice.EConflict, "%s is being verified by the steps it has", t.Key).WithFix("wait for the verdict, or stop it first").WithField("steps")
	}
	l, err := tx.Landings.Last(t.ID)
	if err != nil || l == nil || !l.EndedAt.IsZero() || !l.Verified {
		return err
	}
	l.Verified = false
	return tx.Landings.Put(l)
}
