//go:build linux

package harness

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Server is a running `coppice serve`.
type Server struct {
	Cmd  *exec.Cmd
	URL  string
	Out  *bufio.Reader // what it prints, after the line that says where it serves
	Done chan struct{} // closed when it has ended
}

// Serve starts the server and returns once it serves.
func (m *Machine) Serve(flags ...string) *Server {
	m.T.Helper()
	s, err := m.StartServer(flags...)
	if err != nil {
		m.T.Fatal(err)
	}
	m.SetServer(s)
	return s
}

// Server returns the server that was started last.
func (m *Machine) Server() *Server {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.server
}

// SetServer has Close end a server that StartServer started.
func (m *Machine) SetServer(s *Server) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.server = s
}

// StartServer is Serve for a server that may refuse to start: the error is a
// *NotServing then.
func (m *Machine) StartServer(flags ...string) (*Server, error) {
	log, err := os.OpenFile(m.log(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(m.Program, append([]string{"serve", "--verbose", "--listen", "127.0.0.1:0"}, flags...)...)
	cmd.Dir, cmd.Env, cmd.Stderr = m.Root, m.Env(), log
	// A separate group: an interrupt of the tests does not reach it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &Server{Cmd: cmd, Done: make(chan struct{})}
	// It says where it serves once it does; until then the read blocks, and it
	// ends when the process does.
	s.Out = bufio.NewReader(out)
	line, readErr := s.Out.ReadString('\n')
	go func() {
		defer close(s.Done)
		_ = cmd.Wait() // how it ended is in its state
	}()
	if readErr != nil {
		<-s.Done
		text, _ := os.ReadFile(log.Name())
		return nil, &NotServing{cmd.ProcessState.ExitCode(), string(text)}
	}
	words := strings.Fields(line)
	s.URL = words[len(words)-1]
	return s, nil
}

// NotServing is a server that ended before it served.
type NotServing struct {
	Code int
	Log  string
}

func (e *NotServing) Error() string { return "the server did not start: " + e.Log }

// Kill ends the server as a power cut would.
func (s *Server) Kill() {
	_ = s.Cmd.Process.Kill()
	<-s.Done
}

// Stop ends the server as a person would and returns its exit code.
func (s *Server) Stop(t *testing.T) int {
	t.Helper()
	if err := s.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Done:
	case <-time.After(Patience):
		t.Fatal("the server does not stop")
	}
	return s.Cmd.ProcessState.ExitCode()
}
