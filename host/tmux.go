package host

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"coppice"
	"coppice/agent"
)

// An agent in tmux runs in a separate tmux server. Its socket is in the
// session's directory, so people can attach with tmux too. The host is a client
// in control mode: it types and resizes with commands, and reads changes as
// lines. The agent's output comes through a separate pipe, because control mode
// drops unsent output when the agent ends.
const (
	tmuxSocket = "tmux.sock"
	tmuxConf   = "tmux.conf"
	tmuxOutput = "tmux.out" // a named pipe
)

// tmuxSettings keep the pane when the agent has ended, so that the host can read
// all of its output.
const tmuxSettings = `set -g remain-on-exit on
set -g status off
set -g window-size smallest
set -g escape-time 10
set -g default-terminal screen-256color
`

// tmuxArgv returns the command that starts the server with the agent in it.
func (h *host) tmuxArgv(path string, argv []string) ([]string, error) {
	if err := os.WriteFile(h.path(tmuxConf), []byte(tmuxSettings), 0o600); err != nil {
		return nil, err
	}
	socket := h.path(tmuxSocket)
	if len(socket) > maxPath {
		socket = tmuxSocket // relative: the host runs in the session's directory
	}
	args := []string{"tmux", "-u", "-C", "-S", socket, "-f", h.path(tmuxConf), "new-session", "-x", strconv.Itoa(coppice.FirstScreen.Columns), "-y", strconv.Itoa(coppice.FirstScreen.Rows),
		"-s", "agent", "-f", "no-output", "-P", "-F", "pid #{pane_pid}", "-c", h.spec.Request.Dir, "--"}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for _, a := range execArgv(self, path, argv) { // several words are run as they are; a single one would go to a shell
		if rest, ok := strings.CutSuffix(a, ";"); ok { // tmux would read it as the end of the command
			a = rest + `\;`
		}
		args = append(args, a)
	}
	// tmux runs both commands before it reads anything from the agent. The
	// server runs in the host's directory, the session's.
	return append(args, ";", "pipe-pane", "-O", "-t", "%0", "exec cat >"+tmuxOutput), nil
}

// openPipe creates the named pipe. Until hold is closed, the pipe has a writer,
// so that reading does not end before the agent has started.
func (h *host) openPipe() (r, hold *os.File, err error) {
	path := h.path(tmuxOutput)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return nil, nil, fmt.Errorf("host: %s: %w", path, err)
	}
	r, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("host: %w", err)
	}
	if hold, err = os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err != nil {
		r.Close()
		return nil, nil, fmt.Errorf("host: %w", err)
	}
	return r, hold, nil
}

// tmux is the host's client in control mode.
type tmux struct {
	h        *host
	hold     *os.File // keeps the agent's output open
	lines    agent.Lines
	answer   bool // within the answer to a command
	exitMark exitScanner
	ended    bool // the agent has ended, with the code and signal below
	code     int
	signal   string
}

// take reads control mode lines.
func (t *tmux) take(b []byte) { t.lines.Add(b, t.line) }

func (t *tmux) line(line []byte) {
	if pid, ok := bytes.CutPrefix(line, []byte("pid ")); ok && t.answer {
		if n, err := strconv.Atoi(string(pid)); err == nil && n > 1 {
			t.h.setAgentPID(n)
		}
		return
	}
	word, rest, _ := bytes.Cut(line, []byte(" "))
	switch string(word) {
	case "%begin":
		t.answer = true
	case "%end", "%error":
		t.answer = false
	case "%layout-change":
		t.layout(string(rest))
	}
}

// layout reads how large the window is: "@0 a87d,100x30,0,0,0 …".
func (t *tmux) layout(text string) {
	fields := strings.Fields(text)
	if len(fields) < 2 || fields[0] != "@0" {
		return
	}
	parts := strings.Split(fields[1], ",")
	if len(parts) < 2 {
		return
	}
	var columns, rows int
	if n, err := fmt.Sscanf(parts[1], "%dx%d", &columns, &rows); n != 2 || err != nil || columns < 1 || rows < 1 {
		return
	}
	t.h.mu.Lock()
	defer t.h.mu.Unlock()
	t.h.resized(columns, rows)
}

// output passes on what the pane writes. Nothing follows the agent's exit mark.
func (t *tmux) output(b []byte) {
	if t.ended {
		return
	}
	own, code, sig, over := t.exitMark.take(b)
	if len(own) > 0 {
		t.h.output(agent.Stdout, own)
	}
	if over {
		t.ended, t.code, t.signal = true, code, sig
		_, _ = t.h.stdin.raw([]byte("kill-server\n")) // it might be gone already
	}
}

// exit returns how the agent ended. If the server disappeared, so did the agent.
func (t *tmux) exit() (code int, sig string) {
	if !t.ended {
		return -1, "SIGKILL"
	}
	return t.code, t.signal
}

// typeCommands returns the commands that type bytes. A person who has scrolled
// back with tmux returns to the end, because keys have other meanings there.
func typeCommands(b []byte) []byte {
	const most = 256 // bytes of one command
	out := []byte("if-shell -F -t %0 '#{pane_in_mode}' 'send-keys -t %0 -X cancel'\n")
	for len(b) > 0 {
		part := b[:min(most, len(b))]
		b = b[len(part):]
		out = append(out, "send-keys -t %0 -H"...)
		for _, c := range part {
			out = append(out, ' ')
			out = hex.AppendEncode(out, []byte{c})
		}
		out = append(out, '\n')
	}
	return out
}

// resizeTmux requests a window size. tmux uses the smallest of all its clients.
func (h *host) resizeTmux(columns, rows int) bool {
	_, err := h.stdin.raw(fmt.Appendf(nil, "refresh-client -C %dx%d\n", columns, rows))
	if err != nil && !errors.Is(err, errStdinClosed) {
		h.log.Warn("terminal not resized", "error", err)
	}
	return false
}

// setAgentPID records the agent's process, for signals and for a sweep if the
// host is killed.
func (h *host) setAgentPID(pid int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state.AgentPID = pid
	if err := keepJSON(filepath.Join(h.dir, stateFile), h.state); err != nil {
		h.log.Warn("state not written", "error", err)
	}
}
