package host

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"coppice"
	"coppice/internal/filelock"
)

// Launcher has the command that starts a host, to which the session's directory
// is added, and its whole environment. The environment should be small: the
// agent's is in Spec.
type Launcher struct {
	Argv []string
	Env  []string
}

// The variables that name a host's descriptors. The host reports on the first
// that it is up, and reads from the second what to do.
const (
	readyVar = "COPPICE_HOST_READY_FD"
	orderVar = "COPPICE_HOST_ORDER_FD"
	goVar    = "COPPICE_HOST_GO_FD" // instead of orderVar, from servers of earlier releases
)

// order is what a host gets through its pipe. So no file contains the agent's
// prompt, environment and secrets.
type order struct {
	Spec    Spec
	Secrets map[string]string
}

// ready is a host's report.
type ready struct {
	Error *wireError `json:"error,omitempty"`
}

// Start starts the session in dir. It returns when its host is up, holds the
// lock and has written its State, or with the reason why not. If the session is
// running, ended or lost, it does nothing. If several callers start it, one
// does. If ctx ends early, the host might come up later. Start can be repeated.
func Start(ctx context.Context, l Launcher, dir string, spec Spec, prompt string) error {
	a, err := Launch(l, dir)
	if err != nil {
		return err
	}
	return a.Start(ctx, spec, prompt)
}

// Ahead is the process of a session's host that waits for its spec. It has
// acquired nothing yet, not even the lock. It exits when it is dropped, or when
// the process that launched it exits. So a host can start while the session's
// workspace is being prepared.
type Ahead struct {
	dir    string
	cmd    *exec.Cmd
	ready  *os.File      // the host reports here
	orders *os.File      // the host's order goes here
	ended  chan struct{} // closed when the process has ended
}

// Launch starts the process of the host of the session in dir. It must be
// followed by Start or Drop.
func Launch(l Launcher, dir string) (*Ahead, error) {
	if len(l.Argv) == 0 {
		return nil, coppice.Errorf(coppice.EInvalid, "the launcher has no command to start a host")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	logf, err := os.OpenFile(filepath.Join(dir, logFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	defer logf.Close()
	ready, theirs, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	defer theirs.Close()
	orders, ours, err := os.Pipe()
	if err != nil {
		ready.Close()
		return nil, fmt.Errorf("host: %w", err)
	}
	defer orders.Close()
	cmd := exec.Command(l.Argv[0], append(l.Argv[1:len(l.Argv):len(l.Argv)], dir)...)
	cmd.Env = append(l.Env[:len(l.Env):len(l.Env)], readyVar+"=3", orderVar+"=4")
	cmd.Stderr = logf // for a crash of the host itself
	cmd.ExtraFiles = []*os.File{theirs, orders}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		ready.Close()
		ours.Close()
		return nil, coppice.Errorf(coppice.EUnavailable, "the session's host cannot be started: %w", err)
	}
	a := &Ahead{dir: dir, cmd: cmd, ready: ready, orders: ours, ended: make(chan struct{})}
	// A parent must wait for its child. This goroutine ends with the host, or
	// with this process.
	go func() {
		defer close(a.ended)
		_ = cmd.Wait() // State and Exit have the result
	}()
	return a, nil
}

// Drop ends a host that is not needed after all. After Start it does nothing.
func (a *Ahead) Drop() {
	a.orders.Close()
	a.ready.Close()
}

// Wait waits for the end of a host that was dropped.
func (a *Ahead) Wait() { <-a.ended }

// Start works like the function Start, with the waiting process.
func (a *Ahead) Start(ctx context.Context, spec Spec, prompt string) error {
	defer a.Drop()
	lock, err := filelock.Wait(ctx, a.dir+"/.") // never a new file in its place
	if err != nil {
		return err
	}
	defer lock.Close()
	phase, _, _, err := Inspect(a.dir)
	if err != nil || phase != PhaseNone {
		return err
	}
	spec.Request.Prompt = prompt
	err = a.await(ctx, order{Spec: spec, Secrets: spec.Secrets})
	if err == nil || ctx.Err() != nil {
		return err
	}
	// A host of an earlier Start might have come up first.
	if phase, _, _, again := Inspect(a.dir); again == nil && phase != PhaseNone {
		return nil
	}
	return err
}

// await gives the process its order, and waits for its report.
func (a *Ahead) await(ctx context.Context, o order) error {
	line, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("host: %w", err)
	}
	stop := context.AfterFunc(ctx, func() {
		_ = a.orders.SetWriteDeadline(time.Unix(1, 0))
		_ = a.ready.SetReadDeadline(time.Unix(1, 0))
	})
	defer stop()
	_, _ = a.orders.Write(append(line, '\n')) // a host that is gone does not report either
	answer, err := bufio.NewReader(a.ready).ReadBytes('\n')
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("host: not up yet: %w", context.Cause(ctx))
	}
	var report ready
	if err != nil || json.Unmarshal(answer, &report) != nil {
		select {
		case <-a.ended:
			if st, ok := a.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && st.Signaled() {
				// It was killed, which can happen at any time. Nothing is wrong
				// with the machine.
				return coppice.Failf(coppice.ClassLost, "the session's host was killed before it was up", "")
			}
		case <-ctx.Done():
		}
		return coppice.Errorf(coppice.EUnavailable, "the session's host ended before it was up").
			WithFix("see %s", filepath.Join(a.dir, logFile))
	}
	if report.Error != nil {
		return report.Error.err()
	}
	return nil
}

