package engine

import (
	"fmt"
	"time"

	"coppice"
)

// talk delivers messages and answers to the running session. One that is being
// stopped hears nothing more; what is said to it goes to the next. One that is
// parked hears nothing until dispatch has a free session for it.
func talk(v *View) *Decision {
	s := v.session()
	if s == nil || !s.State.Live() || s.StartedAt.IsZero() || !s.StopAt.IsZero() || s.Parked() || v.Task.Ended() {
		return nil
	}
	if v.open(coppice.WorkSend) != nil {
		return nil // one at a time, in order
	}
	return nextWord(v, s)
}

// nextWord delivers what a session is to hear next: an answer, or a message. It
// returns nil when there is nothing.
func nextWord(v *View, s *coppice.Session) *Decision {
	for _, q := range v.Questions {
		if q.SessionID == s.ID && !q.AnsweredAt.IsZero() && q.ClosedAt.IsZero() {
			return sendWork(v, s, fmt.Sprintf("question/%d/%d", q.ID, q.AnsweredAt.UnixNano()), coppice.SendSpec{Session: s.Key, Text: q.Answer, Question: q.Ref})
		}
	}
	for _, m := range v.Messages {
		held := m.Kind == coppice.MessageNext && s.State != coppice.SessionIdle
		if m.SessionID != s.ID && !held {
			return sendWork(v, s, messageKey(m, s.ID), coppice.SendSpec{Session: s.Key, Kind: m.Kind, Text: m.Text})
		}
	}
	return nil
}

func sendWork(v *View, s *coppice.Session, key string, spec coppice.SendSpec) *Decision {
	spec.ID = key
	return &Decision{By: "talk", Kind: coppice.EventWorkOffered, Reason: "delivers " + key, Offer: &coppice.Work{
		Kind: coppice.WorkSend, Key: key, Pool: v.place(coppice.WorkSend), SessionID: s.ID, Spec: coppice.Raw(spec),
	}}
}

func messageKey(m coppice.Message, session int64) string {
	return fmt.Sprintf("message/%d/%d", m.ID, session)
}

// unheard settles messages that nobody will hear: those that meant one session
// which is over. What was said to a task that has ended is marked so that a
// person sees it; it is heard if the task goes on.
func unheard(v *View) *Decision {
	s := v.session()
	gone := s == nil || !s.State.Live()
	for _, m := range v.Messages {
		if w := v.open(coppice.WorkSend); w != nil && w.Key == messageKey(m, w.SessionID) {
			continue // its result tells
		}
		d := &Decision{By: "talk", Kind: coppice.EventMessageFailed}
		switch {
		case m.Kind == coppice.MessageModel && m.Text == coppice.ModelAuto:
			m.Failed = "a model is chosen when a session starts"
			d.Task = chooseModel(v, s, &m)
		case m.Kind == coppice.MessageModel && gone:
			m.Failed = "the session ended first"
			d.Task = chooseModel(v, s, &m)
		case m.Kind == coppice.MessageInterrupt && m.Text == "" && gone:
			m.Failed = "the session ended first"
		case v.Task.Ended() && m.Failed == "":
			m.Failed = "the task ended first; it is heard if the task goes on"
		default:
			continue
		}
		d.Reason, d.Messages = m.Failed, []coppice.Message{m}
		return d
	}
	return nil
}

// chooseModel remembers the model that a session could not change to, for the
// task's next one, and says so in the message. An agent that stands in for the
// task's own has no say in it.
func chooseModel(v *View, s *coppice.Session, m *coppice.Message) *coppice.Task {
	if s != nil && (s.Agent != v.Task.Agent || v.standsIn(s)) {
		m.Failed += fmt.Sprintf("; %s stands in for %s, so the model is not kept", v.account(s.Agent, s.Model), v.first())
		return nil
	}
	m.Failed += "; the next session uses " + m.Text
	t := v.Task
	t.Model = m.Text
	if t.Next != nil && t.Next.Agent == t.Agent {
		next := *t.Next
		next.Model = m.Text
		t.Next = &next
	}
	return &t
}

// nextModel is the model of the session that follows one by the same agent. One
// that stands in with another model goes on with that.
func nextModel(v *View, s *coppice.Session) string {
	if s.Agent == v.Task.Agent && v.Task.Model != "" && !v.standsIn(s) {
		return v.Task.Model
	}
	return s.Model
}

// interrupted tells whether the last word that a session heard was a person's
// interrupt, with nothing said after it.
func interrupted(v *View, s *coppice.Session) bool {
	var last coppice.Message
	for _, m := range v.Heard {
		if m.SessionID == s.ID && !m.DeliveredAt.IsZero() && !m.DeliveredAt.Before(last.DeliveredAt) {
			last = m
		}
	}
	return last.Kind == coppice.MessageInterrupt && last.Text == ""
}

const wasInterrupted = "was interrupted"

// pause waits for a person after an interrupt.
func pause(v *View, s *coppice.Session) *Decision {
	t := v.Task
	t.Stage, t.Next = coppice.StageWaiting, follows(v, s)
	t.Wait = &coppice.Wait{
		On: coppice.WaitPerson, Text: wasInterrupted,
		Fix: fmt.Sprintf("say how to go on: coppice retry %s --note \"…\"", t.Key),
	}
	return &Decision{Kind: coppice.EventTaskStage, Reason: t.Wait.Text, Task: &t}
}

func settleSend(v *View, w coppice.Work) *Decision {
	r, fail := result[coppice.SendResult](w)
	if fail != nil {
		r = coppice.SendResult{Why: fail.Text}
	}
	spec, err := coppice.DecodeSpec[coppice.SendSpec](w)
	if err == nil && spec.Question != "" {
		for _, q := range v.Questions {
			if q.SessionID == w.SessionID && q.Ref == spec.Question && q.ClosedAt.IsZero() {
				if r.Delivered {
					q.ClosedAt = v.Now
				} else { // it is open again, for another answer
					q.Answer, q.AnsweredAt = "", time.Time{}
				}
				return &Decision{Kind: sendKind(r), Reason: r.Why, Questions: []coppice.Question{q}}
			}
		}
	}
	for _, m := range v.Messages {
		if w.Key == messageKey(m, w.SessionID) {
			return settleMessage(v, m, w.SessionID, r)
		}
	}
	return &Decision{Kind: sendKind(r), Reason: r.Why}
}

// settleMessage takes note of whether a session heard a message. A model that
// it goes on with, or could not change to, is the task's from now on.
func settleMessage(v *View, m coppice.Message, session int64, r coppice.SendResult) *Decision {
	if m.SessionID == session && m.Failed != "" {
		r = coppice.SendResult{Why: m.Failed} // the agent had it, and ended before it read it
	}
	d := &Decision{Kind: sendKind(r), Reason: r.Why}
	m.SessionID, m.Failed = session, r.Why
	if r.Delivered {
		m.DeliveredAt, m.Failed = v.Now, ""
	} else if m.Failed == "" {
		m.Failed = "it did not arrive"
	}
	if m.Kind == coppice.MessageModel {
		s := v.byID(session)
		if !r.Delivered {
			d.Task = chooseModel(v, s, &m)
		} else if s != nil {
			c, t := *s, v.Task
			c.Model = m.Text
			d.Session = &c
			if c.Agent == t.Agent {
				t.Model = m.Text
				d.Task = &t
			}
		}
	}
	d.Messages = []coppice.Message{m}
	return d
}

func sendKind(r coppice.SendResult) coppice.EventKind {
	if r.Delivered {
		return coppice.EventMessageDelivered
	}
	return coppice.EventMessageFailed
}
