package agents

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"coppice"
	"coppice/agent"
	"coppice/agent/codex"
	"coppice/test/mcpserver"
	"coppice/test/scriptedmodel"
)

// codexRules are what the model answers besides the rules of the other agents.
const codexRules = `{"rules": [
  {"name": "ask", "match": "ASK", "steps": [
    {"tool": {"name": "request_user_input", "input": {"questions": [
      {"id": "colour", "header": "Colour", "question": "Which colour?", "options": [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}]},
      {"id": "size", "header": "Size", "question": "Which size?", "options": [{"label": "small", "description": "s"}, {"label": "large", "description": "l"}]}]}}},
    {"text": "heard: ${lastresult}"}]},
  {"name": "cut", "match": "CUT", "steps": [{"drop": true}]},
  {"name": "look", "match": "LOOK (\\S+)", "steps": [{"shell": "cat $1"}, {"text": "saw: ${lastresult}"}]},
  {"name": "told", "match": "not allowed: (.*)", "steps": [{"text": "understood: $1"}]}
]}`

// serverBench sets the agent up with the further rules before the others.
func serverBench(t *testing.T) *bench {
	t.Helper()
	data, err := os.ReadFile("rules.json")
	if err != nil {
		t.Fatal(err)
	}
	all, err := scriptedmodel.ParseRules(data)
	if err != nil {
		t.Fatal(err)
	}
	own, err := scriptedmodel.ParseRules([]byte(codexRules))
	if err != nil {
		t.Fatal(err)
	}
	all.Rules = append(own.Rules, all.Rules...)
	b := codexBench(t)
	b.model = scriptedmodel.New(all, nil)
	srv := httptest.NewServer(b.model)
	t.Cleanup(srv.CloseClientConnections)
	t.Cleanup(srv.Close)
	t.Cleanup(srv.CloseClientConnections) // before Close, which waits for the hanging ones
	config := filepath.Join(b.home, "config.toml")
	data, err = os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	put(t, config, strings.ReplaceAll(string(data), b.url, srv.URL))
	b.url = srv.URL
	return b
}

