package worker

import (
	"maps"

	"coppice"
	"coppice/internal/environ"
)

// passed lists the variables of Coppice's own environment that every agent gets.
// The agent's profile must name all others, keys and tokens in particular.
var passed = environ.Base.And(environ.Network, environ.Allowed{
	"SHELL", "LC_*", "TERM", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "NODE_EXTRA_CA_CERTS",
})

// agentEnv returns the environment of an agent: the variables of passed, those
// that its profile passes on, and those that its profile sets.
func agentEnv(ours []string, p coppice.Profile) map[string]string {
	env := environ.Map(passed.And(p.PassEnv).Pick(ours))
	maps.Copy(env, p.Env)
	return env
}

// AgentEnv returns the environment of an agent, sorted, as NAME=value.
func AgentEnv(ours []string, p coppice.Profile) []string {
	return environ.List(agentEnv(ours, p))
}
