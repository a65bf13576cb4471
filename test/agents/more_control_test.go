//go:build moreagents

package agents

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/agent"
	"coppice/agent/acp"
	"coppice/agent/jsonl"
)

// both calls one after the other.
func both(a, b func(*pump, coppice.AgentEvent)) func(*pump, coppice.AgentEvent) {
	return func(pm *pump, e coppice.AgentEvent) { a(pm, e); b(pm, e) }
}

func (f finished) noticed(name string) int {
	return f.count(coppice.KindNotice, func(e coppice.AgentEvent) bool { return e.Name == name })
}

// toldLast is the latest message that the model was sent.
func (b *bench) toldLast() string {
	log := b.model.Log()
	return log[len(log)-1].User
}

// TestACPMessages: a message that comes in the middle of a turn is heard there
// where the agent can, and else begins the next turn.
func TestACPMessages(t *testing.T) {
	t.Parallel()
	for name := range maps.Keys(more) {
		now := slices.Contains([]string{"claude-agent-acp", "opencode"}, name)
		as := "-message-later"
		if now {
			as = "-messages"
		}
		t.Run(name+as, func(t *testing.T) {
			t.Parallel()
			b, on := moreBench(t, name)
			f := b.run(t, acp.New(), agent.Request{Prompt: "WAIT", Model: more[name].model}, both(on, func(pm *pump, e coppice.AgentEvent) {
				if e.Kind == coppice.KindTool {
					pm.send("SECOND", "")
					pm.queue = append(pm.queue, func() { b.goOn(t) })
				}
			}))
			turns, queued := int64(2), 1
			if now {
				turns, queued = 1, 0
			}
			if f.Failure != nil || f.Summary != "second it is" || int64(f.Usage.Turns) != turns || f.noticed("delivered") != 1 || f.noticed("queued") != queued {
				t.Errorf("failure %v, summary %q, usage %+v, events %+v", f.Failure, f.Summary, f.Usage, f.events)
			}
			waited := f.count(coppice.KindText, func(e coppice.AgentEvent) bool { return e.Text == "waited" })
			if (waited == 0) != now {
				t.Errorf("heard at once: %v; events %+v", waited == 0, f.events)
			}
		})
		// A message that joined a turn which is then interrupted begins the next.
		if now {
			t.Run(name+"-messages-interrupt", func(t *testing.T) {
				t.Parallel()
				b, on := moreBench(t, name)
				f := b.run(t, acp.New(), agent.Request{Prompt: "WAIT", Model: more[name].model}, both(on, func(pm *pump, e coppice.AgentEvent) {
					switch {
					case e.Kind == coppice.KindTool:
						pm.send("SECOND", "")
						pm.interrupt()
					case e.Kind == coppice.KindTurn && e.Reason == "cancelled":
						b.goOn(t) // for a command that outlives its turn
					}
				}))
				if f.Failure != nil || f.Summary != "second it is" {
					t.Errorf("failure %v, summary %q, events %+v", f.Failure, f.Summary, f.events)
				}
			})
		}
	}
}

// TestACPRules: what rules and people say beyond yes and no.
func TestACPRules(t *testing.T) {
	t.Parallel()
	for name, m := range more {
		// The protocol cannot change a call, so the agent is told what to do.
		t.Run(name+"-permission-rewrite", func(t *testing.T) {
			t.Parallel()
			b, on := moreBench(t, name)
			set := rules(coppice.Rule{Tool: "run", Match: "touch *", Do: coppice.RuleAllow, Set: map[string]string{"command": "true"}})
			f := b.run(t, acp.New(), agent.Request{Prompt: "RUN touch made.txt", Model: m.model, Permissions: set}, on)
			b.wantNo(t, "made.txt")
			if f.count(coppice.KindPermission, func(e coppice.AgentEvent) bool { return !e.OK && strings.Contains(e.Text, `"command":"true"`) }) != 1 {
				t.Errorf("events %+v", f.events)
			}
			if told := b.toldLast(); f.Failure != nil || !strings.Contains(told, "require this instead") || !strings.Contains(told, `"command":"true"`) {
				t.Errorf("failure %v, told %q", f.Failure, told)
			}
		})
		t.Run(name+"-permission-always", func(t *testing.T) {
			t.Parallel()
			b, on := moreBench(t, name)
			ask := rules(coppice.Rule{Tool: "edit", Do: coppice.RuleAsk})
			again := false
			f := b.run(t, acp.New(), agent.Request{Prompt: "WRITE src/a.txt=1", Model: m.model, Permissions: ask}, both(both(on, answers(t, "allow always")), func(pm *pump, e coppice.AgentEvent) {
				if e.Kind == coppice.KindTool && e.Tool == coppice.ToolRun && !again {
					again = true
					pm.send("WRITE src/b.txt=2", "")
				}
			}))
			b.wantCommit(t, f, "src/b.txt", "2\n")
			if f.count(coppice.KindQuestion, func(coppice.AgentEvent) bool { return true }) != 1 {
				t.Errorf("events %+v", f.events)
			}
		})
		// Whoever was to decide fails: nothing is done without a yes.
		t.Run(name+"-hook-closed", func(t *testing.T) {
			t.Parallel()
			b, on := moreBench(t, name)
			ask := rules(coppice.Rule{Tool: "edit", Do: coppice.RuleAsk})
			f := b.run(t, acp.New(), agent.Request{Prompt: "WRITE foo.txt=hello", Model: m.model, Permissions: ask}, both(on, func(pm *pump, e coppice.AgentEvent) {
				if e.Kind == coppice.KindQuestion {
					pm.failRequest(t, "session/request_permission")
				}
			}))
			b.wantNo(t, "foo.txt")
			if f.count(coppice.KindQuestion, func(coppice.AgentEvent) bool { return true }) == 0 {
				t.Errorf("events %+v", f.events)
			}
		})
	}
}