func TestCodex(t *testing.T) {
	t.Parallel()
	p := codex.New()

	t.Run("write", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		f := b.codexRun(t, p, agent.Request{Prompt: "WRITE foo.txt=hello", Effort: "low"}, nil)
		b.wantCommit(t, f, "foo.txt", "hello\n")
		if f.Summary != "done: wrote foo.txt" || f.Usage.InputTokens != 3000 || f.Usage.OutputTokens != 300 || f.Usage.Turns != 1 {
			t.Errorf("summary %q, usage %+v", f.Summary, f.Usage)
		}
		if _, asked := f.has(coppice.KindPermission); asked {
			t.Error("the agent asks for permission, and nothing is restricted")
		}
		if e, _ := f.has(coppice.KindInit); e.Version == "" || e.Model == "" {
			t.Errorf("init %+v", e)
		}
	})

	t.Run("resume", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		first := b.codexRun(t, p, agent.Request{Prompt: "WRITE a.txt=1"}, nil)
		second := b.codexRun(t, p, agent.Request{Prompt: "WRITE b.txt=2", Resume: first.Conversation, Spent: first.Usage}, nil)
		b.wantCommit(t, second, "b.txt", "2\n")
		b.wantResumed(t, first, second)
	})

	t.Run("fork", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		first := b.codexRun(t, p, agent.Request{Prompt: "WRITE a.txt=1"}, nil)
		second := b.codexRun(t, p, agent.Request{Prompt: "WRITE b.txt=2", Resume: first.Conversation, Fork: true, Spent: first.Usage}, nil)
		b.wantCommit(t, second, "b.txt", "2\n")
		b.wantForked(t, first, second)
	})

	t.Run("steer", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		f := b.codexRun(t, p, agent.Request{Prompt: "WAIT"}, func(pm *pump, e coppice.AgentEvent) {
			if e.Kind == coppice.KindTool {
				pm.send("SECOND", "")
				pm.queue = append(pm.queue, func() { b.goOn(t) })
			}
		})
		if f.Failure != nil || f.Summary != "second it is" || f.Usage.Turns != 1 {
			t.Errorf("failure %v, summary %q, usage %+v", f.Failure, f.Summary, f.Usage)
		}
		if f.count(coppice.KindNotice, func(e coppice.AgentEvent) bool { return e.Name == "delivered" }) != 1 {
			t.Errorf("the message was not acknowledged: %+v", f.events)
		}
	})

	t.Run("interrupt", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		f := b.codexRun(t, p, agent.Request{Prompt: "HANG"}, func(pm *pump, e coppice.AgentEvent) {
			switch {
			case e.Kind == coppice.KindInit:
				pm.interrupt()
			case e.Kind == coppice.KindState && e.State == coppice.SessionIdle && !pm.closed:
				pm.send("SAY after", "")
			}
		})
		if f.Failure != nil || f.Summary != "after" {
			t.Errorf("failure %v, summary %q", f.Failure, f.Summary)
		}
	})

	t.Run("question", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		answers := map[string]string{"Which colour?": "blue", "Which size?": "neither, take medium"}
		f := b.codexRun(t, p, agent.Request{Prompt: "ASK"}, func(pm *pump, e coppice.AgentEvent) {
			if e.Kind == coppice.KindQuestion {
				pm.send(answers[e.Text], e.Ref)
			}
		})
		if f.Failure != nil || !strings.Contains(f.Summary, `"blue"`) || !strings.Contains(f.Summary, "take medium") {
			t.Errorf("failure %v, summary %q", f.Failure, f.Summary)
		}
	})

	t.Run("stop", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		f := b.codexRun(t, p, agent.Request{Prompt: "HANG"}, func(pm *pump, e coppice.AgentEvent) {
			if e.Kind == coppice.KindInit {
				pm.stop()
			}
		})
		wantClass(t, f, coppice.ClassCancelled)
	})

	t.Run("sigterm", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		f := b.codexRun(t, p, agent.Request{Prompt: "HANG"}, func(pm *pump, e coppice.AgentEvent) {
			if e.Kind == coppice.KindInit {
				pm.signal(syscall.SIGTERM)
			}
		})
		wantClass(t, f, coppice.ClassLost)
	})

	// A mebibyte is all that the agent takes at once.
	t.Run("large", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		task := "WRITE foo.txt=hello"
		prompt := strings.Repeat("x", 1<<20-len(task)-1) + " " + task
		f := b.codexRun(t, p, agent.Request{Prompt: prompt}, nil)
		b.wantCommit(t, f, "foo.txt", "hello\n")
		wantClass(t, b.codexRun(t, p, agent.Request{Prompt: prompt + "x"}, nil), coppice.ClassContext)
	})

	t.Run("model", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		f := b.codexRun(t, p, agent.Request{Prompt: "SAY hi", Model: "other-model"}, nil)
		log := b.model.Log()
		if last := log[len(log)-1]; f.Failure != nil || f.Summary != "hi" || last.Model != "other-model" {
			t.Errorf("failure %v, summary %q, model %q", f.Failure, f.Summary, last.Model)
		}
	})

	t.Run("model-later", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		f := b.codexRun(t, p, agent.Request{Prompt: "HANG"}, func(pm *pump, e coppice.AgentEvent) {
			switch {
			case e.Kind == coppice.KindInit:
				pm.interrupt()
			case e.Kind == coppice.KindState && e.State == coppice.SessionIdle && !pm.closed:
				pm.model("other-model")
				pm.send("SAY hi", "")
			}
		})
		began, _ := f.has(coppice.KindInit)
		log := b.model.Log()
		if last := log[len(log)-1]; f.Failure != nil || f.Summary != "hi" || last.Model != "other-model" || began.Model == "other-model" {
			t.Errorf("failure %v, summary %q, model %q after %q", f.Failure, f.Summary, last.Model, began.Model)
		}
	})

	t.Run("limited", func(t *testing.T) {
		t.Parallel()
		f := serverBench(t).codexRun(t, p, agent.Request{Prompt: "LIMITED"}, nil)
		wantClass(t, f, coppice.ClassRateLimit)
		if want := time.Unix(4102444800, 0); f.Failure != nil && !f.Failure.RetryAt.Equal(want) {
			t.Errorf("the limit ends at %s, want %s", f.Failure.RetryAt, want)
		}
	})

	t.Run("dropped", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		f := b.codexRun(t, p, agent.Request{Prompt: "DROP"}, nil)
		if f.Failure != nil || f.Summary != "went on" {
			t.Errorf("failure %v, summary %q", f.Failure, f.Summary)
		}
	})

	t.Run("cut", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		wantClass(t, b.codexRun(t, p, agent.Request{Prompt: "CUT"}, nil), coppice.ClassOverload)
	})

	codexFails(t, p, serverBench)
}

