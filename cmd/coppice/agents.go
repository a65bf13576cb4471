package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/agent/profiles"
	"coppice/api/client"
	"coppice/cmd/coppice/protocols"
	"coppice/cmd/coppice/setup"
	"coppice/control/agents"
)

func (p *program) search() agents.Search {
	return agents.Search{Self: p.self, Env: os.Environ(), Can: protocols.Abilities}
}

// agents searches for every agent that Coppice has a profile for, and for the
// project's own.
func (p *program) agents(ctx context.Context, own map[string]coppice.Profile) []agents.Agent {
	ctx, cancel := context.WithTimeout(ctx, profiles.Patience)
	defer cancel()
	return p.search().Find(ctx, own)
}

func (p *program) agentsCommand() *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "agents [NAME]",
		Short: "List the agent CLIs that Coppice knows, or show what one of them gets",
		Long: `Lists the agent CLIs that Coppice knows: the installed version, whether you are
logged in, the protocol, and what the agent can do:

  messages     it accepts messages during a turn
  resume       it can continue a conversation that has ended
  fork         it can continue a copy of a conversation
  model        it can change its model during a session
  permissions  it asks before it uses a tool
  tools        it can use tool servers
  screen       a person can work on its own screen
  images       it sees the images that people attach

An agent is marked as unproven if no test has run its profile with the real CLI.

With the name of an agent, it shows how to install it, how to log in, its scores, its
limits in this project, and everything that Coppice passes to it: variables by name
and never their values, and files.`,
		Example: "  coppice agents\n  coppice agents my-agent",
		Args:    cobra.MaximumNArgs(1),
	}, func(c *cobra.Command, args []string, asJSON bool) error {
		at := p.project(c.Context())
		if len(args) == 1 {
			return p.showAgent(c.Context(), args[0], at, asJSON)
		}
		return setup.PrintAgents(p.out(asJSON), p.agents(c.Context(), at.policy.Agents), asJSON)
	})
}

// showAgent is `coppice agents NAME`.
func (p *program) showAgent(ctx context.Context, name string, at projectHere, asJSON bool) error {
	limited, cancel := context.WithTimeout(ctx, profiles.Patience)
	defer cancel()
	a, profile, err := p.search().One(limited, name, at.policy.Agents)
	if err != nil {
		return err
	}
	info := setup.NewAgentInfo(a, profile, at.policy, os.Environ())
	if at.shown == nil || at.shown.Err != nil {
		info.Sessions = 0 // there is no project with limits
	}
	cl := client.New(p.state)
	defer cl.Close()
	if limits, err := cl.Limits(limited); err == nil { // otherwise no server knows a limit
		for _, l := range limits {
			if agent, _ := coppice.SplitChoice(l.Agent); agent == name {
				info.Limited = append(info.Limited, l.Agent+": "+l.Text)
			}
		}
	}
	return info.Print(p.out(asJSON), asJSON)
}
