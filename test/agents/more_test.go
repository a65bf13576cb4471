//go:build moreagents

package agents

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"coppice"
	"coppice/agent"
	"coppice/agent/acp"
	"coppice/agent/jsonl"
)

// These tests drive the agents that `make test` does without; run
// install-more.sh first, or `make test-agents`.

// more are the agents that speak the Agent Client Protocol, by the name of
// their profile, with what points each at the scripted model.
var more = map[string]struct {
	ready func(*testing.T, *bench)
	model string
	asks  bool // for permission, as it is set up here
	stays bool // when its stdin is closed
	// forgets says that a conversation cannot be continued within the minute it
	// began: this agent names its files by it, and begins the file anew.
	forgets bool
}{
	"claude-agent-acp": {asks: true, ready: func(_ *testing.T, b *bench) {
		b.env["ANTHROPIC_BASE_URL"], b.env["ANTHROPIC_API_KEY"] = b.url, "test-key"
	}},
	"codex-acp": {stays: true, ready: readyCodex},
	"opencode":  {ready: readyOpencode},
	// With the model it chooses itself it asks another one which to take, and
	// the scripted model has no answer to that.
	"gemini": {asks: true, forgets: true, model: "gemini-2.5-flash", ready: func(_ *testing.T, b *bench) {
		b.env["GOOGLE_GEMINI_BASE_URL"], b.env["GEMINI_API_KEY"] = b.url, "test-key"
	}},
	"qwen": {asks: true, ready: func(_ *testing.T, b *bench) {
		b.env["OPENAI_BASE_URL"], b.env["OPENAI_API_KEY"], b.env["OPENAI_MODEL"] = b.url+"/v1", "test-key", "scripted-model"
	}},
}

