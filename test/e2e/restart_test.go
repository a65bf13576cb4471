//go:build linux

package e2e

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"coppice"
	"coppice/api"
	"coppice/test/harness"
)

func TestSessionsOutliveAKilledServer(t *testing.T) {
	t.Parallel()
	steps, wanted := talkative(60, 8000, "20ms")
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - match: "Task app-(\\d+)"
    steps:
` + steps + "      - wait_message: true\n      - write: {path: $1.txt, content: \"$1\\n\"}\n"})
	s := w.serve()
	keys := w.create(make5("Talk")...)
	for _, key := range keys {
		w.said(key+".1", "number 1\"")
	}
	before := w.agents()
	for i := range 3 {
		s.Kill()
		want(t, "agents that run without the server", w.agents(), before)
		s = w.serve()
		w.said(keys[0]+".1", fmt.Sprintf("number %d\"", 10*i+10))
	}
	for _, key := range keys {
		w.working(key, coppice.SessionIdle) // an earlier message is read between two steps
		w.cli("send", key, "continue")
	}
	for _, d := range w.landed(keys...) {
		if len(d.History) != 1 {
			t.Errorf("%s took %d sessions", d.Key, len(d.History))
		}
	}
	if len(before) != 5 {
		t.Errorf("%d agents ran at once", len(before))
	}
	w.quiet(t)
	if code := s.Stop(t); code != 0 {
		t.Errorf("the server ended with %d", code)
	}
	for _, key := range keys {
		w.complete(t, key+".1", wanted)
	}
}

func make5(title string) []coppice.NewTask {
	var tasks []coppice.NewTask
	for i := range 5 {
		tasks = append(tasks, coppice.NewTask{Title: fmt.Sprintf("%s %d", title, i+1)})
	}
	return tasks
}

// agents lists the agents' processes.
func (w *world) agents() []int {
	var pids []int
	for _, p := range w.Processes() {
		if p.IsAgent() {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

func TestASessionThatRunsWithoutAServer(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"killed", "stopped"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := bareWorld(t)
			gate, open := w.Gate("gate")
			steps, wanted := talkative(50, 20000, "1ms")
			w.repo = w.NewRepo("app", files{"coppice.yaml": policy, ".coppice/scripted.yaml": `cases:
  - steps:
      - run: cat ` + gate + "\n" + steps + "      - write: {path: a.txt, content: a}\n"})
			s := w.serve()
			key := w.new("Talk to nobody")
			w.said(key+".1", "cat "+gate)
			host := w.host()
			fd, err := unix.PidfdOpen(host.PID, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(fd)
			if how == "killed" {
				s.Kill()
			} else if code := s.Stop(t); code != 0 {
				t.Errorf("the server ended with %d", code)
			}
			open()
			harness.WaitExit(fd)
			s = w.serve()
			d := w.landed(key)[0]
			if len(d.History) != 1 {
				t.Errorf("it took %d sessions", len(d.History))
			}
			s.Stop(t)
			w.complete(t, key+".1", wanted)
		})
	}
}

const hangOnce = `cases:
  - {session: 1, steps: [{write: {path: first.txt, content: "first\n"}}, {run: "sleep 1000 >/dev/null 2>&1 &"}, {hang: true}]}
  - {steps: [{write: {path: second.txt, content: "second\n"}}]}
`

// killedProcess kills a process of a task's first session. It returns the task when
// it has landed.
func killedProcess(t *testing.T, of func(*world) proc) (*world, api.TaskDetail) {
	t.Helper()
	w := newWorld(t, files{".coppice/scripted.yaml": hangOnce})
	w.serve()
	key := w.new("Lose a process")
	w.said(key+".1", "hanging")
	if !of(w).Kill() {
		t.Fatal("the process was gone")
	}
	return w, w.landed(key)[0]
}

func TestALostHostIsNoticedAndTheTaskRetried(t *testing.T) {
	t.Parallel()
	w, d := killedProcess(t, (*world).host)
	if first := d.History[0]; first.State != coppice.SessionLost || first.Failure == nil || first.Failure.Class != coppice.ClassLost {
		t.Errorf("the first session is %s: %v", first.State, first.Failure)
	}
	w.wantOnBase("second.txt", "second")
	w.quiet(t)
}

func TestAKilledAgentIsRetried(t *testing.T) {
	t.Parallel()
	w, d := killedProcess(t, (*world).agent)
	if first := d.History[0]; first.State != coppice.SessionFailed || !strings.Contains(strings.ToLower(first.Signal), "kill") {
		t.Errorf("the first session is %s by signal %q", first.State, first.Signal)
	}
	if len(d.History) != 2 {
		t.Errorf("it took %d sessions", len(d.History))
	}
	w.quiet(t)
}

func TestAStoppedDeafAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": "cases: [{steps: [{hang: deaf}]}]\n"})
	w.serve()
	key := w.new("Receive nothing")
	w.said(key+".1", "hanging")
	w.cli("stop", key)
	w.await(key, "the end", func(d api.TaskDetail) bool { return d.Outcome == coppice.OutcomeCancelled })
	w.quiet(t)
}

func TestASecondServerIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	s := w.serve()
	_, err := w.StartServer()
	var no *harness.NotServing
	if !errors.As(err, &no) {
		t.Fatalf("a second server: %v", err)
	}
	if no.Code != 1 || !strings.Contains(no.Log, strconv.Itoa(s.Cmd.Process.Pid)) || !strings.Contains(no.Log, "→") {
		t.Errorf("exit code %d:\n%s", no.Code, no.Log)
	}
	w.cli("status")
	// Its lock goes with it, however it ends.
	if err := s.Cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-s.Done
	w.serve()
	w.cli("status")
}
