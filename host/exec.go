package host

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// In tmux this program runs the agent as its child. It reports how the agent
// ended through the same terminal, after all of the agent's output. The report
// of tmux itself comes too late or not at all: tmux loses unsent output when its
// server ends.

// execVar makes the program run an agent. Its value is the session's mark.
const execVar = "COPPICE_HOST_EXEC"

// execArgv returns the command that makes the program run an agent.
func execArgv(self, path string, argv []string) []string {
	return append([]string{self, "host", "-", path}, argv...)
}

// runAgentWithin runs the agent that the arguments name and reports how it
// ended.
func runAgentWithin(args []string, mark string) int {
	if len(args) < 2 {
		return 2
	}
	// Signals to the group and keys of the terminal are for the agent. They are
	// caught, not ignored: a child inherits ignored signals.
	caught := make(chan os.Signal, 8)
	signal.Notify(caught, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP)
	cmd := &exec.Cmd{Path: args[0], Args: args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, execVar+"=") })
	code, sig := 127, ""
	if err := cmd.Start(); err != nil {
		fmt.Fprintf(os.Stdout, "%v\r\n", err)
	} else {
		code, sig = wait(cmd)
	}
	_, _ = os.Stdout.Write(exitMark(mark, code, sig)) // nobody might read it
	return max(code, 0)
}

func exitMarkPrefix(mark string) []byte { return []byte("\x1b]7778;" + mark + ";") }

func exitMark(mark string, code int, sig string) []byte {
	return fmt.Appendf(exitMarkPrefix(mark), "%d;%s\a", code, sig)
}

// exitScanner finds the exit mark in an agent's output, wherever a read cuts it.
type exitScanner struct {
	begins []byte
	held   []byte // perhaps the start of the mark
}

var errNoExitMark = errors.New("host: not an exit mark")

// take returns the bytes that the agent wrote, and the exit mark when it is
// complete. Nothing after the mark is from the agent.
func (e *exitScanner) take(b []byte) (own []byte, code int, sig string, over bool) {
	b = append(e.held, b...)
	e.held = nil
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], 0x1b)
		if i < 0 {
			return b, 0, "", false
		}
		at += i
		rest := b[at:]
		switch {
		case bytes.HasPrefix(rest, e.begins):
			end := bytes.IndexByte(rest, '\a')
			if end < 0 && len(rest) < len(e.begins)+32 {
				e.held = bytes.Clone(rest)
				return b[:at], 0, "", false
			}
			if code, sig, err := parseExitMark(rest[len(e.begins):max(end, len(e.begins))]); err == nil {
				return b[:at], code, sig, true
			}
		case bytes.HasPrefix(e.begins, rest):
			e.held = bytes.Clone(rest)
			return b[:at], 0, "", false
		}
		at++
	}
}

func parseExitMark(b []byte) (int, string, error) {
	code, sig, ok := strings.Cut(string(b), ";")
	n, err := strconv.Atoi(code)
	if !ok || err != nil {
		return 0, "", errNoExitMark
	}
	return n, sig, nil
}
