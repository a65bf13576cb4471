package ingest

import (
	"context"
	"errors"
	"sync"
	"time"

	"coppice"
	"coppice/fabric"
	"coppice/internal/redact"
)

// holdFor is how long a live view holds back bytes that might start a secret. A
// person who types does not notice it.
const holdFor = 25 * time.Millisecond

// Terminals masks secrets between the terminals of sessions and their viewers.
func Terminals(of fabric.Terminals, r *redact.Redactor) fabric.Terminals { return hiding{of, r} }

type hiding struct {
	of     fabric.Terminals
	redact *redact.Redactor
}

// Attach implements fabric.Terminals.
func (h hiding) Attach(ctx context.Context, s coppice.Session, o coppice.TerminalOptions) (fabric.Terminal, error) {
	t, err := h.of.Attach(ctx, s, o)
	if err != nil {
		return nil, err
	}
	v := &view{Terminal: t, redact: h.redact, seen: make(chan coppice.TerminalShown), left: make(chan struct{})}
	v.screen = t.About().Size != (coppice.TerminalSize{})
	v.live = h.redact.Live(v.screen)
	v.reader.Go(v.read)
	return v, nil
}

// view is a terminal whose secrets are masked.
type view struct {
	fabric.Terminal
	redact *redact.Redactor
	screen bool
	live   *redact.Live
	next   []coppice.TerminalShown // shown first
	seen   chan coppice.TerminalShown
	err    error         // why nothing more is seen, when seen is closed
	left   chan struct{} // closed by Close
	close  sync.Once
	reader sync.WaitGroup
}

// read reads what the terminal shows, so that Next can also wait for a timer.
func (v *view) read() {
	defer close(v.seen)
	for {
		var s coppice.TerminalShown
		if s, v.err = v.Terminal.Next(); v.err != nil {
			return
		}
		select {
		case v.seen <- s:
		case <-v.left:
			v.err = errors.New("ingest: the view is closed")
			return
		}
	}
}

// Next implements fabric.Terminal.
func (v *view) Next() (coppice.TerminalShown, error) {
	for len(v.next) == 0 {
		var quiet <-chan time.Time
		if v.live.Held() {
			quiet = time.After(holdFor)
		}
		select {
		case s, ok := <-v.seen:
			if !ok {
				if v.show(v.live.Flush()); len(v.next) == 0 {
					return s, v.err
				}
				break
			}
			v.take(s)
		case <-quiet:
			v.show(v.live.Flush())
		}
	}
	s := v.next[0]
	v.next = v.next[1:]
	return s, nil
}

// take decides what is shown of the next part.
func (v *view) take(s coppice.TerminalShown) {
	switch {
	case s.Output != nil:
		v.show(v.live.Write(s.Output))
		return
	case s.Screen != nil:
		v.live = v.redact.Live(v.screen) // earlier output does not count
		s.Screen = append(v.live.Write(s.Screen), v.live.Flush()...)
	case s.Ended != nil:
		e := *s.Ended
		e.Failure = v.redact.String(e.Failure)
		s.Ended = &e
	}
	s.Notice = v.redact.String(s.Notice)
	v.show(v.live.Flush())
	v.next = append(v.next, s)
}

func (v *view) show(b []byte) {
	if len(b) > 0 {
		v.next = append(v.next, coppice.TerminalShown{Output: b})
	}
}

// Close implements fabric.Terminal.
func (v *view) Close() error {
	v.close.Do(func() { close(v.left) })
	err := v.Terminal.Close()
	v.reader.Wait()
	return err
}
