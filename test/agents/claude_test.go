package agents

import (
	"os"
	"path/filepath"
	"testing"

	"coppice"
	"coppice/agent"
	"coppice/agent/claude"
)

func claudeBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, claude.Name)
	b.env["ANTHROPIC_BASE_URL"] = b.url
	b.env["ANTHROPIC_API_KEY"] = "test-key"
	b.protocol = claude.New()
	return b
}

func TestClaude(t *testing.T) {
	t.Parallel()
	show(t, "", claudeBench, "resume fork question interrupt stop sigterm large permission-always dropped")
	show(t, "", claudeBench, "401 403 429 reset 500 529 long login unknown")

	t.Run("write", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		f := b.run(t, agent.Request{Prompt: "WRITE foo.txt=hello"}, nil)
		b.wantCommit(t, f, "foo.txt", "hello\n")
		if e, ok := f.has(coppice.KindPermission); !ok || e.Name != "Write" || e.Text != "allowed" {
			t.Errorf("permission event: %+v", e)
		}
		if f.Usage.CostUSD <= 0 || f.Usage.InputTokens <= 0 || f.Usage.Turns != 3 {
			t.Errorf("usage: %+v", f.Usage)
		}
		if f.Summary != "done: wrote foo.txt" {
			t.Errorf("summary %q", f.Summary)
		}
	})

	t.Run("messages", func(t *testing.T) {
		t.Parallel()
		f := claudeBench(t).sendDuring(t, coppice.KindPermission, "FIRST", "SECOND")
		f.wantSummary(t, "second it is")
		if n := f.noticed("delivered"); n != 2 {
			t.Errorf("%d messages were acknowledged, want 2", n)
		}
	})

}

// sendDuring runs a turn that waits, sends messages at each event of a kind, and then
// lets the turn continue.
func (b *bench) sendDuring(t *testing.T, kind coppice.AgentEventKind, messages ...string) finished {
	t.Helper()
	return b.run(t, agent.Request{Prompt: "WAIT"}, func(pm *pump, e coppice.AgentEvent) {
		if e.Kind != kind {
			return
		}
		for _, m := range messages {
			pm.send(m, "")
		}
		pm.queue = append(pm.queue, func() { b.release(t) })
	})
}

// release creates the file that the WAIT rule waits for.
func (b *bench) release(t *testing.T) {
	if err := os.WriteFile(filepath.Join(b.repo, "go"), nil, 0o644); err != nil {
		t.Error(err)
	}
}

func wantClass(t *testing.T, f finished, class coppice.Class) {
	t.Helper()
	if f.Failure == nil || f.Failure.Class != class {
		t.Errorf("failure %+v, want %s; exit %+v", f.Failure, class, f.exit)
	}
}

func (b *bench) wantCommit(t *testing.T, f finished, file, content string) {
	t.Helper()
	if f.Failure != nil {
		t.Errorf("failure %+v", f.Failure)
	}
	if got := b.git(t, "show", "HEAD:"+file); got+"\n" != content {
		t.Errorf("%s holds %q", file, got)
	}
	if got := b.git(t, "log", "-1", "--format=%s"); got != "add "+file {
		t.Errorf("last commit is %q", got)
	}
	if _, ok := f.has(coppice.KindTool); !ok {
		t.Error("no tool event")
	}
}

func (b *bench) wantResumed(t *testing.T, first, second finished) {
	t.Helper()
	if first.Conversation == "" || first.Conversation != second.Conversation {
		t.Errorf("conversations %q and %q", first.Conversation, second.Conversation)
	}
	b.wantLonger(t)
	if second.Usage.InputTokens > 2*first.Usage.InputTokens-first.Usage.InputTokens/4 {
		t.Errorf("input tokens are a total, not a delta: %d after %d", second.Usage.InputTokens, first.Usage.InputTokens)
	}
	if second.Usage.CostUSD > 1.5*first.Usage.CostUSD {
		t.Errorf("cost is a total, not a delta: %v after %v", second.Usage.CostUSD, first.Usage.CostUSD)
	}
}

// wantLonger checks that the latest request to the model has the first one's
// conversation in it.
func (b *bench) wantLonger(t *testing.T) {
	t.Helper()
	if log := b.model.Log(); log[len(log)-1].Bytes <= log[0].Bytes {
		t.Errorf("the last request has %d bytes, the first %d: the conversation was not continued", log[len(log)-1].Bytes, log[0].Bytes)
	}
}

func (b *bench) wantNoCommit(t *testing.T) {
	t.Helper()
	if got := b.git(t, "log", "--format=%s"); got != "start" {
		t.Errorf("the log is %q, want only start", got)
	}
}

func (f finished) wantSummary(t *testing.T, want string) {
	t.Helper()
	if f.Failure != nil || f.Summary != want {
		t.Errorf("failure %v, summary %q, want %q", f.Failure, f.Summary, want)
	}
}

// noticed counts the notices of a name, questions the questions.
func (f finished) noticed(name string) int {
	return f.count(coppice.KindNotice, func(e coppice.AgentEvent) bool { return e.Name == name })
}

func (f finished) questions() int {
	return f.count(coppice.KindQuestion, func(coppice.AgentEvent) bool { return true })
}
