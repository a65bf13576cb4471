//go:build linux

package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// server is a running `coppice serve`.
type server struct {
	cmd  *exec.Cmd
	url  string
	out  *bufio.Reader // what it prints, after the line that says where it serves
	done chan struct{} // closed when it has ended
}

// serve starts the server and returns once it serves.
func (w *world) serve(flags ...string) *server {
	w.t.Helper()
	s, err := w.startServer(flags...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	w.server = s
	w.mu.Unlock()
	return s
}

func (w *world) startServer(flags ...string) (*server, error) {
	log, err := os.OpenFile(filepath.Join(w.root, "serve.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(program, append([]string{"serve", "--verbose", "--listen", "127.0.0.1:0"}, flags...)...)
	cmd.Dir, cmd.Env, cmd.Stderr = w.root, w.env(), log
	// A group of its own: an interrupt meant for the tests is not meant for it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{cmd: cmd, done: make(chan struct{})}
	// It says where it serves once it does; until then the read blocks, and it
	// ends when the process does.
	s.out = bufio.NewReader(out)
	line, readErr := s.out.ReadString('\n')
	go func() {
		defer close(s.done)
		_ = cmd.Wait() // how it ended is in its state
	}()
	if readErr != nil {
		<-s.done
		text, _ := os.ReadFile(log.Name())
		return nil, &notServing{cmd.ProcessState.ExitCode(), string(text)}
	}
	words := strings.Fields(line)
	s.url = words[len(words)-1]
	return s, nil
}

// notServing is a server that ended before it served.
type notServing struct {
	code int
	log  string
}

func (e *notServing) Error() string { return "the server did not start: " + e.log }

// kill ends the server as a power cut would.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
}

// stop ends the server as a person would and returns its exit code.
func (s *server) stop(t *testing.T) int {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.done:
	case <-time.After(patience):
		t.Fatal("the server does not stop")
	}
	return s.cmd.ProcessState.ExitCode()
}

func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("no JSON: %v\n%s", err, text)
	}
	return v
}

// objects decodes JSON that stands one value a line.
func objects[T any](t *testing.T, text string) []T {
	t.Helper()
	var all []T
	for line := range strings.Lines(text) {
		all = append(all, decode[T](t, line))
	}
	return all
}
