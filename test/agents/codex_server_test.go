package agents

import (
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/agent"
	"coppice/test/mcpserver"
)

// codexRules are what the model answers besides the rules of the other agents.
const codexRules = `{"rules": [
  {"name": "ask", "match": "ASK", "steps": [
    {"tool": {"name": "request_user_input", "input": {"questions": [
      {"id": "colour", "header": "Colour", "question": "Which colour?", "options": [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}]},
      {"id": "size", "header": "Size", "question": "Which size?", "options": [{"label": "small", "description": "s"}, {"label": "large", "description": "l"}]}]}}},
    {"text": "answered: ${lastresult}"}]},
  {"name": "cut", "match": "CUT", "steps": [{"drop": true}]},
  {"name": "look", "match": "LOOK (\\S+)", "steps": [{"shell": "cat $1"}, {"text": "saw: ${lastresult}"}]},
  {"name": "denied", "match": "not allowed: (.*)", "steps": [{"text": "understood: $1"}]}
]}`

// serverBench sets the agent up with the further rules before the others.
func serverBench(t *testing.T) *bench {
	t.Helper()
	return newCodex(t, codexRules)
}

func TestCodex(t *testing.T) {
	t.Parallel()
	show(t, "", serverBench, "resume interrupt question stop sigterm dropped cut 401 403 503 429 500 long login unknown")

	t.Run("write", func(t *testing.T) {
		t.Parallel()
		f := codexWrites(t, serverBench(t))
		if _, asked := f.has(coppice.KindPermission); asked {
			t.Error("the agent asks for permission, and nothing is restricted")
		}
		if e, _ := f.has(coppice.KindInit); e.Version == "" || e.Model == "" {
			t.Errorf("init %+v, want a version and a model", e)
		}
	})

	t.Run("fork", func(t *testing.T) { t.Parallel(); codexForks(t, serverBench(t)) })

	t.Run("steer", func(t *testing.T) {
		t.Parallel()
		f := serverBench(t).sendDuring(t, coppice.KindTool, "SECOND")
		if f.Failure != nil || f.Summary != "second it is" || f.Usage.Turns != 2 {
			t.Errorf("failure %v, summary %q, usage %+v", f.Failure, f.Summary, f.Usage)
		}
		if f.noticed("delivered") != 1 {
			t.Errorf("the message was not acknowledged: %+v", f.events)
		}
	})

	// The agent takes at most a mebibyte.
	t.Run("large", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		behaviours["large"](t, b)
		wantClass(t, b.run(t, large(1<<20+1), nil), coppice.ClassContext)
	})

	t.Run("model", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		f := b.run(t, agent.Request{Prompt: "SAY hi", Model: "other-model"}, nil)
		log := b.model.Log()
		if last := log[len(log)-1]; f.Failure != nil || f.Summary != "hi" || last.Model != "other-model" {
			t.Errorf("failure %v, summary %q, model %q", f.Failure, f.Summary, last.Model)
		}
	})

	t.Run("model-later", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		f := b.run(t, agent.Request{Prompt: "HANG"}, func(pm *pump, e coppice.AgentEvent) {
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
		f := serverBench(t).run(t, agent.Request{Prompt: "LIMITED"}, nil)
		wantClass(t, f, coppice.ClassRateLimit)
		if want := time.Unix(4102444800, 0); f.Failure != nil && !f.Failure.RetryAt.Equal(want) {
			t.Errorf("the limit ends at %s, want %s", f.Failure.RetryAt, want)
		}
	})
}

