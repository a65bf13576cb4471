package acp

import (
	"encoding/json"
	"strings"

	"coppice"
	"coppice/agent"
)

// updateParams describes something that happened in a session.
type updateParams struct {
	Session string          `json:"sessionId"`
	Update  json.RawMessage `json:"update"`
}

// update has the fields of all kinds that matter here.
type update struct {
	Kind    string          `json:"sessionUpdate"`
	Message string          `json:"messageId"`
	Content json.RawMessage `json:"content"`
	Meta    json.RawMessage `json:"_meta"`
	Entries []planEntry     `json:"entries"`
	Cost    *cost           `json:"cost"`
}

type planEntry struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// content is a part of a message.
type content struct {
	Type  string `json:"type"`
	Text  string `json:"text,omitempty"`
	Media string `json:"mimeType,omitempty"`
	Data  []byte `json:"data,omitempty"`
}

// update takes a session/update. Before the session is open, agents send its
// past again, which is not new.
func (d *driver) update(params json.RawMessage) {
	var p updateParams
	if json.Unmarshal(params, &p) != nil || (d.phase != opening && p.Session != "" && p.Session != d.conversation) {
		return
	}
	if d.phase == opening {
		d.pastUpdate(p.Update)
		return
	}
	var u update
	if json.Unmarshal(p.Update, &u) != nil {
		// Only the fields of one kind have another shape. The kind still
		// counts.
		var k struct {
			Kind string `json:"sessionUpdate"`
		}
		if json.Unmarshal(p.Update, &k) != nil {
			return
		}
		u = update{Kind: k.Kind}
	}
	d.chunk(u.Meta)
	switch u.Kind {
	case "agent_message_chunk":
		d.speak(coppice.KindText, u.Message, text(u.Content))
	case "agent_thought_chunk":
		d.speak(coppice.KindThinking, u.Message, text(u.Content))
	case "tool_call", "tool_call_update":
		d.tool(u.Kind == "tool_call", p.Update)
	case "plan":
		d.endMessage()
		d.Emit(coppice.AgentEvent{Kind: coppice.KindPlan, Text: agent.Text(plan(u.Entries))})
	case "usage_update":
		d.cost(u.Cost)
	}
	// Other updates (commands, modes, options, the person's own messages) say
	// nothing about the work.
}

func text(raw json.RawMessage) string {
	var c content
	if json.Unmarshal(raw, &c) != nil || c.Type != "text" {
		return ""
	}
	return c.Text
}

func plan(entries []planEntry) string {
	lines := make([]string, 0, len(entries))
	for _, e := range entries {
		lines = append(lines, agent.Todo(e.Content, e.Status == "completed"))
	}
	return strings.Join(lines, "\n")
}

// speech collects the pieces of an agent's messages. An event is a whole
// message, or the part before something else happened.
type speech struct {
	kind    coppice.AgentEventKind
	message string // its id, if the agent sends one
	b       []byte
}

// maxSpeech is how much is collected before complete lines are reported.
const maxSpeech = 8 << 10

func (d *driver) speak(kind coppice.AgentEventKind, message, piece string) {
	if piece == "" {
		return
	}
	if d.speech.kind != kind || d.speech.message != message {
		d.endMessage()
	}
	d.speech.kind, d.speech.message = kind, message
	d.speech.b = append(d.speech.b, piece...)
	if len(d.speech.b) < maxSpeech {
		return
	}
	cut := strings.LastIndexByte(string(d.speech.b), '\n') + 1
	if cut == 0 && len(d.speech.b) >= agent.MaxText {
		cut = len(d.speech.b)
	}
	if cut > 0 {
		rest := append([]byte(nil), d.speech.b[cut:]...)
		d.say(d.speech.b[:cut])
		d.speech.b = rest
	}
}

// endMessage ends the current message, because something else happened.
func (d *driver) endMessage() {
	d.say(d.speech.b)
	d.speech = speech{}
}

// say reports a message without the blank lines around it.
func (d *driver) say(b []byte) {
	t := strings.TrimSpace(agent.Text(b))
	if t == "" {
		return
	}
	d.Emit(coppice.AgentEvent{Kind: d.speech.kind, Text: t})
	if d.speech.kind == coppice.KindText {
		d.turn.words = t
	}
}

// tally is the usage and the final message of a turn.
type tally struct {
	words    string
	tokens   coppice.Usage // as reported with pieces of messages
	early    coppice.Usage // of prompts that were answered before the end of the turn
	reported coppice.Usage // by the latest answer
	refused  bool          // a call was refused
	unread   []message     // messages that joined the turn and were not read
}

type cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

// cost turns the conversation's total into the difference. An agent that
// reports less than the conversation had cost before has started to count from
// zero.
func (d *driver) cost(c *cost) {
	if c == nil || !(c.Amount >= 0 && c.Amount < 1e9) || (c.Currency != "USD" && c.Currency != "") {
		return
	}
	if c.Amount < d.spent {
		if d.Usage.CostUSD > 0 {
			return // a total cannot shrink within a run
		}
		d.spent = 0
	}
	d.Spend(coppice.Usage{CostUSD: c.Amount - d.spent})
	d.spent = c.Amount
	if d.budget > 0 && d.Usage.CostUSD >= d.budget && !d.overspent {
		d.overspent = true
		if d.phase == turning && !d.cancelling && !d.Closed {
			d.cancel()
		}
	}
}

// tokens counts what the model read and wrote, under the names in use.
type tokens struct {
	Input       int64 `json:"inputTokens"`
	Output      int64 `json:"outputTokens"`
	CacheRead   int64 `json:"cachedReadTokens"`
	CacheWrite  int64 `json:"cachedWriteTokens"`
	SnakeInput  int64 `json:"input_tokens"`
	SnakeOutput int64 `json:"output_tokens"`
}

func (t tokens) usage() coppice.Usage {
	return coppice.Usage{
		InputTokens: agent.Count(t.Input) + agent.Count(t.SnakeInput), OutputTokens: agent.Count(t.Output) + agent.Count(t.SnakeOutput),
		CacheRead: agent.Count(t.CacheRead), CacheWrite: agent.Count(t.CacheWrite),
	}
}

// meta is where agents put their usage before the protocol had a field for it.
type meta struct {
	Usage tokens `json:"usage"`
	Quota struct {
		Tokens tokens `json:"token_count"`
	} `json:"quota"`
}

func metaUsage(raw json.RawMessage) coppice.Usage {
	var m meta
	if len(raw) == 0 || json.Unmarshal(raw, &m) != nil {
		return coppice.Usage{}
	}
	return m.Usage.usage().Add(m.Quota.Tokens.usage())
}

// chunk reports the usage that came with a piece of a message, so that a budget
// can end the turn.
func (d *driver) chunk(raw json.RawMessage) {
	u := metaUsage(raw)
	d.turn.tokens = d.turn.tokens.Add(u)
	d.Spend(u)
}
