//go:build linux

package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"coppice"
	"coppice/internal/pty"
	"coppice/internal/vt"
)

// screens is a policy whose agent is the scripted one on its own screen.
func screens(runtime string) string {
	return `base: main
agent: {use: painter}
limits: {sessions: 8, memory: 100%}
retry: {max: 3, backoff: 100ms}
agents:
  painter:
    protocol: terminal
    command: ["` + program + `", scripted, --screen]
    screen:
      runtime: ` + runtime + `
      quit: /exit
      rules:
        - {match: "^working…", lines: 2, state: working}
        - {match: "^waiting for an answer", lines: 2, state: waiting}
        - {match: "^ready", lines: 2, state: idle}
`
}

const painting = `cases:
  - match: Paint
    steps:
      - say: I will paint.
      - ask: Which colour?
      - write: {path: fence.txt, content: "${answer}\n"}
      - commit: Paint the fence
      - say: The fence is painted.
`

// person is somebody at a terminal who runs a command.
type person struct {
	w   *world
	cmd *exec.Cmd
	tty *os.File

	mu     sync.Mutex
	screen *vt.Screen
	raw    []byte
	moved  chan struct{} // something came
	gone   chan struct{} // the command has ended
}

func (w *world) person(columns, rows int, args ...string) *person {
	w.t.Helper()
	ours, theirs, err := pty.Open(columns, rows)
	if err != nil {
		w.t.Fatal(err)
	}
	p := &person{w: w, tty: ours, screen: vt.NewScreen(max(columns, 1), max(rows, 1)), moved: make(chan struct{}, 1), gone: make(chan struct{})}
	p.cmd = exec.Command(program, args...)
	p.cmd.Dir, p.cmd.Env = w.repo, append(w.Env(), "TERM=xterm-256color")
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs, theirs, theirs
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = p.cmd.Start()
	theirs.Close()
	if err != nil {
		w.t.Fatal(err)
	}
	go func() {
		defer close(p.gone)
		buf := make([]byte, 32<<10)
		for {
			n, err := ours.Read(buf)
			p.mu.Lock()
			p.raw = append(p.raw, buf[:n]...)
			p.screen.Write(buf[:n])
			p.mu.Unlock()
			select {
			case p.moved <- struct{}{}:
			default:
			}
			if err != nil {
				_ = p.cmd.Wait() // its state is checked
				return
			}
		}
	}()
	w.t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.gone
		ours.Close()
	})
	return p
}

// sees waits until the terminal shows a text.
func (p *person) sees(text string) {
	p.w.t.Helper()
	p.until(text, func() bool { return strings.Contains(strings.Join(p.screen.Text(), "\n"), text) })
}

// showed waits until the terminal has shown a text, even for a moment.
func (p *person) showed(text string) {
	p.w.t.Helper()
	p.until(text, func() bool { return bytes.Contains(p.raw, []byte(text)) })
}

func (p *person) until(what string, ok func() bool) {
	p.w.t.Helper()
	ctx, cancel := context.WithTimeout(p.w.t.Context(), patience)
	defer cancel()
	gone := p.gone
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
		p.w.t.Fatalf("%s did not come about:\n%s\n%q", what, p.screen, p.raw[max(0, len(p.raw)-2000):])
	}
}

func (p *person) types(keys string) {
	p.w.t.Helper()
	if _, err := p.tty.WriteString(keys); err != nil {
		p.w.t.Fatal(err)
	}
}

// leaves waits for the command's end.
func (p *person) leaves(code int) {
	p.w.t.Helper()
	select {
	case <-p.gone:
	case <-time.After(patience):
		p.w.t.Fatalf("the command does not end:\n%s", p.screen)
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.w.t.Errorf("exit code %d, want %d:\n%s", got, code, p.screen)
	}
}

