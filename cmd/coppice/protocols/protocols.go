// Package protocols has the table of the protocols by which this program talks to agents,
// and of what an agent can do with each.
package protocols

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

// All returns the protocols of this program, by name.
func All() map[string]agent.Protocol {
	all := map[string]agent.Protocol{}
	for _, p := range append(jsonl.Protocols(), acp.New(), claude.New(), codex.New(), codex.NewExec(), command.New(), scripted.New(), terminal.New()) {
		all[p.Name()] = p
	}
	return all
}

// What an agent can do.
const (
	CanMessage    = "messages"    // it accepts messages during a turn
	CanResume     = "resume"      // it can continue a conversation that has ended
	CanFork       = "fork"        // it can continue a copy of a conversation
	CanSwitch     = "model"       // it can change its model during a session
	CanPermission = "permissions" // it asks before it uses a tool
	CanTools      = "tools"       // it can use tool servers
	CanScreen     = "screen"      // a person can work on its own screen
	CanImages     = "images"      // it can see images; some agents report only when they start that they cannot
)

// skills are the abilities of a protocol that need nothing from the profile.
// The other abilities need arguments in the profile.
type skills struct {
	message, resume, fork, permission, tools bool
}

// A protocol that is not here, such as those of JSON lines, has none of them.
// An agent of the Agent Client Protocol reports only when it starts whether it
// can copy conversations, so this table does not list it.
var protocolSkills = map[string]skills{
	acp.Name:       {resume: true, permission: true, tools: true},
	claude.Name:    {message: true, permission: true, tools: true},
	codex.Name:     {message: true, resume: true, fork: true, permission: true, tools: true},
	codex.NameExec: {tools: true},
	scripted.Name:  {message: true, resume: true},
	terminal.Name:  {message: true},
}

// Abilities returns what an agent can do according to its protocol and its
// profile.
func Abilities(p coppice.Profile) []string {
	protocol, known := All()[p.Protocol]
	if !known {
		return nil
	}
	s := protocolSkills[p.Protocol]
	// JSON lines carry tool servers only if the profile says how.
	lines := strings.HasPrefix(p.Protocol, "jsonl-") && p.MCP != ""
	driver := protocol.Driver(p, agent.Request{})
	_, switches := driver.(agent.Switcher)
	_, sees := driver.(agent.Viewer)
	own := p.Protocol == terminal.Name
	var can []string
	for _, a := range []struct {
		name string
		has  bool
	}{
		{CanMessage, s.message || p.Protocol == acp.Name && acp.AcceptsMessages(p)},
		{CanResume, s.resume || len(p.Resume) > 0 || own && len(p.Screen.Resume) > 0},
		{CanFork, s.fork || len(p.Fork) > 0},
		{CanSwitch, switches},
		{CanPermission, s.permission},
		{CanTools, (s.tools || lines) && p.MCP != agent.MCPNone},
		{CanScreen, own || p.Screen.Set()},
		{CanImages, sees},
	} {
		if a.has {
			can = append(can, a.name)
		}
	}
	return can
}
