package engine

import (
	"fmt"
	"slices"
	"strings"

	"coppice"
)

// verifies reports whether a verifier must pass the task's candidates.
func verifies(v *View) bool {
	switch v.Project.Policy.Verify.By {
	case coppice.VerifyNone:
		return false
	case coppice.VerifyAgent:
		return true
	}
	return len(v.Task.Steps) > 0
}

// queueVerifier queues the task for a verifier. Its landing stays open.
func queueVerifier(v *View, l coppice.Landing) *Decision {
	n := &coppice.Next{Role: coppice.RoleVerify, Agent: v.Task.Agent, Model: v.Task.Model}
	if a := v.Project.Policy.Agent.Roles[coppice.RoleVerify]; a != "" && a != n.Agent {
		n.Agent, n.Model = a, ""
	}
	return enqueue(v, n, fmt.Sprintf("tree %s waits for a verifier", short(l.Tree)))
}

// runVerifier validates a verifier's final message against the schema of a
// verdict.
func runVerifier(v *View, spec *coppice.RunSpec) {
	p := v.Project.Policy.Verify
	spec.Schema, spec.Browser, spec.BrowserServer = coppice.VerdictSchema(len(v.Task.Steps)), p.Browser, p.BrowserServer
}

// endVerifier stores the verdict of a verifier's run.
func endVerifier(v *View, r coppice.RunResult, s *coppice.Session) { s.Verdict = verdictOf(v, r) }

// settleDetached stores a session's detached worktree, or fails the session that
// waits for it and removes what exists of the worktree.
func settleDetached(v *View, s *coppice.Session, w coppice.Work) *Decision {
	r, fail := result[coppice.PrepareResult](w)
	if fail == nil {
		c := *s
		c.Path, c.Ports, c.From = r.Path, r.Ports, r.Head
		return &Decision{Kind: coppice.EventWorkspaceReady, Reason: "for " + s.Key, Session: &c}
	}
	d := &Decision{Kind: coppice.EventWorkFinished, Reason: fail.Text}
	if last := v.lastSession(); last != nil && last.ID == s.ID && s.State.Live() {
		d = endSession(v, coppice.SessionFailed, fail)
	}
	d.Offer = removeDetached(v, s, 1)
	return d
}

// verdictOf reads a verifier's verdict on the candidate. A verifier that changed
// files has looked at something else, so it passes nothing.
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
// counts for or against the candidate. Any other failure has its own remedy, and
// the candidate waits.
func judgeVerifier(v *View, s *coppice.Session) *Decision {
	t, l := v.Task, v.Landing
	if l == nil || !l.EndedAt.IsZero() {
		t.Stage = coppice.StageChecking
		return &Decision{Kind: coppice.EventTaskStage, Reason: "there is no candidate to verify", Task: &t}
	}
	switch {
	case s.State == coppice.SessionCancelled:
		return endWithTask(v, endTask(v, coppice.OutcomeCancelled, nil))
	case v.asked(coppice.VerbTake) != nil || s.StopWhy == coppice.StopTaken:
		return withdrawCandidate(v)
	case v.sending(s.ID):
		return nil // if that was an interrupt, no verdict is not a failure
	case interrupted(v, s) && len(v.Messages) == 0:
		return pause(v, s)
	case s.Failure != nil:
		return endWithTask(v, remedy(v, s, *s.Failure))
	}
	d := judgeVerdict(v, s)
	d.Requests = append(d.Requests, worked(v)...)
	return d
}

// judgeVerdict decides what follows a verifier that succeeded.
func judgeVerdict(v *View, s *coppice.Session) *Decision {
	t, l := v.Task, v.Landing
	verdict := s.Verdict
	if verdict == nil {
		verdict = verdictOf(v, coppice.RunResult{})
	}
	if verdict.Pass() && len(v.Messages) > 0 {
		return enqueue(v, resumeSession(v, s), "has a message to deliver")
	}
	c := *l
	t.Stage = coppice.StageChecking
	if verdict.Pass() {
		c.Verified = true
		return &Decision{Kind: coppice.EventLandingVerified, Reason: fmt.Sprintf("%s passes %s", s.Key, short(c.Head)), Task: &t, Landing: &c}
	}
	d := &Decision{Task: &t, Landing: &c}
	return endLanding(v, d, coppice.LandingRefused, fmt.Sprintf("A verifier (%s, %s) checked your work and refused it:\n\n%s", s.Key, s.Agent, verdict))
}

// endWithTask ends the landing together with its task, if a decision ends the
// task.
func endWithTask(v *View, d *Decision) *Decision {
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

// withdrawCandidate withdraws the candidate for a person who takes the task
// over: they continue the work itself, not its verifier.
func withdrawCandidate(v *View) *Decision {
	n := resumeWork(v)
	n.Screen = true
	d := enqueue(v, n, "a person takes over; its candidate is withdrawn")
	d.Asks = v.settled(coppice.VerbTake, coppice.VerbGive)
	d.Landing = dropped(v, v.Landing)
	return d
}

// resumeWork returns the session that continues the work on a task after a
// verifier.
func resumeWork(v *View) *coppice.Next {
	s := v.resumableSession()
	if s == nil {
		return firstSession(v.Task, "")
	}
	n := resumeSession(v, s)
	n.Role = coppice.RoleImplement
	return n
}

// cleanupDetached removes the worktrees of sessions that have ended.
func cleanupDetached(v *View) *Decision {
	for _, list := range [][]coppice.Session{v.Sessions, v.Earlier} {
		for i := range list {
			s := &list[i]
			if s.Path == "" || s.State.Live() || v.removing(s.ID) {
				continue
			}
			return &Decision{By: "cleanup", Kind: coppice.EventWorkOffered, Reason: "the worktree of " + s.Key + " is removed", Offer: removeDetached(v, s, 1)}
		}
	}
	return nil
}

// removing reports whether a session's detached worktree is being removed.
func (v *View) removing(session int64) bool {
	return slices.ContainsFunc(v.Work, func(w coppice.Work) bool { return w.Kind == coppice.WorkRemove && w.SessionID == session })
}

// sending reports whether a message to a session is being delivered.
func (v *View) sending(session int64) bool {
	w := v.open(coppice.WorkSend)
	return w != nil && w.SessionID == session
}

func removeDetached(v *View, s *coppice.Session, try int) *coppice.Work {
	return &coppice.Work{
		Kind: coppice.WorkRemove, Key: fmt.Sprintf("session/%d/cleanup/%d", s.ID, try), Pool: v.place(coppice.WorkRemove), SessionID: s.ID,
		Spec: coppice.Raw(coppice.RemoveSpec{Key: s.Key, Repo: v.Project.Path, RepoID: v.Project.ID, Path: s.Path, Try: try}),
	}
}

// settleDetachedRemove stores that a session's detached worktree is gone. If it
// could not be removed, that is retried a few times, and then shown as a
// warning.
func settleDetachedRemove(v *View, w coppice.Work) *Decision {
	s := v.sessionByID(w.SessionID)
	if s == nil {
		return &Decision{Kind: coppice.EventWorkFinished, Reason: "its session is not known"}
	}
	_, fail := result[coppice.RemoveResult](w)
	spec, err := coppice.DecodeSpec[coppice.RemoveSpec](w)
	if fail != nil && err == nil && spec.Try < mostRemovals {
		return &Decision{Kind: coppice.EventWorkOffered, Reason: fail.Text, Offer: removeDetached(v, s, spec.Try+1)}
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
