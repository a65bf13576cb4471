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

// Launcher is how to start a host: Argv with the session's directory behind it,
// and its whole environment, which should hold little: the agent's is in Spec.
type Launcher struct {
	Argv []string
	Env  []string
}

// The variables that name a host's descriptors: on one it reports that it is up,
// on the other it is told to go on.
const (
	readyVar = "COPPICE_HOST_READY_FD"
	goVar    = "COPPICE_HOST_GO_FD"
)

// ready is a host's report.
type ready struct {
	Error *wireError `json:"error,omitempty"`
}

// Start starts the session in dir. It returns when its host is up, holds the
// lock and has written its State, or with the reason why it is not. Where a
// session is running, ended or lost it does nothing, and of several at once one
// starts it. When ctx ends early the host may come up later; Start may be
// called again.
func Start(ctx context.Context, l Launcher, dir string, spec Spec, prompt string) error {
	a, err := Launch(l, dir)
	if err != nil {
		return err
	}
	return a.Start(ctx, spec, prompt)
}

// Ahead is the process of a session's host that waits to be told what to do. It
// has taken nothing yet, not even the lock, and ends when it is dropped, or with
// whoever launched it: a process takes its time to come up, which is well used
// while the session's workspace is being made.
type Ahead struct {
	dir   string
	cmd   *exec.Cmd
	ready *os.File      // it reports here
	word  *os.File      // a line lets it go on
	ended chan struct{} // closed when the process is over
}

// Launch starts the process of the host of the session in dir. It must be
// followed by Start or Drop.
func Launch(l Launcher, dir string) (*Ahead, error) {
	if len(l.Argv) == 0 {
		return nil, coppice.Errorf(coppice.EInvalid, "no command to start a host with")
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
	heard, word, err := os.Pipe()
	if err != nil {
		ready.Close()
		return nil, fmt.Errorf("host: %w", err)
	}
	defer heard.Close()
	cmd := exec.Command(l.Argv[0], append(l.Argv[1:len(l.Argv):len(l.Argv)], dir)...)
	cmd.Env = append(l.Env[:len(l.Env):len(l.Env)], readyVar+"=3", goVar+"=4")
	cmd.Stderr = logf // a crash of the host itself leaves its words there
	cmd.ExtraFiles = []*os.File{theirs, heard}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		ready.Close()
		word.Close()
		return nil, coppice.Errorf(coppice.EUnavailable, "the session's host cannot be started: %w", err)
	}
	a := &Ahead{dir: dir, cmd: cmd, ready: ready, word: word, ended: make(chan struct{})}
	// Whoever starts a process has to take leave of it. This goroutine ends
	// with the host, or with us.
	go func() {
		defer close(a.ended)
		_ = cmd.Wait() // its state tells
	}()
	return a, nil
}

// Drop ends a host that is not needed after all. After Start it does nothing.
func (a *Ahead) Drop() {
	a.word.Close()
	a.ready.Close()
}

// Wait waits for the end of a host that was dropped.
func (a *Ahead) Wait() { <-a.ended }

// Start is the function of that name, for the process that is there already.
func (a *Ahead) Start(ctx context.Context, spec Spec, prompt string) error {
	defer a.Drop()
	lock, err := filelock.Wait(ctx, filepath.Join(a.dir, startFile))
	if err != nil {
		return err
	}
	defer lock.Close()
	phase, _, _, err := Inspect(a.dir)
	if err != nil || phase != PhaseNone {
		return err
	}
	spec.Request.Prompt = ""
	todo, err := json.Marshal(spec)
	if err != nil {
		return fmt.Errorf("host: %w", err)
	}
	for name, data := range map[string][]byte{promptFile: []byte(prompt), specFile: append(todo, '\n')} {
		if err := writeFile(filepath.Join(a.dir, name), data); err != nil {
			return fmt.Errorf("host: %w", err)
		}
	}
	err = a.await(ctx, spec.Secrets)
	if err == nil || ctx.Err() != nil {
		return err
	}
	// A host that an earlier Start left behind may have come up first.
	if phase, _, _, again := Inspect(a.dir); again == nil && phase != PhaseNone {
		return nil
	}
	return err
}

// await lets the process go on, with the session's secrets, and waits for its
// report.
func (a *Ahead) await(ctx context.Context, secrets map[string]string) error {
	word, err := json.Marshal(secrets)
	if err != nil {
		return fmt.Errorf("host: %w", err)
	}
	stop := context.AfterFunc(ctx, func() {
		_ = a.word.SetWriteDeadline(time.Unix(1, 0))
		_ = a.ready.SetReadDeadline(time.Unix(1, 0))
	})
	defer stop()
	_, _ = a.word.Write(append(word, '\n')) // one that is gone does not report either
	line, err := bufio.NewReader(a.ready).ReadBytes('\n')
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("host: not up yet: %w", context.Cause(ctx))
	}
	var report ready
	if err != nil || json.Unmarshal(line, &report) != nil {
		select {
		case <-a.ended:
			if st, ok := a.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && st.Signaled() {
				// Killed, as a host can be at any time; nothing is wrong with
				// the machine.
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

// inherited takes a descriptor that Start left open under a variable's name, if
// Start started us. The agent must not inherit it: Start would not see the
// host's end.
func inherited(name string) *os.File {
	fd, err := strconv.Atoi(os.Getenv(name))
	os.Unsetenv(name)
	if err != nil || fd < 3 {
		return nil
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), name)
}

// wanted waits for the line that lets the host go on and has the session's
// secrets. It is false when whoever launched it has no use for it, or is gone.
// One that was started by hand goes on at once.
func wanted() (secrets map[string]string, ok bool) {
	f := inherited(goVar)
	if f == nil {
		return nil, true
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadBytes('\n')
	if err != nil {
		return nil, false // its end is all that an error could mean
	}
	if len(line) > 1 { // servers of earlier releases write an empty one
		err = json.Unmarshal(line, &secrets)
	}
	return secrets, err == nil
}

// announcer is a host's side of the report.
type announcer struct{ w *os.File }

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
