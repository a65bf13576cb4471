package agents

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
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
	return b
}

func TestClaude(t *testing.T) {
	t.Parallel()
	p := claude.New()

	t.Run("write", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		f := b.run(t, p, agent.Request{Prompt: "WRITE foo.txt=hello"}, nil)
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

	t.Run("resume", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		first := b.run(t, p, agent.Request{Prompt: "WRITE a.txt=1"}, nil)
		second := b.run(t, p, agent.Request{Prompt: "WRITE b.txt=2", Resume: first.Conversation, Spent: first.Usage}, nil)
		b.wantCommit(t, second, "b.txt", "2\n")
		b.wantResumed(t, first, second)
		if second.Usage.CostUSD > 1.5*first.Usage.CostUSD {
			t.Errorf("cost is a total, not a delta: %v after %v", second.Usage.CostUSD, first.Usage.CostUSD)
		}
	})

	t.Run("messages", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		f := b.run(t, p, agent.Request{Prompt: "WAIT"}, func(pm *pump, e coppice.AgentEvent) {
			if e.Kind == coppice.KindPermission {
				pm.send("FIRST", "")
				pm.send("SECOND", "")
				pm.queue = append(pm.queue, func() { b.goOn(t) })
			}
		})
		if f.Failure != nil || f.Summary != "second it is" {
			t.Errorf("failure %v, summary %q", f.Failure, f.Summary)
		}
		delivered := 0
		for _, e := range f.events {
			if e.Name == "delivered" {
				delivered++
			}
		}
		if delivered != 2 {
			t.Errorf("%d messages were acknowledged, want 2", delivered)
		}
	})

	t.Run("question", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		answers := map[string]string{"Which colour?": "blue", "Which size?": "neither, take medium"}
		f := b.run(t, p, agent.Request{Prompt: "ASK"}, func(pm *pump, e coppice.AgentEvent) {
			if e.Kind == coppice.KindQuestion {
				pm.send(answers[e.Text], e.Ref)
			}
		})
		if f.Failure != nil || !strings.Contains(f.Summary, `"Which colour?"="blue"`) || !strings.Contains(f.Summary, "take medium") {
			t.Errorf("failure %v, summary %q", f.Failure, f.Summary)
		}
	})

	t.Run("interrupt", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		f := b.run(t, p, agent.Request{Prompt: "HANG"}, func(pm *pump, e coppice.AgentEvent) {
			switch {
			case e.Kind == coppice.KindInit && len(pm.ops) < 3:
				pm.interrupt()
			case e.Kind == coppice.KindState && e.State == coppice.SessionIdle && !pm.closed:
				pm.send("SAY after", "")
			}
		})
		if f.Failure != nil || f.Summary != "after" {
			t.Errorf("failure %v, summary %q", f.Failure, f.Summary)
		}
	})

	t.Run("stop", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		f := b.run(t, p, agent.Request{Prompt: "HANG"}, func(pm *pump, e coppice.AgentEvent) {
			if e.Kind == coppice.KindInit {
				pm.stop()
			}
		})
		wantClass(t, f, coppice.ClassCancelled)
	})

	t.Run("sigterm", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		f := b.run(t, p, agent.Request{Prompt: "HANG"}, func(pm *pump, e coppice.AgentEvent) {
			if e.Kind == coppice.KindInit {
				pm.signal(syscall.SIGTERM)
			}
		})
		wantClass(t, f, coppice.ClassLost)
	})

	t.Run("large", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		f := b.run(t, p, agent.Request{Prompt: strings.Repeat("x ", 1<<19) + "WRITE foo.txt=hello"}, nil)
		b.wantCommit(t, f, "foo.txt", "hello\n")
	})

	for _, c := range []struct {
		name, prompt, resume string
		class                coppice.Class
	}{
		{"401", "FAIL401", "", coppice.ClassAuth},
		{"403", "FAIL403", "", coppice.ClassAuth},
		{"429", "FAIL429", "", coppice.ClassRateLimit},
		{"reset", "FAILRESET", "", coppice.ClassRateLimit},
		{"500", "FAIL500", "", coppice.ClassOverload},
		{"529", "FAIL529", "", coppice.ClassOverload},
		{"long", "FAILLONG", "", coppice.ClassContext},
		{"login", "SAY hi", "", coppice.ClassAuth},
		{"unknown", "SAY hi", "00000000-0000-4000-8000-000000000099", coppice.ClassUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := claudeBench(t)
			if c.name == "login" {
				delete(b.env, "ANTHROPIC_API_KEY")
			}
			wantClass(t, b.run(t, p, agent.Request{Prompt: c.prompt, Resume: c.resume}, nil), c.class)
		})
	}
}

// goOn ends what the WAIT rule waits for.
func (b *bench) goOn(t *testing.T) {
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
	log := b.model.Log()
	if log[len(log)-1].Bytes <= log[0].Bytes {
		t.Error("the resumed conversation is no longer than the first was")
	}
	if second.Usage.InputTokens > 2*first.Usage.InputTokens-first.Usage.InputTokens/4 {
		t.Errorf("input tokens are a total, not a delta: %d after %d", second.Usage.InputTokens, first.Usage.InputTokens)
	}
}
