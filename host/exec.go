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

// Within tmux an agent is run by this program once more, which tells how the
// agent ended through the same terminal, behind everything that the agent wrote.
// tmux tells it too late or not at all: what it still has to pass on is lost
// when its server ends.

// execVar has the program run an agent, and holds the session's mark.
const execVar = "COPPICE_HOST_EXEC"

// execArgv is how the program is called to run an agent.
func execArgv(self, path string, argv []string) []string {
	return append([]string{self, "host", "-", path}, argv...)
}

// runAgentWithin runs the agent that our arguments name and tells how it ended.
func runAgentWithin(args []string, mark string) int {
	if len(args) < 2 {
		return 2
	}
	// Signals to the group and keys of the terminal are the agent's to obey.
	// They are caught, not ignored: a program inherits what is ignored.
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
	_, _ = os.Stdout.Write(lastWord(mark, code, sig)) // when nobody reads, nobody wants to know
	return max(code, 0)
}

func lastWordBegins(mark string) []byte { return []byte("\x1b]7778;" + mark + ";") }

func lastWord(mark string, code int, sig string) []byte {
	return fmt.Appendf(lastWordBegins(mark), "%d;%s\a", code, sig)
}

// ending finds the last word in an agent's output, cut anywhere.
type ending struct {
	begins []byte
	held   []byte // may be the beginning of it
}

var errNoWord = errors.New("host: not a last word")

// take returns the bytes that are the agent's own, and the last word once it is
// there; then nothing more is the agent's.
func (e *ending) take(b []byte) (own []byte, code int, sig string, over bool) {
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
			if code, sig, err := parseWord(rest[len(e.begins):max(end, len(e.begins))]); err == nil {
				return b[:at], code, sig, true
			}
		case bytes.HasPrefix(e.begins, rest):
			e.held = bytes.Clone(rest)
			return b[:at], 0, "", false
		}
		at++
	}
}

func parseWord(b []byte) (int, string, error) {
	code, sig, ok := strings.Cut(string(b), ";")
	n, err := strconv.Atoi(code)
	if !ok || err != nil {
		return 0, "", errNoWord
	}
	return n, sig, nil
}
