package process

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func shell(line string) Command {
	return Command{Argv: []string{"sh", "-c", line}, Env: []string{"PATH=" + os.Getenv("PATH"), "A=1"}}
}

func TestRun(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	c := shell("cat; echo $A; pwd; echo wrong >&2; exit 3")
	c.Dir, c.Stdin, c.Stdout, c.Stderr = t.TempDir(), strings.NewReader("in\n"), &out, &errs
	state, err := c.Run(t.Context())
	if err != nil || state.ExitCode() != 3 || errs.String() != "wrong\n" || !strings.HasPrefix(out.String(), "in\n1\n"+filepath.Dir(c.Dir)) {
		t.Errorf("%v %v %q %q", state, err, out.String(), errs.String())
	}
	c = shell("echo one; echo two >&2; echo three")
	var both bytes.Buffer
	c.Stdout, c.Stderr = &both, &both
	if _, err := c.Run(t.Context()); err != nil || both.String() != "one\ntwo\nthree\n" {
		t.Errorf("%v %q", err, both.String())
	}
	if state, err := (Command{Argv: []string{filepath.Join(t.TempDir(), "none")}}).Run(t.Context()); err == nil || state != nil {
		t.Errorf("a program that does not exist: %v %v", state, err)
	}
}

// child returns a command line that leaves a child in the background, and a
// function that waits for the end of the child.
func child(t *testing.T) (line string, wait func()) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		f, err := os.Open(fifo) // waits for the child to open it
		if err == nil {
			_, err = io.Copy(io.Discard, f) // waits for the child to close it
			f.Close()
		}
		ended <- err
	}()
	return "exec 3>" + fifo + "; sleep 1000 >/dev/null & exec 3>&-; echo started", func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// A command ends with its context, and its children with it.
func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	line, wait := child(t)
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	c := shell(line + "; sleep 1000")
	c.Stdout = writer(func() { cancel(why) })
	if state, err := c.Run(ctx); !errors.Is(err, why) || state == nil || state.Success() {
		t.Errorf("%v %v", state, err)
	}
	wait()
}

type writer func()

func (w writer) Write(p []byte) (int, error) { w(); return len(p), nil }

// Children that a command leaves in the background end with it.
func TestRunLeavesNothing(t *testing.T) {
	t.Parallel()
	line, wait := child(t)
	if state, err := shell(line).Run(t.Context()); err != nil || !state.Success() {
		t.Fatal(state, err)
	}
	wait()
}

// If the kernel refuses the cgroup, the command runs without it.
func TestStartOutsideItsCgroup(t *testing.T) {
	t.Parallel()
	closed := refusedCgroup(t)
	var refused error
	c := shell("exit 7")
	c.Cgroup, c.Unlimited = closed, func(err error) { refused = err }
	cmd, err := c.Start()
	if err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 7 || refused == nil {
		t.Errorf("ended with %v; the kernel said %v", err, refused)
	}
}
