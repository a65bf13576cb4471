package main

import (
	"context"
	"os"

	"coppice/agent/profiles"
	"coppice/cmd/coppice/server"
	"coppice/control/agents"
)

// agents searches for every agent that Coppice has a profile for.
func (p *program) agents(ctx context.Context) []agents.Agent {
	ctx, cancel := context.WithTimeout(ctx, profiles.Patience)
	defer cancel()
	return agents.Search{Self: p.self, Env: os.Environ(), Can: server.Abilities}.Find(ctx, nil)
}
