package agents

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/agent"
	"coppice/agent/terminal"
	"coppice/host"
	"coppice/internal/vt"
)

// TestScreen drives agents' own interactive screens, by the rules of their
// profiles: a dialog that asks for trust is passed, the prompt is typed, an edit
// is made and committed, and the agent is asked to exit.
func TestScreen(t *testing.T) {
	t.Parallel()
	t.Run("claude-screen", func(t *testing.T) {
		t.Parallel()
		b := claudeBench(t)
		put(t, filepath.Join(b.home, ".claude.json"), `{"hasCompletedOnboarding":true,"theme":"dark","customApiKeyResponses":{"approved":["test-key"],"rejected":[]}}`)
		b.onScreen(t, "--permission-mode", "acceptEdits", "--allowedTools", "Bash")
	})
	t.Run("codex-screen", func(t *testing.T) {
		t.Parallel()
		codexBench(t).onScreen(t, "--no-daemon", "--dangerously-bypass-approvals-and-sandbox")
	})
}

// onScreen has the agent do its work on its own screen. The arguments replace
// those of its profile: nobody is there to be asked.
func (b *bench) onScreen(t *testing.T, args ...string) {
	t.Helper()
	self, err := built()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*deadline)
	defer cancel()
	dir := filepath.Join(t.TempDir(), "session")
	program := b.profile.Command[0]
	if own := b.profile.Screen.Command; len(own) > 0 {
		b.profile.Screen.Command = append([]string{program}, own[1:]...)
	}
	b.profile.Screen.Args = args
	spec := host.Spec{
		Session: "app-1.1", Protocol: terminal.Name, Profile: b.profile, Env: b.env, Grace: coppice.Duration(5 * time.Second),
		Request: agent.Request{Session: "app-1.1", Role: coppice.RoleImplement, Dir: b.repo},
	}
	for k, v := range b.profile.Env {
		spec.Env[k] = v
	}
	l := host.Launcher{Argv: []string{self, "host"}, Env: []string{"PATH=" + b.env["PATH"], "HOME=" + b.home}}
	if err := host.Start(ctx, l, dir, spec, "WRITE foo.txt=hello"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopSession(t, dir) })
	c, err := host.Dial(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	v, err := c.Attach(ctx, host.ViewOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	screen := vt.NewScreen(v.Size.Columns, v.Size.Rows)
	for {
		s, err := v.Next()
		if err != nil {
			t.Fatalf("%v\n%s", err, screen)
		}
		screen.Write(s.Screen)
		screen.Write(s.Output)
		if s.Ended != nil {
			if !s.Ended.Done || s.Ended.Failure != "" {
				t.Errorf("ended with %+v\n%s", s.Ended, screen)
			}
			break
		}
	}
	if got := b.git(t, "show", "HEAD:foo.txt"); strings.TrimSpace(got) != "hello" {
		t.Errorf("committed %q\n%s", got, screen)
	}
}

// stopSession ends what a test that failed left running.
func stopSession(t *testing.T, dir string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), deadline)
	defer cancel()
	if c, err := host.Dial(ctx, dir); err == nil {
		defer c.Close()
		if c.Stop(ctx, time.Second) == nil {
			_ = c.Follow(ctx, func(int64) {}) // Kill reports one that did not end
		}
	}
	if err := host.Kill(ctx, dir); err != nil {
		t.Error(err)
	}
}
