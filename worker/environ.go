package worker

import (
	"maps"

	"coppice"
	"coppice/internal/environ"
)

// agentEnv returns the environment of an agent: what every program in a workspace
// gets, what the project passes on, what the agent's profile passes on, keys and
// tokens in particular, and what its profile sets.
func agentEnv(ours []string, p coppice.Profile, project ...string) map[string]string {
	env := environ.Map(environ.Workspace.And(project, p.PassEnv).Pick(ours))
	maps.Copy(env, p.Env)
	return env
}

// AgentEnv returns the environment of an agent, sorted, as NAME=value.
func AgentEnv(ours []string, p coppice.Profile) []string {
	return environ.List(agentEnv(ours, p))
}
