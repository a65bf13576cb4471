package worker

import (
	"maps"
	"slices"
	"strings"

	"coppice"
	"coppice/internal/environ"
)

// passed lists the variables of Coppice's own environment that every agent
// gets. Everything else, keys and tokens above all, has to be named by the
// agent's profile.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TZ", "TERM", "TMPDIR",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
}

// agentEnv is the environment of an agent: an allow-list of ours, what its
// profile passes on, and what its profile sets.
func agentEnv(ours []string, p coppice.Profile) map[string]string {
	env := map[string]string{}
	for _, kv := range environ.Pick(ours, slices.Concat(passed, p.PassEnv)) {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	maps.Copy(env, p.Env)
	return env
}

// AgentEnv is the environment in which an agent runs, in order, as NAME=value.
func AgentEnv(ours []string, p coppice.Profile) []string {
	env := agentEnv(ours, p)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}
