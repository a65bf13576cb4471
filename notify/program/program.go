// Package program sends messages by commands of the user's configuration.
package program

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"coppice"
	"coppice/internal/environ"
	"coppice/internal/process"
	"coppice/notify"
)

// mostOutput is how much of a command's output a failure has.
const mostOutput = 500

// The exit codes of a shell that could not start a command.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// Sender runs a shell command for each message. The command gets the message as JSON on
// stdin, and in variables. It has the environment of a hook.
type Sender struct {
	Environ []string // Coppice's own environment
}

var _ notify.Sender = Sender{}

// Check implements notify.Sender.
func (Sender) Check(notify.Target) error { return nil }

// Send implements notify.Sender.
func (s Sender) Send(ctx context.Context, t notify.Target, m notify.Message) error {
	m = m.Clean()
	p := notify.PayloadOf(t, m)
	env := append(environ.Workspace.Pick(s.Environ), variables(p.Data)...)
	out := &tail{}
	c := process.Command{
		Argv: []string{"sh", "-c", t.Run}, Dir: cmp.Or(environ.Get(s.Environ, "HOME"), "/"), Env: env,
		Stdin: bytes.NewReader(append(coppice.Raw(p), '\n')), Stdout: out, Stderr: out,
	}
	state, err := c.Run(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, os.ErrNotExist):
		return coppice.Failf(coppice.ClassCapability, "the command cannot be started: "+err.Error(), "install sh, and check that the home directory exists")
	case err != nil:
		return coppice.Failf(coppice.ClassEnvironment, "the command cannot be started: "+err.Error(), "see the server's log")
	case state.Success():
		return nil
	}
	return failed(state, out.text())
}

// variables returns the message as variables.
func variables(d notify.PayloadData) []string {
	return []string{
		"COPPICE_ID=" + d.ID, "COPPICE_NOTIFIER=" + d.Notifier, "COPPICE_PRIORITY=" + string(d.Priority), "COPPICE_TITLE=" + d.Title, "COPPICE_TEXT=" + d.Text,
		"COPPICE_LINK=" + d.Link, "COPPICE_ANSWER=" + d.Answer, "COPPICE_PROJECT=" + d.Project, "COPPICE_COUNT=" + strconv.Itoa(d.Count), "COPPICE_TEST=" + strconv.FormatBool(d.Test),
	}
}

// failed returns the failure of a command that did not succeed.
func failed(state *os.ProcessState, output string) error {
	status, ok := state.Sys().(syscall.WaitStatus)
	how := fmt.Sprintf("the command exited with %d", state.ExitCode())
	if ok && status.Signaled() {
		how = fmt.Sprintf("the command was killed by signal %d (%s)", status.Signal(), status.Signal())
	}
	if output != "" {
		how += ": " + output
	}
	if code := state.ExitCode(); code == exitNotFound || code == exitNotExecutable {
		return coppice.Failf(coppice.ClassCapability, how, "write the whole path of the program to run, and make it executable")
	}
	return coppice.Failf(coppice.ClassEnvironment, how, "run the command yourself, with the message of docs/notifications.md on stdin")
}

// tail keeps the end of what is written to it.
type tail struct{ buf []byte }

func (o *tail) Write(p []byte) (int, error) {
	o.buf = append(o.buf, p...)
	if over := len(o.buf) - 2*mostOutput; over > 0 {
		o.buf = append(o.buf[:0], o.buf[over:]...)
	}
	return len(p), nil
}

// text returns the last lines.
func (o *tail) text() string {
	s := []rune(strings.TrimSpace(coppice.Printable(string(o.buf))))
	if over := len(s) - mostOutput; over > 0 {
		return "…" + string(s[over:])
	}
	return string(s)
}