// inherited returns a descriptor that Start left open and named in a variable,
// if Start started this process. The agent must not inherit it: then Start would
// not notice the host's end.
func inherited(name string) *os.File {
	fd, err := strconv.Atoi(os.Getenv(name))
	os.Unsetenv(name)
	if err != nil || fd < 3 {
		return nil
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), name)
}

// awaitOrder waits for the host's order. It returns false if the launching process
// dropped the host, or is gone.
func awaitOrder(dir string) (o order, ok bool, err error) {
	f, into := inherited(orderVar), any(&o)
	if f == nil {
		f, into = inherited(goVar), &o.Secrets
	}
	if f != nil {
		defer f.Close()
		line, err := bufio.NewReader(f).ReadBytes('\n')
		if err != nil {
			return o, false, nil // any error means that the pipe was closed
		}
		if err := json.Unmarshal(line, into); err != nil && len(line) > 1 {
			return o, false, fmt.Errorf("host: the order cannot be read: %w", err)
		}
	}
	if into != any(&o) {
		err = o.readFiles(dir)
	}
	o.Spec.Secrets = o.Secrets
	return o, true, err
}

// readFiles reads the order of a server of an earlier release from files. That
// server writes only the secrets into the pipe, or an empty line.
func (o *order) readFiles(dir string) error {
	if found, err := readJSON(filepath.Join(dir, specFile), &o.Spec); err != nil || !found {
		return errors.Join(errors.New("host: the directory has no spec"), err)
	}
	prompt, err := os.ReadFile(filepath.Join(dir, promptFile))
	if err != nil {
		return fmt.Errorf("host: %w", err)
	}
	o.Spec.Request.Prompt = string(prompt)
	return nil
}

// announcer is the host's side of the report.
type announcer struct{ w *os.File }

// report reports once that the host is up, or why it is not.
func (a announcer) report(err error) {
	if a.w == nil {
		return
	}
	defer a.w.Close()
	var report ready
	if err != nil {
		var e *coppice.Error
		if !errors.As(err, &e) {
			e = coppice.Errorf(coppice.EUnavailable, "the session's host could not start: %w", err)
		}
		report.Error = wire(e)
	}
	b, err := json.Marshal(report)
	if err != nil {
		b = []byte("{}")
	}
	// Start might be gone.
	_, _ = a.w.Write(append(b, '\n'))
}
