package main

import (
	"context"
	"os"
	"sync"

	"coppice"
	"coppice/agent/profiles"
	"coppice/cmd/coppice/server"
	"coppice/cmd/coppice/setup"
)

// agents looks for every agent that Coppice has a profile of.
func (p *program) agents(ctx context.Context) []setup.Agent {
	ctx, cancel := context.WithTimeout(ctx, profiles.Patience)
	defer cancel()
	return findAgents(ctx, p.self, os.Environ())
}

// findAgents looks for the agents in an environment.
func findAgents(ctx context.Context, self string, env []string) []setup.Agent {
	set, err := profiles.Load()
	if err != nil {
		return []setup.Agent{{Name: "profiles", Problem: err.Error()}}
	}
	set = set.Self(self)
	names := set.Names()
	found := make([]setup.Agent, len(names))
	// Each takes a moment to tell its version and its login, so they are asked
	// side by side.
	var probes sync.WaitGroup
	for i, name := range names {
		probes.Go(func() { found[i] = look(ctx, name, set[name], env) })
	}
	probes.Wait()
	return found
}

// look finds one agent and asks its version and its login.
func look(ctx context.Context, name string, p coppice.Profile, env []string) setup.Agent {
	a := setup.Agent{
		Name: name, Tested: p.Tested, Install: p.Install, Protocol: p.Protocol, Can: server.Abilities(p),
		Lead: p.Scores.Lead, Implement: p.Scores.Implement, Models: p.Models, LoginEnv: p.LoginEnv, Source: p.Source,
	}
	if profiles.Installed(name, p, env) != nil {
		return a
	}
	var login profiles.LoginFound
	var probes sync.WaitGroup
	probes.Go(func() { login = profiles.Login(ctx, p, env) })
	path, version, err := profiles.Find(ctx, name, p, env)
	probes.Wait()
	if err != nil {
		a.Problem = err.Error()
		return a
	}
	a.Path = path
	if len(p.LoginEnv)+len(p.LoginFiles)+len(p.Login) > 0 { // else it needs none, as far as is known
		a.Login, a.LoginBy = string(login.State), login.By
	}
	if a.Version = version; version == "" {
		a.Version = setup.NoVersion
	}
	return a
}
