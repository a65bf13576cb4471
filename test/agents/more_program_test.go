//go:build moreagents

package agents

import (
	"maps"
	"strings"
	"syscall"
	"testing"

	"coppice"
	"coppice/agent"
	"coppice/agent/acp"
	"coppice/agent/jsonl"
)

// TestACPPrograms: the other agents start a tool server themselves, too.
func TestACPPrograms(t *testing.T) {
	t.Parallel()
	for name := range maps.Keys(more) {
		t.Run(name+"-mcp-program", func(t *testing.T) {
			t.Parallel()
			b, _ := moreBench(t, name)
			// Some stay for as long as their server does. The host ends those
			// that have nothing more to do.
			b.startsTool(t, acp.New(), more[name].model, func(pm *pump, e coppice.AgentEvent) {
				if e.Kind == coppice.KindState && e.State == coppice.SessionIdle && pm.closed {
					_ = syscall.Kill(-pm.cmd.Process.Pid, syscall.SIGKILL)
				}
			})
		})
	}
}

// TestLinesPrograms: the same for agents that print events.
func TestLinesPrograms(t *testing.T) {
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
			t.Run(name+"-lines-mcp-program", func(t *testing.T) {
				t.Parallel()
				b, _ := moreBench(t, name)
				b.profile.Protocol, b.profile.Args, b.profile.MCP = c.protocol, c.args, c.mcp
				b.startsTool(t, p, more[name].model, nil)
			})
		}
	}
}

func (b *bench) startsTool(t *testing.T, p agent.Protocol, model string, on func(*pump, coppice.AgentEvent)) {
	t.Helper()
	tool := newTool(t)
	servers := tool.servers(t)
	b.passes()
	if strings.HasPrefix(b.profile.Command[0], program(t, "codex-acp")) {
		servers["own"].Env[passedVar] = "passed on" // it hands on next to nothing of its own
	}
	f := b.run(t, p, agent.Request{Prompt: "ECHO hello", Model: model, MCP: servers}, on)
	if f.Failure != nil {
		t.Errorf("failure %v, events %+v", f.Failure, f.events)
	}
	tool.want(t, "hello")
}
