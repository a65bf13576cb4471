package vt

import (
	"bytes"
	"strconv"
)

// Filter passes on what another terminal may be shown of an untrusted program's
// output: everything that draws and everything that sets a mode. It holds back
//
//   - questions to the terminal, whose answers would be typed into the program a
//     second time,
//   - whatever reaches beyond the screen: the clipboard, window operations,
//     colours of the palette, files and images, strings for nobody,
//   - a sequence or character that is not complete yet.
//
// The zero value is ready to use.
type Filter struct {
	// Lines makes line breaks of what was written to no terminal fit for one.
	Lines bool

	p   parser
	out []byte
}

// Pass takes the next bytes, cut anywhere, and returns what may be shown. The
// slice is valid until the next call.
func (f *Filter) Pass(b []byte) []byte {
	f.out = f.out[:0]
	f.p.feed(b, f.take)
	return f.out
}

func (f *Filter) take(t token) {
	if f.Lines && t.kind == kindControl && t.char == '\n' {
		f.out = append(f.out, '\r', '\n')
		return
	}
	if shown(t) {
		f.out = append(f.out, t.raw...)
	}
}

// shown reports whether a token may be passed on.
func shown(t token) bool {
	if t.long {
		return false
	}
	switch t.kind {
	case kindOSC:
		return shownOSC(t.body)
	case kindString:
		return false
	case kindEscape:
		return t.final != 'Z' // asks what the terminal is
	case kindCSI:
		return !asks(t)
	case kindControl:
		return t.char != 0x05 // asks for an answer
	}
	return true
}

// asks reports whether a control sequence asks the terminal something, or wants
// something of its window.
func asks(t token) bool {
	switch t.final {
	case 'n', 'c', 't', 'x', 'y', 'w':
		return true
	case 'p':
		return bytes.HasSuffix(t.body, []byte("$")) // which modes are set
	case 'u':
		return bytes.HasPrefix(t.body, []byte("?")) // how the keyboard is set
	case 'q':
		return bytes.HasPrefix(t.body, []byte(">")) // which version it is
	}
	return false
}

// shownOSC lets titles, links, progress and prompt marks pass.
func shownOSC(body []byte) bool {
	number, rest, _ := bytes.Cut(body, []byte(";"))
	n, err := strconv.Atoi(string(number))
	if err != nil {
		return false
	}
	switch n {
	case 0, 1, 2:
		return !bytes.Equal(rest, []byte("?"))
	case 8, 133:
		return true
	case 9:
		return bytes.HasPrefix(rest, []byte("4;"))
	}
	return false
}
