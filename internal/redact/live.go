package redact

import (
	"bytes"
	"slices"
	"strings"
)

// Live hides secrets in a text that somebody watches. It holds back only bytes that
// may be the start of a secret, at most 16 KiB. It is not safe for concurrent use.
type Live struct {
	redactor *Redactor
	screen   bool
	state    State
	held     []byte
	cut      bool // bytes are missing before what follows, up to the next line break
}

// Live returns a Live. On a screen, hidden text keeps its width, and of a private
// key only its lines are hidden, because programs place the cursor by what they
// wrote.
func (r *Redactor) Live(screen bool) *Live { return &Live{redactor: r, screen: screen} }

// Write takes the next bytes and returns what can be shown.
func (l *Live) Write(b []byte) []byte {
	if l.cut {
		n := bytes.IndexByte(b, '\n') + 1
		if n == 0 {
			return nil
		}
		b, l.cut = b[n:], false
	}
	return l.show(b, false)
}

// Skip says that bytes are missing before the next ones, so a secret may be cut. It
// drops the bytes that are held back. Of what follows, it hides the rest of the line,
// and then lines that may belong to a private key.
func (l *Live) Skip() {
	l.held, l.state, l.cut = nil, State{Key: betweenKeyLines}, true
}

// betweenKeyLines is the number of lines of a private key after which a line
// belongs to it only if it looks like one.
const betweenKeyLines = 2

// Flush returns the bytes that are held back. It is called when no more bytes follow
// soon.
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