func TestCodexPermissions(t *testing.T) {
	t.Parallel()
	p := codex.New()
	ask := coppice.PermissionPolicy{Default: coppice.RuleAsk}

	t.Run("permission-allow", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		f := b.codexRun(t, p, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: ask}, answers(t, "allow", "allow always"))
		b.wantCommit(t, f, "foo.txt", "hello\n")
		f.wantPermission(t, "fileChange", true, "allowed")
		f.wantPermission(t, "commandExecution", true, "allowed")
		if n := f.count(coppice.KindState, func(e coppice.AgentEvent) bool { return e.State == coppice.SessionWaiting }); n != 2 {
			t.Errorf("it waited %d times, want 2", n)
		}
	})

	t.Run("permission-deny", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		f := b.codexRun(t, p, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: ask}, answers(t, "deny because it is late"))
		b.wantNo(t, "foo.txt")
		f.wantPermission(t, "fileChange", false, "it is late")
		if f.Summary != "understood: it is late" {
			t.Errorf("the agent was not told why: %q", f.Summary)
		}
	})

	t.Run("permission-rule", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		deny := rules(coppice.Rule{Tool: "run", Match: "git commit*", Do: coppice.RuleDeny, Why: "Coppice commits"})
		f := b.codexRun(t, p, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: deny}, nil)
		f.wantPermission(t, "fileChange", true, "allowed")
		f.wantPermission(t, "commandExecution", false, "Coppice commits")
		if got := b.git(t, "log", "--format=%s"); got != "start" {
			t.Errorf("it committed: %q", got)
		}
	})

	t.Run("permission-read", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		put(t, filepath.Join(b.repo, ".env"), "KEY=secret-value\n")
		deny := rules(coppice.Rule{Tool: "read", Match: ".env*", Do: coppice.RuleDeny, Why: "secrets"})
		f := b.codexRun(t, p, agent.Request{Prompt: "LOOK .env", Permissions: deny}, nil)
		f.wantPermission(t, "commandExecution", false, "secrets")
		if s := fmt.Sprint(f.events); strings.Contains(s, "secret-value") {
			t.Errorf("it was read: %s", s)
		}
	})

	t.Run("permission-rewrite", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		set := rules(coppice.Rule{Tool: "run", Match: "cat *", Do: coppice.RuleAllow, Set: map[string]string{"command": "true"}})
		f := b.codexRun(t, p, agent.Request{Prompt: "LOOK x.txt", Permissions: set}, nil)
		f.wantPermission(t, "commandExecution", false, `{"command":"true"}`)
		if !strings.Contains(f.Summary, `{"command":"true"}`) {
			t.Errorf("the agent was not told what to do instead: %q", f.Summary)
		}
	})

	t.Run("permission-always", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		edit := rules(coppice.Rule{Tool: "edit", Do: coppice.RuleAsk})
		again, answer := false, answers(t, "allow always")
		f := b.codexRun(t, p, agent.Request{Prompt: "WRITE src/a.txt=1", Permissions: edit}, func(pm *pump, e coppice.AgentEvent) {
			answer(pm, e)
			if e.Kind == coppice.KindTool && e.Tool == coppice.ToolRun && !again {
				again = true
				pm.send("WRITE src/b.txt=2", "")
			}
		})
		b.wantCommit(t, f, "src/b.txt", "2\n")
		if f.count(coppice.KindQuestion, func(coppice.AgentEvent) bool { return true }) != 1 {
			t.Errorf("events %+v", f.events)
		}
	})

	// Whoever was to decide fails: nothing is done without a yes.
	t.Run("hook-closed", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		edit := rules(coppice.Rule{Tool: "edit", Do: coppice.RuleAsk})
		f := b.codexRun(t, p, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: edit}, func(pm *pump, e coppice.AgentEvent) {
			if e.Kind == coppice.KindQuestion {
				pm.failRequest(t, "item/fileChange/requestApproval")
			}
		})
		b.wantNo(t, "foo.txt")
		if f.count(coppice.KindQuestion, func(coppice.AgentEvent) bool { return true }) != 1 {
			t.Errorf("events %+v", f.events)
		}
	})

	t.Run("permission-interrupt", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		f := b.codexRun(t, p, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: ask}, func(pm *pump, e coppice.AgentEvent) {
			switch {
			case e.Kind == coppice.KindQuestion:
				pm.interrupt()
			case e.Kind == coppice.KindState && e.State == coppice.SessionIdle && !pm.closed:
				pm.send("SAY after", "")
			}
		})
		b.wantNo(t, "foo.txt")
		if f.Failure != nil || f.Summary != "after" {
			t.Errorf("failure %v, summary %q", f.Failure, f.Summary)
		}
	})

	t.Run("mcp", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		b.wantEcho(t, p, coppice.PermissionPolicy{})
	})

	t.Run("mcp-allow", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		f := b.wantEcho(t, p, rules(coppice.Rule{Tool: "orch.*", Do: coppice.RuleAllow}, coppice.Rule{Do: coppice.RuleDeny}))
		f.wantPermission(t, "orch.echo", true, "allowed")
	})

	t.Run("mcp-deny", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		srv, r := b.toolServer(t)
		r.Permissions = rules(coppice.Rule{Tool: "orch.echo", Do: coppice.RuleDeny, Why: "no echoes"})
		f := b.codexRun(t, p, r, nil)
		f.wantPermission(t, "orch.echo", false, "no echoes")
		if n := len(srv.Calls()); n != 0 {
			t.Errorf("the tool was called %d times", n)
		}
	})
}

