package agents

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/agent"
	"coppice/agent/claude"
	"coppice/test/mcpserver"
)

// rules makes a policy.
func rules(all ...coppice.Rule) coppice.PermissionPolicy { return coppice.PermissionPolicy{Rules: all} }

// answers answers every permission question with the next of the answers.
func answers(t *testing.T, all ...string) func(*pump, coppice.AgentEvent) {
	return func(pm *pump, e coppice.AgentEvent) {
		if e.Kind != coppice.KindQuestion {
			return
		}
		if e.Rule == nil || len(e.Options) != 4 || len(all) == 0 {
			t.Errorf("question %+v, answers left %q", e, all)
			pm.send("deny", e.Ref)
			return
		}
		pm.send(all[0], e.Ref)
		all = all[1:]
	}
}

// allowed has the person's own settings allow everything without asking.
func (b *bench) allowed(t *testing.T) {
	t.Helper()
	put(t, filepath.Join(b.home, ".claude", "settings.json"), `{"permissions":{"allow":["Write","Edit","Bash","Bash(*)"]}}`)
}

func (b *bench) wantNo(t *testing.T, file string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(b.repo, file)); err == nil {
		t.Errorf("%s was written", file)
	}
}

func (f finished) count(k coppice.AgentEventKind, want func(coppice.AgentEvent) bool) int {
	n := 0
	for _, e := range f.events {
		if e.Kind == k && want(e) {
			n++
		}
	}
	return n
}

func (f finished) wantPermission(t *testing.T, tool string, ok bool, text string) {
	t.Helper()
	if f.count(coppice.KindPermission, func(e coppice.AgentEvent) bool { return e.Name == tool && e.OK == ok && strings.Contains(e.Text, text) }) == 0 {
		t.Errorf("no permission event for %s, %v, %q: %+v", tool, ok, text, f.events)
	}
}

func (f finished) wantNoHookNotice(t *testing.T) {
	t.Helper()
	if f.count(coppice.KindNotice, func(e coppice.AgentEvent) bool { return e.Name == "hook" }) != 0 {
		t.Errorf("hooks: %+v", f.events)
	}
}

