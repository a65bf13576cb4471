package ingest

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coppice"
	"coppice/agent"
	"coppice/price"
)

func TestDraw(t *testing.T) {
	t.Parallel()
	session := coppice.Session{ID: 4, ProjectID: 1, TaskID: 2, Key: "app-2.1", State: coppice.SessionWorking, Usage: coppice.Usage{InputTokens: 1}}
	log := func(kind coppice.EventKind, reason string) coppice.Event {
		return coppice.Event{Kind: kind, ProjectID: 1, TaskID: 2, SessionID: 4, Subject: "app-2.1", Reason: reason}
	}
	changed := func(f func(*coppice.Session)) *coppice.Session {
		s := session
		f(&s)
		return &s
	}
	messages := []coppice.Message{
		{ID: 1, SessionID: 4, Text: "first", DeliveredAt: noon}, {ID: 2, SessionID: 4, Text: "second", DeliveredAt: noon},
		{ID: 3, SessionID: 3, Text: "second", DeliveredAt: noon}, {ID: 5, SessionID: 0, Text: "third"},
	}
	unread := agent.Undelivered("second")
	for name, c := range map[string]struct {
		said []Event
		want Facts
	}{
		"nothing": {nil, Facts{}},
		"its name, once": {
			[]Event{{AgentEvent: coppice.AgentEvent{Kind: coppice.KindInit, Conversation: "talk", Model: "big"}}, {AgentEvent: coppice.AgentEvent{Kind: coppice.KindInit, Model: "small"}}},
			Facts{Session: changed(func(s *coppice.Session) { s.Conversation, s.Model = "talk", "big" })},
		},
		"what it used": {
			[]Event{{AgentEvent: coppice.AgentEvent{Kind: coppice.KindUsage, Usage: &coppice.Usage{CostUSD: 0.5}}}, {AgentEvent: coppice.AgentEvent{Kind: coppice.KindUsage}}},
			Facts{Session: changed(func(s *coppice.Session) { s.Usage.CostUSD = 0.5 }), Events: []coppice.Event{log(coppice.EventSessionUsage, "0.50 USD")}},
		},
		"another turn": {
			[]Event{{AgentEvent: coppice.AgentEvent{Kind: coppice.KindUsage, Usage: &coppice.Usage{Turns: 1}}}, {AgentEvent: coppice.AgentEvent{Kind: coppice.KindUsage, Usage: &coppice.Usage{Turns: 1}}}},
			Facts{Session: changed(func(s *coppice.Session) { s.Usage.Turns = 2 }), Events: []coppice.Event{log(coppice.EventSessionTurn, "2")}},
		},
		"what it does, at last": {
			[]Event{{AgentEvent: coppice.AgentEvent{Kind: coppice.KindState, State: coppice.SessionIdle}}, {AgentEvent: coppice.AgentEvent{Kind: coppice.KindState, State: coppice.SessionWaiting}}},
			Facts{Session: changed(func(s *coppice.Session) { s.State = coppice.SessionWaiting }), Events: []coppice.Event{log(coppice.EventSessionState, "waiting")}},
		},
		"it does not end by saying so": {[]Event{{AgentEvent: coppice.AgentEvent{Kind: coppice.KindState, State: coppice.SessionDone}}}, Facts{}},
		"a question": {
			[]Event{{AgentEvent: coppice.AgentEvent{Kind: coppice.KindQuestion, Ref: "q", Text: "Which?", Options: []string{"a"}}, At: noon}},
			Facts{
				Questions: []coppice.Question{{TaskID: 2, SessionID: 4, Ref: "q", Text: "Which?", Options: []string{"a"}, AskedAt: noon}},
				Events:    []coppice.Event{log(coppice.EventQuestionAsked, "Which?")},
			},
		},
		"permission": {
			[]Event{{AgentEvent: coppice.AgentEvent{Kind: coppice.KindQuestion, Ref: "p", Rule: &coppice.Rule{Tool: "run"}}}},
			Facts{
				Questions: []coppice.Question{{TaskID: 2, SessionID: 4, Ref: "p", Kind: coppice.QuestionPermission, Rule: &coppice.Rule{Tool: "run"}}},
				Events:    []coppice.Event{log(coppice.EventQuestionAsked, "")},
			},
		},
		"a message it did not read": {
			[]Event{{AgentEvent: unread}},
			Facts{
				Messages: []coppice.Message{{ID: 2, SessionID: 4, Text: "second", Failed: unread.Reason}},
				Events:   []coppice.Event{log(coppice.EventMessageFailed, unread.Reason)},
			},
		},
		"the same twice, of which there is one": {
			[]Event{{AgentEvent: unread}, {AgentEvent: unread}},
			Facts{
				Messages: []coppice.Message{{ID: 2, SessionID: 4, Text: "second", Failed: unread.Reason}},
				Events:   []coppice.Event{log(coppice.EventMessageFailed, unread.Reason)},
			},
		},
		"a message that nobody has noted yet": {
			[]Event{{AgentEvent: agent.Undelivered("third")}},
			Facts{
				Messages: []coppice.Message{{ID: 5, SessionID: 4, Text: "third", Failed: unread.Reason}},
				Events:   []coppice.Event{log(coppice.EventMessageFailed, unread.Reason)},
			},
		},
		"tokens without a cost": {
			[]Event{{AgentEvent: coppice.AgentEvent{Kind: coppice.KindInit, Model: "gpt-6-sol"}}, {AgentEvent: coppice.AgentEvent{Kind: coppice.KindUsage, Usage: &coppice.Usage{OutputTokens: 1e6}}}},
			Facts{
				Session: changed(func(s *coppice.Session) {
					s.Model, s.Usage = "gpt-6-sol", coppice.Usage{InputTokens: 1, OutputTokens: 1e6, CostUSD: 10.000002, Priced: true, Estimated: true}
				}),
				Events: []coppice.Event{log(coppice.EventSessionUsage, "10.00 USD")},
			},
		},
		"the host's own": {
			[]Event{{AgentEvent: agent.Dropped("", 7), Host: true}, {AgentEvent: coppice.AgentEvent{Kind: coppice.KindState, State: coppice.SessionIdle}, Host: true}},
			Facts{Session: changed(func(s *coppice.Session) { s.Dropped = 7 })},
		},
	} {
		if d := cmp.Diff(c.want, Draw(session, messages, c.said, price.New())); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		dead := session
		dead.State = coppice.SessionLost
		if d := cmp.Diff(Facts{}, Draw(dead, messages, c.said, price.New())); d != "" {
			t.Errorf("%s, of the dead (-want +got):\n%s", name, d)
		}
	}
}

