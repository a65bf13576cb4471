package codex

import (
	"encoding/json"
	"slices"
	"strconv"

	"coppice"
	"coppice/agent"
	"coppice/internal/jsonrpc"
)

// message is a text for the agent.
type message struct {
	id    string // with which the agent confirms that it accepted it
	text  string
	paths []string // of its images
	own   bool     // from the driver, not a person; dropped after the turn
	open  bool     // sent, and not known whether it was accepted
	later bool     // the current turn did not accept it
	then  func()   // called when it is known whether the agent accepted it
}

func (d *driver) message(text string, images []agent.Image) *message {
	d.messages++
	return &message{id: "message-" + strconv.Itoa(d.messages), text: text, paths: paths(images)}
}

func paths(images []agent.Image) (all []string) {
	for _, i := range images {
		all = append(all, i.Path)
	}
	return all
}

// first reports whether it is the prompt.
func (m *message) first() bool { return m.id == "message-1" }

type (
	turnParams struct {
		Thread   string          `json:"threadId"`
		Turn     string          `json:"turnId,omitempty"`
		Expected string          `json:"expectedTurnId,omitempty"`
		Message  string          `json:"clientUserMessageId,omitempty"`
		Model    string          `json:"model,omitempty"`
		Effort   string          `json:"effort,omitempty"`
		Input    []input         `json:"input,omitempty"`
		Schema   json.RawMessage `json:"outputSchema,omitempty"`
	}
	input struct {
		Type string `json:"type"`
		Text string `json:"text,omitempty"`
		Path string `json:"path,omitempty"`
	}
)

// input returns the message in the protocol's form. The agent reads images from
// their files.
func (m *message) input() []input {
	all := []input{{Type: "text", Text: m.text}}
	for _, p := range m.paths {
		all = append(all, input{Type: "localImage", Path: p})
	}
	return all
}

// proceed sends waiting messages if possible. It ends the agent if none waits
// and the turn has ended.
func (d *driver) proceed() {
	if d.Closed {
		return
	}
	switch d.phase {
	case turning:
		if d.turn == "" || d.interrupting {
			return
		}
		var rest []*message
		for _, m := range d.queue {
			if m.later {
				rest = append(rest, m)
				continue
			}
			d.steer(m)
		}
		d.queue = rest
	case resting:
		switch {
		case slices.ContainsFunc(d.sent, func(m *message) bool { return m.open }):
			// The agent has not answered yet whether it accepted a message.
		case len(d.queue) > 0:
			d.begin()
		default:
			d.Become(coppice.SessionIdle)
			if !d.keepOpen {
				d.Finish()
			}
		}
	}
}

// begin starts a turn with the message that has waited longest. Others follow
// when the turn runs.
func (d *driver) begin() {
	m := d.queue[0]
	d.queue = d.queue[1:]
	for _, other := range d.queue {
		other.later = false
	}
	d.phase, d.turn, d.words, d.reported = turning, "", "", ""
	d.interrupting, d.interrupted, d.keepOpen = false, false, false
	m.open, m.later = true, false
	d.sent = append(d.sent, m)
	d.rpc.Call("turn/start", turnParams{Thread: d.conversation, Message: m.id, Model: d.model, Effort: d.effort, Input: m.input(), Schema: d.schema},
		func(p jsonrpc.Message) { d.started(p, m) })
	d.model, d.effort = "", "" // they also apply to later turns
	d.Become(coppice.SessionWorking)
}

// steer sends a message to the current turn.
func (d *driver) steer(m *message) {
	m.open = true
	d.sent = append(d.sent, m)
	d.rpc.Call("turn/steer", turnParams{Thread: d.conversation, Expected: d.turn, Message: m.id, Input: m.input()}, func(p jsonrpc.Message) { d.steered(p, m) })
}

// started takes the answer to the request for a turn.
func (d *driver) started(p jsonrpc.Message, m *message) {
	m.open = false
	if p.Error != nil {
		d.sent = slices.DeleteFunc(d.sent, func(o *message) bool { return o == m })
		if d.phase == turning && d.turn == "" {
			d.end(ending{reason: "failed", failure: errorFailure(p.Error)})
		}
		return
	}
	d.seen(m.id)
	var r struct {
		Turn turn `json:"turn"`
	}
	if json.Unmarshal(p.Result, &r) == nil && r.Turn.ID != "" {
		d.turns[r.Turn.ID] = true
	}
}

