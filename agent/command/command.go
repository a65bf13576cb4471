// Package command runs any program as an agent: it gets the prompt on stdin or
// in a file, what it prints is what it says, and its exit code tells whether it
// worked. It takes no messages and cannot be interrupted.
package command

import (
	"fmt"
	"slices"
	"strings"

	"coppice"
	"coppice/agent"
)

// Name is what profiles call the protocol.
const Name = "command"

// Protocol implements agent.Protocol.
type Protocol struct{}

// New returns the protocol.
func New() Protocol { return Protocol{} }

// Name implements agent.Protocol.
func (Protocol) Name() string { return Name }

// Launch implements agent.Protocol.
func (Protocol) Launch(p coppice.Profile, r agent.Request) (agent.Launch, error) {
	if p.Prompt == "file" && !slices.ContainsFunc(p.Args, func(a string) bool { return strings.Contains(a, agent.SlotPromptFile) }) {
		return agent.Launch{}, coppice.Errorf(coppice.EInvalid, "the agent takes its prompt from a file, but none of its arguments says where").
			WithFix("write %s where the file's path belongs in its args", agent.SlotPromptFile).WithField("args")
	}
	return agent.LaunchProfile(p, r)
}

// Driver implements agent.Protocol.
func (Protocol) Driver(p coppice.Profile, r agent.Request) agent.Driver {
	d := &driver{noServers: len(r.MCP) > 0}
	if p.Prompt != "file" {
		d.prompt = r.Prompt
	}
	return d
}

type driver struct {
	prompt    string
	noServers bool // tool servers were asked for, and such a program is given none
	out, err  agent.Lines
	said      agent.Tail // stderr
	last      string     // line of stdout
	events    []agent.Event
	stopped   bool
}

// Start implements agent.Driver.
func (d *driver) Start() agent.Step {
	events := []agent.Event{{Kind: agent.KindState, State: coppice.SessionWorking}}
	if d.noServers {
		events = append(events, agent.Event{Kind: agent.KindNotice, Name: "cannot", Text: "a plain program is not told of the project's tool servers; it works without"})
	}
	return agent.Step{Events: events, Write: []byte(d.prompt), CloseStdin: true}
}

// Output implements agent.Driver.
func (d *driver) Output(s agent.Stream, b []byte) agent.Step {
	if s == agent.Stderr {
		d.err.Add(b, d.stderr)
	} else {
		d.out.Add(b, d.stdout)
	}
	return d.take()
}

func (d *driver) stdout(line []byte) {
	d.last = agent.Text(line)
	d.events = append(d.events, agent.Event{Kind: agent.KindText, Text: d.last})
}

func (d *driver) stderr(line []byte) {
	d.said.Add(line)
	d.events = append(d.events, agent.Event{Kind: agent.KindNotice, Text: agent.Text(line)})
}

func (d *driver) take() agent.Step {
	s := agent.Step{Events: d.events}
	d.events = nil
	return s
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
	d.out.End(d.stdout)
	d.err.End(d.stderr)
	return d.take(), agent.Outcome{Summary: d.last, Failure: d.failure(x)}
}

// failure trusts the exit code. An ordinary one is the program's own verdict
// on the work; the text is not searched for anything else, for it may well
// speak of other programs' failures.
func (d *driver) failure(x agent.Exit) *coppice.Failure {
	switch {
	case d.stopped:
		return agent.Died(x, "", true)
	case x.Signal != "" || x.Code >= 126:
		return agent.Died(x, d.said.String(), false)
	case x.Code != 0:
		text := fmt.Sprintf("the command ended with exit %d", x.Code)
		if said := d.said.String(); said != "" {
			text += ": " + said
		}
		return coppice.Failf(coppice.ClassImplementation, text, "")
	}
	return nil
}
