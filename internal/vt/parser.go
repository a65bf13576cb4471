// Package vt reads what a program writes to a terminal. A parser cuts the bytes
// into characters and control sequences, Filter passes on what another terminal
// may safely be shown, and Screen keeps what a person would see.
//
// Everything here is pure: no I/O and no clock. Any cut of the same bytes leads
// to the same screen, and no bytes, however hostile, lead to more than a bounded
// amount of memory.
package vt

import "unicode/utf8"

// kind sorts what the parser found.
type kind int

const (
	kindPrint   kind = iota // one character
	kindControl             // one of the control characters
	kindEscape              // ESC, intermediates, a final byte
	kindCSI                 // ESC [ parameters, intermediates, a final byte
	kindOSC                 // ESC ] text, ended by BEL or ST
	kindString              // DCS, SOS, PM and APC: meant for nobody here
)

// token is one thing that the parser found. Its slices are valid during the
// call only.
type token struct {
	kind  kind
	char  rune   // of kindPrint and kindControl
	raw   []byte // all its bytes
	body  []byte // of a sequence: the bytes between its introducer and its end
	final byte   // of kindEscape and kindCSI
	long  bool   // some of the body was left out: it was too long
}

// maxSequence bounds the bytes of one sequence that are kept.
const maxSequence = 256 << 10

type state int

const (
	ground state = iota
	escape
	csi
	osc
	oscEscape // an ESC within an OSC
	str
	strEscape
	char // within a character of several bytes
)

// parser cuts bytes into tokens. The zero value is ready to use.
type parser struct {
	state state
	raw   []byte
	long  bool
}

const (
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b
	del = 0x7f
)

// feed takes the next bytes and calls emit for every token that is complete.
func (p *parser) feed(b []byte, emit func(token)) {
	for i := 0; i < len(b); i++ {
		c := b[i]
		if p.state == ground && c >= 0x20 && c < del {
			emit(token{kind: kindPrint, char: rune(c), raw: b[i : i+1]})
			continue
		}
		for !p.step(c, emit) { // again, with the byte that ended what was before
		}
	}
}

// pending reports whether something has begun and is not complete.
func (p *parser) pending() bool { return p.state != ground }

// step handles one byte. It reports whether the byte was used.
func (p *parser) step(c byte, emit func(token)) bool {
	switch p.state {
	case ground:
		return p.ground(c, emit)
	case char:
		return p.char(c, emit)
	}
	// A cancel ends any sequence without effect, an escape begins another.
	switch {
	case c == can || c == sub:
		p.reset()
		return true
	case c == esc && p.state == osc:
		p.keep(c)
		p.state = oscEscape
		return true
	case c == esc && p.state == str:
		p.keep(c)
		p.state = strEscape
		return true
	case c == esc && (p.state == escape || p.state == csi):
		p.reset()
		return false
	}
	switch p.state {
	case escape, csi:
		return p.control(c, emit)
	case osc:
		p.keep(c)
		if c == bel {
			p.emitString(kindOSC, 1, emit)
		}
	case str:
		p.keep(c)
	case oscEscape, strEscape:
		return p.endString(c, emit)
	}
	return true
}

func (p *parser) ground(c byte, emit func(token)) bool {
	switch {
	case c == esc:
		p.keep(c)
		p.state = escape
	case c < 0x20 || c == del:
		emit(token{kind: kindControl, char: rune(c), raw: []byte{c}})
	case c < utf8.RuneSelf:
		emit(token{kind: kindPrint, char: rune(c), raw: []byte{c}})
	default:
		p.keep(c)
		p.state = char
		p.whole(emit)
	}
	return true
}

// char takes a further byte of a character.
func (p *parser) char(c byte, emit func(token)) bool {
	if utf8.RuneStart(c) { // the one before was cut off
		emit(token{kind: kindPrint, char: utf8.RuneError, raw: []byte(string(utf8.RuneError))})
		p.reset()
		return false
	}
	p.keep(c)
	p.whole(emit)
	return true
}

