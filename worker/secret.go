package worker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"coppice"
	"coppice/agent"
	"coppice/secret"
)

// secrets resolves the secrets to which a session's tool servers refer. It
// returns the servers, which then refer to variables, and the variables.
func (w *Worker) secrets(ctx context.Context, spec coppice.RunSpec, p coppice.Profile, servers map[string]coppice.MCPServer) (map[string]coppice.MCPServer, map[string]string, error) {
	if p.MCP == agent.MCPNone || spec.Session.Screen {
		return servers, nil, nil // the agent gets no tool servers
	}
	env := map[string]string{}
	for _, server := range slices.Sorted(maps.Keys(servers)) {
		s := servers[server]
		for _, name := range secret.Names(map[string]coppice.MCPServer{server: s}) {
			value, known := env[agent.SecretVar(name)]
			if !known {
				var err error
				if value, err = w.resolve(ctx, name, server); err != nil {
					return nil, nil, err
				}
				env[agent.SecretVar(name)] = value
			}
			if s.URL != "" && strings.ContainsAny(value, "\r\n") {
				return nil, nil, coppice.Failf(coppice.ClassEnvironment,
					fmt.Sprintf("the secret %s has several lines, which a header of the tool server %s cannot have", name, server),
					"store one line: coppice secret set "+name)
			}
		}
	}
	return secret.Replace(servers, func(name string) string { return "${" + agent.SecretVar(name) + "}" }), env, nil
}

// resolve returns a secret that a tool server needs. If it cannot be resolved,
// the session fails.
func (w *Worker) resolve(ctx context.Context, name, server string) (string, error) {
	if w.cfg.Secrets == nil {
		return "", coppice.Failf(coppice.ClassCapability, "this worker has no secrets, and the tool server "+server+" needs "+name, "run the session on another worker")
	}
	value, err := w.cfg.Secrets(ctx, name)
	if err != nil && ctx.Err() == nil {
		e := coppice.Public(err)
		return "", coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("%s; the tool server %s needs this secret", e.Cause, server), e.Fix)
	}
	return value, err
}

// learn resolves the secrets of a session that an earlier worker started, so
// that they are masked in its further output.
func (w *Worker) learn(ctx context.Context, spec coppice.RunSpec) {
	for _, name := range secret.Names(spec.MCP) {
		if _, err := w.resolve(ctx, name, spec.Session.Key); err != nil && ctx.Err() == nil {
			w.cfg.Logger.Warn("a secret cannot be resolved, so it is not hidden in a session that has it", "session", spec.Session.Key, "secret", name, "error", err)
		}
	}
}
