package scripted

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"coppice"
	"coppice/agent"
)

// DefaultFile is the default script.
const DefaultFile = ".coppice/scripted.yaml"

// Main is the program: it plays the script for the session of the first line of
// stdin, in its working directory. With --screen it is an interactive program
// on its terminal instead (see screen), and with --events it also writes its
// events there. It returns the exit code: 0 if every step worked, 1 if not, 2
// for wrong use.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env []string) int {
	file := DefaultFile
	onScreen, events := false, false
	for ; len(args) > 0 && strings.HasPrefix(args[0], "--"); args = args[1:] {
		switch args[0] {
		case "--screen":
			onScreen = true
		case "--events":
			events = true
		default:
			fmt.Fprintf(stderr, "scripted: there is no option %s\n", args[0])
			return 2
		}
	}
	switch len(args) {
	case 0:
	case 1:
		file = args[0]
	default:
		fmt.Fprintln(stderr, "usage: coppice scripted [--screen [--events]] [file]")
		return 2
	}
	if onScreen {
		return playScreen(ctx, ".", file, events, stdin, stdout, stderr, env)
	}
	return play(ctx, ".", file, stdin, stdout, stderr, env)
}

// play runs the program in a directory.
func play(ctx context.Context, dir, file string, stdin io.Reader, stdout, stderr io.Writer, env []string) int {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	root, err := os.OpenRoot(dir)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	defer root.Close()
	p := &player{dir: dir, root: root, env: env, out: stdout, in: newInbox(stdin, cancel)}
	start, err := p.in.first(ctx)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	p.start = start
	script, err := readScript(dir, file)
	if err != nil {
		fmt.Fprintln(stderr, err)
		p.finish(ctx, coppice.Failf(coppice.ClassEnvironment, err.Error(), "fix the script"))
		return 1
	}
	if failure := p.session(ctx, script); failure != nil {
		p.finish(ctx, failure)
		return 1
	}
	p.finish(ctx, nil)
	return 0
}

// readScript reads the file. A relative path is in the workspace.
func readScript(dir, file string) (*Script, error) {
	path := file
	if !strings.HasPrefix(path, "/") {
		path = dir + "/" + file
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, coppice.Errorf(coppice.ENotFound, "there is no script %s in the workspace", file).
			WithFix("commit one, or name another in the agent's args")
	}
	if err != nil {
		return nil, err
	}
	return Parse(file, data)
}

// errStopped is the cause that ends the session after a stop.
var errStopped = errors.New("stopped")

// inbox reads stdin in the background and sorts it: lines that steps wait for
// are queued, an interrupt ends a waiting step or comes before the next one, a
// stop ends everything.
//
// Its goroutine ends with stdin, which the parent process closes, or with this
// process.
type inbox struct {
	stop    context.CancelCauseFunc
	changed chan struct{} // has capacity one: something below changed

	mu        sync.Mutex
	queue     []input
	interrupt bool
	ended     bool
	deaf      bool
}

func newInbox(r io.Reader, stop context.CancelCauseFunc) *inbox {
	b := &inbox{stop: stop, changed: make(chan struct{}, 1)}
	go b.read(r)
	return b
}

func (b *inbox) read(r io.Reader) {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		var m input
		if json.Unmarshal(line, &m) == nil && m.Type != "" {
			b.add(m)
		}
		if err != nil {
			b.mu.Lock()
			b.ended = true
			b.mu.Unlock()
			b.wake()
			return
		}
	}
}

func (b *inbox) add(m input) {
	b.mu.Lock()
	switch {
	case m.Type == inputStop && !b.deaf:
		b.stop(errStopped)
	case m.Type == inputInterrupt:
		b.interrupt = true
	case m.Type != inputStop:
		b.queue = append(b.queue, m)
	}
	b.mu.Unlock()
	b.wake()
}

func (b *inbox) wake() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// take returns the first queued line that matches, if there is one.
func (b *inbox) take(fits func(input) bool) (m input, ok, interrupted, ended bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, q := range b.queue {
		if fits(q) {
			b.queue = append(b.queue[:i], b.queue[i+1:]...)
			return q, true, false, b.ended
		}
	}
	interrupted, b.interrupt = b.interrupt, false
	return input{}, false, interrupted, b.ended
}

var (
	errInterrupted = errors.New("interrupted")
	errEnded       = errors.New("nobody can answer: stdin was closed")
)

// wait returns the first line that matches, and waits for it.
func (b *inbox) wait(ctx context.Context, fits func(input) bool) (input, error) {
	for {
		m, ok, interrupted, ended := b.take(fits)
		switch {
		case ok:
			return m, nil
		case interrupted:
			return input{}, errInterrupted
		case ended:
			return input{}, errEnded
		}
		select {
		case <-b.changed:
		case <-ctx.Done():
			return input{}, context.Cause(ctx)
		}
	}
}

func (b *inbox) first(ctx context.Context) (input, error) {
	m, err := b.wait(ctx, func(m input) bool { return m.Type == inputStart })
	if errors.Is(err, errEnded) {
		return m, errors.New(`scripted: stdin has no start line; it must start with {"type":"start","session":…,"role":…,"text":<prompt>}`)
	}
	return m, err
}

// ignoreStops makes the inbox ignore stops.
func (b *inbox) ignoreStops() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deaf = true
}

// finish reports that everything is played, waits until nothing more can
// arrive, and writes the outcome. Messages that no step waited for are reported
// as read, so that each sent message is accounted for.
func (p *player) finish(ctx context.Context, failure *coppice.Failure) {
	p.write(output{AgentEvent: coppice.AgentEvent{Kind: kindDone}})
	for failure == nil {
		m, err := p.in.wait(ctx, func(input) bool { return true })
		if errors.Is(err, errInterrupted) {
			continue
		}
		if err != nil {
			break
		}
		p.wasRead(m)
	}
	p.write(output{AgentEvent: coppice.AgentEvent{Kind: kindOutcome}, Outcome: &agent.Outcome{Failure: failure, Summary: p.last, Conversation: p.conversation()}})
}
