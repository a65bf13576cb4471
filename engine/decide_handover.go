package engine

import (
	"fmt"
	"time"

	"coppice"
	"coppice/verb"
)

// handover carries out a person's take and give. The running session is asked to
// stop, and the next one continues its conversation, on the agent's own screen
// or without it. A task that only waits for its next session gets that one on
// the screen.
func handover(v *View) *Decision {
	take, give := v.asked(coppice.VerbTake), v.asked(coppice.VerbGive)
	if take == nil && give == nil {
		return nil
	}
	t, s := v.Task, v.lastSession()
	d := &Decision{
		By: "handover", Kind: coppice.EventTaskChanged, Reason: "nothing to hand over", Task: &t,
		Asks: v.settled(coppice.VerbTake, coppice.VerbGive),
	}
	switch {
	case t.Stage == coppice.StageSession && s != nil && s.State.Live():
		if s.Screen == (take != nil) {
			return d // it is already so
		}
		if w := v.open(coppice.WorkRun); w == nil || w.Attempt == 0 {
			return nil // it starts first; then it is stopped
		}
		why := coppice.StopTaken
		if give != nil {
			why = coppice.StopGiven
		}
		if d = askStop(v, why); d != nil {
			d.By = "handover"
		}
		return d
	case t.Stage == coppice.StageSession:
		return nil // the pipeline decides about it, and sees the request
	case take != nil && verb.AwaitsVerdict(t) && verb.Takeable(t):
		d = withdrawCandidate(v)
		d.By = "handover"
	case take != nil && verb.Takeable(t) && t.Next.Role.Info().Prepares:
		if d = takeAnalyzed(v); d != nil {
			d.By = "handover"
		}
	case take != nil && verb.Takeable(t):
		next := *t.Next
		next.Screen = true
		t.Next, t.Wait = &next, nil
		d.Reason = "a person takes over"
	}
	return d
}

// handedOver decides what follows a session that a person took over, or one on a
// screen: leaving the screen gives it back. It returns nil for any other
// session.
func handedOver(v *View, s *coppice.Session) *Decision {
	switch {
	case !s.Screen && (v.asked(coppice.VerbTake) != nil || s.StopWhy == coppice.StopTaken):
		n := resumeSession(v, s)
		n.Screen = true
		d := enqueue(v, n, "a person takes over")
		d.Asks = v.settled(coppice.VerbTake)
		return d
	case !s.Screen:
		return nil
	}
	var d *Decision
	if f := s.Failure; f != nil && f.Class != coppice.ClassLost && f.Class != coppice.ClassUnknown {
		d = needPerson(v, s, *f)
	} else if screenFailed(s) && v.asked(coppice.VerbGive) == nil {
		d = needPerson(v, s, coppice.Failure{
			Class: coppice.ClassCapability,
			Text:  fmt.Sprintf("the screen of %s ended after %s, before anything was done", s.Agent, durationText(s.EndedAt.Sub(s.StartedAt).Truncate(time.Second))),
			Fix:   fmt.Sprintf("start %s one time in a terminal and complete its setup, then run `coppice take %s`; or continue without a screen: `coppice retry %s`", s.Agent, v.Task.Key, v.Task.Key),
		})
	} else {
		n := resumeSession(v, s)
		n.Evidence = fmt.Sprintf("A person continued this task on the agent's own screen (session %s) and gave it back. Check what has changed, then finish the task.\n", s.Key)
		d = enqueue(v, n, "a person gives it back")
	}
	d.Task.Next.Note, d.Asks = v.note(coppice.VerbGive), v.settled(coppice.VerbGive)
	return d
}

// shortScreen is how long a screen lasts at least if a person worked on it.
const shortScreen = 5 * time.Second

// screenFailed reports whether a screen ended too early for a person to have left it
// after work: no person had time, and nothing changed. An agent that is not set up
// for its screen does that.
func screenFailed(s *coppice.Session) bool {
	return s.StopWhy == "" && s.EndedAt.Sub(s.StartedAt) < shortScreen && (s.Head == "" || s.Head == s.From)
}