// whole emits the character that has come, once it is complete.
func (p *parser) whole(emit func(token)) {
	if !utf8.FullRune(p.raw) {
		return
	}
	r, _ := utf8.DecodeRune(p.raw)
	switch {
	case r == utf8.RuneError:
		emit(token{kind: kindPrint, char: r, raw: []byte(string(r))})
	case r < 0xa0: // the second set of controls, which terminals that read UTF-8 obey no more
	default:
		emit(token{kind: kindPrint, char: r, raw: p.raw})
	}
	p.reset()
}

// control takes a byte of an escape or control sequence.
func (p *parser) control(c byte, emit func(token)) bool {
	switch {
	case c < 0x20: // obeyed in the middle of a sequence
		emit(token{kind: kindControl, char: rune(c), raw: []byte{c}})
		return true
	case c >= del: // nothing that belongs here
		p.reset()
		return c == del
	}
	p.keep(c)
	if p.state == csi {
		if c >= 0x40 {
			p.emit(token{kind: kindCSI, final: c, body: p.between(2, 1)}, emit)
		}
		return true
	}
	if len(p.raw) == 2 {
		switch c {
		case '[':
			p.state = csi
			return true
		case ']':
			p.state = osc
			return true
		case 'P', 'X', '^', '_':
			p.state = str
			return true
		}
	}
	if c >= 0x30 {
		p.emit(token{kind: kindEscape, final: c, body: p.between(1, 1)}, emit)
	}
	return true
}

// endString takes the byte behind an ESC within a string.
func (p *parser) endString(c byte, emit func(token)) bool {
	k := kindOSC
	if p.state == strEscape {
		k = kindString
	}
	if c == '\\' {
		p.keep(c)
		p.emitString(k, 2, emit)
		return true
	}
	// The string was broken off by another sequence.
	p.reset()
	p.keep(esc)
	p.state = escape
	return false
}

func (p *parser) emitString(k kind, end int, emit func(token)) {
	p.emit(token{kind: k, body: p.between(2, end)}, emit)
}

func (p *parser) emit(t token, emit func(token)) {
	t.raw, t.long = p.raw, p.long
	emit(t)
	p.reset()
}

// between returns what was kept, without so many bytes at each side.
func (p *parser) between(front, back int) []byte {
	if p.long || len(p.raw) < front+back {
		return nil
	}
	return p.raw[front : len(p.raw)-back]
}

func (p *parser) keep(c byte) {
	if len(p.raw) >= maxSequence {
		p.long = true
		return
	}
	p.raw = append(p.raw, c)
}

func (p *parser) reset() {
	if cap(p.raw) > 4096 {
		p.raw = nil // a long one is rare; its memory is not kept
	}
	p.state, p.raw, p.long = ground, p.raw[:0], false
}

// params are the numbers of a control sequence; -1 stands for one left out.
// What is joined by colons belongs to the number before it.
type params struct {
	prefix byte   // one of <=>? or 0
	inter  string // intermediates
	n      []int
	sub    []bool // this one is joined to the one before by a colon
}

const (
	maxParams = 32
	maxParam  = 65535
)

func parseParams(body []byte) params {
	var p params
	if len(body) > 0 && body[0] >= '<' && body[0] <= '?' {
		p.prefix, body = body[0], body[1:]
	}
	value, joined := -1, false
	push := func() {
		if len(p.n) < maxParams {
			p.n, p.sub = append(p.n, value), append(p.sub, joined)
		}
		value = -1
	}
	for i, c := range body {
		switch {
		case c >= '0' && c <= '9':
			value = min(max(value, 0)*10+int(c-'0'), maxParam)
		case c == ';' || c == ':':
			push()
			joined = c == ':'
		case c >= 0x20 && c < 0x30:
			p.inter = string(body[i:])
			push()
			return p
		}
	}
	push()
	return p
}

// at returns the number at a place, or what it stands for when it is left out
// or zero.
func (p params) at(i, def int) int {
	if i >= len(p.n) || p.n[i] <= 0 {
		return def
	}
	return p.n[i]
}