func TestClaudePermissions(t *testing.T) {
	t.Parallel()
	p := claude.New()
	askEdit := rules(coppice.Rule{Tool: "edit", Do: coppice.RuleAsk})

	// Whether the agent would ask by itself or its person's settings allow it
	// all makes no difference.
	for _, settings := range []string{"", "-settings"} {
		setUp := func(t *testing.T) *bench {
			b := claudeBench(t)
			if settings != "" {
				b.allowed(t)
			}
			return b
		}
		t.Run("permission-allow"+settings, func(t *testing.T) {
			t.Parallel()
			b := setUp(t)
			f := b.run(t, p, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: askEdit}, answers(t, "allow"))
			b.wantCommit(t, f, "foo.txt", "hello\n")
			f.wantPermission(t, "Write", true, "allowed")
			f.wantNoHookNotice(t)
			if f.count(coppice.KindState, func(e coppice.AgentEvent) bool { return e.State == coppice.SessionWaiting }) != 1 {
				t.Error("it did not wait")
			}
		})
		t.Run("permission-deny"+settings, func(t *testing.T) {
			t.Parallel()
			b := setUp(t)
			f := b.run(t, p, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: askEdit}, answers(t, "deny because it is late"))
			b.wantNo(t, "foo.txt")
			f.wantPermission(t, "Write", false, "it is late")
			if f.count(coppice.KindToolResult, func(e coppice.AgentEvent) bool { return !e.OK && strings.Contains(e.Text, "it is late") }) != 1 {
				t.Errorf("the agent was not told why: %+v", f.events)
			}
		})
		t.Run("permission-rewrite"+settings, func(t *testing.T) {
			t.Parallel()
			b := setUp(t)
			set := rules(coppice.Rule{Tool: "edit", Match: "*.txt", Do: coppice.RuleAllow, Set: map[string]string{"content": "changed\n"}})
			f := b.run(t, p, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: set}, nil)
			b.wantCommit(t, f, "foo.txt", "changed\n")
			f.wantPermission(t, "Write", true, "another input")
		})
		t.Run("permission-rule"+settings, func(t *testing.T) {
			t.Parallel()
			b := setUp(t)
			deny := rules(coppice.Rule{Tool: "run", Match: "git commit*", Do: coppice.RuleDeny, Why: "Coppice commits"})
			f := b.run(t, p, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: deny}, nil)
			f.wantPermission(t, "Bash", false, "Coppice commits")
			if got := b.git(t, "log", "--format=%s"); got != "start" {
				t.Errorf("it committed: %q", got)
			}
		})
	}

	t.Run("permission-always", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		again := false
		answer := answers(t, "allow always")
		f := b.run(t, p, agent.Request{Prompt: "WRITE src/a.txt=1", Permissions: askEdit}, func(pm *pump, e coppice.AgentEvent) {
			answer(pm, e)
			if e.Kind == coppice.KindTool && e.Name == "Bash" && !again {
				again = true
				pm.send("WRITE src/b.txt=2", "")
			}
		})
		b.wantCommit(t, f, "src/b.txt", "2\n")
		if f.count(coppice.KindQuestion, func(coppice.AgentEvent) bool { return true }) != 1 {
			t.Errorf("events %+v", f.events)
		}
	})

	t.Run("hook-closed", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		b.allowed(t)
		b.noHook = true
		f := b.run(t, p, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: askEdit}, nil)
		b.wantNo(t, "foo.txt")
		if f.count(coppice.KindNotice, func(e coppice.AgentEvent) bool { return e.Name == "hook" }) != 1 {
			t.Errorf("nobody is told that hooks do not work: %+v", f.events)
		}
	})

	t.Run("question-hook", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		f := b.run(t, p, agent.Request{Prompt: "ASK", Permissions: coppice.PermissionPolicy{Default: coppice.RuleAsk}}, func(pm *pump, e coppice.AgentEvent) {
			if e.Kind == coppice.KindQuestion {
				pm.send("blue", e.Ref)
			}
		})
		if f.Failure != nil || !strings.Contains(f.Summary, `"Which colour?"="blue"`) {
			t.Errorf("failure %v, summary %q", f.Failure, f.Summary)
		}
	})
}

func TestClaudeServers(t *testing.T) {
	t.Parallel()
	p := claude.New()
	for _, c := range []struct{ name, token string }{{"mcp", "session-token-1"}, {"mcp-refused", "another-token"}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := claudeBench(t)
			tools := mcpserver.New("session-token-1")
			srv := httptest.NewServer(tools)
			t.Cleanup(srv.Close)
			servers := map[string]coppice.MCPServer{"orch": {URL: srv.URL + "/mcp", Headers: map[string]string{"Authorization": "Bearer ${COPPICE_TOKEN}", "X-Agent": "w7"}}}
			f := b.run(t, p, agent.Request{Prompt: "ECHO hello", MCP: servers, Token: c.token}, nil)
			lost := f.count(coppice.KindError, func(e coppice.AgentEvent) bool { return e.Class == coppice.ClassMCP })
			if c.name == "mcp-refused" {
				if lost != 1 || tools.Refused() == 0 || len(tools.Calls()) != 0 {
					t.Errorf("%d told lost, %d refused, calls %+v", lost, tools.Refused(), tools.Calls())
				}
				return
			}
			calls := tools.Calls()
			if f.Failure != nil || lost != 0 || len(calls) != 1 || calls[0].Text != "hello" || calls[0].Headers.Get("X-Agent") != "w7" {
				t.Errorf("failure %v, calls %+v", f.Failure, calls)
			}
			if !strings.Contains(f.Summary, "echo: hello") {
				t.Errorf("summary %q", f.Summary)
			}
			if data, err := os.ReadFile(filepath.Join(b.private, "mcp.json")); err != nil || strings.Contains(string(data), c.token) {
				t.Errorf("the token stands in a file: %v, %s", err, data)
			}
		})
	}
}

