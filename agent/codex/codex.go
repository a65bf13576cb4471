// Package codex implements two protocols of Codex.
//
// The main one is that of its app server: JSON messages, one per line, in both
// directions. The driver announces itself, starts a thread in the workspace (or
// continues one, or a copy of one) and starts a turn with the prompt. A message
// during a turn steers it. The agent asks for permission, and asks the person,
// by requests that wait until they are answered. When a turn has ended and
// nothing is outstanding, stdin is closed and the agent ends.
//
// The other one, Exec, is that of its non-interactive mode, for versions
// without an app server.
package codex

import (
	"encoding/json"
	"slices"

	"coppice"
	"coppice/agent"
	"coppice/internal/jsonrpc"
)

// Name is the name of the app server's protocol in profiles.
const Name = "codex"

// Protocol implements agent.Protocol for the app server.
type Protocol struct{}

// New returns the protocol of the app server.
func New() Protocol { return Protocol{} }

// Name implements agent.Protocol.
func (Protocol) Name() string { return Name }

// Launch implements agent.Protocol. Requests set model, conversation, effort,
// tool servers and schema, so profiles need no arguments for them. If a profile
// has arguments for the schema, the agent accepts one.
func (Protocol) Launch(p coppice.Profile, r agent.Request) (agent.Launch, error) {
	p.Schema = nil
	l, err := agent.LaunchProfile(p, r)
	if err != nil {
		return l, err
	}
	_, env, err := toolServers(p, r)
	if err != nil {
		return agent.Launch{}, err
	}
	return l.With(env), nil
}

// Driver implements agent.Protocol.
func (Protocol) Driver(p coppice.Profile, r agent.Request) agent.Driver {
	d := &driver{
		request: r, profile: p, sandbox: p.Driver.Sandbox, Asker: agent.NewAsker(r),
		items: map[string]*tracked{}, pending: map[string]*pending{},
		turns: map[string]bool{}, totals: map[string]coppice.Usage{},
	}
	d.rpc = jsonrpc.Peer{
		Send: d.Write, Request: d.requested, Notified: d.notified,
		Garbage: func(b []byte) { d.Notice(string(b)) }, // programs sometimes print warnings there
	}
	d.Line, d.ErrLine = d.rpc.Line, func(line []byte) { d.Complain(colours().ReplaceAll(line, nil)) }
	if d.sandbox == "" {
		d.sandbox = coppice.NoSandbox
	}
	if !r.Fork {
		d.conversation = r.Resume
	}
	d.request.Images = nil // the queue has their paths
	d.effort = r.Effort
	if len(p.Schema) > 0 {
		d.schema = r.SchemaLine()
	}
	d.queue = []*message{d.message(r.Prompt, r.Images)}
	return d
}

var _ agent.Switcher = (*driver)(nil)

// phase is the state of a run.
type phase int

const (
	opening phase = iota // no thread yet
	turning              // a turn was requested and has not ended
	resting              // between turns
)

// driver is one run.
type driver struct {
	agent.Run
	*agent.Asker
	rpc jsonrpc.Peer

	request agent.Request
	profile coppice.Profile
	sandbox string

	phase        phase
	version      string
	conversation string
	model        string          // for the next turn; "" for the thread's model
	effort       string          // for the next turn
	schema       json.RawMessage // for the final message of every turn

	messages     int        // the number of messages
	queue        []*message // messages that wait for a turn
	sent         []*message // sent and not known to be read
	echoes       bool       // the agent reports which messages it has read
	turn         string     // id of the current turn, when it runs
	interrupting bool       // a person asked to interrupt the current turn
	interrupted  bool       // the request was sent
	keepOpen     bool       // stdin stays open for a message of the person who interrupted

	items   map[string]*tracked // tools in use, by id
	pending map[string]*pending // requests of the agent that wait for a person, by their id
	order   []string            // of pending, oldest first

	words    string                   // the last message of the current turn
	reported string                   // the last reported error
	turns    map[string]bool          // ids of this run's turns
	totals   map[string]coppice.Usage // of each thread, as last reported
	limit    limit                    // of the account, as last reported
	last     *ending                  // of the latest turn
	fatal    *coppice.Failure
}

