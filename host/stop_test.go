package host

import (
	"errors"
	"os"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"coppice"
	"coppice/internal/process"
)

func TestStubbornAgent(t *testing.T) {
	t.Parallel()
	b := setup(t, "once", "stubborn")
	b.run()
	if err := b.dial().Stop(b.ctx, 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if x := b.ended(); x.Signal != "SIGKILL" || x.Code != -1 || !x.Stopped {
		t.Errorf("exit %+v", x)
	}
}

func TestTermStopsHost(t *testing.T) {
	t.Parallel()
	b := setup(t, "talk", "echo")
	st := b.run()
	if err := syscall.Kill(st.PID, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if x := b.ended(); x.Code != 3 || !x.Stopped {
		t.Errorf("exit %+v", x)
	}
}

var pidLine = regexp.MustCompile(`(?m)^pid (\d+)$`)

// pids returns the processes that printed their pid.
func (b *bundle) pids() map[int]uint64 {
	pids := map[int]uint64{}
	for _, m := range pidLine.FindAllSubmatch(b.output(coppice.OutputStdout), -1) {
		pid, _ := strconv.Atoi(string(m[1]))
		pids[pid], _ = process.StartTime(pid)
	}
	return pids
}

// runTree starts an agent that starts children, and returns the processes.
func runTree(t *testing.T) (*bundle, map[int]uint64) {
	t.Helper()
	b := setup(t, "once", "tree")
	b.start("")
	b.until(func(out []byte) bool { return len(pidLine.FindAll(out, -1)) == 5 })
	return b, b.pids()
}

func (b *bundle) allDead(pids map[int]uint64) {
	b.t.Helper()
	for pid, start := range pids {
		if start != 0 && process.Alive(pid, start) {
			b.t.Errorf("process %d is still there", pid)
		}
	}
	_, st, _, _ := Inspect(b.dir)
	if left, err := process.Find(process.Mark{ID: st.Mark, Cgroup: st.Cgroup}); err != nil || len(left) > 0 {
		b.t.Errorf("left: %v, %v", left, err)
	}
	if st.Cgroup != "" {
		if _, err := os.Stat(st.Cgroup); err == nil {
			b.t.Errorf("%s is still there", st.Cgroup)
		}
	}
}

func TestChildHoldsOutput(t *testing.T) {
	t.Parallel()
	b := setup(t, "once", "leave")
	b.start("")
	x := b.ended()
	pids := b.pids()
	if x.Code != 0 || x.Stopped {
		t.Errorf("exit %+v", x)
	}
	b.allDead(pids)
}

func TestStopEndsTree(t *testing.T) {
	t.Parallel()
	b, pids := runTree(t)
	if err := b.dial().Stop(b.ctx, 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if x := b.ended(); x.Signal != "SIGTERM" {
		t.Errorf("exit %+v", x)
	}
	b.allDead(pids)
}

func TestLostHost(t *testing.T) {
	t.Parallel()
	b, pids := runTree(t)
	st, _ := b.phase(PhaseRunning)
	follow := make(chan error, 1)
	grew := make(chan struct{}, 1)
	c := b.dial()
	go func() {
		follow <- c.Follow(b.ctx, func(int64) {
			select {
			case grew <- struct{}{}:
			default:
			}
		})
	}()
	<-grew
	if err := syscall.Kill(st.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-follow; !errors.Is(err, ErrGone) {
		t.Errorf("follow: %v", err)
	}
	b.gone()
	b.phase(PhaseLost)
	b.start("") // does nothing
	b.phase(PhaseLost)
	alive := 0
	for pid, start := range pids {
		if process.Alive(pid, start) {
			alive++
		}
	}
	if alive != 5 {
		t.Fatalf("%d of 5 live before the sweep, so it would prove nothing", alive)
	}
	for range 2 {
		if err := Kill(b.ctx, b.dir); err != nil {
			t.Fatal(err)
		}
	}
	b.allDead(pids)
}

// The host outlives a hangup, its agent does not.
func TestAgentObeysHangup(t *testing.T) {
	t.Parallel()
	b := setup(t, "once", "hangup")
	b.start("go")
	if x := b.ended(); x.Signal != "SIGHUP" {
		t.Errorf("the agent ended with %+v, want the signal SIGHUP", x)
	}
}