func readyCodex(t *testing.T, b *bench) {
	b.env["CODEX_HOME"], b.env["SCRIPTED_KEY"] = b.home, "test-key"
	config := `model = "gpt-5.5-codex"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
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
	put(t, filepath.Join(b.home, "config.toml"), config)
}

func readyOpencode(t *testing.T, b *bench) {
	b.env["OPENCODE_DISABLE_MODELS_FETCH"] = "1"
	config, err := json.Marshal(map[string]any{
		"model": "scripted/m1", "small_model": "scripted/m1", "permission": map[string]string{"*": "allow"},
		"provider": map[string]any{"scripted": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "Scripted",
			"options": map[string]string{"baseURL": b.url + "/v1", "apiKey": "test-key"},
			"models":  map[string]any{"m1": map[string]string{"name": "m1"}, "m2": map[string]string{"name": "m2"}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(b.home, ".config", "opencode", "opencode.json"), string(config))
}

// moreBench sets an agent up. on is for the run: it ends agents that do not end
// by themselves, as the host does.
func moreBench(t *testing.T, name string) (*bench, func(*pump, coppice.AgentEvent)) {
	t.Helper()
	b := newBench(t, name)
	more[name].ready(t, b)
	return b, func(pm *pump, e coppice.AgentEvent) {
		if more[name].stays && e.Kind == coppice.KindState && e.State == coppice.SessionIdle && pm.closed {
			_ = syscall.Kill(-pm.cmd.Process.Pid, syscall.SIGKILL)
		}
	}
}

func TestACP(t *testing.T) {
	t.Parallel()
	for name := range maps.Keys(more) {
		t.Run(name+"-write", func(t *testing.T) {
			t.Parallel()
			b, on := moreBench(t, name)
			f := b.run(t, acp.New(), agent.Request{Prompt: "WRITE foo.txt=hello", Model: more[name].model}, on)
			b.wantCommit(t, f, "foo.txt", "hello\n")
			if f.Summary != "done: wrote foo.txt" || f.Conversation == "" || f.Usage.Turns != 1 {
				t.Errorf("summary %q, conversation %q, usage %+v", f.Summary, f.Conversation, f.Usage)
			}
			if e, ok := f.has(coppice.KindPermission); ok != more[name].asks || (ok && e.Text != "allowed") {
				t.Errorf("permission event: %+v", e)
			}
		})
		if !more[name].forgets {
			t.Run(name+"-resume", func(t *testing.T) { t.Parallel(); resumes(t, name) })
		}
		t.Run(name+"-interrupt", func(t *testing.T) {
			t.Parallel()
			b, on := moreBench(t, name)
			f := b.run(t, acp.New(), agent.Request{Prompt: "WAIT", Model: more[name].model}, func(pm *pump, e coppice.AgentEvent) {
				switch {
				case e.Kind == coppice.KindTool:
					pm.interrupt()
				case e.Kind == coppice.KindTurn && e.Reason == "cancelled":
					b.goOn(t) // for a command that outlives its turn
					pm.send("SAY after", "")
				}
				on(pm, e)
			})
			var turns []string
			for _, e := range f.events {
				if e.Kind == coppice.KindTurn {
					turns = append(turns, e.Reason)
				}
			}
			if f.Failure != nil || !slices.Equal(turns, []string{"cancelled", "end_turn"}) {
				t.Errorf("failure %v, turns ended with %q", f.Failure, turns)
			}
		})
		t.Run(name+"-401", func(t *testing.T) {
			t.Parallel()
			b, on := moreBench(t, name)
			wantClass(t, b.run(t, acp.New(), agent.Request{Prompt: "FAIL401", Model: more[name].model}, on), coppice.ClassAuth)
		})
	}
}

func resumes(t *testing.T, name string) {
	b, on := moreBench(t, name)
	first := b.run(t, acp.New(), agent.Request{Prompt: "WRITE a.txt=1", Model: more[name].model}, on)
	second := b.run(t, acp.New(), agent.Request{Prompt: "WRITE b.txt=2", Model: more[name].model, Resume: first.Conversation, Spent: first.Usage}, on)
	b.wantCommit(t, second, "b.txt", "2\n")
	if first.Conversation == "" || first.Conversation != second.Conversation {
		t.Errorf("conversations %q and %q", first.Conversation, second.Conversation)
	}
	for _, e := range second.events {
		if e.Kind == coppice.KindText && strings.Contains(e.Text, "a.txt") {
			t.Errorf("the past is told again: %q", e.Text)
		}
	}
}

// TestChosenModel: a model that is not there is refused where it is chosen by a
// request.
func TestChosenModel(t *testing.T) {
	t.Parallel()
	t.Run("opencode-no-model", func(t *testing.T) {
		t.Parallel()
		b, on := moreBench(t, "opencode")
		wantClass(t, b.run(t, acp.New(), agent.Request{Prompt: "SAY hi", Model: "scripted/none"}, on), coppice.ClassCapability)
	})
}

// TestLines drives agents in the modes in which they print events.
func TestLines(t *testing.T) {
	t.Parallel()
	protocols := map[string]agent.Protocol{}
	for _, p := range jsonl.Protocols() {
		protocols[p.Name()] = p
	}
	for name, c := range map[string]struct {
		protocol string
		args     []string
	}{
		"opencode": {"jsonl-opencode", []string{"run", "--format", "json"}},
		"gemini":   {"jsonl-gemini", []string{"-y", "-o", "stream-json", "--skip-trust"}},
		"qwen":     {"jsonl-messages", []string{"-y", "-o", "stream-json"}},
	} {
		ready := func(t *testing.T) *bench {
			b, _ := moreBench(t, name)
			b.profile.Protocol, b.profile.Args = c.protocol, c.args
			// In this mode the one that has such settings takes a key only if
			// they say so; the others have none of that name.
			put(t, filepath.Join(b.home, ".gemini", "settings.json"), `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`)
			return b
		}
		t.Run(name+"-write", func(t *testing.T) {
			t.Parallel()
			b := ready(t)
			f := b.run(t, protocols[c.protocol], agent.Request{Prompt: "WRITE foo.txt=hello", Model: more[name].model}, nil)
			b.wantCommit(t, f, "foo.txt", "hello\n")
			if f.Summary != "done: wrote foo.txt" || f.Usage.InputTokens <= 0 {
				t.Errorf("summary %q, usage %+v", f.Summary, f.Usage)
			}
		})
		t.Run(name+"-401", func(t *testing.T) {
			t.Parallel()
			wantClass(t, ready(t).run(t, protocols[c.protocol], agent.Request{Prompt: "FAIL401", Model: more[name].model}, nil), coppice.ClassAuth)
		})
	}
}
