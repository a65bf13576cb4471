package process

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

const roleVar = "PROCESS_TEST_ROLE"

// TestMain lets the test binary start processes. Each of them writes
// its pid and stays.
func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		goleak.VerifyTestMain(m)
	}
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	switch role {
	case "ignores": // starts a shell that sends itself the signals
		CatchIgnored(syscall.SIGHUP, syscall.SIGUSR2)
		for _, name := range []string{"HUP", "TERM"} {
			fmt.Println(name, exec.Command("sh", "-c", "kill -"+name+" $$").Run())
		}
		os.Exit(0)
	case "stay":
	case "fork-away": // twice, into a new session, and exits
		start("stay", true, os.Environ())
		os.Exit(0)
	case "crowd":
		start("stay", false, os.Environ())
		start("stay", true, os.Environ())
		start("fork-away", true, os.Environ())
		start("stay", false, []string{roleVar + "=stay"}) // known by its parent only
	case "reaper":
		if err := Subreaper(); err != nil {
			panic(err)
		}
		start("fork-away", true, os.Environ())
		ended := make(chan os.Signal, 1)
		signal.Notify(ended, syscall.SIGCHLD)
		for {
			Reap(0)
			<-ended
		}
	}
	if role != "crowd" && role != "reaper" {
		fmt.Println("pid", os.Getpid())
	}
	never := make(chan os.Signal, 1) // a bare wait would look like a deadlock
	signal.Notify(never, syscall.SIGUSR1)
	<-never
}

func start(role string, setsid bool, env []string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		return strings.HasPrefix(v, roleVar+"=")
	}), roleVar+"="+role)
	cmd.Stdout = os.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: setsid}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	return cmd
}

// crowd starts a role with a mark, waits until n processes wrote their pid and
// returns them.
func crowd(t *testing.T, role, mark string, n int, change func(*exec.Cmd)) (*exec.Cmd, map[int]uint64) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = []string{roleVar + "=" + role, MarkVar + "=" + mark}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if change != nil {
		change(cmd)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	pids := map[int]uint64{}
	in := bufio.NewScanner(out)
	for len(pids) < n && in.Scan() {
		pid, err := strconv.Atoi(strings.TrimPrefix(in.Text(), "pid "))
		if err != nil {
			t.Fatal(err)
		}
		if pids[pid], err = StartTime(pid); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for pid, start := range pids {
			_ = signalOne(pid, start)
		}
	})
	return cmd, pids
}

func signalOne(pid int, start uint64) error {
	return deliver(ident{pid, start}, syscall.SIGKILL)
}

func alive(pids map[int]uint64) (n int) {
	for pid, start := range pids {
		if Alive(pid, start) {
			n++
		}
	}
	return n
}

func sweep(t *testing.T, m Mark) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	n, err := Sweep(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestStartTime(t *testing.T) {
	t.Parallel()
	start, err := StartTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if !Alive(os.Getpid(), start) || Alive(os.Getpid(), start+1) || Alive(1<<30, start) {
		t.Error("taken for another")
	}
	cmd := exec.Command("/bin/true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := StartTime(cmd.Process.Pid); err == nil {
		t.Error("a process that is gone has a start time")
	}
}

// By the environment alone: children that left the group and the session, and
// one that cleared its environment, are found; a stranger's crowd is not.
func TestSweepByEnvironment(t *testing.T) {
	t.Parallel()
	_, others := crowd(t, "crowd", t.Name()+"-other", 4, nil)
	_, pids := crowd(t, "crowd", t.Name(), 4, nil)
	// The one that forked away may or may not have ended by now.
	if n := sweep(t, Mark{ID: t.Name()}); n < 5 {
		t.Errorf("killed %d, want 5", n)
	}
	if n := alive(pids); n != 0 {
		t.Errorf("%d still live", n)
	}
	if n := alive(others); n != 4 {
		t.Errorf("%d of 4 strangers live", n)
	}
	if n := sweep(t, Mark{ID: t.Name()}); n != 0 {
		t.Errorf("the second sweep killed %d", n)
	}
	sweep(t, Mark{ID: t.Name() + "-other"})
}

// A leader alone proves nothing, because its pid may be another's by now.
func TestLeaderNeedsMark(t *testing.T) {
	t.Parallel()
	cmd, pids := crowd(t, "stay", t.Name(), 1, nil)
	if n := sweep(t, Mark{ID: "somebody else", Leader: cmd.Process.Pid}); n != 0 || alive(pids) != 1 {
		t.Errorf("killed %d", n)
	}
	if n := sweep(t, Mark{ID: t.Name(), Leader: cmd.Process.Pid}); n != 1 {
		t.Errorf("killed %d", n)
	}
}

// An empty mark matches no process, and a sweep does not kill itself.
func TestSweepSpares(t *testing.T) {
	t.Parallel()
	_, pids := crowd(t, "stay", "x", 1, nil)
	if n := sweep(t, Mark{}); n != 0 || alive(pids) != 1 {
		t.Errorf("killed %d", n)
	}
	all, err := snapshot()
	if err != nil {
		t.Fatal(err)
	}
	spared := ancestors(all, os.Getpid())
	if !spared[os.Getpid()] || !spared[os.Getppid()] || !spared[1] {
		t.Errorf("spared: %v", spared)
	}
}

// Orphans come back to a subreaper, where they are its descendants.
func TestSweepByParent(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs a subreaper")
	}
	cmd, pids := crowd(t, "reaper", "", 1, nil)
	start, err := StartTime(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	sweep(t, Mark{Parent: cmd.Process.Pid})
	if alive(pids) != 0 {
		t.Error("the orphan lives")
	}
	if !Alive(cmd.Process.Pid, start) {
		t.Error("the parent was killed too")
	}
}

func TestAbilities(t *testing.T) {
	t.Parallel()
	a := Abilities()
	if (a.Cgroup == "" || !a.Subreaper) && len(a.Notes) == 0 {
		t.Errorf("something is missing and nothing says so: %+v", a)
	}
}