func TestClaudeTurns(t *testing.T) {
	t.Parallel()
	p := claude.New()

	t.Run("model", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		f := b.run(t, p, agent.Request{Prompt: "WAIT", Model: "sonnet"}, func(pm *pump, e coppice.AgentEvent) {
			switch {
			case e.Kind == coppice.KindPermission:
				pm.model("claude-haiku-4-5")
			case e.Kind == coppice.KindNotice && e.Name == "model":
				b.goOn(t)
			}
		})
		log := b.model.Log()
		if last := log[len(log)-1]; f.Failure != nil || last.Model != "claude-haiku-4-5" || log[0].Model == last.Model {
			t.Errorf("failure %v, models %q, then %q", f.Failure, log[0].Model, last.Model)
		}
	})

	t.Run("fork", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		first := b.run(t, p, agent.Request{Prompt: "WRITE a.txt=1"}, nil)
		copied := b.run(t, p, agent.Request{Prompt: "WRITE b.txt=2", Resume: first.Conversation, Fork: true, Spent: first.Usage}, nil)
		b.wantCommit(t, copied, "b.txt", "2\n")
		if copied.Conversation == "" || copied.Conversation == first.Conversation {
			t.Errorf("conversations %q and %q", first.Conversation, copied.Conversation)
		}
		log := b.model.Log()
		if log[len(log)-1].Bytes <= log[0].Bytes {
			t.Error("the copy does not know the first conversation")
		}
	})

	t.Run("budget", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		f := b.run(t, p, agent.Request{Prompt: "WRITE foo.txt=hello", Budget: 0.001}, nil)
		wantClass(t, f, coppice.ClassBudget)
		if !strings.Contains(f.Failure.Text, "USD") {
			t.Errorf("failure %+v", f.Failure)
		}
	})

	t.Run("max-turns", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		b.profile.Args = append(b.profile.Args, "--max-turns", "1")
		wantClass(t, b.run(t, p, agent.Request{Prompt: "WRITE foo.txt=hello"}, nil), coppice.ClassImplementation)
	})

	t.Run("effort", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		f := b.run(t, p, agent.Request{Prompt: "SAY hi", Effort: "low"}, nil)
		if f.Failure != nil || f.Summary != "hi" {
			t.Errorf("failure %v, summary %q", f.Failure, f.Summary)
		}
	})

	t.Run("limited", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		delete(b.env, "ANTHROPIC_API_KEY") // limits are told to those who are logged in
		b.env["CLAUDE_CODE_OAUTH_TOKEN"] = "sk-ant-" + "made-up"
		f := b.run(t, p, agent.Request{Prompt: "LIMITED"}, nil)
		wantClass(t, f, coppice.ClassRateLimit)
		ends := time.Unix(4102444800, 0)
		e, told := f.has(coppice.KindLimit)
		if !told || !e.Until.Equal(ends) || !f.Failure.RetryAt.Equal(ends) {
			t.Errorf("limit %+v, failure %+v", e, f.Failure)
		}
		var states []coppice.SessionState
		for _, e := range f.events {
			if e.Kind == coppice.KindState {
				states = append(states, e.State)
			}
		}
		if !slices.Equal(states, []coppice.SessionState{coppice.SessionWorking, coppice.SessionLimited, coppice.SessionIdle}) {
			t.Errorf("states %q", states)
		}
	})

	t.Run("dropped", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		f := b.run(t, p, agent.Request{Prompt: "DROP"}, nil)
		if f.Failure != nil || f.Summary != "went on" {
			t.Errorf("failure %v, summary %q", f.Failure, f.Summary)
		}
	})
}
