package agents

import (
	"strings"
	"syscall"
	"testing"

	"coppice"
	"coppice/agent"
	"coppice/agent/codex"
)

// execBench sets the agent up in its non-interactive mode, with the profile
// that the built-in one describes for it.
func execBench(t *testing.T) *bench {
	t.Helper()
	b := codexBench(t)
	b.profile = coppice.Profile{
		Protocol: codex.NameExec, Command: []string{b.profile.Command[0], "exec"},
		Args:  []string{"--json", "--dangerously-bypass-approvals-and-sandbox"},
		Model: []string{"--model", "{model}"}, Effort: []string{"-c", "model_reasoning_effort={effort}"},
		Resume: []string{"resume", "{conversation}"}, Fork: []string{"fork", "{conversation}"},
		Schema: []string{"--output-schema", "{schema_file}"},
	}
	return b
}

func TestCodexExec(t *testing.T) {
	t.Parallel()
	p := codex.NewExec()

	t.Run("write", func(t *testing.T) {
		t.Parallel()
		b := execBench(t)
		f := b.codexRun(t, p, agent.Request{Prompt: "WRITE foo.txt=hello", Effort: "low"}, nil)
		b.wantCommit(t, f, "foo.txt", "hello\n")
		if f.Summary != "done: wrote foo.txt" || f.Usage.InputTokens <= 0 || f.Usage.Turns != 1 {
			t.Errorf("summary %q, usage %+v", f.Summary, f.Usage)
		}
	})

	t.Run("resume", func(t *testing.T) {
		t.Parallel()
		b := execBench(t)
		first := b.codexRun(t, p, agent.Request{Prompt: "WRITE a.txt=1"}, nil)
		second := b.codexRun(t, p, agent.Request{Prompt: "WRITE b.txt=2", Resume: first.Conversation, Spent: first.Usage}, nil)
		b.wantCommit(t, second, "b.txt", "2\n")
		b.wantResumed(t, first, second)
	})

	t.Run("fork", func(t *testing.T) {
		t.Parallel()
		b := execBench(t)
		first := b.codexRun(t, p, agent.Request{Prompt: "WRITE a.txt=1"}, nil)
		second := b.codexRun(t, p, agent.Request{Prompt: "WRITE b.txt=2", Resume: first.Conversation, Fork: true, Spent: first.Usage}, nil)
		b.wantCommit(t, second, "b.txt", "2\n")
		b.wantForked(t, first, second)
	})

	t.Run("mcp", func(t *testing.T) {
		t.Parallel()
		b := execBench(t)
		b.wantEcho(t, p, coppice.PermissionPolicy{})
	})

	t.Run("sigterm", func(t *testing.T) {
		t.Parallel()
		b := execBench(t)
		f := b.codexRun(t, p, agent.Request{Prompt: "HANG"}, func(pm *pump, e coppice.AgentEvent) {
			if e.Kind == coppice.KindInit {
				pm.signal(syscall.SIGTERM)
			}
		})
		wantClass(t, f, coppice.ClassLost)
	})

	t.Run("large", func(t *testing.T) {
		t.Parallel()
		b := execBench(t)
		f := b.codexRun(t, p, agent.Request{Prompt: strings.Repeat("x ", 1<<19-100) + "WRITE foo.txt=hello"}, nil)
		b.wantCommit(t, f, "foo.txt", "hello\n")
	})

	codexFails(t, p, execBench)
}
