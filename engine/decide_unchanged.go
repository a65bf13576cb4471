package engine

import (
	"fmt"

	"coppice"
	"coppice/verb"
)

// endChange keeps the final message of a session that changed nothing as its
// answer.
func endChange(v *View, r coppice.RunResult, s *coppice.Session) {
	if r.Summary != "" && (unchanged(v, s) || fixedNothing(v, s)) {
		s.Answer = &coppice.Answer{Text: r.Summary}
	}
}

// unchanged reports whether the branch still has no work after a session. What a
// forked task started with does not count.
func unchanged(v *View, s *coppice.Session) bool {
	if v.Workspace == nil || s.Head == "" || s.Head == v.Workspace.BaseCommit {
		return true
	}
	first := s
	for _, list := range [][]coppice.Session{v.Sessions, v.Earlier} {
		if len(list) > 0 {
			first = &list[0]
		}
	}
	return v.Task.ForkOf != "" && s.Head == first.From
}

// fixedNothing reports whether a fix session left the head that was refused.
func fixedNothing(v *View, s *coppice.Session) bool {
	return v.Landing != nil && v.Landing.Head == s.Head && s.Role.Info().Fixes
}

// judgeUnchanged decides what follows a session after which the branch has no
// work. Nobody tries again: a task that was done before stays done, and one that
// need not change anything is done. Any other waits for a person, who reads the final
// message.
func judgeUnchanged(v *View, s *coppice.Session) *Decision {
	if !v.Task.DoneAt.IsZero() {
		return stayDone(v)
	}
	if !s.Role.Info().Fixes && !v.Task.Requires(v.Project.Policy, s.Role, coppice.CompletionDiff) {
		d := endTask(v, coppice.OutcomeDone, nil)
		d.Task.Note = fmt.Sprintf("done without a change, which its completion checks allow (no %s)", coppice.CompletionDiff)
		return d
	}
	key := v.Task.Key
	d := needPerson(v, s, *coppice.Failf(coppice.ClassUnchanged, "the agent ended without changing anything", fmt.Sprintf(
		"if it is done as it is, run `coppice done %s`; say what is missing with `coppice continue %s \"…\"`; or run `coppice retry %s`", key, key, key)))
	d.Task.Next.Resume = "" // only continue resumes the conversation
	return d
}

// judgeFixedNothing decides what follows a fix session that changed nothing. A
// person decides, if fix sessions are left.
func judgeFixedNothing(v *View, s *coppice.Session) *Decision {
	l := v.Landing
	if v.fixes() >= v.Project.Policy.Verify.Attempts {
		return endTask(v, coppice.OutcomeFailed, unfixed(l))
	}
	key := v.Task.Key
	d := needPerson(v, s, *coppice.Failf(coppice.ClassUnchanged, "the fix session changed nothing; "+unfixed(l).Text, fmt.Sprintf(
		"say what to do with `coppice continue %s \"…\"`; check its branch again with `coppice land %s`; or start another fix session with `coppice retry %s`",
		key, key, key)))
	d.Task.Next = fixSession(v, "The last fix session changed nothing. The earlier problem remains:\n\n"+l.Evidence)
	return d
}

// stayDone ends a task again that was done before a person continued it. It keeps
// the time at which it was done.
func stayDone(v *View) *Decision {
	d := endTask(v, coppice.OutcomeDone, nil)
	d.Task.EndedAt, d.Task.Note = v.Task.DoneAt, "was continued, and nothing had to be changed"
	return d
}

// doneAsIs ends a task whose session changed nothing, as a person decided.
func doneAsIs(v *View) *Decision {
	if v.asked(coppice.VerbDone) == nil || v.asked(coppice.VerbStop, coppice.VerbRequeue) != nil {
		return nil
	}
	if verb.FitsDone(v.facts()) != nil {
		return &Decision{By: "done", Kind: coppice.EventTaskChanged, Reason: "it no longer waits for that", Asks: v.settled(coppice.VerbDone)}
	}
	d := endTask(v, coppice.OutcomeDone, nil)
	d.Asks, d.Task.Note = append(d.Asks, v.settled(coppice.VerbDone)...), "done without a change, as a person decided"
	return d
}

// continueWaiting carries out a continue of a task that waits for a person's
// decision: its next session continues the conversation, with the text.
func continueWaiting(v *View) *Decision {
	t := v.Task
	next := *t.Next
	if s := v.lastWorkSession(); s != nil && v.Landing == nil {
		next = *resumeSession(v, s)
	}
	next.Note = joinNotes(next.Note, v.note(coppice.VerbContinue))
	grant(v, &t)
	t.Next, t.Wait, t.Failure = &next, nil, nil
	return &Decision{By: "continue", Kind: coppice.EventTaskRetried, Reason: "continues", Task: &t, Asks: v.settled(coppice.VerbContinue)}
}
