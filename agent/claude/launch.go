package claude

import (
	"encoding/json"
	"fmt"

	"coppice"
	"coppice/agent"
)

// The files of a launch.
const (
	settingsFile = "settings.json"
	serversFile  = "mcp.json"
)

// hookSeconds is how long the agent waits for a hook's answer. The host answers
// immediately. A person's decision is requested separately.
const hookSeconds = 30

// Launch implements agent.Protocol. Hooks and tool servers are configured in
// files of the session. The tokens that they need are only in the environment.
func (Protocol) Launch(p coppice.Profile, r agent.Request) (agent.Launch, error) {
	l, err := agent.LaunchProfile(p, r)
	if err != nil {
		return agent.Launch{}, err
	}
	if r.HookURL != "" && r.MustAsk() {
		path, err := addJSON(&l, r, settingsFile, hookSettings(r.HookURL))
		if err != nil {
			return agent.Launch{}, err
		}
		l.Argv = append(l.Argv, "--settings", path)
	}
	servers, err := agent.Servers(p, r)
	if err != nil {
		return agent.Launch{}, err
	}
	if len(servers) > 0 {
		path, err := addJSON(&l, r, serversFile, serverConfig(servers))
		if err != nil {
			return agent.Launch{}, err
		}
		l.Argv = append(l.Argv, "--mcp-config", path)
		if r.WantsServers() { // otherwise the user's own servers stay
			l.Argv = append(l.Argv, "--strict-mcp-config")
		}
		l = l.With(r.Secrets)
	}
	return l, nil
}

func addJSON(l *agent.Launch, r agent.Request, name string, v any) (string, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return "", fmt.Errorf("claude: %s: %w", name, err)
	}
	return l.AddFile(r, name, append(b, '\n'))
}

type (
	settings struct {
		Hooks map[string][]matcher `json:"hooks"`
	}
	matcher struct {
		Matcher string `json:"matcher,omitempty"`
		Hooks   []hook `json:"hooks"`
	}
	hook struct {
		Type    string            `json:"type"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
		Vars    []string          `json:"allowedEnvVars"`
		Timeout int               `json:"timeout"`
		// OnFailure must be set here, at the hook itself. Elsewhere it is
		// ignored, and a hook that cannot be reached lets the tool run.
		OnFailure string `json:"onFailure,omitempty"`
	}
)

// hookSettings makes the agent call the hook before every tool call, and when
// it gets a prompt, which shows early that hooks work.
func hookSettings(url string) settings {
	prompt := hook{
		Type: "http", URL: url, Timeout: hookSeconds,
		Headers: map[string]string{"Authorization": "Bearer $" + agent.HookTokenVar}, Vars: []string{agent.HookTokenVar},
	}
	tool := prompt
	tool.OnFailure = "block"
	return settings{Hooks: map[string][]matcher{
		hookTool:   {{Matcher: "*", Hooks: []hook{tool}}},
		hookPrompt: {{Hooks: []hook{prompt}}},
	}}
}

type server struct {
	Type    string            `json:"type"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

// serverConfig returns the tool servers in the agent's own form. The agent
// itself expands ${COPPICE_TOKEN} and ${COPPICE_SECRET_…}.
func serverConfig(servers map[string]coppice.MCPServer) map[string]map[string]server {
	all := map[string]server{}
	for name, s := range servers {
		if len(s.Command) > 0 {
			all[name] = server{Type: "stdio", Command: s.Command[0], Args: s.Command[1:], Env: s.Env}
			continue
		}
		all[name] = server{Type: "http", URL: s.URL, Headers: s.Headers}
	}
	return map[string]map[string]server{"mcpServers": all}
}
