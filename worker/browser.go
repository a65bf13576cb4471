package worker

import (
	"errors"
	"maps"

	"coppice"
	"coppice/agent"
	"coppice/internal/browser"
)

// browserEnv are variables that the browser needs and that some agents do not
// pass on to the programs that they start.
var browserEnv = []string{"PATH", "HOME", "TMPDIR", "LANG"}

// servers returns the tool servers of a session: the project's, and a browser if
// it should have one. If the browser lacks something, the error comes before the
// agent starts.
func (w *Worker) servers(spec coppice.RunSpec, p coppice.Profile, dir string) (map[string]coppice.MCPServer, error) {
	name := spec.BrowserServer.ServerName()
	if _, own := spec.MCP[name]; own || !spec.Browser {
		return spec.MCP, nil
	}
	if p.MCP == agent.MCPNone || len(w.cfg.Browser) == 0 {
		return nil, coppice.Failf(coppice.ClassCapability, spec.Session.Agent+" has no tool servers, so it can have no browser",
			"choose another agent as agent.roles.verify, or set verify.browser to false")
	}
	found, err := browser.Find(w.cfg.Environ, spec.BrowserServer.Package)
	var missing *browser.Missing
	if errors.As(err, &missing) {
		return nil, coppice.Failf(coppice.ClassEnvironment, missing.What, missing.Fix+"; or set verify.browser to false")
	}
	if err != nil {
		return nil, err
	}
	command := append(w.cfg.Browser[:len(w.cfg.Browser):len(w.cfg.Browser)], "--session", dir, "--chromium", found.Chromium, "--")
	env, ours := map[string]string{}, agentEnv(w.cfg.Environ, p)
	for _, key := range browserEnv {
		if v, ok := ours[key]; ok {
			env[key] = v
		}
	}
	all := maps.Clone(spec.MCP)
	if all == nil {
		all = map[string]coppice.MCPServer{}
	}
	command = append(append(command, found.Server...), spec.BrowserServer.Args...)
	all[name] = coppice.MCPServer{Command: command, Env: env}
	return all, nil
}
