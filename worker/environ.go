package worker

import (
	"maps"
	"slices"
	"strings"

	"coppice"
	"coppice/internal/environ"
)

// passed lists the variables of Coppice's own environment that every agent gets.
// The agent's profile must name all others, keys and tokens in particular.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TZ", "TERM", "TMPDIR",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
}

// agentEnv returns the environment of an agent: the variables of passed, those
// that its profile passes on, and those that its profile sets.
func agentEnv(ours []string, p coppice.Profile) map[string]string {
	env := map[string]string{}
	for _, kv := range environ.Pick(ours, slices.Concat(passed, p.PassEnv)) {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	maps.Copy(env, p.Env)
	return env
}

// AgentEnv returns the environment of an agent, sorted, as NAME=value.
func AgentEnv(ours []string, p coppice.Profile) []string {
	env := agentEnv(ours, p)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}
