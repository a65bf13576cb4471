//go:build moreagents

package agents

import (
	"net/http/httptest"
	"strings"
	"testing"

	"coppice"
	"coppice/agent"
	"coppice/agent/acp"
	"coppice/agent/jsonl"
	"coppice/test/mcpserver"
)

// TestACPPermissions: what the agents ask is decided by rule, or by a person.
func TestACPPermissions(t *testing.T) {
	t.Parallel()
	for name, m := range more {
		t.Run(name+"-permission-allow", func(t *testing.T) {
			t.Parallel()
			b, on := moreBench(t, name)
			ask := rules(coppice.Rule{Tool: "edit", Match: "*.txt", Do: coppice.RuleAsk})
			answer := answers(t, "allow")
			f := b.run(t, acp.New(), agent.Request{Prompt: "WRITE foo.txt=hello", Model: m.model, Permissions: ask}, func(pm *pump, e coppice.AgentEvent) {
				answer(pm, e)
				on(pm, e)
			})
			b.wantCommit(t, f, "foo.txt", "hello\n")
			if f.count(coppice.KindState, func(e coppice.AgentEvent) bool { return e.State == coppice.SessionWaiting }) != 1 {
				t.Error("it did not wait")
			}
		})
		t.Run(name+"-permission-deny", func(t *testing.T) {
			t.Parallel()
			b, on := moreBench(t, name)
			ask := rules(coppice.Rule{Tool: "edit", Do: coppice.RuleAsk})
			answer := answers(t, "deny because SAY rain", "deny", "deny", "deny")
			f := b.run(t, acp.New(), agent.Request{Prompt: "WRITE foo.txt=hello", Model: m.model, Permissions: ask}, func(pm *pump, e coppice.AgentEvent) {
				answer(pm, e)
				on(pm, e)
			})
			b.wantNo(t, "foo.txt")
			if f.count(coppice.KindPermission, func(e coppice.AgentEvent) bool { return !e.OK && e.Text == "SAY rain" }) != 1 {
				t.Errorf("events %+v", f.events)
			}
		})
		t.Run(name+"-permission-rule", func(t *testing.T) {
			t.Parallel()
			b, on := moreBench(t, name)
			deny := rules(coppice.Rule{Tool: "run", Match: "git commit*", Do: coppice.RuleDeny, Why: "Coppice commits"})
			f := b.run(t, acp.New(), agent.Request{Prompt: "WRITE foo.txt=hello", Model: m.model, Permissions: deny}, on)
			if got := b.git(t, "log", "--format=%s"); got != "start" {
				t.Errorf("it committed: %q", got)
			}
			if f.count(coppice.KindPermission, func(e coppice.AgentEvent) bool { return !e.OK && e.Text == "Coppice commits" }) == 0 {
				t.Errorf("events %+v", f.events)
			}
		})
	}
}

// TestACPServers: agents call a tool of a server they were given, with the
// session's token.
func TestACPServers(t *testing.T) {
	t.Parallel()
	for name, m := range more {
		t.Run(name+"-mcp", func(t *testing.T) {
			t.Parallel()
			b, on := moreBench(t, name)
			tools := mcpserver.New("session-token-1")
			srv := httptest.NewServer(tools)
			t.Cleanup(srv.Close)
			servers := map[string]coppice.MCPServer{"orch": {URL: srv.URL + "/mcp", Headers: map[string]string{"Authorization": "Bearer ${COPPICE_TOKEN}"}}}
			f := b.run(t, acp.New(), agent.Request{Prompt: "ECHO hello", Model: m.model, MCP: servers, Token: "session-token-1"}, on)
			calls := tools.Calls()
			if f.Failure != nil || len(calls) != 1 || calls[0].Text != "hello" || tools.Refused() != 0 {
				t.Errorf("failure %v, calls %+v, %d refused, events %+v", f.Failure, calls, tools.Refused(), f.events)
			}
			if !strings.Contains(f.Summary, "hello") {
				t.Errorf("summary %q", f.Summary)
			}
		})
	}
}

// TestLinesServers: the same for agents that print events.
func TestLinesServers(t *testing.T) {
	t.Parallel()
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
			t.Run(name+"-lines-mcp", func(t *testing.T) {
				t.Parallel()
				b, _ := moreBench(t, name)
				b.profile.Protocol, b.profile.Args, b.profile.MCP = c.protocol, c.args, c.mcp
				tools := mcpserver.New("session-token-1")
				srv := httptest.NewServer(tools)
				t.Cleanup(srv.Close)
				servers := map[string]coppice.MCPServer{"orch": {URL: srv.URL + "/mcp", Headers: map[string]string{"Authorization": "Bearer ${COPPICE_TOKEN}"}}}
				f := b.run(t, p, agent.Request{Prompt: "ECHO hello", Model: more[name].model, MCP: servers, Token: "session-token-1"}, nil)
				if calls := tools.Calls(); f.Failure != nil || len(calls) != 1 || calls[0].Text != "hello" || tools.Refused() != 0 {
					t.Errorf("failure %v, calls %+v, %d refused, events %+v", f.Failure, calls, tools.Refused(), f.events)
				}
			})
		}
	}
}

// TestACPFork: agents that can continue a copy of a conversation.
func TestACPFork(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude-agent-acp", "opencode"} {
		t.Run(name+"-fork", func(t *testing.T) {
			t.Parallel()
			b, on := moreBench(t, name)
			first := b.run(t, acp.New(), agent.Request{Prompt: "WRITE a.txt=1"}, on)
			copied := b.run(t, acp.New(), agent.Request{Prompt: "WRITE b.txt=2", Resume: first.Conversation, Fork: true, Spent: first.Usage}, on)
			b.wantCommit(t, copied, "b.txt", "2\n")
			if copied.Conversation == "" || copied.Conversation == first.Conversation {
				t.Errorf("conversations %q and %q", first.Conversation, copied.Conversation)
			}
			log := b.model.Log()
			if log[len(log)-1].Bytes <= log[0].Bytes {
				t.Error("the copy does not know the first conversation")
			}
			for _, e := range copied.events {
				if e.Kind == coppice.KindText && strings.Contains(e.Text, "a.txt") {
					t.Errorf("the past is told again: %q", e.Text)
				}
			}
		})
	}
}
