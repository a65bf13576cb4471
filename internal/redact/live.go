package redact

import (
	"slices"
	"strings"
)

// Live hides secrets in a text on its way to somebody who watches. It holds back
// only what may begin a secret, at most 16 KiB. Its methods are called one at a
// time.
type Live struct {
	redactor *Redactor
	screen   bool
	state    State
	held     []byte
}

// Live makes a Live. On a screen, what is hidden keeps its width, and of a
// private key only its lines are hidden: programs place the cursor by what they
// wrote.
func (r *Redactor) Live(screen bool) *Live { return &Live{redactor: r, screen: screen} }

// Write takes the next bytes and returns what can be shown.
func (l *Live) Write(b []byte) []byte { return l.show(b, false) }

// Flush returns what is held back. Whoever calls it has seen that nothing
// follows, or not soon.
func (l *Live) Flush() []byte { return l.show(nil, true) }

// Held reports whether something is held back.
func (l *Live) Held() bool { return len(l.held) > 0 }

func (l *Live) show(b []byte, last bool) []byte {
	s := l.redactor.scan(l.state, slices.Concat(l.held, b), last, l.screen)
	out := s.masked(s.base, s.decided, l.fill)
	l.state, l.held = s.state(s.decided), slices.Clone(s.text[s.decided:])
	return out
}

func (l *Live) fill(size int) string {
	switch {
	case !l.screen:
		return Mask
	case size <= len(Mask):
		return Mask[:size]
	}
	return Mask + strings.Repeat("*", size-len(Mask))
}
