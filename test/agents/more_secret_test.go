//go:build moreagents

package agents

import (
	"net/http/httptest"
	"testing"

	"coppice"
	"coppice/agent"
	"coppice/test/mcpserver"
)

// TestACPSecrets: the other agents give tool servers secrets, too, and none of
// them writes a secret to a file or an argument list.
func TestACPSecrets(t *testing.T) {
	t.Parallel()
	for name := range more {
		t.Run(name+"-mcp-secret", func(t *testing.T) {
			t.Parallel()
			b := moreBench(t, name)
			tools, url := b.secretServer(t)
			headers := map[string]string{"Authorization": "Bearer ${COPPICE_SECRET_A}"}
			if name != "claude-agent-acp" { // which writes other headers to its log
				headers["X-Mixed"] = "key=${COPPICE_SECRET_A};"
			}
			f := b.run(t, agent.Request{
				Prompt: "ECHO hello", Secrets: map[string]string{agent.SecretVar("A"): aSecret},
				MCP: map[string]coppice.MCPServer{"orch": {URL: url, Headers: headers}},
			}, nil)
			calls := tools.Calls()
			if f.Failure != nil || len(calls) != 1 || tools.Refused() != 0 || headers["X-Mixed"] != "" && calls[0].Headers.Get("X-Mixed") != "key="+aSecret+";" {
				t.Errorf("failure %v, calls %+v, %d refused, events %+v", f.Failure, calls, tools.Refused(), f.events)
			}
			b.noFileHas(t)
		})
	}
}

// TestLinesSecrets: the same for agents that print events. They fill values in
// before they read their settings, so quotes would break them.
func TestLinesSecrets(t *testing.T) {
	t.Parallel()
	const value = "token-" + secretPart
	for _, name := range []string{"opencode", "qwen"} {
		t.Run(name+"-lines-mcp-secret", func(t *testing.T) {
			t.Parallel()
			b := linesBench(t, name)
			tools := mcpserver.New(value)
			srv := httptest.NewServer(tools)
			t.Cleanup(srv.Close)
			f := b.run(t, agent.Request{
				Prompt: "ECHO hello", Secrets: map[string]string{agent.SecretVar("A"): value},
				MCP: map[string]coppice.MCPServer{"orch": {URL: srv.URL + "/mcp", Headers: map[string]string{"Authorization": "Bearer ${COPPICE_SECRET_A}"}}},
			}, nil)
			if f.Failure != nil || len(tools.Calls()) != 1 || tools.Refused() != 0 {
				t.Errorf("failure %v, calls %+v, %d refused, want one call; events %+v", f.Failure, tools.Calls(), tools.Refused(), f.events)
			}
		})
	}
}