// The engine plans the stop of a parked session when it learns how to resume its
// conversation. An event has it look.
func TestConversationOfAParkedSession(t *testing.T) {
	t.Parallel()
	s := coppice.Session{ID: 4, State: coppice.SessionWorking, ParkedAt: noon}
	init := []Event{{AgentEvent: coppice.AgentEvent{Kind: coppice.KindInit, Conversation: "talk"}}}
	f := Draw(s, nil, init, price.New())
	if len(f.Events) != 1 || f.Session == nil || f.Session.Conversation != "talk" {
		t.Fatalf("a conversation leads to %+v", f)
	}
	if again := Draw(*f.Session, nil, init, price.New()); len(again.Events) != 0 {
		t.Errorf("the same conversation leads to %+v", again.Events)
	}
}

func TestChangesFacts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		e    coppice.AgentEvent
		want bool
	}{
		{agent.Undelivered("x"), true},
		{coppice.AgentEvent{Kind: coppice.KindNotice, Name: "delivered", Text: "x"}, false},
		{coppice.AgentEvent{Kind: coppice.KindText, Text: `"name":"undelivered"`}, false},
		{coppice.AgentEvent{Kind: coppice.KindQuestion}, true},
	} {
		data, err := json.Marshal(c.e)
		if err != nil {
			t.Fatal(err)
		}
		if got := changesFacts(data); got != c.want {
			t.Errorf("%s: %v", data, got)
		}
	}
}

func TestWhichSessionsFailed(t *testing.T) {
	t.Parallel()
	zero, three := 0, 3
	for name, c := range map[string]struct {
		r    coppice.RunResult
		want bool
	}{
		"done":           {coppice.RunResult{Exit: &zero}, false},
		"an exit code":   {coppice.RunResult{Exit: &three}, true},
		"a signal":       {coppice.RunResult{Signal: "SIGSEGV"}, true},
		"lost":           {coppice.RunResult{Lost: true}, true},
		"stopped":        {coppice.RunResult{Exit: &three, Stopped: true}, false},
		"a failure":      {coppice.RunResult{Exit: &zero, Failure: coppice.Failf(coppice.ClassImplementation, "x", "")}, true},
		"an own remedy":  {coppice.RunResult{Exit: &three, Failure: coppice.Failf(coppice.ClassBilling, "x", "")}, false},
		"a person's end": {coppice.RunResult{Exit: &three, Failure: coppice.Failf(coppice.ClassCancelled, "x", "")}, false},
	} {
		if got := failed(c.r); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
