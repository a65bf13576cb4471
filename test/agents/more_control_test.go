//go:build moreagents

package agents

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/agent"
)

// lastMessage returns the latest message that the model was sent.
func (b *bench) lastMessage() string {
	log := b.model.Log()
	return log[len(log)-1].User
}

// TestACPMessages: an agent that can reads a message in the middle of a turn.
// With others the message starts the next turn.
func TestACPMessages(t *testing.T) {
	t.Parallel()
	for name := range more {
		now := slices.Contains([]string{"claude-agent-acp", "opencode"}, name)
		as := "-message-later"
		if now {
			as = "-messages"
		}
		t.Run(name+as, func(t *testing.T) {
			t.Parallel()
			b := moreBench(t, name)
			f := b.run(t, agent.Request{Prompt: "WAIT"}, func(pm *pump, e coppice.AgentEvent) {
				if e.Kind == coppice.KindTool {
					pm.send("SECOND", "")
					pm.queue = append(pm.queue, func() { b.release(t) })
				}
			})
			turns, queued := int64(3), 1 // the tool, its result, the message
			if now {
				turns, queued = 2, 0
			}
			if f.Failure != nil || f.Summary != "second it is" || int64(f.Usage.Turns) != turns || f.noticed("delivered") != 1 || f.noticed("queued") != queued {
				t.Errorf("failure %v, summary %q, usage %+v, events %+v", f.Failure, f.Summary, f.Usage, f.events)
			}
			waited := f.count(coppice.KindText, func(e coppice.AgentEvent) bool { return e.Text == "waited" })
			if (waited == 0) != now {
				t.Errorf("read during the turn: %v, want %v; events %+v", waited == 0, now, f.events)
			}
		})
		// A message that joined a turn which is then interrupted begins the next.
		if now {
			t.Run(name+"-messages-interrupt", func(t *testing.T) {
				t.Parallel()
				b := moreBench(t, name)
				f := b.run(t, agent.Request{Prompt: "WAIT"}, func(pm *pump, e coppice.AgentEvent) {
					switch {
					case e.Kind == coppice.KindTool:
						pm.send("SECOND", "")
						pm.interrupt()
					case e.Kind == coppice.KindTurn && e.Reason == "cancelled":
						b.release(t) // for a command that outlives its turn
					}
				})
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
	// The protocol cannot change a call, so the agent receives the rule's command as text.
	eachMore(t, "permission-rewrite", func(t *testing.T, b *bench) {
		set := rules(coppice.Rule{Tool: "run", Match: "touch *", Do: coppice.RuleAllow, Set: map[string]string{"command": "true"}})
		f := b.run(t, agent.Request{Prompt: "RUN touch made.txt", Permissions: set}, nil)
		b.wantNo(t, "made.txt")
		if f.count(coppice.KindPermission, func(e coppice.AgentEvent) bool { return !e.OK && strings.Contains(e.Text, `"command":"true"`) }) != 1 {
			t.Errorf("events %+v", f.events)
		}
		if got := b.lastMessage(); f.Failure != nil || !strings.Contains(got, "require this instead") || !strings.Contains(got, `"command":"true"`) {
			t.Errorf("failure %v, the model received %q, want the rule's command in it", f.Failure, got)
		}
	})
}

// TestACPQuestions: agents that have a way to ask a person do.
func TestACPQuestions(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude-agent-acp", "qwen"} {
		show(t, name+"-", func(t *testing.T) *bench { return moreBench(t, name) }, "question")
	}
}

// models are the first and the second model of an agent, as it names them and as
// requests to the service name them.
var models = map[string]struct{ first, firstName, then, thenName string }{
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
			b := moreBench(t, name)
			f := b.run(t, agent.Request{Prompt: "WRITE foo.txt=hello", Model: m.first}, nil)
			b.wantCommit(t, f, "foo.txt", "hello\n")
			if got := b.working(); !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, m.firstName) }) || len(got) != 1 {
				t.Errorf("models %q, want %s", got, m.firstName)
			}
		})
		t.Run(name+"-model-later", func(t *testing.T) {
			t.Parallel()
			b := moreBench(t, name)
			// One agent reads the available models from its settings.
			put(t, filepath.Join(b.home, ".qwen", "settings.json"), `{"modelProviders":{"openai":[{"id":"m2","name":"m2","baseUrl":"`+b.url+`/v1","envKey":"OPENAI_API_KEY"}]}}`)
			f := b.run(t, agent.Request{Prompt: "WAIT", Model: m.first}, func(pm *pump, e coppice.AgentEvent) {
				switch {
				case e.Kind == coppice.KindTool && e.Tool == coppice.ToolRun:
					pm.model(m.then)
				case e.Kind == coppice.KindError || e.Kind == coppice.KindNotice && e.Name == "model":
					pm.interrupt()
				case e.Kind == coppice.KindTurn && e.Reason == "cancelled":
					b.release(t) // for a command that outlives its turn
					pm.send("SAY hi", "")
				}
			})
			got := b.working()
			if f.Failure != nil || f.Summary != "hi" || len(got) != 2 || !strings.HasPrefix(got[0], m.firstName) || !strings.HasPrefix(got[1], m.thenName) {
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
			b := moreBench(t, name)
			f := b.run(t, agent.Request{Prompt: "SAY hi", Model: models[name].first, Effort: "low"}, nil)
			f.wantSummary(t, "hi")
			b = moreBench(t, name)
			wantClass(t, b.run(t, agent.Request{Prompt: "SAY hi", Model: models[name].first, Effort: "no-such"}, nil), coppice.ClassCapability)
		})
	}
}