// TestACPQuestions: agents that have a way to ask a person do.
func TestACPQuestions(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude-agent-acp", "qwen"} {
		t.Run(name+"-question", func(t *testing.T) {
			t.Parallel()
			b, on := moreBench(t, name)
			given := map[string]string{"Which colour?": "blue", "Which size?": "neither, take medium"}
			f := b.run(t, acp.New(), agent.Request{Prompt: "ASK", Model: more[name].model}, both(on, func(pm *pump, e coppice.AgentEvent) {
				if e.Kind == coppice.KindQuestion {
					pm.send(given[e.Text], e.Ref)
				}
			}))
			if f.Failure != nil || !strings.Contains(f.Summary, "blue") || !strings.Contains(f.Summary, "take medium") {
				t.Errorf("failure %v, summary %q, events %+v", f.Failure, f.Summary, f.events)
			}
		})
	}
}

// models are what an agent is told to work with, and go on with, in its own
// words, and what the model's service hears of it.
var models = map[string]struct{ first, firstHeard, then, thenHeard string }{
	"claude-agent-acp": {"sonnet", "claude-sonnet", "haiku", "claude-haiku"},
	"codex-acp":        {"gpt-5.4", "gpt-5.4", "gpt-5.2", "gpt-5.2"},
	"gemini":           {"gemini-2.5-flash", "gemini-2.5-flash", "gemini-2.5-pro", "gemini-2.5-pro"},
	"opencode":         {"scripted/m2", "m2", "scripted/m1", "m1"},
	"qwen":             {"scripted-model", "scripted-model", "m2", "m2"},
}

// TestACPModels: the model is the one asked for, from the first request on or
// from a change on.
func TestACPModels(t *testing.T) {
	t.Parallel()
	for name, m := range models {
		t.Run(name+"-model", func(t *testing.T) {
			t.Parallel()
			b, on := moreBench(t, name)
			f := b.run(t, acp.New(), agent.Request{Prompt: "WRITE foo.txt=hello", Model: m.first}, on)
			b.wantCommit(t, f, "foo.txt", "hello\n")
			if got := b.working(); !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, m.firstHeard) }) || len(got) != 1 {
				t.Errorf("models %q, want %s", got, m.firstHeard)
			}
		})
		t.Run(name+"-model-later", func(t *testing.T) {
			t.Parallel()
			b, on := moreBench(t, name)
			// What one of them can choose from stands in its settings.
			put(t, filepath.Join(b.home, ".qwen", "settings.json"), `{"modelProviders":{"openai":[{"id":"m2","name":"m2","baseUrl":"`+b.url+`/v1","envKey":"OPENAI_API_KEY"}]}}`)
			f := b.run(t, acp.New(), agent.Request{Prompt: "WAIT", Model: m.first}, both(on, func(pm *pump, e coppice.AgentEvent) {
				switch {
				case e.Kind == coppice.KindTool && e.Tool == coppice.ToolRun:
					pm.model(m.then)
				case e.Kind == coppice.KindError || e.Kind == coppice.KindNotice && e.Name == "model":
					pm.interrupt()
				case e.Kind == coppice.KindTurn && e.Reason == "cancelled":
					b.goOn(t) // for a command that outlives its turn
					pm.send("SAY hi", "")
				}
			}))
			got := b.working()
			if f.Failure != nil || f.Summary != "hi" || len(got) != 2 || !strings.HasPrefix(got[0], m.firstHeard) || !strings.HasPrefix(got[1], m.thenHeard) {
				t.Errorf("failure %v, summary %q, models %q, events %+v", f.Failure, f.Summary, got, f.events)
			}
		})
	}
}

