//go:build linux

package e2e

import (
	"bytes"
	"strings"
	"testing"

	"coppice"
	"coppice/internal/pty"
	"coppice/test/harness"
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

// person runs a command in the repository, at a terminal.
func (w *world) person(columns, rows int, args ...string) *harness.Person {
	w.t.Helper()
	return w.Person(w.repo, columns, rows, args...)
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
			for _, p := range []*harness.Person{one, two} {
				p.Showed(`detach with ctrl-\ d`)
				p.Sees("? Which colour?")
				p.Sees("waiting for an answer")
			}
			if err := pty.Resize(two.TTY, 64, 16); err != nil {
				t.Fatal(err)
			}
			// The prompt is in the last row of the smaller terminal, for
			// both.
			one.Until("the smaller size", func() bool { return strings.HasPrefix(one.Screen.Text()[15], "> ") || one.Screen.Text()[15] == ">" })

			first.Kill()
			one.Showed("the server is gone")
			w.serve()
			one.Until("the screen again", func() bool {
				i := bytes.LastIndex(one.Raw, []byte("the server is gone"))
				return bytes.Contains(one.Raw[i:], []byte("Which colour?"))
			})
			three := w.person(90, 25, "attach", "--read-only", key)
			three.Sees("Which colour?")
			three.Types("red\r")
			three.Types("\x1cd")
			three.Leaves(0)
			one.Types("bl")
			one.Sees("> bl")
			two.Sees("> bl")
			one.Types("\x1cd") // detaches; the session continues with what was typed
			one.Leaves(0)
			one.Sees("the session continues")
			if !bytes.Contains(one.Raw, []byte("\x1b[?1049l")) {
				t.Error("the terminal was left on the second screen")
			}
			two.Types("ue\r")
			two.Sees("The fence is painted.")
			two.Types("\x1cd") // as long as somebody who typed is there, the session stays
			two.Leaves(0)
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
	p.Sees("I am here.")
	q.Sees("I am here.")
	q.Showed("has no screen; this is its conversation. To continue on the agent's own screen, run: coppice take " + key)
	p.Types("x")
	p.Showed("coppice send")
	w.cli("send", key, "continue")
	w.landed(key)
	p.Leaves(0)
	p.Sees("coppice logs " + key)
	q.Leaves(0)
	q.Sees("done") // the conversation follows the task to its end
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
	p.Sees("ready")
	p.Types("mine\r")
	p.Sees("It is written.")
	p.Types("/exit\r") // who leaves gives it back
	p.Leaves(0)
	p.Showed("coppice logs " + key + ".2")
	w.landed(key)
	if got := w.onBase("mine.txt"); !strings.HasPrefix(got, "mine") {
		t.Errorf("landed %q", got)
	}
}
