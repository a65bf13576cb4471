package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"coppice"
	"coppice/agent"
	"coppice/internal/process"
	"coppice/internal/spool"
)

const (
	captureSize = 32 << 10        // bytes of one read from the agent
	drainWait   = 2 * time.Second // for output that the agent's children hold back after its end
)

// host is one session in progress.
type host struct {
	dir           string
	spec          Spec
	log           *slog.Logger
	now           func() time.Time
	lock          *os.File
	listener      net.Listener
	cgroup        *process.Cgroup // nil if it could not be created
	stdin         *stdin
	tmux          *tmux           // nil if the agent does not run in tmux
	screenDirty   chan struct{}   // gets a value when the agent's screen has changed
	endpoint      *endpoint       // nil if the agent gets no tools and calls no hooks
	calls         calls           // of tools, until they are answered
	app           *app            // nil if no app is served
	agentStarted  chan struct{}   // closed when the agent runs and can receive requests
	starting      context.Context // ends when the host no longer waits for the app
	cancelAppWait func()          // ends starting
	agentDone     chan struct{}   // closed when the agent's process has ended
	life          context.Context // ends when the session ends, or later
	done          chan struct{}   // closed when the session has ended and its Exit is written
	tasks         sync.WaitGroup  // everything that must end before the session does

	mu        sync.Mutex // held while the driver works, so that the spool has the driver's order
	state     State
	driver    agent.Driver // nil before the agent runs and after the driver panicked
	spool     *spool.Writer
	failed    []string // errors of the host itself
	full      bool     // the spool cannot be written any more
	bound     bound    // limits the spool
	tail      tail
	term      *terminal
	exit      Exit // how the session ended
	followers map[*follower]struct{}
	wakeHeld  bool            // more is about to be written to the spool
	wakesSoon bool            // wakeSoon has a timer
	dropped   int             // number of followers that were too slow
	kept      pictureCount    // of evidence
	lockSeq   int64           // of the driver's lock table
	said      map[string]bool // IDs of delivered messages
	over      bool            // the agent has nothing more to do
	stopping  bool            // a stop was requested before the agent had ended
	grace     time.Duration   // of a stop that was requested before the agent ran
	recorded  map[string]int  // calls whose results the agent has not reported, by tool
	appLost   bool            // the spool has the note that the app's output is not kept
	ending    bool            // too late for a stop
}

// run runs the session to its end.
func (h *host) run(ctx context.Context, p agent.Protocol, signals <-chan os.Signal) error {
	x := h.session(ctx, p, signals)
	h.teardownLaunch()
	h.mu.Lock()
	h.release()
	x.Dropped = h.bound.dropped
	if err := h.spool.Close(); err != nil {
		h.failed = append(h.failed, err.Error())
	}
	h.full = true
	x.Spool = h.spool.Offset()
	x.EndedAt = h.now()
	if x.Error == "" && len(h.failed) > 0 {
		x.Error = h.failed[0]
	}
	h.exit = x
	h.mu.Unlock()
	err := h.writeExit(x)
	close(h.done)
	h.listener.Close()
	h.tasks.Wait()
	return err
}

// writeExit writes the Exit into the file that reserved its space, and renames it. If
// that fails, it frees the space first.
func (h *host) writeExit(x Exit) error {
	err := h.fillReserve(x)
	if err != nil {
		_ = os.Remove(h.path(reserveFile))
		err = keepJSON(h.path(exitFile), x)
	}
	if err == nil {
		err = syncDir(h.dir)
	}
	if err != nil {
		return fmt.Errorf("host: the end was not recorded: %w", err)
	}
	return nil
}

// fillReserve turns the file that reserved the space into exit.json.
func (h *host) fillReserve(x Exit) error {
	b, err := json.Marshal(x)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(h.path(reserveFile), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	b = append(b, '\n')
	if _, err := f.Write(b); err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(int64(len(b))), f.Sync()); err != nil {
		return err
	}
	return os.Rename(h.path(reserveFile), h.path(exitFile))
}