// TestAttach is the whole story: a prompt is typed into an interactive agent,
// two people look at it at once, the server is killed under them, and one of
// them answers its question.
func TestAttach(t *testing.T) {
	t.Parallel()
	for _, runtime := range []string{"pty", "tmux"} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, files{"coppice.yaml": screens(runtime), ".coppice/scripted.yaml": painting})
			first := w.serve()
			key := w.new("Paint the fence")
			w.working(key, coppice.SessionWaiting)
			one, two := w.person(100, 30, "attach", key), w.person(70, 20, "attach", key+".1")
			for _, p := range []*person{one, two} {
				p.showed(`detach with ctrl-\ d`)
				p.sees("? Which colour?")
				p.sees("waiting for an answer")
			}
			if err := pty.Resize(two.tty, 64, 16); err != nil {
				t.Fatal(err)
			}
			// The prompt is in the last row of the smaller terminal, for
			// both.
			one.until("the smaller size", func() bool { return strings.HasPrefix(one.screen.Text()[15], "> ") || one.screen.Text()[15] == ">" })

			first.Kill()
			one.showed("the server is gone")
			w.serve()
			one.until("the screen again", func() bool {
				i := bytes.LastIndex(one.raw, []byte("the server is gone"))
				return bytes.Contains(one.raw[i:], []byte("Which colour?"))
			})
			three := w.person(90, 25, "attach", "--read-only", key)
			three.sees("Which colour?")
			three.types("red\r")
			three.types("\x1cd")
			three.leaves(0)
			one.types("bl")
			one.sees("> bl")
			two.sees("> bl")
			one.types("\x1cd") // detaches; the session continues with what was typed
			one.leaves(0)
			one.sees("the session continues")
			if !bytes.Contains(one.raw, []byte("\x1b[?1049l")) {
				t.Error("the terminal was left on the second screen")
			}
			two.types("ue\r")
			two.sees("The fence is painted.")
			two.types("\x1cd") // as long as somebody who typed is there, the session stays
			two.leaves(0)
			w.landed(key)
			w.wantOnBase("fence.txt", "blue")
			r := w.try(w.repo, "", "attach", key)
			if r.code != 1 || !strings.Contains(r.err, "has ended") || !strings.Contains(r.err, "coppice logs "+key+".1") {
				t.Errorf("attach to a session that has ended: %+v", r)
			}
		})
	}
}

// TestAttachWithoutTerminal writes what comes, to the end.
func TestAttachWithoutTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - steps:
      - say: I am here.
      - wait_message: true
      - write: {path: a.txt, content: "a\n"}
      - commit: Add a
`})
	if r := w.try(w.repo, "", "attach", "app-1"); r.code != 1 || !strings.Contains(r.err, "coppice serve") {
		t.Errorf("without a server: %+v", r)
	}
	w.serve()
	if r := w.try(w.repo, "", "attach", "app-1"); r.code != 1 || !strings.Contains(r.err, "app-1") {
		t.Errorf("without a task: %+v", r)
	}
	if r := w.try(w.repo, "", "attach", "what?"); r.code != 2 {
		t.Errorf("no key: %+v", r)
	}
	key := w.new("Say something")
	w.working(key, coppice.SessionIdle)
	ended := make(chan result, 1)
	go func() { ended <- w.try(w.repo, "typed", "attach", "--raw", key) }()
	p, q := w.person(80, 24, "attach", "--raw", key), w.person(80, 24, "attach", key)
	p.sees("I am here.")
	q.sees("I am here.")
	q.showed("has no screen; this is its conversation. To continue on the agent's own screen, run: coppice take " + key)
	p.types("x")
	p.showed("coppice send")
	w.cli("send", key, "continue")
	w.landed(key)
	p.leaves(0)
	p.sees("coppice logs " + key)
	q.leaves(0)
	q.sees("done") // the conversation follows the task to its end
	r := <-ended
	// It may have come too late to see anything: then it says that.
	if r.code == 0 && !strings.Contains(r.out, "I am here.") {
		t.Errorf("watched: %+v", r)
	}
}

// TestTakeOver has a person take a structured session over, work on the agent's
// own screen, and leave it.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - match: mine
    steps:
      - write: {path: mine.txt, content: "mine\n"}
      - commit: Write mine
      - say: It is written.
  - session: 1
    steps:
      - say: I begin.
      - hang: true
  - steps:
      - say: I continue.
`})
	w.serve()
	key := w.new("Do it")
	w.said(key+".1", "I begin.")
	p := w.person(100, 30, "take", key) // waits for the screen and attaches
	p.sees("ready")
	p.types("mine\r")
	p.sees("It is written.")
	p.types("/exit\r") // who leaves gives it back
	p.leaves(0)
	p.showed("coppice logs " + key + ".2")
	w.landed(key)
	if got := w.onBase("mine.txt"); !strings.HasPrefix(got, "mine") {
		t.Errorf("landed %q", got)
	}
}