const sessionToken = "the-session-token"

// toolServer starts a tool server that knows the session's token, and makes a
// request that has the agent use it.
func (b *bench) toolServer(t *testing.T) (*mcpserver.Server, agent.Request) {
	t.Helper()
	srv := mcpserver.New(sessionToken)
	web := httptest.NewServer(srv)
	t.Cleanup(web.Close)
	return srv, agent.Request{Prompt: "ECHO hello", Token: sessionToken, MCP: map[string]coppice.MCPServer{
		"orch": {URL: web.URL + "/mcp", Headers: map[string]string{"Authorization": "Bearer ${COPPICE_TOKEN}", "X-Plain": "as-it-is"}},
	}}
}

// wantEcho has the agent use a tool of a tool server.
func (b *bench) wantEcho(t *testing.T, p agent.Protocol, permissions coppice.PermissionPolicy) finished {
	t.Helper()
	srv, r := b.toolServer(t)
	r.Permissions = permissions
	f := b.codexRun(t, p, r, nil)
	calls := srv.Calls()
	if len(calls) != 1 || calls[0].Text != "hello" || calls[0].Headers.Get("X-Plain") != "as-it-is" {
		t.Errorf("calls %+v", calls)
	}
	if n := srv.Refused(); n != 0 {
		t.Errorf("%d requests came without the token", n)
	}
	if f.Failure != nil || !strings.Contains(f.Summary, "hello") {
		t.Errorf("failure %v, summary %q", f.Failure, f.Summary)
	}
	launch, err := p.Launch(b.profile, r)
	if err != nil {
		t.Fatal(err)
	}
	if s := fmt.Sprint(launch.Argv, f.events); strings.Contains(s, sessionToken) || strings.Contains(fmt.Sprint(launch.Argv), "as-it-is") {
		t.Errorf("a secret shows: %s", s)
	}
	return f
}

// wantForked looks whether a copy was continued, and the original left alone.
func (b *bench) wantForked(t *testing.T, first, second finished) {
	t.Helper()
	if second.Conversation == "" || second.Conversation == first.Conversation {
		t.Errorf("conversations %q and %q", first.Conversation, second.Conversation)
	}
	log := b.model.Log()
	if log[len(log)-1].Bytes <= log[0].Bytes {
		t.Error("the copied conversation is no longer than the first was")
	}
	if first.Usage.InputTokens != 3000 || second.Usage.InputTokens != 3000 {
		t.Errorf("usage %+v and %+v", first.Usage, second.Usage)
	}
}
