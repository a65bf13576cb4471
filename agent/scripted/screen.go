package scripted

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"coppice"
)

// screen is the program with its own screen, like interactive agents: a
// transcript, a status line, and a prompt. A text that is submitted while the
// agent is idle starts a turn, in which the matching case is played. During a
// turn it is a message, or the answer to the open question. Escape interrupts,
// /exit and control-d leave.
//
// The line above the prompt is ready, working… or waiting for an answer.
type screen struct {
	out    io.Writer
	size   func() (columns, rows int)
	events bool // also write every event as OSC 7777
	in     *inbox
	stop   context.CancelCauseFunc
	turns  chan string

	mu     sync.Mutex
	lines  []string
	input  string
	status string
	ref    string // of the open question
	busy   bool
	asks   bool
	keys   []byte // not complete yet
	paste  bool
}

const (
	statusReady   = "ready"
	statusWorking = "working…"
	statusWaiting = "waiting for an answer"

	mostLines = 500
	beginning = "\x1b[?1049h\x1b[?2004h\x1b[2J"
	ending    = "\x1b[?2004l\x1b[?1049l"
)

var errLeft = errors.New("left")

// playScreen runs the program on its terminal.
func playScreen(ctx context.Context, dir, file string, events bool, stdin io.Reader, stdout, stderr io.Writer, env []string) int {
	script, err := readScript(dir, file)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	defer root.Close()
	tty, ok := stdin.(*os.File)
	if !ok || !term.IsTerminal(tty.Fd()) {
		fmt.Fprintln(stderr, "scripted: --screen needs a terminal")
		return 2
	}
	before, err := term.MakeRaw(tty.Fd())
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	defer func() { _ = term.Restore(tty.Fd(), before) }() // the terminal might be closed
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &screen{out: stdout, events: events, stop: cancel, turns: make(chan string, 1), status: statusReady}
	s.in = &inbox{stop: cancel, changed: make(chan struct{}, 1)}
	s.size = func() (int, int) {
		columns, rows, err := term.GetSize(tty.Fd())
		if err != nil || columns < 1 || rows < 3 {
			return 80, 24
		}
		return columns, rows
	}
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	_, _ = io.WriteString(stdout, beginning)
	s.draw()
	// Like the inbox's, this goroutine ends with stdin, or with this process.
	go s.read(tty)
	s.play(ctx, script, root, dir, env, resized)
	_, _ = io.WriteString(stdout, ending)
	return 0
}

// play plays one turn after another until the user leaves.
func (s *screen) play(ctx context.Context, script *Script, root *os.Root, dir string, env []string, resized <-chan os.Signal) {
	p := &player{dir: dir, root: root, env: env, out: io.Discard, in: s.in, show: s.show}
	p.start = input{Type: inputStart, Session: variable(env, "COPPICE_SESSION"), Role: coppice.Role(variable(env, "COPPICE_ROLE"))}
	var turns sync.WaitGroup
	defer turns.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-resized:
			s.draw()
		case text := <-s.turns:
			turns.Go(func() {
				p.start.Text = text
				if f := p.session(ctx, script); f != nil {
					s.add("✗ " + f.Text)
				}
				s.rest()
			})
		}
	}
}

func variable(env []string, name string) string {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// rest ends a turn. A message that was too late for it starts the next one.
func (s *screen) rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, ok, _, _ := s.in.take(func(m input) bool { return m.Type == inputMessage }); ok {
		s.turns <- m.Text // it has capacity: no turn is running
		return
	}
	s.busy, s.status = false, statusReady
	s.paint(coppice.AgentEvent{Kind: coppice.KindState, State: coppice.SessionIdle})
}

// show draws an event of the player.
func (s *screen) show(o output) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := o.AgentEvent
	switch e.Kind {
	case coppice.KindText:
		s.put(e.Text)
	case coppice.KindThinking, coppice.KindPlan, coppice.KindNotice, coppice.KindError:
		s.put("· " + e.Text)
	case coppice.KindTool:
		s.put("● " + strings.TrimSpace(e.Name+" "+strings.Join(e.Paths, " ")))
	case coppice.KindQuestion:
		s.put("? " + e.Text + " " + choices(e.Options))
		s.ref = e.Ref
	case coppice.KindState:
		s.asks = e.State == coppice.SessionWaiting
		switch e.State {
		case coppice.SessionWaiting:
			s.status = statusWaiting
		case coppice.SessionWorking:
			s.status = statusWorking
		case coppice.SessionIdle:
			return // the end of the turn shows it
		}
	}
	s.paint(e)
}

