package worker

import (
	"maps"

	"coppice"
	"coppice/internal/environ"
)

// passed lists the variables of Coppice's own environment that every agent
// gets. Everything else, keys and tokens above all, has to be named by the
// agent's profile.
var passed = environ.Base.And(environ.Network, environ.Allowed{
	"SHELL", "LC_*", "TERM", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "NODE_EXTRA_CA_CERTS",
})

// agentEnv is the environment of an agent: an allow-list of ours, what its
// profile passes on, and what its profile sets.
func agentEnv(ours []string, p coppice.Profile) map[string]string {
	env := environ.Map(passed.And(p.PassEnv).Pick(ours))
	maps.Copy(env, p.Env)
	return env
}

// AgentEnv is the environment in which an agent runs, in order, as NAME=value.
func AgentEnv(ours []string, p coppice.Profile) []string {
	return environ.List(agentEnv(ours, p))
}
