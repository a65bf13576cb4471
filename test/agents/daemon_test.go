package agents

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"coppice"
	"coppice/agent/claude"
	"coppice/agent/codex"
	"coppice/api"
	"coppice/api/client"
	"coppice/host"
	"coppice/test/harness"
)

// built builds the program, once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "coppice-agents-")
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "coppice")
	return program, harness.Build(program)
})

// daemon starts a server on the bench's home and returns how to end it.
func (b *bench) daemon(t *testing.T, state string) (end func(os.Signal)) {
	t.Helper()
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "serve", "--listen", "127.0.0.1:0")
	cmd.Dir, cmd.Env, cmd.Stderr = b.home, append(b.environ(), "COPPICE_STATE="+state), os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	end = func(how os.Signal) {
		once.Do(func() {
			_ = cmd.Process.Signal(how)
			_ = cmd.Wait()
		})
	}
	t.Cleanup(func() { end(os.Kill) })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the server does not start: %v", err)
	}
	return end
}

// serve starts a server with a project that uses the bench's agent. restart kills
// the server and starts it again.
func (b *bench) serve(t *testing.T, name string) (ctx context.Context, c *client.Client, p api.Project, restart func()) {
	t.Helper()
	b.configure(t, name)
	return b.serveConfigured(t)
}

// serveConfigured is serve with a coppice.yaml that is committed already.
func (b *bench) serveConfigured(t *testing.T) (ctx context.Context, c *client.Client, p api.Project, restart func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*deadline)
	t.Cleanup(cancel)
	state := filepath.Join(b.home, "state")
	t.Cleanup(func() { endHosts(t, state) })
	end := b.daemon(t, state)
	c = client.New(state)
	t.Cleanup(c.Close)
	p, err := c.AddProject(ctx, b.repo)
	if err != nil {
		t.Fatal(err)
	}
	return ctx, c, p, func() {
		t.Helper()
		end(os.Kill)
		end = b.daemon(t, state)
	}
}

var errFound = errors.New("found")

// both runs a test with each of the two agents that have their own protocol.
func both(t *testing.T, what string, f func(t *testing.T, b *bench, name string)) {
	t.Helper()
	t.Run("claude-"+what, func(t *testing.T) {
		t.Parallel()
		f(t, claudeBench(t), claude.Name)
	})
	t.Run("codex-"+what, func(t *testing.T) {
		t.Parallel()
		f(t, codexBench(t), codex.Name)
	})
}

// gate creates a pipe that keeps an agent's command waiting until a test writes to it.
func (b *bench) gate(t *testing.T) string {
	t.Helper()
	gate := filepath.Join(b.home, "gate")
	if err := unix.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	return gate
}

// release lets the command at a gate continue.
func release(t *testing.T, gate string) {
	t.Helper()
	f, err := os.OpenFile(gate, os.O_RDWR, 0) // which waits for nobody
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := f.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
}

// creates creates a task and returns its key.
func creates(t *testing.T, ctx context.Context, c *client.Client, project, title, body string) string {
	t.Helper()
	tasks, err := c.CreateTasks(ctx, project, []coppice.NewTask{{Title: title, Body: body}})
	if err != nil {
		t.Fatal(err)
	}
	return tasks[0].Key
}

// TestDaemonRestart: the server is killed while a real agent is in the middle
// of its turn; the agent does not notice, and its work lands.
func TestDaemonRestart(t *testing.T) {
	t.Parallel()
	both(t, "restart", survives)
}

func survives(t *testing.T, b *bench, name string) {
	t.Helper()
	gate := b.gate(t)
	ctx, c, p, restart := b.serve(t, name)
	key := creates(t, ctx, c, p.Prefix, "Go through", "GATE "+gate)
	until := func(what string, f func(api.TaskDetail) bool) api.TaskDetail {
		t.Helper()
		var d api.TaskDetail
		look := func() error {
			var err error
			if d, err = c.Task(ctx, key); err == nil && f(d) {
				err = errFound
			}
			return err
		}
		if err := look(); err == nil {
			err = c.FollowEvents(ctx, client.EventQuery{Task: key}, func(api.Event) error { return look() }, nil)
			if !errors.Is(err, errFound) {
				t.Fatalf("%s: %v; the task is %s, %v", what, err, d.Status, d.Failure)
			}
		} else if !errors.Is(err, errFound) {
			t.Fatal(err)
		}
		return d
	}
	until("a session", func(d api.TaskDetail) bool { return len(d.History) > 0 && !d.History[0].StartedAt.IsZero() })
	err := c.FollowOutput(ctx, key+".1", -1, func(o api.Output) error {
		if strings.Contains(string(o.Event), "read x ") {
			return errFound
		}
		return nil
	}, coppice.OutputEvent)
	if !errors.Is(err, errFound) {
		t.Fatalf("the agent does not come to the gate: %v", err)
	}
	restart()
	release(t, gate)
	d := until("the end", func(d api.TaskDetail) bool { return d.Stage == coppice.StageEnded })
	if d.Outcome != coppice.OutcomeDone || len(d.History) != 1 || b.git(t, "show", "main:made.txt") != "made" {
		t.Errorf("%s after %d sessions: %v", d.Outcome, len(d.History), d.Failure)
	}
}

// configure commits a project that uses the bench's agent.
func (b *bench) configure(t *testing.T, name string) {
	t.Helper()
	var env strings.Builder
	for k, v := range b.env {
		fmt.Fprintf(&env, "\n      %s: %q", k, v)
	}
	put(t, filepath.Join(b.repo, "coppice.yaml"), fmt.Sprintf("base: main\nagent: {use: %s}\nlimits: {memory: 100%%}\nagents:\n  %s:\n    command: [%q%s]\n    env:%s\n",
		name, name, b.profile.Command[0], rest(b.profile.Command[1:]), env.String()))
	b.git(t, "add", "--all")
	b.git(t, "commit", "--quiet", "--message=configured")
}

// endHosts ends the hosts that a failed test left behind, which outlive their
// server by design.
func endHosts(t *testing.T, state string) {
	dirs, _ := filepath.Glob(filepath.Join(state, "sessions", "*")) // the pattern is a good one
	for _, dir := range dirs {
		if phase, st, _, err := host.Inspect(dir); err == nil && phase == host.PhaseRunning {
			t.Logf("the host in %s is ended", dir)
			_ = syscall.Kill(st.PID, syscall.SIGTERM) // it may just have ended
		}
	}
}

func rest(args []string) string {
	var b strings.Builder
	for _, a := range args {
		fmt.Fprintf(&b, ", %q", a)
	}
	return b.String()
}
