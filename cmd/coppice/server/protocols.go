package server

import (
	"coppice/agent"
	"coppice/agent/acp"
	"coppice/agent/claude"
	"coppice/agent/codex"
	"coppice/agent/command"
	"coppice/agent/jsonl"
	"coppice/agent/scripted"
)

// Protocols are the ways of talking to agents that this program has.
func Protocols() map[string]agent.Protocol {
	all := map[string]agent.Protocol{}
	for _, p := range append(jsonl.Protocols(), acp.New(), claude.New(), codex.New(), command.New(), scripted.New()) {
		all[p.Name()] = p
	}
	return all
}
