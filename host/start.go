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
)

// Launcher is how to start a host: Argv with the session's directory behind it,
// and its whole environment, which should hold little: the agent's is in Spec.
type Launcher struct {
	Argv []string
	Env  []string
}

// readyVar names the descriptor on which a host reports that it is up.
const readyVar = "COPPICE_HOST_READY_FD"

// ready is that report.
type ready struct {
	Error *wireError `json:"error,omitempty"`
}

// Start starts the session in dir. It returns when its host is up, holds the
// lock and has written its State, or with the reason why it is not. Where a
// session is running, ended or lost it does nothing, and of several at once one
// starts it. When ctx ends early the host may come up later; Start may be
// called again.
func Start(ctx context.Context, l Launcher, dir string, spec Spec, prompt string) error {
	if len(l.Argv) == 0 {
		return coppice.Errorf(coppice.EInvalid, "no command to start a host with")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	lock, err := waitLock(ctx, filepath.Join(dir, startFile))
	if err != nil {
		return err
	}
	defer lock.Close()
	phase, _, _, err := Inspect(dir)
	if err != nil || phase != PhaseNone {
		return err
	}
	spec.Request.Prompt = ""
	if err := writeFile(filepath.Join(dir, promptFile), []byte(prompt)); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	if err := writeJSON(filepath.Join(dir, specFile), spec); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	err = launch(ctx, l, dir)
	if err == nil || ctx.Err() != nil {
		return err
	}
	// A host that an earlier Start left behind may have come up first.
	if phase, _, _, again := Inspect(dir); again == nil && phase != PhaseNone {
		return nil
	}
	return err
}

// launch starts the detached process and waits for its report.
func launch(ctx context.Context, l Launcher, dir string) error {
	logf, err := os.OpenFile(filepath.Join(dir, logFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("host: %w", err)
	}
	defer logf.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("host: %w", err)
	}
	defer r.Close()
	cmd := exec.Command(l.Argv[0], append(l.Argv[1:len(l.Argv):len(l.Argv)], dir)...)
	cmd.Env = append(l.Env[:len(l.Env):len(l.Env)], readyVar+"=3")
	cmd.Stderr = logf // a crash of the host itself leaves its words there
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return coppice.Errorf(coppice.EUnavailable, "the session's host cannot be started: %w", err)
	}
	// Whoever starts a process has to take leave of it. This goroutine ends
	// with the host, or with us.
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // its state tells
	}()

	stop := context.AfterFunc(ctx, func() { _ = r.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	line, err := bufio.NewReader(r).ReadBytes('\n')
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("host: not up yet: %w", context.Cause(ctx))
	}
	var report ready
	if err != nil || json.Unmarshal(line, &report) != nil {
		select {
		case <-ended:
			if st, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && st.Signaled() {
				// Killed, as a host can be at any time; nothing is wrong with
				// the machine.
				return coppice.Failf(coppice.ClassLost, "the session's host was killed before it was up", "")
			}
		case <-ctx.Done():
		}
		return coppice.Errorf(coppice.EUnavailable, "the session's host ended before it was up").
			WithFix("see %s", filepath.Join(dir, logFile))
	}
	if report.Error != nil {
		return report.Error.err()
	}
	return nil
}

// announcer is a host's side of the report.
type announcer struct{ w *os.File }

// newAnnouncer finds the descriptor that Start left open, if Start started us.
// The agent must not inherit it: Start would not see the host's end.
func newAnnouncer() announcer {
	fd, err := strconv.Atoi(os.Getenv(readyVar))
	if err != nil || fd < 3 {
		return announcer{}
	}
	syscall.CloseOnExec(fd)
	os.Unsetenv(readyVar)
	return announcer{os.NewFile(uintptr(fd), "ready")}
}

// tell reports once that the host is up, or why it is not.
func (a announcer) tell(err error) {
	if a.w == nil {
		return
	}
	defer a.w.Close()
	var report ready
	if err != nil {
		var e *coppice.Error
		if !errors.As(err, &e) {
			e = coppice.Errorf(coppice.EUnavailable, "the session's host could not come up: %w", err)
		}
		report.Error = wire(e)
	}
	b, err := json.Marshal(report)
	if err != nil {
		b = []byte("{}")
	}
	// If Start is gone nobody wants to know.
	_, _ = a.w.Write(append(b, '\n'))
}
