package host

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"coppice"
	"coppice/agent"
	"coppice/internal/pty"
	"coppice/internal/vt"
)

// Runtimes are how an agent is connected to its host.
const (
	RuntimePipe = "pipe" // no terminal: it can be watched, but takes no keys
	RuntimePty  = "pty"
	RuntimeTmux = "tmux"
)

// terminal is what people see of an agent, and its viewers. The host's mu guards
// it.
type terminal struct {
	runtime string
	screen  *vt.Screen // nil for pipes
	viewers map[*viewer]struct{}
	typists int // viewers that have typed

	// resize asks for another size; nil without a terminal. It reports whether
	// the size is in effect immediately. If not, resized is called when it is.
	resize func(columns, rows int) bool
	asked  [2]int // the last requested size
}

func newTerminal(runtime string) *terminal {
	t := &terminal{runtime: runtime, viewers: map[*viewer]struct{}{}, asked: [2]int{coppice.FirstScreen.Columns, coppice.FirstScreen.Rows}}
	if runtime != RuntimePipe {
		t.screen = vt.NewScreen(coppice.FirstScreen.Columns, coppice.FirstScreen.Rows)
	}
	return t
}

func (t *terminal) size() (columns, rows int) {
	if t.screen == nil {
		return 0, 0
	}
	return t.screen.Size()
}

// show passes the agent's output to every viewer.
func (t *terminal) show(s agent.Stream, b []byte) {
	if t.screen != nil {
		b = t.screen.Write(b)
	}
	for v := range t.viewers {
		if t.screen == nil {
			v.add(v.filters[s-agent.Stdout].Pass(b))
		} else {
			v.add(b)
		}
	}
}

// fit sets the screen to the size of the smallest terminal of those that can
// type. Without one the size stays.
func (h *host) fit() {
	columns, rows := 0, 0
	for v := range h.term.viewers {
		if v.readOnly || v.columns == 0 {
			continue
		}
		if columns == 0 || v.columns < columns {
			columns = v.columns
		}
		if rows == 0 || v.rows < rows {
			rows = v.rows
		}
	}
	want := [2]int{columns, rows}
	if columns == 0 || h.term.resize == nil || want == h.term.asked {
		return
	}
	h.term.asked = want
	if h.term.resize(columns, rows) {
		h.resized(columns, rows)
	}
}

// resized applies a new size and reports it to all viewers.
func (h *host) resized(columns, rows int) {
	if c, r := h.term.size(); c == columns && r == rows {
		return
	}
	h.term.screen.Resize(columns, rows)
	for v := range h.term.viewers {
		v.sized, v.redraw, v.pending = true, true, nil
		v.wakeUp()
	}
	h.driveLocked(func(d agent.Driver) (agent.Step, error) {
		if s, ok := d.(agent.Screener); ok {
			return s.Resize(columns, rows), nil
		}
		return agent.Step{}, nil
	})
}

// addTypists counts people who type, and reports the first and the last to the
// driver.
func (h *host) addTypists(by int) {
	before := h.term.typists > 0
	h.term.typists += by
	now := h.term.typists > 0
	if before == now {
		return
	}
	h.driveLocked(func(d agent.Driver) (agent.Step, error) {
		if a, ok := d.(agent.Attendant); ok {
			return a.Attend(now), nil
		}
		return agent.Step{}, nil
	})
	h.screenChanged()
}

// The driver of a screen is called when the screen has been still for each of
// these times, and every busyFor while it is never still.
var (
	stillFor = []time.Duration{300 * time.Millisecond, time.Second, 3 * time.Second, 10 * time.Second, 30 * time.Second}
	busyFor  = time.Second
)

// screenChanged records that the screen has changed.
func (h *host) screenChanged() {
	select {
	case h.screenDirty <- struct{}{}:
	default:
	}
}

