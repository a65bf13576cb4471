//go:build moreagents

package agents

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"coppice"
	"coppice/agent"
	"coppice/agent/acp"
	"coppice/agent/jsonl"
	"coppice/test/mcpserver"
)

// TestACPSecrets: the other agents give tool servers secrets, too, and none of
// them writes a secret to a file or an argument list.
func TestACPSecrets(t *testing.T) {
	t.Parallel()
	for name, m := range more {
		t.Run(name+"-mcp-secret", func(t *testing.T) {
			t.Parallel()
			b, on := moreBench(t, name)
			tools := mcpserver.New(aSecret)
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				noArgumentHas(t)
				b.noFileHas(t)
				tools.ServeHTTP(w, r)
			}))
			t.Cleanup(srv.Close)
			headers := map[string]string{"Authorization": "Bearer ${COPPICE_SECRET_A}"}
			if name != "claude-agent-acp" { // which writes other headers to its log
				headers["X-Mixed"] = "key=${COPPICE_SECRET_A};"
			}
			f := b.run(t, acp.New(), agent.Request{
				Prompt: "ECHO hello", Model: m.model, Secrets: map[string]string{agent.SecretVar("A"): aSecret},
				MCP: map[string]coppice.MCPServer{"orch": {URL: srv.URL + "/mcp", Headers: headers}},
			}, on)
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
	for _, p := range jsonl.Protocols() {
		for name, c := range map[string]struct {
			protocol, mcp string
			args          []string
		}{
			"opencode": {"jsonl-opencode", "OPENCODE_CONFIG", []string{"run", "--format", "json"}},
			"qwen":     {"jsonl-messages", "QWEN_CODE_SYSTEM_DEFAULTS_PATH", []string{"-y", "-o", "stream-json"}},
		} {
			if c.protocol != p.Name() {
				continue
			}
			t.Run(name+"-lines-mcp-secret", func(t *testing.T) {
				t.Parallel()
				b, _ := moreBench(t, name)
				b.profile.Protocol, b.profile.Args, b.profile.MCP = c.protocol, c.args, c.mcp
				tools := mcpserver.New(value)
				srv := httptest.NewServer(tools)
				t.Cleanup(srv.Close)
				f := b.run(t, p, agent.Request{
					Prompt: "ECHO hello", Model: more[name].model, Secrets: map[string]string{agent.SecretVar("A"): value},
					MCP: map[string]coppice.MCPServer{"orch": {URL: srv.URL + "/mcp", Headers: map[string]string{"Authorization": "Bearer ${COPPICE_SECRET_A}"}}},
				}, nil)
				if f.Failure != nil || len(tools.Calls()) != 1 || tools.Refused() != 0 {
					t.Errorf("failure %v, calls %+v, %d refused, events %+v", f.Failure, tools.Calls(), tools.Refused(), f.events)
				}
			})
		}
	}
}
