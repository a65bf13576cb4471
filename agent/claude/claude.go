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

// Driver implements agent.Protocol. It is an agent.Hooker when the rules can say
// anything but allow.
func (Protocol) Driver(p coppice.Profile, r agent.Request) agent.Driver {
	d := &driver{
		prompt: r.Prompt, dir: r.Dir, budget: r.Budget, asker: agent.NewAsker(r.Permissions),
		asked: map[string]*asking{}, models: map[string]string{}, refs: map[string]string{}, lost: map[string]bool{},
		noServers: len(r.MCP) > 0 && p.MCP == agent.MCPNone, held: len(p.Schema) > 0 && r.SchemaLine() != nil,
	}
	d.Line = d.line
	if !r.Fork { // a copy has a name of its own, which is not known yet
		d.conversation = r.Resume
	}
	if !agent.Restricts(r.Permissions) {
		return d
	}
	d.hooks = r.HookURL != ""
	return hooked{d}
}

// driver is one run. What the agent sends comes in through line, in messages.go.
type driver struct {
	agent.Run

	prompt    string
	dir       string
	budget    float64
	noServers bool // tool servers were asked for, and this agent is given none
	hooks     bool // the agent was told to call hooks
	held      bool // its last words are to be of a schema

	conversation string
	messages     []string           // user lines written, the prompt first
	replayed     int                // how many of them were acknowledged
	interrupts   int                // sent, and number of the next one's id
	interrupted  bool               // the current turn was, by us
	asked        map[string]*asking // by request id
	order        []string           // of asked, oldest first
	asker        *agent.Asker
	refs         map[string]string // the tool calls that asker asks about, by request id
	models       map[string]string // asked for and not yet confirmed, by request id
	switches     int               // number of the latest
	lost         map[string]bool   // tool servers that could not be reached
	hookSeen     bool              // a hook was called
	proven       bool              // whether hooks are called was looked at
	warned       bool              // of an old version

	spoken string    // what the model said last in this turn
	before string    // and before it was reminded of the schema
	last   *result   // of the latest turn
	final  string    // the last words of that turn
	spent  float64   // total cost the last result told, for agents that tell no deltas
	now    time.Time // as the agent's own lines tell
	limit  time.Time // when the account's limit ends, if it was reached
	status int       // the HTTP status the latest retry told
}

// Start implements agent.Driver.
func (d *driver) Start() agent.Step {
	d.say(d.prompt)
	d.Become(coppice.SessionWorking)
	if d.noServers {
		d.Notice("the agent's profile says that it takes no tool servers; it works without")
	}
	return d.Take()
}

// Send implements agent.Driver. With a ref it answers the question of that
// name; without, it is a message that reaches the agent at its next tool call,
// or begins a new turn.
func (d *driver) Send(text, ref string) (agent.Step, error) {
	if d.Closed {
		return agent.Step{}, agent.ErrCannot
	}
	if ref != "" {
		return d.answer(text, ref)
	}
	d.say(text)
	if d.State == coppice.SessionIdle {
		d.Become(coppice.SessionWorking)
	}
	return d.Take(), nil
}

// Interrupt implements agent.Driver.
func (d *driver) Interrupt() (agent.Step, error) {
	if d.Closed {
		return agent.Step{}, agent.ErrCannot
	}
	d.interrupt()
	return d.Take(), nil
}

func (d *driver) interrupt() {
	d.interrupts++
	d.interrupted = true
	d.Write(controlRequest{Type: "control_request", ID: "interrupt-" + strconv.Itoa(d.interrupts), Request: map[string]string{"subtype": "interrupt"}})
}

// Model implements agent.Switcher. The agent confirms it, or says why not.
func (d *driver) Model(name string) (agent.Step, error) {
	if d.Closed {
		return agent.Step{}, agent.ErrCannot
	}
	if err := coppice.ValidModel(name); err != nil {
		return agent.Step{}, err
	}
	d.switches++
	id := "model-" + strconv.Itoa(d.switches)
	d.models[id] = name
	d.Write(controlRequest{Type: "control_request", ID: id, Request: map[string]string{"subtype": "set_model", "model": name}})
	return d.Take(), nil
}

// Stop implements agent.Driver: the turn is interrupted and stdin closed, upon
// which the agent ends.
func (d *driver) Stop() agent.Step {
	d.Stopped = true
	if !d.Closed {
		d.interrupt()
		d.Close()
	}
	return d.Take()
}

// Exit implements agent.Driver.
func (d *driver) Exit(x agent.Exit) (agent.Step, agent.Outcome) {
	d.End()
	d.unread()
	o := agent.Outcome{Conversation: d.conversation, Usage: d.Usage, Failure: d.withLost(d.failure(x))}
	if d.last != nil {
		o.Summary = d.final
	}
	return d.Last(), o
}

// unread tells of messages that the agent has not acknowledged, and will not.
// Of the prompt the outcome tells; an agent that echoes nothing tells nothing.
func (d *driver) unread() {
	if d.replayed == 0 {
		return
	}
	for _, text := range d.messages[min(d.replayed, len(d.messages)):] {
		d.Emit(agent.Undelivered(text))
	}
}

// say writes a user line.
func (d *driver) say(text string) {
	d.messages = append(d.messages, text)
	d.Write(userLine{Type: "user", Message: userMessage{Role: "user", Content: text}})
}
