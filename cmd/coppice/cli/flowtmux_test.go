package cli_test

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"coppice"
	apihttp "coppice/api/http"
	"coppice/engine"
	"coppice/flow"
)

// tmuxed is a shell whose goals have agents, and whose panes run a program that writes
// its arguments to a pipe and stays.
type tmuxed struct {
	*shell
	t      *testing.T
	socket string
	said   *bufio.Scanner
}

// twoAgents lets the projects of a server use the agents ann and bob.
func twoAgents(c *apihttp.Config) {
	allow := func(coppice.Project, string) error { return nil }
	c.Tasks = engine.NewIntake(c.Store, c.Now, nil, allow, allow, engine.WithUsable(func(coppice.Project) []flow.Agent { return []flow.Agent{{Name: "ann"}, {Name: "bob"}} }))
}

func withTmux(t *testing.T) *tmuxed {
	t.Helper()
	s := setup(t, twoAgents)
	s.Project("/src/app")
	s.env.State, s.env.Dir = t.TempDir(), t.TempDir()
	s.env.Self = filepath.Join(s.env.State, "follow")
	s.env.Getenv = func(name string) string {
		if name == "PATH" {
			return os.Getenv("PATH")
		}
		return ""
	}
	pipe := filepath.Join(s.env.State, "said")
	s.Must(os.WriteFile(s.env.Self, []byte("#!/bin/sh\necho \"$@\" > \"$COPPICE_STATE/said\"\nexec cat\n"), 0o700))
	s.Must(syscall.Mkfifo(pipe, 0o600))
	said, err := os.OpenFile(pipe, os.O_RDWR, 0) // so that it never ends
	s.Must(err)
	w := &tmuxed{shell: s, t: t, socket: fmt.Sprintf("coppice-%s-%d", t.Name(), os.Getpid()), said: bufio.NewScanner(said)}
	t.Cleanup(func() {
		_, _ = w.tmux("kill-server") // it might have ended already
		said.Close()
		os.Remove(filepath.Join(cmp.Or(os.Getenv("TMUX_TMPDIR"), "/tmp"), fmt.Sprintf("tmux-%d", os.Getuid()), w.socket))
	})
	s.Must(said.SetReadDeadline(time.Now().Add(time.Minute))) // a safety net only
	return w
}

func (w *tmuxed) tmux(args ...string) (string, error) {
	out, err := exec.CommandContext(w.Ctx, "tmux", append([]string{"-L", w.socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// starts creates a step of app-1 whose session works.
func (w *tmuxed) starts(step string) string {
	made := w.Task("app", coppice.NewTask{Title: step})
	w.Change(made.Key, func(t *coppice.Task) { t.Parent, t.Step = 1, &coppice.Step{Flow: 1, Key: step} })
	w.Session(made.Key, coppice.SessionWorking, func(*coppice.Session) {})
	return made.Key
}

// sees waits until new panes follow the logs of these tasks.
func (w *tmuxed) sees(keys ...string) {
	w.t.Helper()
	w.becomes("app-1", func(t *coppice.Task) { t.Flow.Note += "." })
	var want, got []string
	for _, key := range keys {
		want = append(want, "logs -f "+key)
	}
	for range keys {
		if !w.said.Scan() {
			w.t.Fatal(w.said.Err())
		}
		got = append(got, w.said.Text())
	}
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		w.t.Errorf("new panes run %q, want %q", got, want)
	}
}

// windows returns how many panes each window has, after the top of its first pane.
func (w *tmuxed) windows() string {
	w.t.Helper()
	out, err := w.tmux("list-panes", "-s", "-t", "=coppice-app-1:", "-F", "#{window_id} #{pane_top}")
	if err != nil {
		w.t.Fatal(out)
	}
	var text []string
	tops, last := []string{}, ""
	for row := range strings.Lines(out + "\nend") {
		window, top, _ := strings.Cut(strings.TrimSpace(row), " ")
		if window != last && last != "" {
			text, tops = append(text, fmt.Sprintf("%d panes, first at %s, others at 0: %t", len(tops), tops[0], slices.Contains(tops[1:], "0"))), nil
		}
		tops, last = append(tops, top), window
	}
	return strings.Join(text, "; ")
}

// A session of tmux has a pane for each agent that works for a goal. The goal does not
// need it.
func TestGoalInTmux(t *testing.T) {
	t.Parallel()
	w := withTmux(t)
	wait := w.waiting("goal", "Paint the fence", "--project", "app", "--no-serve", "--tmux="+w.socket)
	w.created()
	keys := []string{w.starts("lead")}
	for n := range 6 {
		keys = append(keys, w.starts(fmt.Sprintf("w%d", n+1)))
	}
	w.sees(keys...)
	if got, want := w.windows(), "5 panes, first at 0, others at 0: false; 2 panes, first at 0, others at 0: "; !strings.HasPrefix(got, want) {
		t.Errorf("the windows have %s, want %s", got, want)
	}
	for _, key := range keys[1:6] { // all but the last worker end, and another one starts
		w.ends(key, coppice.OutcomeDone)
	}
	next := w.starts("w7")
	w.sees(next)
	if got, want := w.windows(), "2 panes, first at 0, others at 0: false; 1 panes"; !strings.HasPrefix(got, want) {
		t.Errorf("after five workers have ended, the windows have %s, want %s", got, want)
	}
	w.ends(keys[0], coppice.OutcomeDone)
	second := w.starts("lead-2")
	w.sees(second)
	if out, err := w.tmux("list-panes", "-t", "=coppice-app-1:", "-F", "#{pane_top} #{pane_start_command}"); err != nil || !strings.Contains(out, "0 "+w.env.Self+" logs -f "+second) {
		t.Errorf("the panes are %q, %v; want the second lead on top", out, err)
	}
	if out, err := w.tmux("kill-session", "-t", "=coppice-app-1"); err != nil {
		t.Fatal(out)
	}
	w.starts("w8")
	w.becomes("app-1", func(t *coppice.Task) { t.Flow.Note = "1 worker" })
	w.ends("app-1", coppice.OutcomeDone)
	code, out, errs := wait()
	if code != 0 || !strings.Contains(errs, "see its agents with: tmux -L "+w.socket+" attach -t coppice-app-1\n") || !strings.Contains(errs, "the goal continues") {
		t.Errorf("exit code %d, want 0, how to attach, and that the goal continues\n%s%s", code, out, errs)
	}
}

// The session of tmux ends with the command. Without tmux, nothing is created.
func TestGoalEndsTmux(t *testing.T) {
	t.Parallel()
	w := withTmux(t)
	wait := w.waiting("goal", "Paint the fence", "--project", "app", "--no-serve", "--tmux="+w.socket)
	w.created()
	w.sees(w.starts("lead"))
	w.ends("app-1", coppice.OutcomeFailed)
	if code, out, errs := wait(); code != 1 {
		t.Errorf("exit code %d, want 1\n%s%s", code, out, errs)
	}
	if out, err := w.tmux("has-session", "-t", "=coppice-app-1"); err == nil {
		t.Errorf("the session of tmux is still there: %s", out)
	}
	w.env.Getenv = func(string) string { return "" }
	w.golden(t, "goal-no-tmux", "goal", "Paint the fence", "--project", "app", "--no-serve", "--tmux")
	if _, err := w.Client.Flow(w.Ctx, "app-3"); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("without tmux, app-3: %v, want that nothing was created", err)
	}
}
