package ingest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coppice"
	"coppice/fabric"
	"coppice/ingest"
	"coppice/internal/redact"
)

// script is a terminal that shows what a test sends.
type script struct {
	fabric.Terminal
	about coppice.TerminalAbout
	shows chan coppice.TerminalShown
	gone  chan struct{}
}

var errGone = errors.New("gone")

func (s *script) Attach(context.Context, coppice.Session, coppice.TerminalOptions) (fabric.Terminal, error) {
	return s, nil
}

func (s *script) About() coppice.TerminalAbout { return s.about }

func (s *script) Next() (coppice.TerminalShown, error) {
	select {
	case x, ok := <-s.shows:
		if ok {
			return x, nil
		}
	case <-s.gone:
	}
	return coppice.TerminalShown{}, errGone
}

func (s *script) Close() error { close(s.gone); return nil }

// watch attaches to a terminal whose secrets are masked.
func watch(t *testing.T, columns int) (*script, fabric.Terminal) {
	t.Helper()
	s := &script{about: coppice.TerminalAbout{Size: coppice.TerminalSize{Columns: columns, Rows: columns}}, shows: make(chan coppice.TerminalShown), gone: make(chan struct{})}
	v, err := ingest.Terminals(s, redact.New("my given value")).Attach(t.Context(), coppice.Session{}, coppice.TerminalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s, v
}

func next(t *testing.T, v fabric.Terminal) coppice.TerminalShown {
	t.Helper()
	s, err := v.Next()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A secret that comes in two pieces is masked on a live terminal. The possible
// start of one is shown a moment later if nothing follows.
func TestTerminalHidesSecrets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, v := watch(t, 0)
		defer v.Close()
		go func() {
			s.shows <- coppice.TerminalShown{Output: []byte("a my given")}
			s.shows <- coppice.TerminalShown{Output: []byte(" value b")}
			s.shows <- coppice.TerminalShown{Output: []byte("\n$ my")}
			s.shows <- coppice.TerminalShown{Notice: "my given value"}
			s.shows <- coppice.TerminalShown{Ended: &coppice.TerminalEnd{Failure: "my given value"}}
			close(s.shows)
		}()
		began := time.Now()
		text := ""
		for len(text) < len("a [redacted] ") {
			text += string(next(t, v).Output)
		}
		if text != "a [redacted] " || time.Since(began) > 0 {
			t.Errorf("%q is shown after %v", text, time.Since(began))
		}
		for !strings.HasSuffix(text, "my") {
			text += string(next(t, v).Output)
		}
		if n := next(t, v); text != "a [redacted] b\n$ my" || n.Notice != "[redacted]" {
			t.Errorf("%q is shown, then %+v", text, n)
		}
		if e := next(t, v); e.Ended == nil || e.Ended.Failure != "[redacted]" {
			t.Errorf("the end is %+v", e)
		}
		if _, err := v.Next(); !errors.Is(err, errGone) {
			t.Errorf("behind the end: %v", err)
		}
	})
}

// Output that pauses in the middle of a possible secret is shown soon, and a
// person who types sees every key.
func TestTerminalShowsWhatIsHeldBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, v := watch(t, 80)
		defer v.Close()
		for _, key := range []string{"g", "h", "p", "_", "x"} {
			go func() { s.shows <- coppice.TerminalShown{Output: []byte(key)} }()
			began := time.Now()
			if got := next(t, v); string(got.Output) != key || time.Since(began) > 50*time.Millisecond {
				t.Errorf("%q shows %q after %v", key, got.Output, time.Since(began))
			}
		}
	})
}

// A screen that is drawn again, and one whose view is closed while it shows
// something.
func TestTerminalScreen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, v := watch(t, 80)
		go func() {
			s.shows <- coppice.TerminalShown{Output: []byte("my given")}
			s.shows <- coppice.TerminalShown{Screen: []byte("\x1b[H value: my given value|\x1b[K")}
			s.shows <- coppice.TerminalShown{Size: &coppice.TerminalSize{Columns: 9, Rows: 9}}
		}()
		if got := next(t, v); string(got.Screen) != "\x1b[H value: [redacted]****|\x1b[K" {
			t.Errorf("the screen is %+v", got)
		}
		if got := next(t, v); got.Size == nil || got.Size.Columns != 9 {
			t.Errorf("its size is %+v", got)
		}
		if err := v.Close(); err != nil {
			t.Error(err)
		}
		if _, err := v.Next(); err == nil {
			t.Error("a closed view shows something")
		}
	})
}
