package host

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"coppice"
	"coppice/internal/process"
)

// kills is how many hosts and agents are killed at random.
const kills = 200

// Nothing is left behind, whether host or agent is killed, and whenever.
func TestRandomKills(t *testing.T) {
	t.Parallel()
	var killed, started atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d kills, %d processes were running, none is left", killed.Load(), started.Load())
	})
	for i := range kills {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(7, uint64(i)))
			b := setup(t, "once", "tree")
			b.spec.Grace = coppice.Duration(50 * time.Millisecond)
			b.start("")
			st, _ := b.phase(PhaseRunning)
			if want := random.IntN(6); want > 0 {
				b.until(func(out []byte) bool { return len(pidLine.FindAll(out, -1)) >= want })
				st, _ = b.phase(PhaseRunning)
			}
			pids := b.pids()
			victim := st.PID
			if st.AgentPID != 0 && random.IntN(3) == 0 {
				victim = st.AgentPID
			}
			if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			b.gone()
			if victim == st.PID {
				b.phase(PhaseLost)
			} else if _, x := b.phase(PhaseEnded); x.Signal != "SIGKILL" || x.Stopped {
				t.Errorf("exit %+v", x)
			}
			if err := Kill(b.ctx, b.dir); err != nil {
				t.Fatal(err)
			}
			b.allDead(pids)
			killed.Add(1)
			started.Add(int64(len(pids) + 1))
		})
	}
}

// The spool of a host that was killed during a write can be read to its last
// whole frame.
func TestTornTail(t *testing.T) {
	t.Parallel()
	b := setup(t, "talk", "echo")
	st := b.run()
	syscall.Kill(st.PID, syscall.SIGKILL)
	b.gone()
	seg := filepath.Join(b.dir, spoolDir, strings.Repeat("0", 20)+".seg")
	f, err := os.OpenFile(seg, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Write([]byte{200, 0, 0, 0, 1, 2, 3})
	f.Close()
	if got := string(b.output(coppice.OutputStdout)); got != "ready\n" {
		t.Errorf("output %q", got)
	}
}

// BenchmarkStart measures the time from Start until the host is up.
func BenchmarkStart(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	work := b.TempDir()
	for i := 0; b.Loop(); i++ {
		dir := filepath.Join(b.TempDir(), strconv.Itoa(i))
		spec := Spec{
			Session: "app-1.1", Protocol: "once", Profile: coppice.Profile{Command: []string{"/bin/true"}},
			Grace: coppice.Duration(time.Second),
		}
		spec.Request.Dir = work
		l := Launcher{Argv: []string{self}, Env: []string{roleVar + "=host"}}
		if err := Start(context.Background(), l, dir, spec, ""); err != nil {
			b.Fatal(err)
		}
		_, st, _, _ := Inspect(dir)
		if st.PID == 0 {
			b.Fatal("not up")
		}
		b.StopTimer()
		f, _ := os.Open(filepath.Join(dir, lockFile))
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_SH)
		f.Close()
		if process.Alive(st.AgentPID, 0) {
			b.Fatal("agent is left")
		}
		b.StartTimer()
	}
}