// session starts the agent, captures its output and returns how it ended, when
// all its processes are gone.
func (h *host) session(ctx context.Context, p agent.Protocol, signals <-chan os.Signal) Exit {
	h.life = context.WithoutCancel(ctx)
	defer h.cancelAppWait()
	if h.spec.App.Set() {
		h.receive(ctx, signals)
		if x := h.serveApp(ctx); x != nil {
			close(h.agentDone)
			return *x
		}
	}
	if h.spec.onlyApp() {
		return h.stayWithApp(ctx)
	}
	a, failure := h.startAgent(p)
	if failure != nil {
		h.mu.Lock()
		h.note(failure.Text)
		h.mu.Unlock()
		h.endApp(ctx)
		h.sweep(ctx)
		h.closeApp()
		close(h.agentDone)
		return Exit{Code: -1, Error: failure.Text, Outcome: agent.Outcome{Failure: failure}}
	}
	h.tasks.Go(h.stdin.run)
	h.noteLocks()
	h.drive(func(d agent.Driver) (agent.Step, error) { return d.Start(), nil })
	h.endpoint.begin()
	captured := make(chan struct{})
	var readers sync.WaitGroup
	readers.Go(func() { h.capture(agent.Stdout, a.stdout) })
	if a.stderr != nil {
		readers.Go(func() { h.capture(agent.Stderr, a.stderr) })
	}
	if a.control != nil {
		readers.Go(func() { read(a.control, h.tmux.take) })
	}
	h.tasks.Go(func() { readers.Wait(); close(captured) })
	h.tasks.Go(func() { h.reap(a.cmd.Process.Pid) })
	h.began(ctx)
	if !h.spec.App.Set() {
		h.receive(ctx, signals)
	}
	if h.readsScreen() {
		h.tasks.Go(h.watch)
	}
	defer time.AfterFunc(leanTime(), lean).Stop()

	code, sig := wait(a.cmd)
	close(h.agentDone)
	h.endpoint.end()
	h.stdin.abort()
	if h.tmux != nil {
		h.tmux.hold.Close()
	}
	h.endApp(ctx)
	h.drain(ctx, a, captured)
	h.closeApp()
	if h.tmux != nil {
		code, sig = h.tmux.exit()
	}
	x := h.finish(code, sig)
	if h.tmux == nil { // tmux has waited for the agent itself
		x.Memory = peakMemory(a.cmd.ProcessState)
	}
	return x
}

// receive serves clients, and stops the agent when the host should end.
func (h *host) receive(ctx context.Context, signals <-chan os.Signal) {
	h.tasks.Go(func() { h.stopOnSignal(ctx, signals) })
	h.tasks.Go(func() { h.serve(ctx) })
}

// began lets clients talk to the agent. If a stop was requested before the agent
// ran, it stops the agent immediately.
func (h *host) began(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.agentStarted)
	if h.stopping {
		grace := h.grace
		h.tasks.Go(func() { h.stopSteps(ctx, grace) })
	}
}

// finish lets the driver conclude.
func (h *host) finish(code int, sig string) Exit {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ending = true
	x := Exit{Code: code, Signal: sig, Stopped: h.stopping, Done: h.over}
	concluded := false
	h.driveLocked(func(d agent.Driver) (step agent.Step, err error) {
		step, x.Outcome = d.Exit(agent.Exit{Code: code, Signal: sig})
		concluded = true
		step.Write = nil // the agent is gone
		return step, nil
	})
	if !concluded {
		x.Outcome = agent.Outcome{Failure: coppice.Failf(coppice.ClassUnknown,
			fmt.Sprintf("the agent's output could not be followed to its end: the %s protocol failed", h.spec.Protocol),
			"its raw output is complete; report this as a bug")}
	}
	x.Outcome.Failure = agent.Until(x.Outcome.Failure, h.now())
	return x
}

