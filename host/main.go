package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"coppice"
	"coppice/agent"
	"coppice/internal/filelock"
	"coppice/internal/process"
	"coppice/internal/spool"
)

const (
	defaultGrace = 5 * time.Second
	lockWait     = 2 * time.Second  // an Inspect can hold the lock for a moment
	sweepWait    = 15 * time.Second // for processes that are being killed
)

// Main implements `coppice host <dir>`. It runs the session in dir from its
// start to its Exit and returns the exit code. It owns its process: the working
// directory, the signals and the settings of the garbage collector. It stops the
// agent when ctx ends, or at SIGTERM and SIGINT.
func Main(ctx context.Context, dir string, protocols map[string]agent.Protocol, log *slog.Logger) int {
	if mark := os.Getenv(execVar); mark != "" && len(os.Args) > 3 {
		return runAgentWithin(os.Args[3:], mark)
	}
	// The host copies small pieces of data between goroutines. On several threads
	// most of its time would be spent on waking them.
	runtime.GOMAXPROCS(1)
	// The host outlives its terminal and its readers. The signals are caught, not
	// ignored: the agent would inherit what is ignored.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGPIPE)
	report := announcer{inherited(readyVar)}
	o, ok, err := awaitOrder(dir)
	if !ok && err == nil {
		return 0
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)

	var h *host
	if err == nil {
		h, err = newHost(ctx, dir, o.Spec, log)
	}
	report.report(err)
	if err != nil {
		log.Error("host not started", "error", err)
		return 1
	}
	defer h.close()
	if err := h.run(ctx, protocols[h.spec.Protocol], signals); err != nil {
		log.Error("host failed", "session", h.spec.Session, "error", err)
		return 1
	}
	return 0
}

// leanAfter is the age of a session at which its host frees the memory that it
// needed to start. A session that ends sooner frees everything anyway.
const leanAfter = time.Second

// leanTime returns leanAfter and up to half of it. Many sessions can start, or rest,
// at the same moment: together they would delay everything else on the machine.
func leanTime() time.Duration { return leanAfter + rand.N(leanAfter/2) }

// lean reduces the host's memory for the rest of its life. There is one host per
// session, so a small size matters more than speed.
func lean() {
	debug.SetGCPercent(25)
	debug.FreeOSMemory()
}

// newHost acquires the directory and prepares everything that the agent needs. It
// writes the state last.
func newHost(ctx context.Context, dir string, spec Spec, log *slog.Logger) (_ *host, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	h := &host{dir: dir, spec: spec, log: log, now: time.Now, agentDone: make(chan struct{}), done: make(chan struct{}), said: map[string]bool{}, screenDirty: make(chan struct{}, 1), term: newTerminal(RuntimePipe), agentStarted: make(chan struct{})}
	h.starting, h.cancelAppWait = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			h.close()
		}
	}()
	if err := h.acquireLock(ctx); err != nil {
		return nil, err
	}
	h.calls.session, h.calls.quiet = h.spec.Session, lean
	h.spec.Request.Session = h.spec.Session
	if h.spec.Grace <= 0 {
		h.spec.Grace = coppice.Duration(defaultGrace)
	}
	if err := process.Subreaper(); err != nil {
		log.Warn("orphaned processes will not be reaped", "error", err)
	}
	h.bound.most = int64(h.spec.Output)
	if h.spool, err = spool.Open(h.path(spoolDir)); err != nil {
		return nil, err
	}
	if err := h.listen(); err != nil {
		return nil, err
	}
	if err := os.WriteFile(h.path(reserveFile), make([]byte, reserveSize), 0o600); err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	return h, h.begin()
}

// acquireLock acquires the lock and makes sure that no host ran here before: a
// session runs once.
func (h *host) acquireLock(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	if h.lock, err = filelock.Wait(ctx, h.path(lockFile)); err != nil {
		return err
	}
	for _, name := range []string{stateFile, exitFile} {
		if _, err := os.Stat(h.path(name)); err == nil {
			return coppice.Errorf(coppice.EConflict, "the session in %s has already run", h.dir)
		}
	}
	return nil
}

// listen creates the socket. The system limits a unix socket's path to about 100
// bytes. So the host uses a path relative to its working directory.
func (h *host) listen() (err error) {
	if err := os.Chdir(h.dir); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	if err := os.Remove(socketFile); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("host: %w", err)
	}
	// Until the mode is set, the directory's mode, 0700, protects the socket.
	if h.listener, err = net.Listen("unix", socketFile); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	if err := os.Chmod(socketFile, 0o600); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	return nil
}

// begin creates the cgroup and writes the state. If the host is killed, a sweep
// finds the processes by the state.
func (h *host) begin() error {
	started, err := process.StartTime(os.Getpid())
	if err != nil {
		return err
	}
	// The mark must be unique, not secret.
	mark := fmt.Sprintf("%016x%016x", rand.Uint64(), rand.Uint64())
	h.state = State{PID: os.Getpid(), Started: started, Mark: mark, StartedAt: h.now(), Version: Version}
	h.cgroup, err = process.NewCgroup(process.CgroupName(h.spec.Session, mark))
	if err != nil {
		h.log.Info("no cgroup", "error", err)
	} else {
		h.state.Cgroup = h.cgroup.Path
	}
	if err := keepJSON(h.path(stateFile), h.state); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	// A session that has started must not look like one that never did.
	if err := syncDir(h.dir); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	return nil
}

// close releases what newHost acquired, except the lock. The lock is released
// when the process exits, so a free lock means that the host is gone.
func (h *host) close() {
	if h.listener != nil {
		h.listener.Close()
	}
	if h.cgroup != nil {
		h.cgroup.Close()
	}
}

func (h *host) path(name string) string { return filepath.Join(h.dir, name) }

// mark returns how the session's processes are recognized.
func (st State) mark() process.Mark {
	return process.Mark{ID: st.Mark, Cgroup: st.Cgroup, Leader: st.AgentPID}
}

// Kill ends every process that a lost host left behind. It refuses while the
// host runs. If nothing is left, it does nothing.
func Kill(ctx context.Context, dir string) error {
	phase, st, _, err := Inspect(dir)
	if err != nil {
		return err
	}
	switch phase {
	case PhaseNone:
		return nil
	case PhaseRunning:
		return coppice.Errorf(coppice.EConflict, "the session's host still runs (pid %d)", st.PID).
			WithFix("stop the session instead")
	}
	ctx, cancel := context.WithTimeout(ctx, sweepWait)
	defer cancel()
	_, err = process.Sweep(ctx, st.mark())
	if st.Cgroup != "" {
		err = errors.Join(err, process.RemoveCgroup(ctx, st.Cgroup))
	}
	return err
}
