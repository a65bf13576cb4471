//go:build moreagents

package agents

import (
	"testing"

	"coppice"
	"coppice/agent"
)

// TestACPPermissions: what the agents ask is decided by rule, or by a person.
func TestACPPermissions(t *testing.T) {
	t.Parallel()
	everyMore(t, "permission-rule permission-always hook-closed mcp")
	eachMore(t, "permission-allow", func(t *testing.T, b *bench) {
		ask := rules(coppice.Rule{Tool: "edit", Match: "*.txt", Do: coppice.RuleAsk})
		f := b.run(t, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: ask}, answers(t, "allow"))
		b.wantCommit(t, f, "foo.txt", "hello\n")
		if f.count(coppice.KindState, func(e coppice.AgentEvent) bool { return e.State == coppice.SessionWaiting }) != 1 {
			t.Error("it did not wait")
		}
	})
	eachMore(t, "permission-deny", func(t *testing.T, b *bench) {
		f := b.run(t, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: askEdit}, answers(t, "deny because SAY rain", "deny", "deny", "deny"))
		b.wantNo(t, "foo.txt")
		if f.count(coppice.KindPermission, func(e coppice.AgentEvent) bool { return !e.OK && e.Text == "SAY rain" }) != 1 {
			t.Errorf("events %+v", f.events)
		}
	})
}

// TestACPFork: agents that can continue a copy of a conversation.
func TestACPFork(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude-agent-acp", "opencode"} {
		t.Run(name+"-fork", func(t *testing.T) {
			t.Parallel()
			b := moreBench(t, name)
			_, copied := b.forks(t)
			copied.wantNoPast(t)
		})
	}
}