// wait waits for the agent's process.
func wait(cmd *exec.Cmd) (code int, sig string) {
	err := cmd.Wait()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return -1, ""
	}
	if st, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && st.Signaled() {
		return -1, unix.SignalName(st.Signal())
	}
	return cmd.ProcessState.ExitCode(), ""
}

// peakMemory returns the peak memory, in bytes, of an ended process and of any
// process that it waited for. 0 means unknown.
func peakMemory(p *os.ProcessState) int64 {
	if p == nil {
		return 0
	}
	used, ok := p.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin":
		return int64(used.Maxrss)
	}
	return int64(used.Maxrss) << 10 // all other systems use KiB
}

// capture reads one stream to its end. Raw bytes are in the spool before
// anything decodes them.
func (h *host) capture(s agent.Stream, f *os.File) {
	if h.tmux != nil && s == agent.Stdout {
		read(f, h.tmux.output)
		return
	}
	read(f, func(b []byte) { h.output(s, b) })
}

// read reads a file to its end.
func read(f *os.File, take func([]byte)) {
	buf := make([]byte, captureSize)
	for {
		n, err := f.Read(buf)
		if n > 0 {
			take(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// output passes the agent's output to the spool, to viewers and to the driver.
func (h *host) output(s agent.Stream, b []byte) {
	kind := spool.Stdout
	if s == agent.Stderr {
		kind = spool.Stderr
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wakeHeld = true // wakes followers once, after the whole piece
	h.append(kind, b)
	h.tail.write(b)
	h.term.show(s, b)
	h.driveLocked(func(d agent.Driver) (agent.Step, error) { return d.Output(s, b), nil })
	h.wakeHeld = false
	h.wake()
	h.screenChanged()
}

// drain waits for the rest of the output and ends the processes that the agent
// left. A child that holds the output open gets a moment, then it is killed. If
// the output is still open, the host stops reading.
func (h *host) drain(ctx context.Context, a *started, captured <-chan struct{}) {
	within := func() bool {
		t := time.NewTimer(min(drainWait, h.spec.Grace.D()))
		defer t.Stop()
		select {
		case <-captured:
			return true
		case <-t.C:
			return false
		}
	}
	within()
	h.sweep(ctx)
	if !within() {
		h.log.Warn("output is held open by a process that could not be ended")
		for _, f := range a.outputs() {
			_ = f.SetReadDeadline(time.Unix(1, 0))
		}
		<-captured
	}
	for _, f := range a.outputs() {
		f.Close()
	}
}

// sweep kills everything the session started and removes its cgroup.
func (h *host) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sweepWait)
	defer cancel()
	h.mu.Lock()
	m := h.state.mark()
	h.mu.Unlock()
	m.Parent = os.Getpid()
	if h.cgroup != nil && process.CgroupEmpty(h.cgroup.Path) {
		// Everything that the agent starts is in its cgroup, so nothing is left.
		// A scan of all processes would find the same.
		h.removeCgroup(ctx)
		return
	}
	if n, err := process.Sweep(ctx, m); err != nil {
		h.log.Warn("some processes could not be ended", "killed", n, "error", err)
	}
	if h.cgroup != nil {
		h.removeCgroup(ctx)
	}
}

func (h *host) removeCgroup(ctx context.Context) {
	if err := process.RemoveCgroup(ctx, h.cgroup.Path); err != nil {
		h.log.Warn("cgroup stays", "error", err)
	}
}

// reap waits for orphans that were handed to the host, until the session has
// ended.
func (h *host) reap(agentPID int) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	defer signal.Stop(ended)
	agentDone := h.agentDone
	for {
		process.Reap(agentPID, h.app.pid())
		select {
		case <-ended:
		case <-agentDone:
			agentPID, agentDone = 0, nil
		case <-h.done:
			return
		}
	}
}
