package agents

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"coppice"
	"coppice/agent"
	"coppice/agent/acp"
	"coppice/agent/claude"
	"coppice/agent/codex"
	"coppice/host"
)

// The test binary is its own host when this variable is set.
const hostVar = "COPPICE_TEST_HOST"

func init() {
	if os.Getenv(hostVar) != "" {
		protocols := map[string]agent.Protocol{claude.Name: claude.New(), codex.Name: codex.New(), codex.NameExec: codex.NewExec(), acp.Name: acp.New()}
		os.Exit(host.Main(context.Background(), os.Args[len(os.Args)-1], protocols, slog.New(slog.NewTextHandler(os.Stderr, nil))))
	}
}

// inHost runs an agent in a real host to its end. answer, if any, is given to
// the first question.
func (b *bench) inHost(t *testing.T, r agent.Request, token, answer string) ([]coppice.AgentEvent, *host.Exit) {
	t.Helper()
	ctx, dir := b.startHost(t, r, token)
	c, err := host.Dial(ctx, dir)
	if err == nil {
		defer c.Close()
		err = c.Follow(ctx, answering(ctx, t, c, dir, answer))
	}
	if err != nil && !errors.Is(err, host.ErrGone) { // it may have ended already
		t.Fatal(err)
	}
	_, _, x, err := host.Inspect(dir)
	if err != nil || x == nil {
		t.Fatalf("no end: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "private")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the private directory is still there: %v", err)
	}
	return spooled(t, dir), x
}

// startHost starts an agent in a real host, and returns the session's directory.
func (b *bench) startHost(t *testing.T, r agent.Request, token string) (context.Context, string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*deadline)
	t.Cleanup(cancel)
	dir := filepath.Join(t.TempDir(), "session")
	env := map[string]string{agent.TokenVar: token}
	for k, v := range b.env {
		env[k] = v
	}
	r.Dir = b.repo
	spec := host.Spec{Session: "app-1.1", Protocol: b.profile.Protocol, Profile: b.profile, Request: r, Env: env, Secrets: r.Secrets}
	if err := host.Start(ctx, host.Launcher{Argv: []string{self, "host"}, Env: []string{hostVar + "=1", "PATH=" + b.env["PATH"]}}, dir, spec, r.Prompt); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // a host that a failed test left behind ends its agent
		if phase, st, _, err := host.Inspect(dir); err == nil && phase == host.PhaseRunning {
			_ = syscall.Kill(st.PID, syscall.SIGTERM)
		}
	})
	return ctx, dir
}

// answering answers the first question that appears in the spool.
func answering(ctx context.Context, t *testing.T, c *host.Client, dir, answer string) func(int64) {
	answered := answer == ""
	return func(int64) {
		if answered {
			return
		}
		for _, e := range spooled(t, dir) {
			if e.Kind == coppice.KindQuestion && !answered {
				answered = true
				if err := c.Send(ctx, host.Message{ID: "answer", Text: answer, Ref: e.Ref}); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

func spooled(t *testing.T, dir string) (events []coppice.AgentEvent) {
	t.Helper()
	r, err := host.OpenSpool(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		f, err := r.Next()
		if errors.Is(err, io.EOF) {
			return events
		}
		if err != nil {
			t.Fatal(err)
		}
		var e coppice.AgentEvent
		if f.Kind == coppice.OutputEvent && json.Unmarshal(f.Data, &e) == nil {
			events = append(events, e)
		}
	}
}

// TestHost: a real agent in a real host, whose hooks the host answers.
func TestHost(t *testing.T) {
	t.Parallel()
	decided := func(events []coppice.AgentEvent, ok bool, text string) bool {
		return slices.ContainsFunc(events, func(e coppice.AgentEvent) bool {
			return e.Kind == coppice.KindPermission && e.OK == ok && e.Text == text
		})
	}
	warned := func(events []coppice.AgentEvent) bool {
		return slices.ContainsFunc(events, func(e coppice.AgentEvent) bool { return e.Kind == coppice.KindNotice && e.Name == "hook" })
	}

	t.Run("denied", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		b.allowed(t)
		deny := rules(coppice.Rule{Tool: "edit", Do: coppice.RuleDeny, Why: "not here"})
		events, x := b.inHost(t, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: deny}, "", "")
		b.wantNo(t, "foo.txt")
		if x.Outcome.Failure != nil || !decided(events, false, "not here") || warned(events) {
			t.Errorf("outcome %+v, events %+v", x.Outcome, events)
		}
	})

	t.Run("asked", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		b.allowed(t)
		ask := rules(coppice.Rule{Tool: "edit", Do: coppice.RuleAsk})
		events, x := b.inHost(t, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: ask}, "", "allow")
		b.wantCommit(t, finished{Outcome: x.Outcome, events: events}, "foo.txt", "hello\n")
		if !decided(events, true, "allowed") || warned(events) {
			t.Errorf("outcome %+v, events %+v", x.Outcome, events)
		}
	})

	t.Run("servers", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		tools, r := b.toolServer(t)
		_, x := b.inHost(t, r, r.Token, "")
		if x.Outcome.Failure != nil || len(tools.Calls()) != 1 || !strings.Contains(x.Outcome.Summary, "echo: hello") {
			t.Errorf("outcome %+v, calls %+v", x.Outcome, tools.Calls())
		}
	})
}
