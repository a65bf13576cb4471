package engine

import (
	"fmt"
	"strings"
	"time"

	"coppice"
)

// talk delivers messages and answers to the running session. A session that is
// being stopped gets no more messages: they go to the next one. A parked session
// gets none until dispatch has a free session for it.
func talk(v *View) *Decision {
	s := v.lastSession()
	if s == nil || !s.State.Live() || s.StartedAt.IsZero() || !s.StopAt.IsZero() || s.Parked() || v.Task.Ended() {
		return nil
	}
	if v.open(coppice.WorkSend) != nil {
		return nil // one at a time, in order
	}
	return nextMessage(v, s)
}

// nextMessage delivers the next answer or message to a session. It returns nil
// if there is none.
func nextMessage(v *View, s *coppice.Session) *Decision {
	for _, q := range v.Questions {
		if q.SessionID == s.ID && !q.ByCall() && !q.AnsweredAt.IsZero() && q.ClosedAt.IsZero() {
			return sendWork(v, s, fmt.Sprintf("question/%d/%d", q.ID, q.AnsweredAt.UnixNano()), coppice.SendSpec{Session: s.Key, Text: q.Answer, Question: q.Ref})
		}
	}
	for _, m := range v.Messages {
		held := m.Kind == coppice.MessageNext && s.State != coppice.SessionIdle || s.Role.Info().Prepares && m.Kind != coppice.MessageInterrupt
		if m.SessionID != s.ID && !held {
			return sendWork(v, s, messageKey(m, s.ID), coppice.SendSpec{Session: s.Key, Kind: m.Kind, Text: m.Text, Images: m.Images})
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

// undeliverable settles messages that no session will get: those for one session
// that has ended. Messages to an ended task are marked so that a person sees it.
// They are delivered if the task continues.
func undeliverable(v *View) *Decision {
	s := v.lastSession()
	gone := s == nil || !s.State.Live()
	for _, m := range v.Messages {
		if w := v.open(coppice.WorkSend); w != nil && w.Key == messageKey(m, w.SessionID) {
			continue // its result shows it
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
		case v.Task.Ended() && m.Failed == "" && v.asked(coppice.VerbContinue) == nil:
			m.Failed = "the task ended first; it is delivered if the task continues"
		default:
			continue
		}
		d.Reason, d.Messages = m.Failed, []coppice.Message{m}
		return d
	}
	return nil
}

// chooseModel stores the model to which a session could not change, for the
// task's next one, and says so in the message. It does not do so if the session
// used a fallback.
func chooseModel(v *View, s *coppice.Session, m *coppice.Message) *coppice.Task {
	if s != nil && (s.Agent != v.Task.Agent || v.usesFallback(s)) {
		m.Failed += fmt.Sprintf("; %s is the fallback for %s, so the model is not kept", v.account(s.Agent, s.Model), v.preferredAccount())
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

// nextModel returns the model of the next session of the same agent. A fallback
// model is kept.
func nextModel(v *View, s *coppice.Session) string {
	if s.Agent == v.Task.Agent && v.Task.Model != "" && !v.usesFallback(s) {
		return v.Task.Model
	}
	return s.Model
}

// interrupted reports whether the last message to a session was a person's
// interrupt without a text.
func interrupted(v *View, s *coppice.Session) bool {
	var last coppice.Message
	for _, m := range v.Delivered {
		if m.SessionID == s.ID && !m.DeliveredAt.IsZero() && !m.DeliveredAt.Before(last.DeliveredAt) {
			last = m
		}
	}
	return last.Kind == coppice.MessageInterrupt && last.Text == ""
}

const wasInterrupted = "was interrupted"

// yourTurn waits for a person after a turn of an interactive task.
func yourTurn(v *View, s *coppice.Session) *Decision {
	d := pause(v, s)
	d.Reason, d.Task.Wait.Text = coppice.ReasonTurn, coppice.ReasonTurn
	d.Task.Wait.Fix = fmt.Sprintf("say what is next with `coppice continue %s \"…\"`, or attach again with `coppice attach %s`; if it is finished, run `coppice land %s`", v.Task.Key, v.Task.Key, v.Task.Key)
	return d
}

// pause waits for a person after an interrupt.
func pause(v *View, s *coppice.Session) *Decision {
	t := v.Task
	t.Stage, t.Next = coppice.StageWaiting, resumeSession(v, s)
	t.Wait = &coppice.Wait{
		On: coppice.WaitPerson, Text: wasInterrupted,
		Fix: fmt.Sprintf("to continue, run: coppice retry %s --note \"…\"", t.Key),
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
					if strings.Contains(q.Answer, coppice.NobodyAnswered) {
						q.AskedAt = v.Now // and its time-out starts again
					}
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

// settleMessage stores whether a session got a message. A model with which it
// continues, or to which it could not change, becomes the task's model.
func settleMessage(v *View, m coppice.Message, session int64, r coppice.SendResult) *Decision {
	if m.SessionID == session && m.Failed != "" {
		r = coppice.SendResult{Why: m.Failed} // the agent got it, and ended before it read it
	}
	d := &Decision{Kind: sendKind(r), Reason: r.Why}
	m.SessionID, m.Failed = session, r.Why
	if r.Delivered {
		m.DeliveredAt, m.Failed = v.Now, ""
	} else if m.Failed == "" {
		m.Failed = "it did not arrive"
	}
	if m.Kind == coppice.MessageModel {
		s := v.sessionByID(session)
		if !r.Delivered {
			d.Task = chooseModel(v, s, &m)
		} else if s != nil {
			c, t := *s, v.Task
			c.Model = m.Text
			if c.Account = v.account(c.Agent, c.Model); c.Account == c.Agent {
				c.Account = ""
			}
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
