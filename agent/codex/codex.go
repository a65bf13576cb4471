// Package codex speaks the JSON lines of Codex's non-interactive mode.
//
// The prompt is read from stdin, which is then closed: in this mode the agent
// takes no further messages, asks nothing and cannot be interrupted. Its events
// are items that start and complete, and one line that ends the turn.
package codex

import (
	"encoding/json"
	"regexp"
	"strings"

	"coppice"
	"coppice/agent"
)

// Name is what profiles call the protocol.
const Name = "codex"

// Protocol implements agent.Protocol.
type Protocol struct{}

// New returns the protocol.
func New() Protocol { return Protocol{} }

// Name implements agent.Protocol.
func (Protocol) Name() string { return Name }

// Launch implements agent.Protocol. The dash stands last: it tells the agent
// to read its prompt from stdin.
func (Protocol) Launch(p coppice.Profile, r agent.Request) (agent.Launch, error) {
	l, err := agent.LaunchProfile(p, r)
	if err != nil {
		return l, err
	}
	l.Argv = append(l.Argv, "-")
	return l, nil
}

// Driver implements agent.Protocol.
func (Protocol) Driver(_ coppice.Profile, r agent.Request) agent.Driver {
	return &driver{prompt: r.Prompt, conversation: r.Resume, model: r.Model, total: r.Spent, shown: map[string]bool{}}
}

type driver struct {
	prompt string
	model  string

	out, err agent.Lines
	said     agent.Tail
	events   []agent.Event

	conversation string
	state        coppice.SessionState
	stopped      bool
	completed    bool            // the turn
	failed       string          // or why it failed
	summary      string          // the last words
	total        coppice.Usage   // of the conversation, as last told
	usage        coppice.Usage   // of this run
	shown        map[string]bool // tool items whose start was told
}

// Start implements agent.Driver.
func (d *driver) Start() agent.Step {
	d.become(coppice.SessionWorking)
	s := d.take()
	s.Write, s.CloseStdin = []byte(d.prompt), true
	return s
}

// Output implements agent.Driver.
func (d *driver) Output(s agent.Stream, b []byte) agent.Step {
	if s == agent.Stderr {
		d.err.Add(b, d.stderr)
	} else {
		d.out.Add(b, d.line)
	}
	return d.take()
}

func (d *driver) stderr(line []byte) {
	d.said.Add(line)
	d.emit(agent.Event{Kind: agent.KindNotice, Text: agent.Text(line)})
}

// Send implements agent.Driver.
func (*driver) Send(string, string) (agent.Step, error) { return agent.Step{}, agent.ErrCannot }

// Interrupt implements agent.Driver.
func (*driver) Interrupt() (agent.Step, error) { return agent.Step{}, agent.ErrCannot }

// Stop implements agent.Driver. There is no word for it; signals follow.
func (d *driver) Stop() agent.Step {
	d.stopped = true
	return agent.Step{}
}

// Exit implements agent.Driver.
func (d *driver) Exit(x agent.Exit) (agent.Step, agent.Outcome) {
	d.out.End(d.line)
	d.err.End(d.stderr)
	return d.take(), agent.Outcome{Failure: d.failure(x), Summary: d.summary, Conversation: d.conversation, Usage: d.usage}
}

var unknownThread = regexp.MustCompile(`(?i)no (rollout|thread|conversation|session) found|(thread|session).{0,60}not found`)

func (d *driver) failure(x agent.Exit) *coppice.Failure {
	switch {
	case d.stopped && !d.completed:
		return agent.Died(x, "", true)
	case d.failed != "":
		return agent.Fail(agent.TextClass(address.ReplaceAllString(d.failed, "")), d.failed)
	case d.completed && x.Code == 0:
		return nil
	case unknownThread.MatchString(d.said.String()):
		return coppice.Failf(coppice.ClassUnknown, d.said.String(), "the conversation is gone; retry to begin a new one")
	}
	return agent.Died(x, d.said.String(), d.stopped)
}

// address is cut out of a failure's text before it is sorted: a port may look
// like a status.
var address = regexp.MustCompile(`https?://\S+`)

// line is one event. The agent's items share most of their fields.
type line struct {
	Type     string `json:"type"`
	ThreadID string `json:"thread_id"`
	Message  string `json:"message"`
	Item     *item  `json:"item"`
	Usage    *usage `json:"usage"`
	Error    struct {
		Message string `json:"message"`
	} `json:"error"`
}

type usage struct {
	Input      int64 `json:"input_tokens"` // cached ones included
	Cached     int64 `json:"cached_input_tokens"`
	CacheWrite int64 `json:"cache_write_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

func (d *driver) line(b []byte) {
	var l line
	if err := json.Unmarshal(b, &l); err != nil || l.Type == "" {
		d.emit(agent.Event{Kind: agent.KindNotice, Text: agent.Text(b)})
		return
	}
	switch l.Type {
	case "thread.started":
		d.conversation = l.ThreadID
		d.emit(agent.Event{Kind: agent.KindInit, Conversation: l.ThreadID, Model: d.model})
	case "turn.started":
		d.become(coppice.SessionWorking)
	case "item.started", "item.updated", "item.completed":
		if l.Item != nil {
			d.item(l.Type == "item.completed", *l.Item)
		}
	case "turn.completed":
		d.completed, d.failed = true, ""
		d.spend(l.Usage)
		d.emit(agent.Event{Kind: agent.KindTurn, Reason: "completed", Text: d.summary})
		d.become(coppice.SessionIdle)
	case "turn.failed":
		d.completed = false
		d.failed = agent.Text([]byte(l.Error.Message))
		if d.failed == "" {
			d.failed = "the agent's turn failed and it did not say why"
		}
		d.spend(l.Usage)
		d.emit(agent.Event{Kind: agent.KindTurn, Reason: "failed", Text: d.failed})
		d.become(coppice.SessionIdle)
	case "error":
		text := agent.Text([]byte(l.Message))
		d.emit(agent.Event{Kind: agent.KindError, Class: agent.TextClass(address.ReplaceAllString(text, "")), Text: text})
	}
}

// spend turns the conversation's total into what was used since the last one.
func (d *driver) spend(u *usage) {
	if u == nil {
		return
	}
	now := coppice.Usage{InputTokens: max(u.Input-u.Cached-u.CacheWrite, 0), OutputTokens: u.Output, CacheRead: u.Cached, CacheWrite: u.CacheWrite}
	delta := coppice.Usage{
		InputTokens:  max(now.InputTokens-d.total.InputTokens, 0),
		OutputTokens: max(now.OutputTokens-d.total.OutputTokens, 0),
		CacheRead:    max(now.CacheRead-d.total.CacheRead, 0),
		CacheWrite:   max(now.CacheWrite-d.total.CacheWrite, 0),
		Turns:        1,
	}
	d.total = now
	d.usage = d.usage.Add(delta)
	d.emit(agent.Event{Kind: agent.KindUsage, Usage: &delta})
}

func (d *driver) emit(e agent.Event) { d.events = append(d.events, e) }

func (d *driver) become(s coppice.SessionState) {
	if d.state != s {
		d.state = s
		d.emit(agent.Event{Kind: agent.KindState, State: s})
	}
}

func (d *driver) take() agent.Step {
	s := agent.Step{Events: d.events}
	d.events = nil
	return s
}

// oneLine shortens a command for a label.
func oneLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
