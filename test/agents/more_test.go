//go:build moreagents

package agents

import (
	"path/filepath"
	"slices"
	"strings"
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
	asks  bool   // for permission, as it is set up here
	stays bool   // when its stdin is closed
	fails string // the failures that not all agents show
	// forgets means that a conversation cannot be continued in the minute in
	// which it began: the agent names its files by the minute, and overwrites
	// them.
	forgets bool
}{
	"claude-agent-acp": {asks: true, fails: "529 dropped", ready: func(_ *testing.T, b *bench) {
		b.env["ANTHROPIC_BASE_URL"], b.env["ANTHROPIC_API_KEY"] = b.url, "test-key"
	}},
	"codex-acp": {stays: true, fails: "503 dropped cut", ready: func(t *testing.T, b *bench) {
		readyCodex(t, b, "approval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n")
	}},
	"opencode": {fails: "503 dropped", ready: readyOpencode},
	// Without a model it asks another model to choose one, and the scripted model
	// has no answer to that.
	"gemini": {asks: true, forgets: true, fails: "503 cut", model: "gemini-2.5-flash", ready: func(_ *testing.T, b *bench) {
		b.env["GOOGLE_GEMINI_BASE_URL"], b.env["GEMINI_API_KEY"] = b.url, "test-key"
	}},
	"qwen": {asks: true, fails: "503 cut", ready: func(_ *testing.T, b *bench) {
		b.env["OPENAI_BASE_URL"], b.env["OPENAI_API_KEY"], b.env["OPENAI_MODEL"] = b.url+"/v1", "test-key", "scripted-model"
	}},
}

func readyOpencode(t *testing.T, b *bench) {
	b.env["OPENCODE_DISABLE_MODELS_FETCH"] = "1"
	put(t, filepath.Join(b.home, ".config", "opencode", "opencode.json"), text(t, providerSettings(b)))
}

// providerSettings are settings with the scripted model as the only provider.
func providerSettings(b *bench) map[string]any {
	return map[string]any{
		"model": "scripted/m1", "small_model": "scripted/m1", "permission": map[string]string{"*": "allow"},
		"provider": map[string]any{"scripted": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "Scripted",
			"options": map[string]string{"baseURL": b.url + "/v1", "apiKey": "test-key"},
			"models":  map[string]any{"m1": map[string]string{"name": "m1"}, "m2": map[string]string{"name": "m2"}},
		}},
	}
}

// moreBench sets an agent up.
func moreBench(t *testing.T, name string) *bench {
	t.Helper()
	b := newBench(t, name)
	b.protocol, b.use, b.stays, b.asksBy = acp.New(), more[name].model, more[name].stays, "session/request_permission"
	more[name].ready(t, b)
	return b
}

// everyMore shows behaviours of every one of these agents.
func everyMore(t *testing.T, names string) {
	t.Helper()
	for name := range more {
		show(t, name+"-", func(t *testing.T) *bench { return moreBench(t, name) }, names)
	}
}

// eachMore runs a test with every one of these agents.
func eachMore(t *testing.T, what string, f func(t *testing.T, b *bench)) {
	t.Helper()
	for name := range more {
		t.Run(name+"-"+what, func(t *testing.T) {
			t.Parallel()
			f(t, moreBench(t, name))
		})
	}
}

// writes checks that an agent writes a file, commits it and reports that.
func (b *bench) writes(t *testing.T) finished {
	t.Helper()
	f := b.run(t, agent.Request{Prompt: "WRITE foo.txt=hello"}, nil)
	b.wantCommit(t, f, "foo.txt", "hello\n")
	if f.Summary != "done: wrote foo.txt" || f.Conversation == "" || f.Usage.Turns != 3 {
		t.Errorf("summary %q, conversation %q, usage %+v", f.Summary, f.Conversation, f.Usage)
	}
	return f
}