// Start implements agent.Driver.
func (d *driver) Start() agent.Step {
	d.rpc.Call("initialize", initializeParams{
		Client: clientInfo{Name: "coppice", Title: "Coppice", Version: "1"},
		// The whole diff after each step, which git shows as well.
		Capabilities: capabilities{Without: []string{"turn/diff/updated"}},
	}, d.initialized)
	d.Become(coppice.SessionWorking)
	return d.Take()
}

// Send implements agent.Driver. With a ref it answers the question of that
// name. Without one, it is a message: it steers the current turn, or starts
// one.
func (d *driver) Send(text, ref string) (agent.Step, error) {
	return d.AnswerOrSend(text, ref, d.answer, d.SendImages)
}

// SendImages implements agent.Viewer.
func (d *driver) SendImages(text string, images []agent.Image) (agent.Step, error) {
	return d.WhileOpen(func() {
		m := d.message(text, images)
		d.queue = append(d.queue, m)
		d.proceed()
		if slices.Contains(d.queue, m) {
			d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "queued", Text: "the message waits until the agent accepts it"})
		}
	})
}

// Interrupt implements agent.Driver. A turn that does not run yet is
// interrupted as soon as it does, because the agent refuses it before.
func (d *driver) Interrupt() (agent.Step, error) {
	if d.Closed || d.phase != turning {
		return agent.Step{}, agent.ErrCannot
	}
	d.interrupting = true
	d.interrupt()
	return d.Take(), nil
}

func (d *driver) interrupt() {
	if d.turn != "" && !d.interrupted {
		d.interrupted = true
		turn := d.turn
		d.rpc.Call("turn/interrupt", turnParams{Thread: d.conversation, Turn: turn}, func(p jsonrpc.Message) { d.refusedInterrupt(p, turn) })
	}
}

// refusedInterrupt takes the answer to an interrupt. A refused one can be
// retried.
func (d *driver) refusedInterrupt(p jsonrpc.Message, turn string) {
	if p.Error != nil && d.phase == turning && d.turn == turn {
		d.interrupting, d.interrupted = false, false
		d.Notice("the turn was not interrupted: " + errorText(p.Error))
		d.proceed()
	}
}

// Model implements agent.Switcher.
func (d *driver) Model(name string) (agent.Step, error) {
	if d.Closed {
		return agent.Step{}, agent.ErrCannot
	}
	if err := coppice.ValidModel(name); err != nil {
		return agent.Step{}, err
	}
	d.model = name
	d.Emit(coppice.AgentEvent{Kind: coppice.KindNotice, Name: "model", Model: name, Text: "the next turn uses " + name})
	return d.Take(), nil
}

// Stop implements agent.Driver: it interrupts the turn and closes stdin, upon
// which the agent ends.
func (d *driver) Stop() agent.Step {
	return d.StopWith(func() {
		if d.phase == turning {
			d.interrupt()
		}
		d.Finish()
	})
}

// Exit implements agent.Driver.
func (d *driver) Exit(x agent.Exit) (agent.Step, agent.Outcome) {
	d.End()
	for _, m := range append(d.sent, d.queue...) {
		if !m.own && !m.first() { // the failure covers the first
			d.Emit(agent.Undelivered(m.text))
		}
	}
	o := agent.Outcome{Conversation: d.conversation, Usage: d.Usage, Failure: d.failure(x)}
	if d.last != nil {
		o.Summary = d.last.text
	}
	return d.Last(), o
}

// failure returns what is known about the outcome of the run. After a turn has
// ended and stdin is closed, the exit of the process does not matter.
func (d *driver) failure(x agent.Exit) *coppice.Failure {
	switch {
	case d.fatal != nil:
		return d.fatal
	case d.phase == turning && x == (agent.Exit{}) && !d.Stopped:
		// It exits with 0 when a signal ends it.
		return coppice.Failf(coppice.ClassLost, "the agent ended in the middle of its turn", "")
	case d.last == nil || d.phase == turning:
		return d.Died(x)
	case d.Stopped && d.last.failure != nil && d.last.failure.Class == coppice.ClassCancelled:
		return coppice.Failf(coppice.ClassCancelled, "stopped before it was done", "")
	}
	return d.last.failure
}