// continueTask carries out a person's continue: an ended task starts a new round
// in its last conversation. So does a task that waits for coppice land: the
// person asks for changes, and its candidate is dropped. A task that landed gets a
// new workspace from the base, which has its work: its old branch would conflict
// with its own commit.
func continueTask(v *View) *Decision {
	if v.asked(coppice.VerbContinue) == nil {
		return nil
	}
	t := v.Task
	d := &Decision{By: "continue", Kind: coppice.EventTaskRetried, Reason: "continues", Task: &t, Asks: v.settled(coppice.VerbContinue, coppice.VerbLand)}
	switch {
	case t.Stage.Awaits() && v.asked(coppice.VerbStop, coppice.VerbRequeue) != nil:
		return nil // a stop comes first
	case t.Stage.Awaits():
		d.Landing = dropped(v, v.Landing)
	case verb.Blocked(v.facts()), verb.Unchanged(t), verb.YourTurn(t):
		if v.asked(coppice.VerbStop, coppice.VerbRequeue) != nil {
			return nil
		}
		return continueWaiting(v)
	case !t.Ended():
		d.Kind, d.Reason = coppice.EventTaskChanged, "had not ended"
		return d
	}
	t.Next = withAnswer(firstSession(t, ""), v.lastAnswer())
	if s := v.resumableSession(); s != nil {
		t.Next = resumeSession(v, s)
		t.Next.Role = t.FirstRole()
	}
	if t.Wants == coppice.WantsAnswer {
		// It has no workspace that must be removed first.
	} else if t.Outcome == coppice.OutcomeDone {
		if ws := v.Workspace; ws != nil && ws.RemovedAt.IsZero() {
			return trashOldWorkspace(v, d)
		}
		if v.open(coppice.WorkRestore, coppice.WorkPurge) != nil {
			return nil
		}
		d.Workspace = &coppice.Workspace{
			ProjectID: v.Project.ID, TaskID: t.ID, Kind: v.Project.Policy.Workspace.Kind, Node: v.place(coppice.WorkPrepare),
			Branch: t.BranchName(), CreatedAt: v.Now,
		}
		t.Next.Evidence = fmt.Sprintf("The work on this task so far is part of %s. Your workspace starts again from there.\n", v.onto())
	} else if t.Stage.Awaits() {
		t.Next.Evidence = "Your work on this task passed its checks. A person reviewed it and asks for changes.\n"
	} else if t.Failure != nil {
		t.Next.Evidence = "The task was tried before and failed: " + t.Failure.Text + "\n"
		if l := v.Landing; l != nil && l.Evidence != "" {
			t.Next.Evidence += "\n" + l.Evidence
		}
	}
	if t.Outcome == coppice.OutcomeDone {
		t.DoneAt = t.EndedAt
	}
	t.Next.Note = v.note(coppice.VerbContinue)
	if a := v.asked(coppice.VerbContinue); a.By.Kind == coppice.ActorEngine { // a reaction, whose message says why
		t.Next.Evidence = ""
	}
	grant(v, &t)
	t.Round++
	t.Stage, t.Outcome, t.EndedAt, t.Failure, t.Wait, t.Warning, t.HookFailed = coppice.StageWaiting, "", time.Time{}, nil, nil, "", ""
	return d
}

// dropped returns a landing that a person does not want any more, or nil if it
// has ended already.
func dropped(v *View, l *coppice.Landing) *coppice.Landing {
	if l == nil || !l.EndedAt.IsZero() {
		return nil
	}
	c := *l
	c.Outcome, c.EndedAt = coppice.LandingDropped, v.Now
	return &c
}

// trashOldWorkspace moves the workspace of a task that is done to the trash, so
// that the task can continue in a new one. It returns givenUp if that does not
// work.
func trashOldWorkspace(v *View, givenUp *Decision) *Decision {
	ws := v.Workspace
	switch {
	case v.open(coppice.WorkRemove, coppice.WorkRestore, coppice.WorkPrepare) != nil, ws.RetryAt.After(v.Now):
		return nil
	case ws.Tries >= mostRemovals:
		t := v.Task
		t.Warning = "cannot continue: its old workspace could not be removed"
		givenUp.Kind, givenUp.Reason, givenUp.Task = coppice.EventTaskWarned, t.Warning, &t
		return givenUp
	}
	d := removeWork(v, "its old workspace goes to the trash first")
	d.By = "continue"
	return d
}
