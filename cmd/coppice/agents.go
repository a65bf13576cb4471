package main

import (
	"context"
	"os"

	"coppice/agent/profiles"
	"coppice/cmd/coppice/server"
	"coppice/cmd/coppice/setup"
)

// agents looks for every agent that Coppice has a profile of.
func (p *program) agents(ctx context.Context) []setup.Agent {
	ctx, cancel := context.WithTimeout(ctx, profiles.Patience)
	defer cancel()
	return server.FindAgents(ctx, p.self, os.Environ(), nil)
}
