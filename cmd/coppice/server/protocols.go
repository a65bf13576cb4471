package server

import (
	"strings"

	"coppice"
	"coppice/agent"
	"coppice/agent/acp"
	"coppice/agent/claude"
	"coppice/agent/codex"
	"coppice/agent/command"
	"coppice/agent/jsonl"
	"coppice/agent/scripted"
	"coppice/agent/terminal"
)

// Protocols are the ways of talking to agents that this program has.
func Protocols() map[string]agent.Protocol {
	all := map[string]agent.Protocol{}
	for _, p := range append(jsonl.Protocols(), acp.New(), claude.New(), codex.New(), codex.NewExec(), command.New(), scripted.New(), terminal.New()) {
		all[p.Name()] = p
	}
	return all
}

// What can be done with an agent while it runs or after.
const (
	CanMessage    = "messages"    // it hears a message in the middle of a turn
	CanResume     = "resume"      // a conversation goes on after its end
	CanFork       = "fork"        // a copy of a conversation goes on
	CanSwitch     = "model"       // it goes on with another model
	CanPermission = "permissions" // it asks before it uses a tool
	CanTools      = "tools"       // it is given tool servers
	CanScreen     = "screen"      // a person works on its own screen
)

// skills are what a protocol does by itself, whatever the profile says. That of
// others needs arguments from the profile.
type skills struct {
	message, resume, fork, permission, tools bool
}

// A protocol that is not here, such as those of JSON lines, has none of them.
// Whether an agent of the Agent Client Protocol copies conversations is told by
// the agent when it starts, so nothing is promised of it here.
var protocolSkills = map[string]skills{
	acp.Name:       {resume: true, permission: true, tools: true},
	claude.Name:    {message: true, permission: true, tools: true},
	codex.Name:     {message: true, resume: true, fork: true, permission: true, tools: true},
	codex.NameExec: {tools: true},
	scripted.Name:  {message: true, resume: true},
	terminal.Name:  {message: true},
}

// Abilities tells what can be done with an agent of that profile, as far as its
// protocol and its profile say.
func Abilities(p coppice.Profile) []string {
	protocol, known := Protocols()[p.Protocol]
	if !known {
		return nil
	}
	s := protocolSkills[p.Protocol]
	// JSON lines carry tool servers only where the profile says how.
	lines := strings.HasPrefix(p.Protocol, "jsonl-") && p.MCP != ""
	_, switches := protocol.Driver(p, agent.Request{}).(agent.Switcher)
	own := p.Protocol == terminal.Name
	var can []string
	for _, a := range []struct {
		name string
		has  bool
	}{
		{CanMessage, s.message || p.Protocol == acp.Name && acp.HearsNow(p)},
		{CanResume, s.resume || len(p.Resume) > 0 || own && len(p.Screen.Resume) > 0},
		{CanFork, s.fork || len(p.Fork) > 0},
		{CanSwitch, switches},
		{CanPermission, s.permission},
		{CanTools, (s.tools || lines) && p.MCP != agent.MCPNone},
		{CanScreen, own || p.Screen.Set()},
	} {
		if a.has {
			can = append(can, a.name)
		}
	}
	return can
}
