//go:build moreagents

package agents

import (
	"strings"
	"testing"

	"coppice/agent"
)

// TestACPPrograms: the other agents start a tool server themselves, too.
func TestACPPrograms(t *testing.T) {
	t.Parallel()
	for name := range more {
		t.Run(name+"-mcp-program", func(t *testing.T) {
			t.Parallel()
			b := moreBench(t, name)
			b.stays = true // some stay while their server does
			b.startsTool(t)
		})
	}
}

// TestLinesPrograms: the same for agents that print events.
func TestLinesPrograms(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"opencode", "qwen"} {
		t.Run(name+"-lines-mcp-program", func(t *testing.T) { t.Parallel(); linesBench(t, name).startsTool(t) })
	}
}

func (b *bench) startsTool(t *testing.T) {
	t.Helper()
	tool := newTool(t)
	servers := tool.servers(t)
	b.passes()
	if strings.HasPrefix(b.profile.Command[0], program(t, "codex-acp")) {
		servers["own"].Env[passedVar] = "passed on" // it passes almost no variables
	}
	f := b.run(t, agent.Request{Prompt: "ECHO hello", MCP: servers}, nil)
	if f.Failure != nil {
		t.Errorf("failure %v, events %+v", f.Failure, f.events)
	}
	tool.want(t, "hello")
}
