package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"coppice"
)

// mostParked is how long a parked session stays alive if its agent can resume
// the conversation.
const mostParked = 15 * time.Minute

// park parks a session that can only wait, and records when it has what it waits
// for: then dispatch lets it continue when a session is free. A session that was
// parked for too long is stopped, and its conversation continues in the next
// one.
func park(v *View) *Decision {
	s := v.lastSession()
	if v.Task.Stage != coppice.StageSession || s == nil || !s.State.Live() || s.StartedAt.IsZero() || s.Screen {
		return nil
	}
	if s.StopWhy == coppice.StopParked || !parkDue(v).IsZero() && !v.Now.Before(parkDue(v)) {
		return stopParked(v)
	}
	c := *s
	d := &Decision{By: "park", Session: &c}
	switch hasNext := nextMessage(v, s) != nil; {
	case !s.StopAt.IsZero():
		return nil
	case s.Parked() && s.State != coppice.SessionWaiting && !inCall(v, s):
		c.Unpark(v.Now)
		d.Kind, d.Reason = coppice.EventSessionUnparked, "continues"
	case s.Parked() && s.ReadyAt.IsZero() && (hasNext || callReady(v, s)):
		c.ReadyAt = v.Now
		d.Kind, d.Reason = coppice.EventSessionState, coppice.ReasonAnswered
	case !s.Parked() && onlyWaits(v, s) && !hasNext && v.open(coppice.WorkSend) == nil:
		c.ParkedAt = v.Now
		d.Kind, d.Reason = coppice.EventSessionParked, "waits for a person"
		if awaitsTasks(v, s) {
			d.Reason = awaitedText(v.Awaited)
		}
	default:
		return nil
	}
	return d
}

// onlyWaits reports whether a session can do nothing before it gets a message, or
// the answer of a tool: it waits for a person's answer, or for tasks.
func onlyWaits(v *View, s *coppice.Session) bool {
	if callReady(v, s) {
		return false
	}
	return inCall(v, s) || s.State == coppice.SessionWaiting && slices.ContainsFunc(v.Questions, func(q coppice.Question) bool { return q.SessionID == s.ID && q.Open() })
}

// parkDue returns when the newest session has been parked for too long. Zero
// means never: it is not parked, or its agent cannot resume the conversation.
func parkDue(v *View) time.Time {
	if s := v.lastSession(); s != nil && s.State.Live() && s.Parked() && s.StopAt.IsZero() && v.Resumes != nil && v.Resumes(s) {
		return s.ParkedAt.Add(mostParked)
	}
	return time.Time{}
}

// stopParked asks a parked session to stop.
func stopParked(v *View) *Decision {
	d := askStop(v, coppice.StopParked)
	if d != nil {
		d.By = "park"
	}
	return d
}

// resumes reports whether the conversation of a session can continue in another
// one. The conversation of a session in a detached worktree is lost with that
// worktree. In the person's checkout no session starts automatically.
func (t *turn) resumes(p coppice.Project, s *coppice.Session) bool {
	if t.cfg.Resumes == nil || !s.Role.Lands() || conversation(s) == "" {
		return false
	}
	var own *coppice.Profile
	if profile, ok := p.Policy.Agents[s.Agent]; ok {
		own = &profile
	}
	return t.cfg.Resumes(s.Agent, own)
}

// unpark lets parked sessions continue that have what they waited for, while
// sessions are free: first the one that has waited longest. They run already, so
// pauses, limits of accounts and memory do not delay them.
func (t *turn) unpark(capacity *Capacity) error {
	slices.SortStableFunc(capacity.Parked, func(a, b coppice.Session) int { return a.ReadyAt.Compare(b.ReadyAt) })
	var left []coppice.Session
	for _, s := range capacity.Parked {
		if err := capacity.loadProject(t.tx.Reader(), s.ProjectID); err != nil {
			return err
		}
		lane := coppice.Lane{ProjectID: s.ProjectID, Track: s.Track, Agent: s.Agent}
		if s.ReadyAt.IsZero() || !s.StopAt.IsZero() || capacity.full(lane) != "" {
			left = append(left, s)
			continue
		}
		s.Budget = capacity.regrant(s)
		if err := t.decideFor(s.TaskID, func(v *View) *Decision { return unparkNow(v, s.Budget) }); err != nil {
			return err
		}
		capacity.Running[lane]++
		capacity.reserve(s)
	}
	capacity.Parked = left
	return nil
}

// unparkNow unparks the newest session of a task, which can spend up to a budget.
func unparkNow(v *View, budget coppice.USD) *Decision {
	s := *v.lastSession()
	s.Unpark(v.Now)
	s.Budget = budget
	return &Decision{By: "dispatch", Kind: coppice.EventSessionUnparked, Reason: "a session is free", Session: &s}
}

