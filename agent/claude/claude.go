// Package claude speaks the streaming JSON protocol of Claude Code: one JSON
// object per line, in both directions.
//
// The prompt is the first line on stdin. The agent asks for permission by
// control requests, which the driver answers; a question to the person becomes
// a question event, and the agent waits until Send answers it. A result line
// ends a turn; when nothing the driver sent is still outstanding, stdin is
// closed and the agent ends.
package claude

import (
	"encoding/json"
	"strconv"
	"time"

	"coppice"
	"coppice/agent"
)

// Name is what profiles call the protocol.
const Name = "claude"

// Protocol implements agent.Protocol.
type Protocol struct{}

// New returns the protocol.
func New() Protocol { return Protocol{} }

// Name implements agent.Protocol.
func (Protocol) Name() string { return Name }

// Launch implements agent.Protocol.
func (Protocol) Launch(p coppice.Profile, r agent.Request) (agent.Launch, error) {
	return agent.LaunchProfile(p, r)
}

// Driver implements agent.Protocol.
func (Protocol) Driver(_ coppice.Profile, r agent.Request) agent.Driver {
	return &driver{prompt: r.Prompt, conversation: r.Resume, asked: map[string]*asking{}}
}

// driver is one run. What the agent sends comes in through line, in messages.go.
type driver struct {
	prompt string

	out, err agent.Lines
	said     agent.Tail // stderr
	step     agent.Step // what the current call has gathered

	conversation string
	state        coppice.SessionState
	sent         int  // user lines written
	replayed     int  // and acknowledged
	closed       bool // stdin
	interrupts   int  // sent, and number of the next one's id
	interrupted  bool // the current turn was, by us
	stopped      bool
	asked        map[string]*asking // by request id
	order        []string           // of asked, oldest first

	last   *result // of the latest turn
	spent  float64 // total cost the last result told, for agents that tell no deltas
	usage  coppice.Usage
	now    time.Time // as the agent's own lines tell
	limit  time.Time // when the account's limit ends, if it was reached
	status int       // the HTTP status the latest retry told
}

// Start implements agent.Driver.
func (d *driver) Start() agent.Step {
	d.say(d.prompt)
	d.become(coppice.SessionWorking)
	return d.take()
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

// Send implements agent.Driver. With a ref it answers the question of that
// name; without, it is a message that reaches the agent at its next tool call,
// or begins a new turn.
func (d *driver) Send(text, ref string) (agent.Step, error) {
	if d.closed {
		return agent.Step{}, agent.ErrCannot
	}
	if ref != "" {
		return d.answer(text, ref)
	}
	d.say(text)
	if d.state == coppice.SessionIdle {
		d.become(coppice.SessionWorking)
	}
	return d.take(), nil
}

// Interrupt implements agent.Driver.
func (d *driver) Interrupt() (agent.Step, error) {
	if d.closed {
		return agent.Step{}, agent.ErrCannot
	}
	d.interrupt()
	return d.take(), nil
}

func (d *driver) interrupt() {
	d.interrupts++
	d.interrupted = true
	d.write(controlRequest{Type: "control_request", ID: "interrupt-" + strconv.Itoa(d.interrupts), Request: map[string]string{"subtype": "interrupt"}})
}

// Stop implements agent.Driver: the turn is interrupted and stdin closed, upon
// which the agent ends.
func (d *driver) Stop() agent.Step {
	d.stopped = true
	if !d.closed {
		d.interrupt()
		d.close()
	}
	return d.take()
}

// Exit implements agent.Driver.
func (d *driver) Exit(x agent.Exit) (agent.Step, agent.Outcome) {
	d.out.End(d.line)
	d.err.End(d.stderr)
	o := agent.Outcome{Conversation: d.conversation, Usage: d.usage, Failure: d.failure(x)}
	if d.last != nil {
		o.Summary = agent.Text([]byte(d.last.Result))
	}
	step := d.take()
	step.Write, step.CloseStdin = nil, false // nobody reads it any more
	return step, o
}

// say writes a user line.
func (d *driver) say(text string) {
	d.sent++
	d.write(userLine{Type: "user", Message: userMessage{Role: "user", Content: text}})
}

func (d *driver) write(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		// Only texts and JSON that was decoded before are ever written.
		panic("claude: " + err.Error())
	}
	d.step.Write = append(append(d.step.Write, b...), '\n')
}

func (d *driver) close() {
	d.closed = true
	d.step.CloseStdin = true
}

func (d *driver) emit(e agent.Event) { d.step.Events = append(d.step.Events, e) }

func (d *driver) become(s coppice.SessionState) {
	if d.state != s {
		d.state = s
		d.emit(agent.Event{Kind: agent.KindState, State: s})
	}
}

func (d *driver) take() agent.Step {
	s := d.step
	d.step = agent.Step{}
	return s
}
