package agents

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/agent"
)

// rules makes a policy.
func rules(all ...coppice.Rule) coppice.PermissionPolicy { return coppice.PermissionPolicy{Rules: all} }

var askEdit = rules(coppice.Rule{Tool: "edit", Do: coppice.RuleAsk})

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
	if f.count(coppice.KindPermission, func(e coppice.AgentEvent) bool {
		return (tool == "" || e.Name == tool) && e.OK == ok && strings.Contains(e.Text, text)
	}) == 0 {
		t.Errorf("no permission event for %s, %v, %q: %+v", tool, ok, text, f.events)
	}
}

func (f finished) wantNoHookNotice(t *testing.T) {
	t.Helper()
	if f.noticed("hook") != 0 {
		t.Errorf("there is a notice about hooks: %+v", f.events)
	}
}

func TestClaudePermissions(t *testing.T) {
	t.Parallel()
	// It makes no difference whether the agent would ask or its user's settings
	// allow everything.
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
			f := b.run(t, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: askEdit}, answers(t, "allow"))
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
			f := b.run(t, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: askEdit}, answers(t, "deny because it is late"))
			b.wantNo(t, "foo.txt")
			f.wantPermission(t, "Write", false, "it is late")
			if f.count(coppice.KindToolResult, func(e coppice.AgentEvent) bool { return !e.OK && strings.Contains(e.Text, "it is late") }) != 1 {
				t.Errorf("the agent did not receive the reason: %+v", f.events)
			}
		})
		t.Run("permission-rewrite"+settings, func(t *testing.T) {
			t.Parallel()
			b := setUp(t)
			set := rules(coppice.Rule{Tool: "edit", Match: "*.txt", Do: coppice.RuleAllow, Set: map[string]string{"content": "changed\n"}})
			f := b.run(t, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: set}, nil)
			b.wantCommit(t, f, "foo.txt", "changed\n")
			f.wantPermission(t, "Write", true, "another input")
		})
		t.Run("permission-rule"+settings, func(t *testing.T) { t.Parallel(); permissionRule(t, setUp(t)) })
	}

	t.Run("hook-closed", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		b.allowed(t)
		b.noHook = true
		f := b.run(t, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: askEdit}, nil)
		b.wantNo(t, "foo.txt")
		if f.noticed("hook") != 1 {
			t.Errorf("no notice says that hooks do not work: %+v", f.events)
		}
	})

	t.Run("question-hook", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		f := b.run(t, agent.Request{Prompt: "ASK", Permissions: coppice.PermissionPolicy{Default: coppice.RuleAsk}}, func(pm *pump, e coppice.AgentEvent) {
			if e.Kind == coppice.KindQuestion {
				pm.send("blue", e.Ref)
			}
		})
		if f.Failure != nil || !strings.Contains(f.Summary, `"Which colour?"="blue"`) {
			t.Errorf("failure %v, summary %q", f.Failure, f.Summary)
		}
	})
}

// The token is in no file, and a server that refuses it is reported.
func TestClaudeServers(t *testing.T) {
	t.Parallel()
	t.Run("mcp", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		b.echoes(t, coppice.PermissionPolicy{})
		if data, err := os.ReadFile(filepath.Join(b.private, "mcp.json")); err != nil || strings.Contains(string(data), sessionToken) {
			t.Errorf("mcp.json: %v, %s; want it without the token", err, data)
		}
	})
	t.Run("mcp-refused", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		tools, r := b.toolServer(t)
		r.Token = "another-token"
		f := b.run(t, r, nil)
		lost := f.count(coppice.KindError, func(e coppice.AgentEvent) bool { return e.Class == coppice.ClassMCP })
		if lost != 1 || tools.Refused() == 0 || len(tools.Calls()) != 0 {
			t.Errorf("%d lost servers, %d refused, calls %+v; want one lost server and no calls", lost, tools.Refused(), tools.Calls())
		}
	})
}

func TestClaudeTurns(t *testing.T) {
	t.Parallel()

	t.Run("model", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		f := b.run(t, agent.Request{Prompt: "WAIT", Model: "sonnet"}, func(pm *pump, e coppice.AgentEvent) {
			switch {
			case e.Kind == coppice.KindPermission:
				pm.model("claude-haiku-4-5")
			case e.Kind == coppice.KindNotice && e.Name == "model":
				b.release(t)
			}
		})
		log := b.model.Log()
		if last := log[len(log)-1]; f.Failure != nil || last.Model != "claude-haiku-4-5" || log[0].Model == last.Model {
			t.Errorf("failure %v, models %q, then %q", f.Failure, log[0].Model, last.Model)
		}
	})

	t.Run("budget", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		f := b.run(t, agent.Request{Prompt: "WRITE foo.txt=hello", Budget: 0.001}, nil)
		wantClass(t, f, coppice.ClassBudget)
		if !strings.Contains(f.Failure.Text, "USD") {
			t.Errorf("failure %+v", f.Failure)
		}
	})

	t.Run("max-turns", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		b.profile.Args = append(b.profile.Args, "--max-turns", "1")
		wantClass(t, b.run(t, agent.Request{Prompt: "WRITE foo.txt=hello"}, nil), coppice.ClassImplementation)
	})

	t.Run("effort", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		f := b.run(t, agent.Request{Prompt: "SAY hi", Effort: "low"}, nil)
		f.wantSummary(t, "hi")
	})

	t.Run("limited", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		delete(b.env, "ANTHROPIC_API_KEY") // only a logged-in user gets limits
		b.env["CLAUDE_CODE_OAUTH_TOKEN"] = "sk-ant-" + "made-up"
		f := b.run(t, agent.Request{Prompt: "LIMITED"}, nil)
		wantClass(t, f, coppice.ClassRateLimit)
		ends := time.Unix(4102444800, 0)
		e, found := f.has(coppice.KindLimit)
		if !found || !e.Until.Equal(ends) || !f.Failure.RetryAt.Equal(ends) {
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
}
