package agents

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"coppice"
	"coppice/agent"
	"coppice/agent/codex"
)

func codexBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, codex.Name)
	b.env["CODEX_HOME"] = b.home
	b.env["SCRIPTED_KEY"] = "test-key"
	config := `model = "gpt-5.5-codex"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "` + b.url + `/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 1
stream_max_retries = 1
[features]
plugins = false
`
	if err := os.WriteFile(filepath.Join(b.home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCodex(t *testing.T) {
	t.Parallel()
	p := codex.New()

	t.Run("write", func(t *testing.T) {
		t.Parallel()
		b := codexBench(t)
		f := b.run(t, p, agent.Request{Prompt: "WRITE foo.txt=hello"}, nil)
		b.wantCommit(t, f, "foo.txt", "hello\n")
		if f.Summary != "done: wrote foo.txt" || f.Usage.InputTokens <= 0 || f.Usage.Turns != 1 {
			t.Errorf("summary %q, usage %+v", f.Summary, f.Usage)
		}
	})

	t.Run("resume", func(t *testing.T) {
		t.Parallel()
		b := codexBench(t)
		first := b.run(t, p, agent.Request{Prompt: "WRITE a.txt=1"}, nil)
		second := b.run(t, p, agent.Request{Prompt: "WRITE b.txt=2", Resume: first.Conversation, Spent: first.Usage}, nil)
		b.wantCommit(t, second, "b.txt", "2\n")
		b.wantResumed(t, first, second)
	})

	t.Run("sigterm", func(t *testing.T) {
		t.Parallel()
		b := codexBench(t)
		f := b.run(t, p, agent.Request{Prompt: "HANG"}, func(pm *pump, e agent.Event) {
			if e.Kind == agent.KindInit {
				pm.signal(syscall.SIGTERM)
			}
		})
		wantClass(t, f, coppice.ClassLost)
	})

	t.Run("large", func(t *testing.T) {
		t.Parallel()
		b := codexBench(t)
		f := b.run(t, p, agent.Request{Prompt: strings.Repeat("x ", 1<<19-100) + "WRITE foo.txt=hello"}, nil)
		b.wantCommit(t, f, "foo.txt", "hello\n")
	})

	for _, c := range []struct {
		name, prompt, resume string
		class                coppice.Class
	}{
		{"401", "FAIL401", "", coppice.ClassAuth},
		{"429", "FAIL429", "", coppice.ClassRateLimit},
		{"500", "FAIL500", "", coppice.ClassOverload},
		{"long", "FAILLONG", "", coppice.ClassContext},
		{"login", "SAY hi", "", coppice.ClassAuth},
		{"unknown", "SAY hi", "00000000-0000-4000-8000-000000000099", coppice.ClassUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := codexBench(t)
			if c.name == "login" {
				delete(b.env, "SCRIPTED_KEY")
			}
			wantClass(t, b.run(t, p, agent.Request{Prompt: c.prompt, Resume: c.resume}, nil), c.class)
		})
	}
}
