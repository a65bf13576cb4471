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
	lockWait     = 2 * time.Second  // an Inspect may hold the lock for a moment
	sweepWait    = 15 * time.Second // for processes that are being killed
)

// Main is what `coppice host <dir>` runs: the session in dir, from its start to
// its Exit. It owns the process it runs in: the working directory, the signals
// and the settings of the garbage collector. It returns the exit code. When ctx
// ends, or at SIGTERM and SIGINT, the agent is stopped.
func Main(ctx context.Context, dir string, protocols map[string]agent.Protocol, log *slog.Logger) int {
	if mark := os.Getenv(execVar); mark != "" && len(os.Args) > 3 {
		return runAgentWithin(os.Args[3:], mark)
	}
	// Two threads are as many as there is work for.
	runtime.GOMAXPROCS(min(runtime.GOMAXPROCS(0), 2))
	// The host outlives its terminal and its readers. The signals are caught, not
	// ignored: the agent would inherit what is ignored.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGPIPE)
	report := announcer{inherited(readyVar)}
	secrets, ok := wanted()
	if !ok {
		return 0
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)

	h, err := newHost(ctx, dir, secrets, log)
	report.tell(err)
	if err != nil {
		log.Error("host did not come up", "error", err)
		return 1
	}
	defer h.close()
	if err := h.run(ctx, protocols[h.spec.Protocol], signals); err != nil {
		log.Error("host failed", "session", h.spec.Session, "error", err)
		return 1
	}
	return 0
}

// leanAfter is how old a session is when its host gives back what it took to
// come up. One that ends sooner gives everything back at once.
const leanAfter = time.Second

// lean makes the host small for the rest of its life: there is one per session,
// so little memory counts for more than speed.
func lean() {
	debug.SetGCPercent(25)
	debug.FreeOSMemory()
}

// newHost takes the directory, reads what is to be done and prepares
// everything that the agent needs. The last thing it does is to write the state.
func newHost(ctx context.Context, dir string, secrets map[string]string, log *slog.Logger) (_ *host, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	h := &host{dir: dir, log: log, now: time.Now, agentDone: make(chan struct{}), done: make(chan struct{}), said: map[string]bool{}, stirred: make(chan struct{}, 1), term: newTerminal(RuntimePipe), begun: make(chan struct{})}
	h.starting, h.unwanted = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			h.close()
		}
	}()
	if err := h.take(ctx); err != nil {
		return nil, err
	}
	if found, err := readJSON(h.path(specFile), &h.spec); err != nil || !found {
		return nil, errors.Join(errors.New("host: there is nothing to do without a spec"), err)
	}
	prompt, err := os.ReadFile(h.path(promptFile))
	if err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	h.spec.Secrets = secrets
	h.spec.Request.Session = h.spec.Session
	h.spec.Request.Prompt = string(prompt)
	h.spec.Request.PromptFile = h.path(promptFile)
	if h.spec.Grace <= 0 {
		h.spec.Grace = coppice.Duration(defaultGrace)
	}
	if err := process.Subreaper(); err != nil {
		log.Warn("orphans will not come back", "error", err)
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

// take takes the lock and makes sure that nobody had it before: a session runs
// once.
func (h *host) take(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	if h.lock, err = filelock.Wait(ctx, h.path(lockFile)); err != nil {
		return err
	}
	for _, name := range []string{stateFile, exitFile} {
		if _, err := os.Stat(h.path(name)); err == nil {
			return coppice.Errorf(coppice.EConflict, "the session in %s ran before", h.dir)
		}
	}
	return nil
}

// listen makes the socket. A unix socket's path is limited to about a hundred
// bytes, a directory's is not: hence the way over the working directory.
func (h *host) listen() (err error) {
	if err := os.Chdir(h.dir); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	if err := os.Remove(socketFile); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("host: %w", err)
	}
	// Until the mode is set the directory's own, 0700, protects the socket.
	if h.listener, err = net.Listen("unix", socketFile); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	if err := os.Chmod(socketFile, 0o600); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	return nil
}

// begin makes the cgroup and writes the state, from which a sweep after our own
// sudden end knows what to look for.
func (h *host) begin() error {
	started, err := process.StartTime(os.Getpid())
	if err != nil {
		return err
	}
	// The mark has to be unlike any other, not secret.
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
	// A session that began must not be taken for one that never did.
	if err := syncDir(h.dir); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	return nil
}

// close gives back what newHost took. The lock goes with the process, so that
// it is free only when nothing of the host is left.
func (h *host) close() {
	if h.listener != nil {
		h.listener.Close()
	}
	if h.cgroup != nil {
		h.cgroup.Close()
	}
}

func (h *host) path(name string) string { return filepath.Join(h.dir, name) }

// mark tells how the session's processes are known.
func (st State) mark() process.Mark {
	return process.Mark{ID: st.Mark, Cgroup: st.Cgroup, Leader: st.AgentPID}
}

// Kill ends every process that a lost host left behind. A running host is
// refused; where nothing is left it does nothing.
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
