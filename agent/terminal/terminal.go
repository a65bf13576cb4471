// Package terminal is the protocol for agents that only have a screen: the
// driver types into it, and reads their state from what they draw.
//
// The state of an agent comes, in this order, from
//
//  1. operating system commands in its output: OSC 7777 with a coppice.AgentEvent as
//     JSON, for agents and wrappers that know Coppice; else the progress of OSC
//     9;4 and the prompt marks of OSC 133, which show busy and idle;
//  2. the rules of the profile's screen, regular expressions over the text of
//     the screen (with (?m) set), judged when the screen is still;
//  3. if a profile has no rules, silence: a screen that is still for 3 s is
//     idle.
//
// A message is typed (as a paste, if the program supports bracketed paste), its
// echo is awaited, and then it is submitted by a separate write. It counts as
// delivered when the screen shows a reaction: the agent works, or the text left
// the input line. Without a reaction the keys are pressed again, at most twice.
// Then the input is cleared and the message is reported as undelivered. Both
// are events of kind notice, named delivered and undelivered.
//
// A session that runs a prompt ends automatically: when the prompt was
// delivered, no message waits, nobody types at its terminal, and the screen is
// idle and stays still for some time, the program is asked to quit. A session
// of a person (Request.Screen) stays until they leave.
//
// Events from the output do not depend on how its bytes are cut. The state from
// the screen depends on when it is read, which the host decides.
package terminal

import (
	"regexp"

	"coppice"
	"coppice/agent"
	"coppice/internal/vt"
)

// Name is the protocol's name in profiles.
const Name = "terminal"

// Protocol implements agent.Protocol.
type Protocol struct{}

// New returns the protocol.
func New() Protocol { return Protocol{} }

// Name implements agent.Protocol.
func (Protocol) Name() string { return Name }

// Launch implements agent.Protocol. A profile of another protocol is started
// with its screen settings, because its ordinary arguments are for that
// protocol.
func (Protocol) Launch(p coppice.Profile, r agent.Request) (agent.Launch, error) {
	screen := p.Screen
	own := p.Protocol == Name
	if !own && !screen.Set() {
		return agent.Launch{}, coppice.Errorf(coppice.EInvalid, "this agent has no screen").
			WithFix("describe one under screen in the agent's profile")
	}
	if _, err := compile(screen.Rules); err != nil {
		return agent.Launch{}, err
	}
	if len(screen.Command) > 0 {
		p.Command = screen.Command
	}
	if !own || len(screen.Command) > 0 || len(screen.Args) > 0 {
		p.Args = screen.Args
	}
	if len(screen.Resume) > 0 {
		p.Resume = screen.Resume
	}
	p.Schema = nil // a message on a screen has no schema
	l, err := agent.LaunchProfile(p, r)
	if screen.Runtime == "" {
		screen.Runtime = "pty"
	}
	l.Screen = screen
	return l, err
}

// Driver implements agent.Protocol.
func (Protocol) Driver(p coppice.Profile, r agent.Request) agent.Driver {
	d := &driver{profile: p.Screen, request: r, screen: vt.NewScreen(coppice.FirstScreen.Columns, coppice.FirstScreen.Rows), Run: agent.Run{State: coppice.SessionWorking}}
	d.rules, _ = compile(p.Screen.Rules) // Launch reports invalid ones
	if d.profile.Submit == "" {
		d.profile.Submit = "\r"
	}
	if d.profile.Stop == "" {
		d.profile.Stop = "\x1b"
	}
	if r.Resume != "" && !r.Fork {
		d.conversation = r.Resume
	}
	// A person who takes a conversation over says what comes next.
	if r.Prompt != "" && (!r.Screen || r.Resume == "") {
		d.queue = append(d.queue, &message{text: r.Prompt, prompt: true})
	} else {
		d.prompted = true
	}
	d.screen.OSC = d.command
	return d
}

// rule is a rule of the profile, ready for use.
type rule struct {
	coppice.ScreenRule
	re    *regexp.Regexp
	fits  bool // it matched at the last check
	asked int  // the number of its questions
}

func compile(rules []coppice.ScreenRule) ([]*rule, error) {
	var all []*rule
	for _, r := range rules {
		re, err := regexp.Compile("(?m)" + r.Match)
		if err != nil {
			return nil, coppice.Errorf(coppice.EInvalid, "a rule of the agent's screen is not a valid regular expression: %w", err).
				WithFix("fix screen.rules in the agent's profile").WithField("screen.rules")
		}
		switch r.State {
		case coppice.SessionWorking, coppice.SessionWaiting, coppice.SessionIdle:
		default:
			return nil, coppice.Errorf(coppice.EInvalid, "a rule of the agent's screen gives the state %s", coppice.Quote(string(r.State))).
				WithFix("write working, waiting or idle").WithField("screen.rules")
		}
		all = append(all, &rule{ScreenRule: r, re: re})
	}
	return all, nil
}
