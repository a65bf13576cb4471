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
	d.Line = d.stdout
	if p.Prompt != "file" {
		d.Prompt = r.Prompt
	}
	return d
}

type driver struct {
	agent.OneShot

	noServers bool   // tool servers were asked for, and such a program is given none
	last      string // line of stdout
}

// Start implements agent.Driver.
func (d *driver) Start() agent.Step {
	s := d.OneShot.Start()
	if d.noServers {
		s.Events = append(s.Events, coppice.AgentEvent{Kind: coppice.KindNotice, Name: "cannot", Text: "a plain program is not told of the project's tool servers; it works without"})
	}
	return s
}

func (d *driver) stdout(line []byte) {
	d.last = agent.Text(line)
	d.Emit(coppice.AgentEvent{Kind: coppice.KindText, Text: d.last})
}

// Exit implements agent.Driver.
func (d *driver) Exit(x agent.Exit) (agent.Step, agent.Outcome) {
	d.End()
	return d.Take(), agent.Outcome{Summary: d.last, Failure: d.failure(x)}
}

// failure trusts the exit code. An ordinary one is the program's own verdict
// on the work; the text is not searched for anything else, for it may well
// speak of other programs' failures.
func (d *driver) failure(x agent.Exit) *coppice.Failure {
	switch {
	case d.Stopped:
		return agent.Died(x, "", true)
	case x.Signal != "" || x.Code >= 126:
		return agent.Died(x, d.Stderr.String(), false)
	case x.Code != 0:
		text := fmt.Sprintf("the command ended with exit %d", x.Code)
		if said := d.Stderr.String(); said != "" {
			text += ": " + said
		}
		return coppice.Failf(coppice.ClassImplementation, text, "")
	}
	return nil
}
