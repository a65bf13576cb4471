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

// The ways in which an agent is connected to its host.
const (
	RuntimePipe = "pipe" // no terminal: it can be watched, not typed into
	RuntimePty  = "pty"
	RuntimeTmux = "tmux"
)

// A screen's size until somebody with a terminal comes.
const (
	firstColumns = 120
	firstRows    = 40
)

// terminal is what people see of an agent, and who looks at it. All of it is
// guarded by the host's mu.
type terminal struct {
	runtime string
	screen  *vt.Screen // nil for pipes
	viewers map[*viewer]struct{}
	typists int // viewers that have typed

	// resize asks for another size, nil where there is none. It tells whether
	// that holds at once; if not, resized is called when it does.
	resize func(columns, rows int) bool
	asked  [2]int // the size that was asked for last
}

func newTerminal(runtime string) *terminal {
	t := &terminal{runtime: runtime, viewers: map[*viewer]struct{}{}, asked: [2]int{firstColumns, firstRows}}
	if runtime != RuntimePipe {
		t.screen = vt.NewScreen(firstColumns, firstRows)
	}
	return t
}

func (t *terminal) size() (columns, rows int) {
	if t.screen == nil {
		return 0, 0
	}
	return t.screen.Size()
}

// show hands what the agent wrote to everybody who looks.
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

// fit makes the screen as large as the smallest terminal of those who may type.
// When none is left it stays as it is.
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

// resized takes over a new size and tells everybody.
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

// attend tells the driver that people type, or have all gone.
func (h *host) attend(by int) {
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
	h.stir()
}

// The driver of a screen is called when the screen has been still for so long,
// once for each of these, and once in a while when it is never still.
var (
	stillFor = []time.Duration{300 * time.Millisecond, time.Second, 3 * time.Second, 10 * time.Second, 30 * time.Second}
	busyFor  = time.Second
)

// stir notes that something moves on the screen.
func (h *host) stir() {
	select {
	case h.stirred <- struct{}{}:
	default:
	}
}

// watch has the driver judge the screen. It waits for output and for the
// silence after it; while nothing happens it does nothing.
func (h *host) watch() {
	timer := time.NewTimer(stillFor[0])
	defer timer.Stop()
	var last, first time.Time // something moved; and the first time since the driver was called
	mark := 0
	for {
		select {
		case <-h.agentDone:
			return
		case <-h.stirred:
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

// openPty prepares a terminal for the agent. The files are closed by the caller.
func (h *host) openPty() (ours, theirs *os.File, err error) {
	ours, theirs, err = pty.Open(firstColumns, firstRows)
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
			h.log.Warn("the agent was not told something about its terminal", "error", err)
		}
	}
	return ours, theirs, nil
}

// validRuntime checks what a profile says of its screen.
func validRuntime(s coppice.ScreenProfile) (string, error) {
	switch s.Runtime {
	case "":
		return RuntimePipe, nil
	case RuntimePty, RuntimeTmux:
		return s.Runtime, nil
	}
	return "", coppice.Errorf(coppice.EInvalid, "there is no way to run an agent's screen called %s", coppice.Quote(s.Runtime)).
		WithFix("write runtime: pty or runtime: tmux").WithField("screen.runtime")
}

// viewer is somebody who looks at an agent's output. However slow it is, no
// more than viewRoom bytes wait for it: then it is shown the screen as it is.
type viewer struct {
	readOnly      bool
	columns, rows int
	typed         bool
	wake          chan struct{}
	filters       [2]vt.Filter // of pipes, by stream

	pending []byte
	redraw  bool // the screen is drawn before anything else
	drawn   bool // it was drawn before
	sized   bool // the size is told
	skipped int  // bytes that were left out, of pipes
	notices []string
}

const viewRoom = 256 << 10

func (v *viewer) wakeUp() {
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

func (v *viewer) add(b []byte) {
	switch {
	case v.redraw || len(b) == 0:
		return // the drawing will hold it
	case v.skipped > 0 || len(v.pending)+len(b) > viewRoom:
		v.skipped += len(v.pending) + len(b)
		v.pending = nil
	default:
		v.pending = append(v.pending, b...)
	}
	v.wakeUp()
}

// note tells the viewer something, unless it is told already.
func (v *viewer) note(text string) {
	if !slices.Contains(v.notices, text) {
		v.notices = append(v.notices, text)
		v.wakeUp()
	}
}

// take returns what the viewer is to be sent now, as frames. last gives the last
// of the output, both streams as they came.
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
