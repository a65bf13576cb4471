package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"coppice"
	"coppice/price"
)

// Event is an event of an agent, or a notice of its host, that changes facts.
type Event struct {
	coppice.AgentEvent
	At   time.Time
	Host bool // from the host itself
}

// Facts are the results of a batch of a session's output: rows to write, and
// events for the log, in order.
type Facts struct {
	Session   *coppice.Session // nil if it does not change
	Questions []coppice.Question
	Messages  []coppice.Message
	Events    []coppice.Event // without At and By
}

// Read returns the events in a batch of output that change facts.
func Read(out []coppice.Output) []Event {
	var all []Event
	for _, o := range out {
		if o.Kind != coppice.OutputEvent && o.Kind != coppice.OutputHost || !changesFacts(o.Data) {
			continue
		}
		var e coppice.AgentEvent
		if err := json.Unmarshal(o.Data, &e); err != nil {
			continue // not an event; the bytes are kept
		}
		all = append(all, Event{AgentEvent: e, At: o.At, Host: o.Kind == coppice.OutputHost})
	}
	return all
}

// changesFacts reports whether an event has a kind that changes facts. Most do
// not, and decoding every event would cost more than storing it.
func changesFacts(data []byte) bool {
	rest, ok := bytes.CutPrefix(data, []byte(`{"kind":"`))
	if !ok {
		return true // another program wrote it, so it is decoded
	}
	for _, k := range coppice.FactKinds {
		if after, ok := bytes.CutPrefix(rest, []byte(k)); ok && bytes.HasPrefix(after, []byte(`"`)) {
			return true
		}
	}
	notice := bytes.HasPrefix(rest, []byte(coppice.KindNotice+`"`))
	return notice && (bytes.Contains(rest, []byte(`"name":"`+coppice.NameUndelivered+`"`)) || bytes.Contains(rest, []byte(`"name":"`+coppice.NameDropped+`"`)))
}

// recalls reports whether an event revokes the delivery of a message.
func (s Event) recalls() bool {
	return !s.Host && s.Kind == coppice.KindNotice && s.Name == coppice.NameUndelivered
}

// unpriced reports whether an event has tokens whose cost the agent does not
// report.
func (s Event) unpriced() bool {
	return s.Kind == coppice.KindUsage && s.Usage != nil && s.Usage.CostUSD == 0
}

// Draw returns the facts that follow from events: questions, state, usage, the
// agent's own id of the conversation, and messages that it did not read.
// messages are those of the session's task, with their texts as the output has
// them. prices are needed if an agent reports tokens and no cost. Draw is a pure
// function. A session that is not live gets no facts.
func Draw(session coppice.Session, messages []coppice.Message, said []Event, prices price.Table) Facts {
	f := Facts{}
	if !session.State.Live() {
		return f
	}
	s := session
	for _, e := range said {
		switch {
		case e.Host: // only its notices count
			if e.Name == coppice.NameDropped {
				s.Dropped = e.Bytes
			}
		case e.Kind == coppice.KindInit:
			if e.Conversation != "" {
				s.Conversation = e.Conversation
			}
			if e.Model != "" && s.Model == "" {
				s.Model = e.Model
			}
		case e.Kind == coppice.KindUsage && e.Usage != nil:
			s.Usage = prices.Add(s.Model, s.Usage, *e.Usage)
		case e.Kind == coppice.KindState && e.State.Live():
			s.State = e.State
		case e.Kind == coppice.KindQuestion:
			f.question(s, e)
		case e.recalls():
			f.undelivered(s, messages, e)
		}
	}
	f.changed(session, s)
	return f
}

func (f *Facts) log(s coppice.Session, kind coppice.EventKind, reason string) {
	f.Events = append(f.Events, coppice.Event{
		Kind: kind, ProjectID: s.ProjectID, TaskID: s.TaskID, SessionID: s.ID, Subject: s.Key, Reason: reason,
	})
}

func (f *Facts) question(s coppice.Session, e Event) {
	q := coppice.Question{TaskID: s.TaskID, SessionID: s.ID, Ref: e.Ref, Text: e.Text, Options: e.Options, Descriptions: e.Descriptions, Several: e.Several, AskedAt: e.At}
	if e.Rule != nil {
		q.Kind, q.Rule = coppice.QuestionPermission, e.Rule
	}
	f.Questions = append(f.Questions, q)
	f.log(s, coppice.EventQuestionAsked, e.Text)
}

// undelivered revokes the delivery of a message: the agent accepted it and ended
// before it read it. The next session gets it.
func (f *Facts) undelivered(s coppice.Session, messages []coppice.Message, e Event) {
	for _, m := range messages {
		delivered := m.SessionID == s.ID && !m.DeliveredAt.IsZero()
		unsettled := m.SessionID != s.ID && m.DeliveredAt.IsZero() // its delivery is not recorded yet
		again := slices.ContainsFunc(f.Messages, func(o coppice.Message) bool { return o.ID == m.ID })
		if !delivered && !unsettled || again || m.Text != e.Text {
			continue
		}
		m.SessionID, m.DeliveredAt, m.Failed = s.ID, time.Time{}, e.Reason
		f.Messages = append(f.Messages, m)
		f.log(s, coppice.EventMessageFailed, e.Reason)
		return
	}
}

// changed adds the events for changes of the session's row.
func (f *Facts) changed(before, s coppice.Session) {
	if before.State == s.State && before.Usage == s.Usage && before.Conversation == s.Conversation && before.Model == s.Model && before.Dropped == s.Dropped {
		return
	}
	f.Session = &s
	if before.Usage.CostUSD != s.Usage.CostUSD {
		f.log(s, coppice.EventSessionUsage, fmt.Sprintf("%.2f USD", s.Usage.CostUSD))
	}
	if before.Usage.Turns != s.Usage.Turns {
		f.log(s, coppice.EventSessionTurn, fmt.Sprint(s.Usage.Turns))
	}
	if before.State != s.State {
		f.log(s, coppice.EventSessionState, string(s.State))
	}
	if before.Conversation == "" && s.Conversation != "" && s.Parked() {
		// A call of a tool can overtake what the agent says first. The event has the
		// engine plan when the session is stopped, which now is possible.
		f.log(s, coppice.EventSessionState, "parked; its conversation can be resumed")
	}
}
