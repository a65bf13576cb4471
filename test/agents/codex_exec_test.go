package agents

import (
	"testing"

	"coppice"
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
	b.protocol = codex.NewExec()
	return b
}

func TestCodexExec(t *testing.T) {
	t.Parallel()
	show(t, "", execBench, "resume mcp sigterm large 401 403 503 429 500 long login unknown")
	t.Run("write", func(t *testing.T) { t.Parallel(); codexWrites(t, execBench(t)) })
	t.Run("fork", func(t *testing.T) { t.Parallel(); codexForks(t, execBench(t)) })
}