// watch makes the driver read the screen. It waits for output and for the
// silence after it.
func (h *host) watch() {
	timer := time.NewTimer(stillFor[0])
	defer timer.Stop()
	var last, first time.Time // last change; first change since the driver was called
	mark := 0
	for {
		select {
		case <-h.agentDone:
			return
		case <-h.screenDirty:
			last, mark = time.Now(), 0
			if first.IsZero() {
				first = last
			}
			timer.Reset(max(0, min(stillFor[0], busyFor-last.Sub(first))))
			continue
		case <-timer.C:
		}
		still := time.Duration(0)
		if quiet := time.Since(last); quiet >= stillFor[mark] {
			still = stillFor[mark]
			mark++
		}
		first = time.Time{}
		h.drive(func(d agent.Driver) (agent.Step, error) {
			if s, ok := d.(agent.Screener); ok {
				return s.Tick(still), nil
			}
			return agent.Step{}, nil
		})
		if mark < len(stillFor) {
			timer.Reset(max(0, stillFor[mark]-time.Since(last)))
		}
	}
}

// openPty prepares a terminal for the agent. The caller closes the files.
func (h *host) openPty() (ours, theirs *os.File, err error) {
	ours, theirs, err = pty.Open(coppice.FirstScreen.Columns, coppice.FirstScreen.Rows)
	if err != nil {
		return nil, nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.term.resize = func(columns, rows int) bool {
		if err := pty.Resize(ours, columns, rows); err != nil {
			h.log.Warn("terminal not resized", "error", err)
			return false
		}
		return true
	}
	h.term.screen.Reply = func(b []byte) {
		if _, err := h.stdin.write(slices.Clone(b)); err != nil && !errors.Is(err, errStdinClosed) {
			h.log.Warn("an answer of the terminal did not reach the agent", "error", err)
		}
	}
	return ours, theirs, nil
}

// validRuntime checks a profile's screen.
func validRuntime(s coppice.ScreenProfile) (string, error) {
	switch s.Runtime {
	case "":
		return RuntimePipe, nil
	case RuntimePty, RuntimeTmux:
		return s.Runtime, nil
	}
	return "", coppice.Errorf(coppice.EInvalid, "%s is not a valid runtime for an agent's screen", coppice.Quote(s.Runtime)).
		WithFix("write runtime: pty or runtime: tmux").WithField("screen.runtime")
}

// viewer is a client that watches an agent's output. However slow it is, at most
// viewLimit bytes wait for it. Beyond that it gets the current screen.
type viewer struct {
	readOnly      bool
	columns, rows int
	typed         bool
	wake          chan struct{}
	filters       [2]vt.Filter // of pipes, by stream

	pending []byte
	redraw  bool // the whole screen is drawn first
	drawn   bool // the screen was drawn before
	sized   bool // the size was sent
	skipped int  // bytes of pipes that were left out
	notices []string
}

const viewLimit = 256 << 10

func (v *viewer) wakeUp() {
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

func (v *viewer) add(b []byte) {
	switch {
	case v.redraw || len(b) == 0:
		return // the drawing will include it
	case v.skipped > 0 || len(v.pending)+len(b) > viewLimit:
		v.skipped += len(v.pending) + len(b)
		v.pending = nil
	default:
		v.pending = append(v.pending, b...)
	}
	v.wakeUp()
}

// note adds a notice for the viewer, unless it waits already.
func (v *viewer) note(text string) {
	if !slices.Contains(v.notices, text) {
		v.notices = append(v.notices, text)
		v.wakeUp()
	}
}

// take returns the frames that the viewer gets now. last returns the end of the
// output, both streams in their order.
func (t *terminal) take(v *viewer, last func() []byte) []byte {
	var b []byte
	if v.sized {
		columns, rows := t.size()
		b = appendSize(b, columns, rows)
	}
	if v.skipped > 0 && t.screen != nil {
		v.redraw, v.skipped = true, 0
	}
	switch {
	case v.redraw && t.screen != nil:
		b = appendFrame(b, frameScreen, t.screen.Draw(!v.drawn))
	case v.redraw:
		tail := last()
		if i := bytes.IndexByte(tail, '\n'); len(tail) >= tailSize && i >= 0 {
			tail = tail[i+1:]
		}
		b = appendFrame(b, frameScreen, (&vt.Filter{Lines: true}).Pass(tail))
	case v.skipped > 0:
		v.notices = append(v.notices, fmt.Sprintf("%d bytes came too fast and were left out; the log has them", v.skipped))
	}
	if v.redraw {
		v.drawn = true
	}
	b = appendFrame(b, frameOutput, v.pending)
	for _, n := range v.notices {
		b = appendFrame(b, frameNotice, []byte(n))
	}
	v.pending, v.notices, v.skipped, v.redraw, v.sized = nil, nil, 0, false, false
	return b
}