// stopExcessParked stops parked sessions if a project has more than can stay
// alive: first those that still wait, then those that were parked first. A
// session whose agent cannot resume stays.
func (t *turn) stopExcessParked(capacity Capacity) error {
	parked := slices.DeleteFunc(slices.Clone(capacity.Parked), func(s coppice.Session) bool { return !s.StopAt.IsZero() })
	slices.SortStableFunc(parked, func(a, b coppice.Session) int {
		ready := func(s coppice.Session) int { return min(1, s.ReadyAt.Compare(time.Time{})) }
		return cmp.Or(cmp.Compare(ready(a), ready(b)), a.ParkedAt.Compare(b.ParkedAt))
	})
	alive := map[int64]int{}
	for _, s := range parked {
		alive[s.ProjectID]++
	}
	for _, s := range parked {
		p := capacity.Projects[s.ProjectID]
		if alive[p.ID] <= p.Policy.Limits.MostParked() || !t.resumes(p, &s) {
			continue
		}
		alive[p.ID]--
		if err := t.decideFor(s.TaskID, stopParked); err != nil {
			return err
		}
	}
	return nil
}

// decideFor applies one decision about a task, and then asks its deciders.
func (t *turn) decideFor(task int64, decide func(*View) *Decision) error {
	v, err := t.view(task)
	if err != nil {
		return err
	}
	if d := decide(v); d != nil {
		if err := t.apply(v, d); err != nil {
			return err
		}
	}
	t.dirty.add(coppice.TaskSubject(task))
	return t.settleAll()
}

// waitForAnswer decides what follows a session that was stopped because it could
// only wait, or that ended while it waited for tasks: its task waits for the answer
// or for these tasks.
func waitForAnswer(v *View, s *coppice.Session) *Decision {
	if !s.Continues() {
		return nil
	}
	t := v.Task
	t.Stage, t.Next, t.Failure, t.Warning = coppice.StageWaiting, resumeSession(v, s), nil, ""
	if t.Wait = awaitedAnswer(v, s); t.Wait == nil {
		return enqueue(v, t.Next, "has its answer")
	}
	return &Decision{Kind: coppice.EventTaskStage, Reason: t.Wait.Text, Task: &t}
}

// answerArrived decides about a task that waits for the answer to a session that
// was stopped, or for tasks. It returns nil for a task that waits for something else.
func answerArrived(v *View) (d *Decision, waits bool) {
	t, s := v.Task, v.lastSession()
	if s == nil || !s.Continues() || t.Failure != nil || t.Wait == nil || t.Wait.On != coppice.WaitPerson && t.Wait.On != coppice.WaitTasks {
		return nil, false
	}
	if w := awaitedAnswer(v, s); w != nil {
		return wait(v, w), true
	}
	return enqueue(v, t.Next, "has its answer"), true
}

// awaitedAnswer returns the wait of a task whose session was stopped: for the
// answer to its oldest open question, or for tasks. It returns nil if there is
// neither, or if a message arrived that is not for its next turn.
func awaitedAnswer(v *View, s *coppice.Session) *coppice.Wait {
	if slices.ContainsFunc(v.Messages, func(m coppice.Message) bool { return m.Kind != coppice.MessageNext }) {
		return nil
	}
	for _, q := range v.Questions {
		if q.SessionID == s.ID && q.Open() {
			return &coppice.Wait{On: coppice.WaitPerson, Text: q.Asks(), Fix: fmt.Sprintf("answer it: coppice answer %s \"…\"", v.Task.Key)}
		}
	}
	return waitForTasks(v, s)
}

// answers returns the questions of sessions that were stopped before the answer,
// closed, and a text about them for the next session. A person on a screen gets
// no text about unanswered questions.
func answers(v *View, screen bool) (closed []coppice.Question, note string) {
	for _, q := range v.Questions {
		if !q.ClosedAt.IsZero() {
			continue
		}
		q.ClosedAt = v.Now
		closed = append(closed, q)
		text := fmt.Sprintf("you asked: %s\nThe answer is: %s", strings.TrimSpace(q.Text), q.Answer)
		if q.AnsweredAt.IsZero() {
			text = fmt.Sprintf("you asked: %s\nNobody has answered. Ask again if you still need to know.", strings.TrimSpace(q.Text))
		}
		if !screen || !q.AnsweredAt.IsZero() {
			note = joinNotes(note, text)
		}
	}
	return closed, note
}

// onceRules returns the rules that apply to one session only: the answers to
// permission questions that the session got when it was created, because the
// session before it was stopped first.
func onceRules(v *View, s *coppice.Session) []coppice.Rule {
	before := slices.IndexFunc(v.Sessions, func(o coppice.Session) bool { return o.ID == s.ID }) - 1
	if before < 0 || !v.Sessions[before].Rests() {
		return nil
	}
	var rules []coppice.Rule
	for _, q := range v.Questions {
		given := q.SessionID == v.Sessions[before].ID && !q.AnsweredAt.IsZero() && q.ClosedAt.Equal(s.CreatedAt)
		if given && q.Kind == coppice.QuestionPermission && q.Rule != nil {
			rules = append(rules, coppice.ParsePermission(q.Answer).Rule(*q.Rule))
		}
	}
	return rules
}
