package engine

import (
	"strings"

	"coppice"
	"coppice/answer"
)

// runAnswer validates an agent's final message against the schema of its task.
func runAnswer(v *View, spec *coppice.RunSpec) { spec.Schema = v.Task.Schema }

// endAnswer keeps a session's final message as its answer.
func endAnswer(v *View, r coppice.RunResult, s *coppice.Session) {
	a := answer.Read(r.Summary, v.Task.Schema)
	s.Answer = &a
	if len(r.Changed) > 0 { // they are removed with its worktree
		s.Warning = "changed files, which are not kept: " + strings.Join(r.Changed, ", ")
	}
}

// judgeAnswer decides what follows a session that answered: the task is done, or
// another session tries.
func judgeAnswer(v *View, s *coppice.Session) *Decision {
	switch {
	case s.State == coppice.SessionCancelled:
		return endTask(v, coppice.OutcomeCancelled, nil)
	case v.sending(s.ID):
		return nil // if that was an interrupt, no answer is not a failure
	case interrupted(v, s) && len(v.Messages) == 0:
		return pause(v, s)
	case s.Failure != nil:
		return remedy(v, s, *s.Failure)
	case len(v.Messages) > 0:
		return enqueue(v, withAnswer(resumeSession(v, s), s), "has a message to deliver")
	}
	var d *Decision
	if unanswered(v, s) {
		d = tryAgain(v, s, *noAnswer(s))
	} else {
		d = endTask(v, coppice.OutcomeDone, nil)
	}
	d.Requests = append(d.Requests, worked(v)...)
	return d
}

// unanswered reports whether an ended session has not answered.
func unanswered(_ *View, s *coppice.Session) bool { return s.Answer == nil || s.Answer.Problem != "" }

// noAnswer returns the failure of a session that has not answered.
func noAnswer(s *coppice.Session) *coppice.Failure {
	problem := "the agent ended without an answer"
	if s.Answer != nil {
		problem = s.Answer.Problem
	}
	return coppice.Failf(coppice.ClassImplementation, problem, "retry it, or rephrase it")
}

// lastAnswer returns the newest session of any round that answered the task, or
// nil.
func (v *View) lastAnswer() *coppice.Session {
	for _, list := range [][]coppice.Session{v.Sessions, v.Earlier} {
		for i := len(list) - 1; i >= 0; i-- {
			if s := &list[i]; !unanswered(v, s) {
				return s
			}
		}
	}
	return nil
}

// withAnswer adds the answer of an earlier session to the evidence of the next
// one.
func withAnswer(n *coppice.Next, s *coppice.Session) *coppice.Next {
	if s != nil && s.Answer != nil && s.Answer.Text != "" {
		n.Evidence = "The answer of the session before this one (" + s.Key + "):\n\n" + s.Answer.Text + "\n"
	}
	return n
}