// steered takes the answer to a message that should steer a turn. If the
// message was too late, or cannot steer, it starts the next turn.
func (d *driver) steered(p jsonrpc.Message, m *message) {
	m.open = false
	if m.then != nil {
		m.then()
	}
	if p.Error == nil && !d.echoes {
		d.seen(m.id) // the agent will not confirm it otherwise
	}
	unseen := slices.Contains(d.sent, m)
	if unseen && (p.Error != nil || d.phase == resting) {
		d.sent = slices.DeleteFunc(d.sent, func(o *message) bool { return o == m })
		if !m.own {
			m.later = true
			d.queue = append(d.queue, m)
			if d.phase == turning {
				d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "queued", Text: "the message waits for the end of the turn"})
			}
		}
	}
	if d.phase == resting {
		d.proceed()
	}
}

// seen records that a message is part of the conversation.
func (d *driver) seen(id string) {
	i := slices.IndexFunc(d.sent, func(m *message) bool { return m.id == id })
	if i < 0 {
		return
	}
	m := d.sent[i]
	d.sent = slices.Delete(d.sent, i, i+1)
	if !m.own && !m.first() {
		d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "delivered", Text: "the agent has read the message"})
	}
}

// turn is the agent's description of a turn.
type turn struct {
	ID     string          `json:"id"`
	Status string          `json:"status"`
	Error  json.RawMessage `json:"error"`
}

func (d *driver) turnNews(p jsonrpc.Message) {
	var n struct {
		Thread string `json:"threadId"`
		Turn   turn   `json:"turn"`
	}
	if json.Unmarshal(p.Params, &n) != nil || n.Thread == "" || n.Thread != d.conversation || d.phase == opening {
		return
	}
	if p.Method == "turn/started" {
		if d.phase == resting { // without a message, as some features do
			d.phase, d.words, d.reported, d.interrupting, d.interrupted = turning, "", "", false, false
		}
		d.turn = n.Turn.ID
		d.turns[n.Turn.ID] = true
		if !d.waits() {
			d.Become(coppice.SessionWorking)
		}
		if d.interrupting {
			d.interrupt()
		}
		d.proceed()
		return
	}
	if d.phase != turning || (d.turn != "" && d.turn != n.Turn.ID) || (d.turn == "" && !d.turns[n.Turn.ID]) {
		return
	}
	e := ending{reason: agent.Clip(n.Turn.Status), text: d.words}
	switch {
	case n.Turn.Status == "completed":
	case n.Turn.Status == "interrupted" && (d.interrupting || d.Stopped):
		e.failure = coppice.Failf(coppice.ClassCancelled, "its turn was interrupted", "")
	case n.Turn.Status == "interrupted":
		e.failure = coppice.Failf(coppice.ClassLost, "its turn was interrupted without a request", "")
	case len(n.Turn.Error) > 0 && string(n.Turn.Error) != "null":
		e.failure = d.judge(n.Turn.Error)
	default:
		e.failure = agent.Fail(coppice.ClassUnknown, "the agent's turn ended with "+agent.Clip(n.Turn.Status)+" without a reason")
	}
	d.end(e)
}

// ending is how a turn ended.
type ending struct {
	reason  string
	text    string // the final message
	failure *coppice.Failure
}

func (d *driver) end(e ending) {
	d.forget()
	interrupted := e.failure != nil && e.failure.Class == coppice.ClassCancelled
	if e.failure != nil && !interrupted && e.failure.Text != d.reported {
		d.Report(e.failure)
	}
	d.Emit(coppice.AgentEvent{Kind: coppice.KindTurn, Reason: e.reason, Text: e.text})
	d.last, d.phase, d.turn = &e, resting, ""
	d.keepOpen = interrupted && d.interrupting // a person did it, to send a message
	d.interrupting, d.interrupted = false, false
	// A message that the agent accepted and did not read is lost with the turn.
	var open, again []*message
	for _, m := range d.sent {
		switch {
		case m.own:
		case m.open:
			open = append(open, m)
		default:
			again = append(again, m)
		}
	}
	d.sent, d.queue = open, append(again, d.queue...)
	if d.Closed {
		d.Become(coppice.SessionIdle)
	}
	d.proceed()
}

// forget drops questions that nobody waits for any more. Tools can stay in use
// after the turn: a command can run in the background.
func (d *driver) forget() {
	for _, id := range slices.Clone(d.order) {
		d.withdraw(id)
	}
}