func choices(options []string) string {
	if len(options) == 0 {
		return "[y/n]"
	}
	return "[" + strings.Join(options, "/") + "]"
}

func (s *screen) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(text)
	s.paint(coppice.AgentEvent{})
}

func (s *screen) put(text string) {
	for l := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		s.lines = append(s.lines, ansi.Strip(l))
	}
	s.lines = s.lines[max(0, len(s.lines)-mostLines):]
}

func (s *screen) draw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paint(coppice.AgentEvent{})
}

// paint redraws everything, in one write, after the event that caused it.
func (s *screen) paint(e coppice.AgentEvent) {
	columns, rows := s.size()
	var b bytes.Buffer
	if s.events && e.Kind != "" {
		if data, err := json.Marshal(e); err == nil {
			b.WriteString("\x1b]7777;")
			b.Write(data)
			b.WriteByte('\a')
		}
	}
	b.WriteString("\x1b[H")
	lines := s.lines[max(0, len(s.lines)-(rows-2)):]
	for _, l := range lines {
		b.WriteString(ansi.Truncate(l, columns, "…") + "\x1b[K\r\n")
	}
	b.WriteString("\x1b[J")
	input := strings.ReplaceAll(s.input, "\n", "⏎")
	if over := ansi.StringWidth(input) - (columns - 3); over > 0 {
		input = ansi.TruncateLeft(input, over, "")
	}
	fmt.Fprintf(&b, "\x1b[%d;1H%s\x1b[K\r\n> %s\x1b[K", rows-1, s.status, input)
	_, _ = s.out.Write(b.Bytes()) // if the terminal is closed, the error does not matter
}

func (s *screen) read(r io.Reader) {
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		s.typed(buf[:n])
		if err != nil {
			s.stop(errLeft)
			return
		}
	}
}

var (
	pasteBegins = []byte("\x1b[200~")
	pasteEnds   = []byte("\x1b[201~")
)

// typed takes keys, cut anywhere. A single escape is the Escape key.
func (s *screen) typed(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = append(s.keys, b...)
	for len(s.keys) > 0 {
		n := s.key(s.keys)
		if n == 0 {
			break
		}
		s.keys = s.keys[n:]
	}
	s.keys = bytes.Clone(s.keys)
	s.paint(coppice.AgentEvent{})
}

// key takes the first key and returns its length, 0 if it is not complete.
func (s *screen) key(b []byte) int {
	switch {
	case s.paste && bytes.HasPrefix(b, pasteEnds):
		s.paste = false
		return len(pasteEnds)
	case s.paste && bytes.HasPrefix(pasteEnds, b):
		return 0
	case bytes.HasPrefix(b, pasteBegins):
		s.paste = true
		return len(pasteBegins)
	case b[0] == 0x1b && len(b) == 1 && !s.paste:
		if s.busy {
			s.in.add(input{Type: inputInterrupt})
		}
		return 1
	case b[0] == 0x1b && !s.paste:
		return sequence(b)
	}
	if !utf8.FullRune(b) {
		return 0
	}
	r, n := utf8.DecodeRune(b)
	switch {
	case r == '\r' && !s.paste:
		s.submit()
	case r == '\r' || r == '\n':
		s.input += "\n"
	case r == 0x7f || r == '\b':
		_, last := utf8.DecodeLastRuneInString(s.input)
		s.input = s.input[:len(s.input)-last]
	case r == 0x15:
		s.input = ""
	case r == 0x04 && s.input == "":
		s.stop(errLeft)
	case r >= 0x20 || r == '\t':
		s.input += string(r)
	}
	return n
}

// sequence returns the length of a key that is an escape sequence, which has no
// meaning here.
func sequence(b []byte) int {
	if b[1] != '[' && b[1] != 'O' {
		return 1
	}
	for i := 2; i < len(b); i++ {
		if b[i] >= 0x40 {
			return i + 1
		}
	}
	if len(b) > 32 {
		return len(b)
	}
	return 0
}

func (s *screen) submit() {
	text := strings.TrimSpace(s.input)
	s.input = ""
	switch {
	case text == "":
		return
	case text == "/exit":
		s.stop(errLeft)
		return
	case s.asks:
		s.asks = false
		s.in.add(input{Type: inputAnswer, Ref: s.ref, Text: text})
	case s.busy:
		s.in.add(input{Type: inputMessage, Text: text})
	default:
		s.busy, s.status = true, statusWorking
		s.turns <- text // it has capacity: no turn is running
	}
	s.put("> " + text)
}
