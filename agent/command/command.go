// Package command runs any program as an agent: it gets the prompt on stdin or
// in a file, its output is its message, and its exit code says whether it
// succeeded. It accepts no messages and cannot be interrupted.
package command

import (
	"fmt"
	"slices"
	"strings"

	"coppice"
	"coppice/agent"
)

// Name is the protocol's name in profiles.
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
		return agent.Launch{}, coppice.Errorf(coppice.EInvalid, "the agent reads its prompt from a file, but none of its arguments names the file").
			WithFix("write %s where the file's path belongs in its args", agent.SlotPromptFile).WithField("args")
	}
	return agent.LaunchProfile(p, r)
}

// Driver implements agent.Protocol.
func (Protocol) Driver(p coppice.Profile, r agent.Request) agent.Driver {
	d := &driver{noServers: r.WantsServers()}
	d.Line = d.stdout
	if p.Prompt != "file" {
		d.Prompt = r.Prompt
	}
	return d
}

type driver struct {
	agent.OneShot

	noServers bool   // tool servers were requested, and such a program gets none
	last      string // line of stdout
}

// Start implements agent.Driver.
func (d *driver) Start() agent.Step {
	s := d.OneShot.Start()
	if d.noServers {
		s.Events = append(s.Events, coppice.AgentEvent{Kind: coppice.KindNotice, Name: "cannot", Text: "a plain program gets no tool servers; it works without them"})
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

// failure uses the exit code. An ordinary one is the program's own verdict on
// the work. The text is not classified, because it might be about failures of
// other programs.
func (d *driver) failure(x agent.Exit) *coppice.Failure {
	switch {
	case d.Stopped:
		return agent.Died(x, "", true)
	case x.Signal != "" || x.Code >= 126:
		return agent.Died(x, d.Stderr.String(), false)
	case x.Code != 0:
		text := fmt.Sprintf("the command ended with exit %d", x.Code)
		if stderr := d.Stderr.String(); stderr != "" {
			text += ": " + stderr
		}
		return coppice.Failf(coppice.ClassImplementation, text, "")
	}
	return nil
}
