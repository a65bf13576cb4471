//go:build linux

package harness

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"coppice/internal/pty"
	"coppice/internal/vt"
)

// Person is somebody at a terminal who runs a command. Until holds the lock of
// Screen and Raw while it looks at them.
type Person struct {
	Cmd    *exec.Cmd
	TTY    *os.File
	Screen *vt.Screen
	Raw    []byte        // all that the command wrote
	Gone   chan struct{} // closed when the command has ended

	m     *Machine
	mu    sync.Mutex
	moved chan struct{} // something came
}

// Person runs a command of the program in a directory, at a terminal of a size.
func (m *Machine) Person(dir string, columns, rows int, args ...string) *Person {
	m.T.Helper()
	ours, theirs, err := pty.Open(columns, rows)
	if err != nil {
		m.T.Fatal(err)
	}
	p := &Person{m: m, TTY: ours, Screen: vt.NewScreen(max(columns, 1), max(rows, 1)), moved: make(chan struct{}, 1), Gone: make(chan struct{})}
	p.Cmd = exec.Command(m.Program, args...)
	p.Cmd.Dir, p.Cmd.Env = dir, append(m.Env(), "TERM=xterm-256color")
	p.Cmd.Stdin, p.Cmd.Stdout, p.Cmd.Stderr = theirs, theirs, theirs
	p.Cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = p.Cmd.Start()
	theirs.Close()
	if err != nil {
		m.T.Fatal(err)
	}
	go func() {
		defer close(p.Gone)
		buf := make([]byte, 32<<10)
		for {
			n, err := ours.Read(buf)
			p.mu.Lock()
			p.Raw = append(p.Raw, buf[:n]...)
			p.Screen.Write(buf[:n])
			p.mu.Unlock()
			select {
			case p.moved <- struct{}{}:
			default:
			}
			if err != nil {
				_ = p.Cmd.Wait() // its state is checked
				return
			}
		}
	}()
	m.T.Cleanup(func() {
		_ = p.Cmd.Process.Kill()
		<-p.Gone
		ours.Close()
	})
	return p
}

// Sees waits until the terminal shows a text.
func (p *Person) Sees(text string) {
	p.m.T.Helper()
	p.Until(text, func() bool { return strings.Contains(strings.Join(p.Screen.Text(), "\n"), text) })
}

// Showed waits until the terminal has shown a text, even for a moment.
func (p *Person) Showed(text string) {
	p.m.T.Helper()
	p.Until(text, func() bool { return bytes.Contains(p.Raw, []byte(text)) })
}

// Until waits for something that the terminal shows.
func (p *Person) Until(what string, ok func() bool) {
	p.m.T.Helper()
	ctx, cancel := context.WithTimeout(p.m.T.Context(), Patience)
	defer cancel()
	gone := p.Gone
	for {
		p.mu.Lock()
		done := ok()
		p.mu.Unlock()
		if done {
			return
		}
		select {
		case <-p.moved:
			continue
		case <-gone:
			gone = nil // one more look
			continue
		case <-ctx.Done():
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.m.T.Fatalf("%s did not come about:\n%s\n%q", what, p.Screen, p.Raw[max(0, len(p.Raw)-2000):])
	}
}

// Types types keys.
func (p *Person) Types(keys string) {
	p.m.T.Helper()
	if _, err := p.TTY.WriteString(keys); err != nil {
		p.m.T.Fatal(err)
	}
}

// Leaves waits for the command's end.
func (p *Person) Leaves(code int) {
	p.m.T.Helper()
	select {
	case <-p.Gone:
	case <-time.After(Patience):
		p.m.T.Fatalf("the command does not end:\n%s", p.Screen)
	}
	if got := p.Cmd.ProcessState.ExitCode(); got != code {
		p.m.T.Errorf("exit code %d, want %d:\n%s", got, code, p.Screen)
	}
}