// TestACPBounds: agents that have a bound on turns follow it, and the cost that
// they report counts against the budget.
func TestACPBounds(t *testing.T) {
	t.Parallel()
	t.Run("gemini-max-turns", func(t *testing.T) {
		t.Parallel()
		b := moreBench(t, "gemini")
		put(t, filepath.Join(b.home, ".gemini", "settings.json"), `{"model":{"maxSessionTurns":1}}`)
		wantClass(t, b.run(t, agent.Request{Prompt: "WRITE foo.txt=hello"}, nil), coppice.ClassImplementation)
	})
	t.Run("claude-agent-acp-max-turns", func(t *testing.T) {
		t.Parallel()
		b := moreBench(t, "claude-agent-acp")
		b.profile.Driver.Meta = `{"claudeCode":{"options":{"maxTurns":1}}}`
		wantClass(t, b.run(t, agent.Request{Prompt: "WRITE foo.txt=hello"}, nil), coppice.ClassImplementation)
	})
	t.Run("claude-agent-acp-budget", func(t *testing.T) {
		t.Parallel()
		b := moreBench(t, "claude-agent-acp")
		f := b.run(t, agent.Request{Prompt: "WRITE foo.txt=hello", Budget: 0.001}, nil)
		b.wantNoCommit(t)
		wantClass(t, f, coppice.ClassBudget)
	})
	// Cost that an agent reports between turns counts as well.
	t.Run("claude-agent-acp-budget-later", func(t *testing.T) {
		t.Parallel()
		b := moreBench(t, "claude-agent-acp")
		b.profile.Driver.Meta, b.profile.Driver.Messages = "", ""
		first := true
		f := b.run(t, agent.Request{Prompt: "SAY hi", Budget: 0.001}, func(pm *pump, e coppice.AgentEvent) {
			if e.Kind == coppice.KindState && first {
				first = false
				pm.send("WRITE foo.txt=hello", "")
			}
		})
		b.wantNo(t, "foo.txt")
		wantClass(t, f, coppice.ClassBudget)
	})
}

// TestLinesBounds: bounds that an agent follows only when it prints events.
func TestLinesBounds(t *testing.T) {
	t.Parallel()
	t.Run("qwen-lines-max-turns", func(t *testing.T) {
		t.Parallel()
		b := linesBench(t, "qwen")
		b.profile.Args = append(slices.Clone(b.profile.Args), "--max-session-turns", "1")
		wantClass(t, b.run(t, agent.Request{Prompt: "WRITE foo.txt=hello"}, nil), coppice.ClassImplementation)
	})
	t.Run("qwen-lines-schema", func(t *testing.T) {
		t.Parallel()
		b := linesBench(t, "qwen")
		b.profile.Schema = []string{"--json-schema", agent.SlotSchema}
		f, v := b.verifies(t, agent.Request{Prompt: "VERDICT"})
		wantVerdict(t, f, v, "half of it")
	})
}
