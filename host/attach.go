package host

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"coppice"
	"coppice/agent"
	"coppice/internal/vt"
)

// The host answers an attach with one line, like every request. After that line
// the connection carries frames in both directions. A frame is its kind (one
// byte), the length of its data (four bytes, big-endian) and the data.
const (
	// From the host.
	frameScreen = 's' // bytes that draw the whole screen
	frameOutput = 'o' // bytes that the agent wrote since then
	frameSize   = 'z' // Size as JSON: the new size of the screen
	frameNotice = 'n' // a text for the person
	frameEnded  = 'e' // End as JSON; the last frame

	// From the client.
	frameInput  = 'i' // typed bytes
	frameResize = 'r' // Size as JSON: the size of the client's terminal
)

const (
	maxTyped   = 1 << 20 // bytes of one frame from a client
	maxViewers = 32
	maxFrame   = 16 << 20 // bytes of one frame from a host
)

// The parts of a view of a terminal.
type (
	Size        = coppice.TerminalSize
	End         = coppice.TerminalEnd
	Shown       = coppice.TerminalShown
	ViewOptions = coppice.TerminalOptions
)

// attached is the answer to an attach.
type attached struct {
	Runtime  string `json:"runtime"`
	ReadOnly bool   `json:"read_only,omitempty"`
	Size
}

func appendFrame(b []byte, kind byte, data []byte) []byte {
	for len(data) > maxFrame {
		b = appendFrame(b, kind, data[:maxFrame])
		data = data[maxFrame:]
	}
	if len(data) == 0 {
		return b
	}
	b = append(b, kind)
	b = binary.BigEndian.AppendUint32(b, uint32(len(data)))
	return append(b, data...)
}

func appendSize(b []byte, columns, rows int) []byte {
	data, err := json.Marshal(Size{Columns: columns, Rows: rows})
	if err != nil {
		return b
	}
	return appendFrame(b, frameSize, data)
}

// readFrame reads one frame. Line breaks between frames, such as the one that
// ends a request's line, are skipped.
func readFrame(r *bufio.Reader, most int) (kind byte, data []byte, err error) {
	for kind = '\n'; kind == '\n'; {
		if kind, err = r.ReadByte(); err != nil {
			return 0, nil, err
		}
	}
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if int64(n) > int64(most) {
		return 0, nil, fmt.Errorf("host: a frame of %d bytes is too large", n)
	}
	data = make([]byte, n)
	_, err = io.ReadFull(r, data)
	return kind, data, err
}

// validSize checks a client's size. The zero Size means that the client has
// none.
func validSize(s Size) error {
	if s == (Size{}) || (s.Columns >= 2 && s.Rows >= 2 && s.Columns <= 65535 && s.Rows <= 65535) {
		return nil
	}
	return coppice.Errorf(coppice.EInvalid, "%d columns and %d rows are not a valid size for a terminal", s.Columns, s.Rows)
}

// attach turns the connection into a view of the agent's terminal, until the
// client leaves or the session ends.
func (h *host) attach(c net.Conn, in io.Reader, r request) {
	v, a, err := h.admit(r)
	if err != nil {
		_ = reply(c, answer{Error: wire(err)}) // the client might have left
		return
	}
	defer h.leave(v)
	if err := reply(c, answer{OK: true, Attached: &a}); err != nil {
		return
	}
	if err := c.SetWriteDeadline(time.Time{}); err != nil {
		return
	}
	left := make(chan struct{})
	var reading sync.WaitGroup
	defer reading.Wait()
	defer c.Close()
	reading.Go(func() {
		defer close(left)
		h.listenTo(v, bufio.NewReader(in))
	})
	// A write that waits for a slow client must not prevent the host from
	// exiting.
	reading.Go(func() {
		select {
		case <-h.done:
		case <-left:
			if !h.isDone() {
				c.Close()
				return
			}
		}
		_ = c.SetWriteDeadline(time.Now().Add(clientWait))
	})
	for {
		over := false
		select {
		case <-v.wake:
		case <-h.done:
			over = true
		case <-left:
			// Nothing is read from a client after the session has ended.
			if over = h.isDone(); !over {
				return
			}
		}
		h.mu.Lock()
		b := h.term.take(v, h.tail.bytes)
		if over {
			b = appendFrame(b, frameEnded, h.exitFrame())
		}
		h.mu.Unlock()
		if _, err := c.Write(b); err != nil || over {
			return
		}
	}
}

func (h *host) isDone() bool {
	select {
	case <-h.done:
		return true
	default:
		return false
	}
}

// exitFrame encodes how the session ended.
func (h *host) exitFrame() []byte {
	e := End{Code: h.exit.Code, Signal: h.exit.Signal, Stopped: h.exit.Stopped, Done: h.exit.Done}
	if f := h.exit.Outcome.Failure; f != nil {
		e.Failure = f.Text
	}
	b, err := json.Marshal(e)
	if err != nil {
		return []byte("{}")
	}
	return b
}

// admit registers a client as a viewer.
func (h *host) admit(r request) (*viewer, attached, error) {
	size := Size{Columns: r.Columns, Rows: r.Rows}
	if err := validSize(size); err != nil {
		return nil, attached{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.term.viewers) >= maxViewers {
		return nil, attached{}, coppice.Errorf(coppice.EUnavailable, "the session already has %d viewers", maxViewers).WithFix("detach one of them")
	}
	v := &viewer{
		readOnly: r.ReadOnly || h.term.screen == nil, wake: make(chan struct{}, 1), redraw: true, sized: h.term.screen != nil,
		columns: min(r.Columns, vt.MaxColumns), rows: min(r.Rows, vt.MaxRows),
		filters: [2]vt.Filter{{Lines: true}, {Lines: true}},
	}
	h.term.viewers[v] = struct{}{}
	h.fit()
	columns, rows := h.term.size()
	v.wakeUp()
	return v, attached{Runtime: h.term.runtime, ReadOnly: v.readOnly, Size: Size{Columns: columns, Rows: rows}}, nil
}

// leave removes a viewer.
func (h *host) leave(v *viewer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.term.viewers, v)
	if v.typed {
		h.addTypists(-1)
	}
	h.fit()
}

// listenTo reads a viewer's frames until the viewer leaves.
func (h *host) listenTo(v *viewer, in *bufio.Reader) {
	for {
		kind, data, err := readFrame(in, maxTyped)
		if err != nil {
			return
		}
		switch kind {
		case frameInput:
			h.typed(v, data)
		case frameResize:
			var s Size
			if json.Unmarshal(data, &s) != nil || validSize(s) != nil {
				return // not a valid client
			}
			h.mu.Lock()
			v.columns, v.rows = min(s.Columns, vt.MaxColumns), min(s.Rows, vt.MaxRows)
			h.fit()
			h.mu.Unlock()
		default:
			return
		}
	}
}

// typed writes a viewer's input to the agent, or notes why it cannot.
func (h *host) typed(v *viewer, b []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case len(b) == 0:
	case h.term.screen == nil:
		v.note("this agent has no screen, so nothing can be typed; to send it a message, use `coppice send`")
	case v.readOnly:
		v.note("this view is read-only")
	default:
		if !v.typed {
			v.typed = true
			h.addTypists(1)
		}
		if _, err := h.stdin.write(b); err != nil {
			var e *coppice.Error
			if errors.As(err, &e) {
				v.note("not typed: " + e.Cause)
			}
			return
		}
		h.screenChanged()
	}
}

// hasScreen reports whether a driver reads a screen.
func hasScreen(d agent.Driver) bool {
	_, ok := d.(agent.Screener)
	return ok
}
