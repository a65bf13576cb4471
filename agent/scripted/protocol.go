// Package scripted is the built-in agent that does what a YAML file says: it
// edits, commits, asks, fails, hangs, floods or crashes, the same way each
// time. The demo and the tests run on it, and it shows what a session is like
// without an account anywhere.
//
// It has two halves. Main is the program, run as `coppice scripted [file]` in a
// workspace. Protocol is how Coppice talks to it: JSON lines both ways. The
// program writes agent.Events, and lastly its outcome; it reads a start line,
// then messages, answers, interrupt and stop. With --screen the same program
// has a screen of its own, for the terminal protocol.
package scripted

import (
	"encoding/json"

	"coppice"
	"coppice/agent"
)

// Name is what profiles call the protocol.
const Name = "scripted"

// Lines besides events that the program writes. They are told apart by kind.
const (
	kindDone    agent.Kind = "done"    // every step is played; stdin may be closed
	kindOutcome agent.Kind = "outcome" // the last line
)

// output is a line of the program.
type output struct {
	agent.Event
	Outcome *agent.Outcome `json:"outcome,omitempty"`
}

// The types of input lines.
const (
	inputStart     = "start"
	inputMessage   = "message"
	inputAnswer    = "answer"
	inputInterrupt = "interrupt"
	inputStop      = "stop"
)

// input is a line to the program.
type input struct {
	Type    string       `json:"type"`
	Session string       `json:"session,omitempty"`
	Role    coppice.Role `json:"role,omitempty"`
	Resume  string       `json:"resume,omitempty"`
	Model   string       `json:"model,omitempty"`
	Text    string       `json:"text,omitempty"`
	Ref     string       `json:"ref,omitempty"`
}

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
	return &driver{start: input{Type: inputStart, Session: r.Session, Role: r.Role, Resume: r.Resume, Model: r.Model, Text: r.Prompt}}
}

type driver struct {
	start    input
	out, err agent.Lines
	said     agent.Tail
	step     agent.Step
	outcome  *agent.Outcome
	told     coppice.Usage // by usage events
	begun    string        // the conversation's name
	closed   bool
	stopped  bool
}

// Start implements agent.Driver.
func (d *driver) Start() agent.Step {
	d.write(d.start)
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

func (d *driver) line(b []byte) {
	var o output
	if json.Unmarshal(b, &o) != nil || o.Kind == "" {
		// Commands a script runs may print anything.
		d.emit(agent.Event{Kind: agent.KindNotice, Text: agent.Text(b)})
		return
	}
	switch o.Kind {
	case kindDone:
		if !d.closed {
			d.closed = true
			d.step.CloseStdin = true
		}
	case kindOutcome:
		d.outcome = o.Outcome
	default:
		if o.Kind == agent.KindUsage && o.Usage != nil {
			d.told = d.told.Add(*o.Usage)
		}
		if o.Kind == agent.KindInit {
			d.begun = o.Conversation
		}
		o.Text = agent.Text([]byte(o.Text))
		d.emit(o.Event)
	}
}

// Send implements agent.Driver.
func (d *driver) Send(text, ref string) (agent.Step, error) {
	if d.closed {
		return agent.Step{}, agent.ErrCannot
	}
	in := input{Type: inputMessage, Text: text}
	if ref != "" {
		in.Type, in.Ref = inputAnswer, ref
	}
	d.write(in)
	return d.take(), nil
}

// Interrupt implements agent.Driver.
func (d *driver) Interrupt() (agent.Step, error) {
	if d.closed {
		return agent.Step{}, agent.ErrCannot
	}
	d.write(input{Type: inputInterrupt})
	return d.take(), nil
}

// Stop implements agent.Driver.
func (d *driver) Stop() agent.Step {
	d.stopped = true
	if !d.closed {
		d.closed = true
		d.write(input{Type: inputStop})
		d.step.CloseStdin = true
	}
	return d.take()
}

// Exit implements agent.Driver.
func (d *driver) Exit(x agent.Exit) (agent.Step, agent.Outcome) {
	d.out.End(d.line)
	d.err.End(d.stderr)
	s := d.take()
	s.Write, s.CloseStdin = nil, false // nobody reads it any more
	if d.outcome == nil {
		return s, agent.Outcome{Failure: agent.Died(x, d.said.String(), d.stopped), Conversation: d.begun, Usage: d.told}
	}
	o := *d.outcome
	o.Usage = d.told
	if o.Failure == nil && (x.Code != 0 || x.Signal != "") {
		o.Failure = agent.Died(x, d.said.String(), d.stopped)
	}
	return s, o
}

func (d *driver) write(in input) {
	b, err := json.Marshal(in)
	if err != nil {
		panic("scripted: " + err.Error()) // texts only
	}
	d.step.Write = append(append(d.step.Write, b...), '\n')
}

func (d *driver) emit(e agent.Event) { d.step.Events = append(d.step.Events, e) }

func (d *driver) take() agent.Step {
	s := d.step
	d.step = agent.Step{}
	return s
}