// working lists the models that worked, without side requests.
func (b *bench) working() []string {
	var out []string
	for _, l := range b.model.Log() {
		if l.Model != "" && len(l.Tools) > 0 {
			out = append(out, l.Model)
		}
	}
	return slices.Compact(out)
}

// TestACPEffort: how hard to think is chosen where the agent offers it.
func TestACPEffort(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude-agent-acp", "codex-acp"} {
		t.Run(name+"-effort", func(t *testing.T) {
			t.Parallel()
			b, on := moreBench(t, name)
			f := b.run(t, acp.New(), agent.Request{Prompt: "SAY hi", Model: models[name].first, Effort: "low"}, on)
			if f.Failure != nil || f.Summary != "hi" {
				t.Errorf("failure %v, summary %q", f.Failure, f.Summary)
			}
			b, on = moreBench(t, name)
			wantClass(t, b.run(t, acp.New(), agent.Request{Prompt: "SAY hi", Model: models[name].first, Effort: "no-such"}, on), coppice.ClassCapability)
		})
	}
}

// TestACPBounds: agents that know a bound on turns keep it, and what they tell
// of their cost is held against the budget.
func TestACPBounds(t *testing.T) {
	t.Parallel()
	t.Run("gemini-max-turns", func(t *testing.T) {
		t.Parallel()
		b, on := moreBench(t, "gemini")
		put(t, filepath.Join(b.home, ".gemini", "settings.json"), `{"model":{"maxSessionTurns":1}}`)
		wantClass(t, b.run(t, acp.New(), agent.Request{Prompt: "WRITE foo.txt=hello", Model: more["gemini"].model}, on), coppice.ClassImplementation)
	})
	t.Run("claude-agent-acp-max-turns", func(t *testing.T) {
		t.Parallel()
		b, on := moreBench(t, "claude-agent-acp")
		b.profile.Driver.Meta = `{"claudeCode":{"options":{"maxTurns":1}}}`
		wantClass(t, b.run(t, acp.New(), agent.Request{Prompt: "WRITE foo.txt=hello"}, on), coppice.ClassImplementation)
	})
	t.Run("claude-agent-acp-budget", func(t *testing.T) {
		t.Parallel()
		b, on := moreBench(t, "claude-agent-acp")
		f := b.run(t, acp.New(), agent.Request{Prompt: "WRITE foo.txt=hello", Budget: 0.001}, on)
		if got := b.git(t, "log", "--format=%s"); got != "start" {
			t.Errorf("it committed: %q", got)
		}
		wantClass(t, f, coppice.ClassBudget)
	})
	// What an agent tells between turns is held against the budget as well.
	t.Run("claude-agent-acp-budget-later", func(t *testing.T) {
		t.Parallel()
		b, on := moreBench(t, "claude-agent-acp")
		b.profile.Driver.Meta, b.profile.Driver.Messages = "", ""
		first := true
		f := b.run(t, acp.New(), agent.Request{Prompt: "SAY hi", Budget: 0.001}, both(on, func(pm *pump, e coppice.AgentEvent) {
			if e.Kind == coppice.KindState && first {
				first = false
				pm.send("WRITE foo.txt=hello", "")
			}
		}))
		b.wantNo(t, "foo.txt")
		wantClass(t, f, coppice.ClassBudget)
	})
}

// TestLinesBounds: what an agent can be held to only when it prints events.
func TestLinesBounds(t *testing.T) {
	t.Parallel()
	i := slices.IndexFunc(jsonl.Protocols(), func(p agent.Protocol) bool { return p.Name() == "jsonl-messages" })
	p := jsonl.Protocols()[i]
	t.Run("qwen-lines-max-turns", func(t *testing.T) {
		t.Parallel()
		b, _ := moreBench(t, "qwen")
		b.profile.Protocol, b.profile.Args = p.Name(), []string{"-y", "-o", "stream-json", "--max-session-turns", "1"}
		wantClass(t, b.run(t, p, agent.Request{Prompt: "WRITE foo.txt=hello"}, nil), coppice.ClassImplementation)
	})
	t.Run("qwen-lines-schema", func(t *testing.T) {
		t.Parallel()
		b, _ := moreBench(t, "qwen")
		b.profile.Protocol, b.profile.Args, b.profile.Schema = p.Name(), []string{"-y", "-o", "stream-json"}, []string{"--json-schema", agent.SlotSchema}
		f, v := b.verifies(t, p, agent.Request{Prompt: "VERDICT"})
		wantVerdict(t, f, v, "half of it")
	})
}
