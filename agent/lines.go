package agent

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// MaxLine limits one line of output that a driver keeps in memory. The rest of
// the line is dropped. The host's spool has everything.
const MaxLine = 16 << 20

// Lines splits a stream into lines, however its bytes arrive. The zero value is
// ready to use.
type Lines struct {
	rest []byte
}

// Add takes the next bytes and calls line for each line that is now complete,
// without its line break. The slice is valid only during the call.
func (l *Lines) Add(b []byte, line func([]byte)) {
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			l.keep(b)
			return
		}
		l.keep(b[:i])
		b = b[i+1:]
		l.End(line)
	}
}

// End calls line with the text after the last line break, if there is any.
func (l *Lines) End(line func([]byte)) {
	rest := bytes.TrimSuffix(l.rest, []byte("\r"))
	l.rest = l.rest[:0]
	if len(rest) > 0 {
		line(rest)
	}
}

func (l *Lines) keep(b []byte) {
	if free := MaxLine - len(l.rest); len(b) > free {
		b = b[:free]
	}
	l.rest = append(l.rest, b...)
}

// MaxText limits the text and the input of an event.
const MaxText = 64 << 10

// Text converts an agent's text for an event: valid UTF-8, of limited length.
func Text[T string | []byte](s T) string {
	if len(s) <= MaxText {
		return strings.ToValidUTF8(string(s), "\uFFFD")
	}
	cut := MaxText
	for cut > MaxText-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strings.ToValidUTF8(string(s[:cut]), "\uFFFD") + "…"
}

// Tail keeps the last lines of a stream, for the cause of a failure. The zero
// value is ready to use.
type Tail struct {
	lines []string
}

const (
	tailLines = 20
	tailLine  = 1000
)

// Add adds one line.
func (t *Tail) Add(line []byte) {
	if len(line) > tailLine {
		line = line[:tailLine]
	}
	if len(t.lines) == tailLines {
		t.lines = append(t.lines[:0], t.lines[1:]...)
	}
	t.lines = append(t.lines, Text(line))
}

// String returns the lines.
func (t *Tail) String() string {
	return strings.Join(t.lines, "\n")
}
