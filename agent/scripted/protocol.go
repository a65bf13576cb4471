// Package scripted is the built-in agent that does what a YAML file says: it
// edits, commits, asks, fails, hangs, floods or crashes, the same way each
// time. The demo and the tests run on it, and it shows a session without any
// account.
//
// It has two halves. Main is the program, run as `coppice scripted [file]` in a
// workspace. Protocol is how Coppice talks to it: JSON lines both ways. The
// program writes agent events, and at the end its outcome. It reads a start
// line, then messages, answers, interrupt and stop. With --screen the same
// program has its own screen, for the terminal protocol.
package scripted

import (
	"encoding/json"

	"coppice"
	"coppice/agent"
)

// Name is the protocol's name in profiles.
const Name = "scripted"

// Lines other than events that the program writes, by kind.
const (
	kindDone    coppice.AgentEventKind = "done"    // every step is played; stdin can be closed
	kindOutcome coppice.AgentEventKind = "outcome" // the last line
	kindMay     coppice.AgentEventKind = "may"     // asks whether a tool can be used; a verdict follows
)

// output is a line of the program.
type output struct {
	coppice.AgentEvent
	Outcome *agent.Outcome `json:"outcome,omitempty"`
}

// The types of input lines.
const (
	inputStart     = "start"
	inputMessage   = "message"
	inputAnswer    = "answer"
	inputInterrupt = "interrupt"
	inputStop      = "stop"
	inputVerdict   = "verdict"
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
	Images  []image      `json:"images,omitempty"`
	Asks    bool         `json:"asks,omitempty"` // the program asks before it changes a file
	OK      bool         `json:"ok,omitempty"`   // of a verdict
}

// image is an image of a message.
type image struct {
	Type string `json:"type"`
	Path string `json:"path"`
	Size int    `json:"size"`
}

func imagesOf(all []agent.Image) (out []image) {
	for _, i := range all {
		out = append(out, image{Type: i.Type, Path: i.Path, Size: len(i.Data)})
	}
	return out
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

// Driver implements agent.Protocol. The program asks before it changes a file only
// if locks are enforced: a script does what it says whatever the rules are.
func (Protocol) Driver(_ coppice.Profile, r agent.Request) agent.Driver {
	d := &driver{dir: r.Dir, Asker: agent.NewAsker(agent.Request{Session: r.Session, Locks: r.Locks}), start: input{Type: inputStart, Session: r.Session, Role: r.Role, Resume: r.Resume, Model: r.Model, Text: r.Prompt, Images: imagesOf(r.Images)}}
	d.start.Asks = d.Restricts()
	d.Line = d.line
	return d
}

type driver struct {
	agent.Run
	*agent.Asker

	dir          string
	start        input
	outcome      *agent.Outcome
	conversation string // the conversation's name
}

// Start implements agent.Driver.
func (d *driver) Start() agent.Step {
	d.Write(d.start)
	return d.Take()
}

func (d *driver) line(b []byte) {
	var o output
	if json.Unmarshal(b, &o) != nil || o.Kind == "" {
		// Commands of a script can print anything.
		d.Notice(string(b))
		return
	}
	switch o.Kind {
	case kindDone:
		if !d.Closed {
			d.Close()
		}
	case kindOutcome:
		d.outcome = o.Outcome
	case kindMay:
		d.judge(o.AgentEvent)
	default:
		if o.Kind == coppice.KindUsage && o.Usage != nil {
			d.Usage = d.Usage.Add(*o.Usage)
		}
		if o.Kind == coppice.KindInit {
			d.conversation = o.Conversation
		}
		o.Text = agent.Text(o.Text)
		d.Emit(o.AgentEvent)
	}
}

// judge answers whether a tool can be used. Text is the command of a shell.
func (d *driver) judge(e coppice.AgentEvent) {
	v := d.Decide(agent.Call{Name: e.Name, Kind: e.Tool, Paths: e.Paths, Command: e.Text, Dir: d.dir})
	if !v.Allowed() {
		d.Emit(coppice.AgentEvent{Kind: coppice.KindPermission, Ref: e.Ref, Name: e.Name, Tool: e.Tool, Paths: e.Paths, Text: v.Why})
	}
	d.Write(input{Type: inputVerdict, Ref: e.Ref, OK: v.Allowed(), Text: v.Why})
}

// Send implements agent.Driver.
func (d *driver) Send(text, ref string) (agent.Step, error) {
	return d.WhileOpen(func() {
		in := input{Type: inputMessage, Text: text}
		if ref != "" {
			in.Type, in.Ref = inputAnswer, ref
		}
		d.Write(in)
	})
}

// SendImages implements agent.Viewer.
func (d *driver) SendImages(text string, images []agent.Image) (agent.Step, error) {
	return d.WhileOpen(func() { d.Write(input{Type: inputMessage, Text: text, Images: imagesOf(images)}) })
}

// Interrupt implements agent.Driver.
func (d *driver) Interrupt() (agent.Step, error) {
	return d.WhileOpen(func() { d.Write(input{Type: inputInterrupt}) })
}

// Stop implements agent.Driver.
func (d *driver) Stop() agent.Step {
	return d.StopWith(func() {
		d.Write(input{Type: inputStop})
		d.Close()
	})
}

// Exit implements agent.Driver.
func (d *driver) Exit(x agent.Exit) (agent.Step, agent.Outcome) {
	d.End()
	s := d.Last()
	if d.outcome == nil {
		return s, agent.Outcome{Failure: d.Died(x), Conversation: d.conversation, Usage: d.Usage}
	}
	o := *d.outcome
	o.Usage = d.Usage
	if o.Failure == nil && (x.Code != 0 || x.Signal != "") {
		o.Failure = d.Died(x)
	}
	return s, o
}