func TestCodexPermissions(t *testing.T) {
	t.Parallel()
	ask := coppice.PermissionPolicy{Default: coppice.RuleAsk}
	show(t, "", serverBench, "permission-rule permission-always hook-closed mcp")

	t.Run("permission-allow", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		f := b.run(t, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: ask}, answers(t, "allow", "allow always"))
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
		f := b.run(t, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: ask}, answers(t, "deny because it is late"))
		b.wantNo(t, "foo.txt")
		f.wantPermission(t, "fileChange", false, "it is late")
		if f.Summary != "understood: it is late" {
			t.Errorf("the agent did not receive the reason: %q", f.Summary)
		}
	})

	t.Run("permission-read", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		put(t, filepath.Join(b.repo, ".env"), "KEY=secret-value\n")
		deny := rules(coppice.Rule{Tool: "read", Match: ".env*", Do: coppice.RuleDeny, Why: "secrets"})
		f := b.run(t, agent.Request{Prompt: "LOOK .env", Permissions: deny}, nil)
		f.wantPermission(t, "commandExecution", false, "secrets")
		if s := fmt.Sprint(f.events); strings.Contains(s, "secret-value") {
			t.Errorf("it was read: %s", s)
		}
	})

	t.Run("permission-rewrite", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		set := rules(coppice.Rule{Tool: "run", Match: "cat *", Do: coppice.RuleAllow, Set: map[string]string{"command": "true"}})
		f := b.run(t, agent.Request{Prompt: "LOOK x.txt", Permissions: set}, nil)
		f.wantPermission(t, "commandExecution", false, `{"command":"true"}`)
		if !strings.Contains(f.Summary, `{"command":"true"}`) {
			t.Errorf("the agent did not receive the rule's command: %q", f.Summary)
		}
	})

	t.Run("permission-interrupt", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		b.interrupted(t, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: ask}, coppice.KindQuestion)
		b.wantNo(t, "foo.txt")
	})

	t.Run("mcp-allow", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		f := b.echoes(t, rules(coppice.Rule{Tool: "orch.*", Do: coppice.RuleAllow}, coppice.Rule{Do: coppice.RuleDeny}))
		f.wantPermission(t, "orch.echo", true, "allowed")
	})

	t.Run("mcp-deny", func(t *testing.T) {
		t.Parallel()
		b := serverBench(t)
		srv, r := b.toolServer(t)
		r.Permissions = rules(coppice.Rule{Tool: "orch.echo", Do: coppice.RuleDeny, Why: "no echoes"})
		f := b.run(t, r, nil)
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

// echoes has the agent use a tool of a tool server.
func (b *bench) echoes(t *testing.T, permissions coppice.PermissionPolicy) finished {
	t.Helper()
	srv, r := b.toolServer(t)
	r.Permissions = permissions
	f := b.run(t, r, nil)
	calls := srv.Calls()
	if len(calls) != 1 || calls[0].Text != "hello" || calls[0].Headers.Get("X-Plain") != "as-it-is" || srv.Refused() != 0 {
		t.Errorf("calls %+v, %d refused, want one with the text hello and the headers; events %+v", calls, srv.Refused(), f.events)
	}
	if f.Failure != nil || !strings.Contains(f.Summary, "hello") {
		t.Errorf("failure %v, summary %q, want hello in it", f.Failure, f.Summary)
	}
	r.Private = b.private
	launch, err := b.protocol.Launch(b.profile, r)
	if err != nil {
		t.Fatal(err)
	}
	if s := fmt.Sprint(launch.Argv, f.events); strings.Contains(s, sessionToken) || strings.Contains(fmt.Sprint(launch.Argv), "as-it-is") {
		t.Errorf("an argument or event has a secret: %s", s)
	}
	return f
}

func codexWrites(t *testing.T, b *bench) finished {
	t.Helper()
	f := b.run(t, agent.Request{Prompt: "WRITE foo.txt=hello", Effort: "low"}, nil)
	b.wantCommit(t, f, "foo.txt", "hello\n")
	if f.Summary != "done: wrote foo.txt" || f.Usage.InputTokens != 3000 || f.Usage.OutputTokens != 300 || f.Usage.Turns != 3 {
		t.Errorf("summary %q, usage %+v, want 3000 and 300 tokens in three turns", f.Summary, f.Usage)
	}
	return f
}

func codexForks(t *testing.T, b *bench) {
	t.Helper()
	first, copied := b.forks(t)
	if first.Usage.InputTokens != 3000 || copied.Usage.InputTokens != 3000 {
		t.Errorf("usage %+v and %+v, want 3000 input tokens each", first.Usage, copied.Usage)
	}
}