func TestACP(t *testing.T) {
	t.Parallel()
	for name := range more {
		t.Run(name+"-write", func(t *testing.T) {
			t.Parallel()
			f := moreBench(t, name).writes(t)
			if e, ok := f.has(coppice.KindPermission); ok != more[name].asks || (ok && e.Text != "allowed") {
				t.Errorf("permission event: %+v", e)
			}
		})
		if !more[name].forgets {
			t.Run(name+"-resume", func(t *testing.T) { t.Parallel(); resumes(t, name) })
		}
	}
	eachMore(t, "interrupt", func(t *testing.T, b *bench) {
		f := b.run(t, agent.Request{Prompt: "WAIT"}, func(pm *pump, e coppice.AgentEvent) {
			switch {
			case e.Kind == coppice.KindTool:
				pm.interrupt()
			case e.Kind == coppice.KindTurn && e.Reason == "cancelled":
				b.release(t) // for a command that outlives its turn
				pm.send("SAY after", "")
			}
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
	everyMore(t, "401")
}

func resumes(t *testing.T, name string) {
	b := moreBench(t, name)
	first := b.run(t, agent.Request{Prompt: "WRITE a.txt=1"}, nil)
	second := b.run(t, agent.Request{Prompt: "WRITE b.txt=2", Resume: first.Conversation, Spent: first.Usage}, nil)
	b.wantCommit(t, second, "b.txt", "2\n")
	if first.Conversation == "" || first.Conversation != second.Conversation {
		t.Errorf("conversations %q and %q, want the same", first.Conversation, second.Conversation)
	}
	second.wantNoPast(t)
}

// wantNoPast checks that the events of an earlier run are not repeated.
func (f finished) wantNoPast(t *testing.T) {
	t.Helper()
	if f.count(coppice.KindText, func(e coppice.AgentEvent) bool { return strings.Contains(e.Text, "a.txt") }) > 0 {
		t.Errorf("the earlier run is reported again: %+v", f.events)
	}
}

// TestChosenModel: a model that is not there is refused where it is chosen by a
// request.
func TestChosenModel(t *testing.T) {
	t.Parallel()
	t.Run("opencode-no-model", func(t *testing.T) {
		t.Parallel()
		b := moreBench(t, "opencode")
		wantClass(t, b.run(t, agent.Request{Prompt: "SAY hi", Model: "scripted/none"}, nil), coppice.ClassCapability)
	})
}

// lines are the modes in which agents print events, as their profiles describe
// them.
var lines = map[string]coppice.Profile{
	"gemini":   {Protocol: "jsonl-gemini", Args: []string{"-y", "-o", "stream-json", "--skip-trust"}, Resume: []string{"--resume", "{conversation}"}},
	"opencode": {Protocol: "jsonl-opencode", Args: []string{"run", "--format", "json"}, Resume: []string{"--session", "{conversation}"}, MCP: "OPENCODE_CONFIG"},
	"qwen":     {Protocol: "jsonl-messages", Args: []string{"-y", "-o", "stream-json"}, Resume: []string{"--resume", "{conversation}"}, MCP: "QWEN_CODE_SYSTEM_DEFAULTS_PATH"},
}

// linesBench sets an agent up in that mode.
func linesBench(t *testing.T, name string) *bench {
	t.Helper()
	b, mode := moreBench(t, name), lines[name]
	b.profile.Protocol, b.profile.Args, b.profile.Resume = mode.Protocol, mode.Args, mode.Resume
	if mode.MCP != "" {
		b.profile.MCP = mode.MCP
	}
	// In this mode one of them takes a key only if its settings say so. The
	// others have no settings of that name.
	put(t, filepath.Join(b.home, ".gemini", "settings.json"), `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`)
	for _, p := range jsonl.Protocols() {
		if p.Name() == mode.Protocol {
			b.protocol = p
			return b
		}
	}
	t.Fatalf("no protocol %s", mode.Protocol)
	return nil
}

// TestLines drives agents in the modes in which they print events.
func TestLines(t *testing.T) {
	t.Parallel()
	for name := range lines {
		setup := func(t *testing.T) *bench { return linesBench(t, name) }
		t.Run(name+"-write", func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			f := b.run(t, agent.Request{Prompt: "WRITE foo.txt=hello"}, nil)
			b.wantCommit(t, f, "foo.txt", "hello\n")
			if f.Summary != "done: wrote foo.txt" || f.Usage.InputTokens <= 0 {
				t.Errorf("summary %q, usage %+v, want input tokens", f.Summary, f.Usage)
			}
		})
		show(t, name+"-", setup, "401")
		show(t, name+"-lines-", setup, "large sigterm")
		if lines[name].MCP != "" {
			show(t, name+"-lines-", setup, "mcp")
		}
	}
}
