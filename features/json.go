package features

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// kind is the kind of a node.
type kind byte

const (
	kindObject kind = iota
	kindArray
	kindString
	kindNumber
	kindWord // true, false or null
)

func (k kind) String() string {
	return [...]string{"an object", "a list", "a text", "a number", "true, false or null"}[k]
}

// node is one value of a JSON text, by its position. The text is not decoded:
// what is not edited stays byte for byte.
type node struct {
	kind       kind
	start, end int
	members    []member
	items      []node
}

// member is one entry of an object.
type member struct {
	key        string
	start, end int // of the key
	value      node
}

// find returns a member by its key, or nil.
func (n node) find(key string) *member {
	for i := range n.members {
		if n.members[i].key == key {
			return &n.members[i]
		}
	}
	return nil
}

// fault is a problem at a position of a text.
type fault struct {
	at   int
	what string
}

func (f *fault) Error() string { return f.what }

// mostDepth limits how deep values nest.
const mostDepth = 200

// parser reads strict JSON (RFC 8259).
type parser struct {
	text []byte
	at   int
}

// parse reads a whole text. A byte order mark is allowed and kept.
func parse(text []byte) (n node, err error) {
	p := &parser{text: text}
	if len(text) >= 3 && string(text[:3]) == "\uFEFF" {
		p.at = 3
	}
	defer func() {
		if f, ok := recover().(*fault); ok {
			err = f
		}
	}()
	p.space()
	n = p.value(0)
	p.space()
	if p.at < len(text) {
		p.fail("there is text after the end of the list")
	}
	return n, nil
}

// fail ends the parse at the current position. The panic never leaves parse.
func (p *parser) fail(format string, args ...any) {
	panic(&fault{at: p.at, what: fmt.Sprintf(format, args...)})
}

func (p *parser) space() {
	for p.at < len(p.text) && isSpace(p.text[p.at]) {
		p.at++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// peek returns the next byte, 0 at the end of the text.
func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) value(depth int) node {
	if depth > mostDepth {
		p.fail("values are nested more than %d deep", mostDepth)
	}
	switch c := p.peek(); {
	case p.at >= len(p.text):
		p.fail("the file ends where a value is expected")
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		n := node{kind: kindString, start: p.at}
		p.quoted()
		n.end = p.at
		return n
	case c == '-' || c >= '0' && c <= '9':
		n := node{kind: kindNumber, start: p.at}
		p.number()
		n.end = p.at
		return n
	}
	for _, word := range []string{"true", "false", "null"} {
		if len(p.text)-p.at >= len(word) && string(p.text[p.at:p.at+len(word)]) == word {
			n := node{kind: kindWord, start: p.at, end: p.at + len(word)}
			p.at = n.end
			return n
		}
	}
	p.fail("%s is not a valid value", p.shown())
	return node{}
}

// shown names the character at the current position.
func (p *parser) shown() string {
	if p.at >= len(p.text) {
		return "the end of the file"
	}
	r, _ := utf8.DecodeRune(p.text[p.at:])
	return fmt.Sprintf("%q", r)
}

func (p *parser) object(depth int) node {
	n := node{kind: kindObject, start: p.at}
	p.at++
	p.space()
	for first := true; p.peek() != '}'; first = false {
		if !first {
			p.comma('}')
		}
		if p.peek() != '"' {
			p.fail("found %s where a name in quotes is expected", p.shown())
		}
		m := member{start: p.at}
		m.key = p.quoted()
		m.end = p.at
		p.space()
		if p.peek() != ':' {
			p.fail("found %s where a colon is expected", p.shown())
		}
		p.at++
		p.space()
		m.value = p.value(depth + 1)
		n.members = append(n.members, m)
		p.space()
	}
	p.at++
	n.end = p.at
	return n
}

func (p *parser) array(depth int) node {
	n := node{kind: kindArray, start: p.at}
	p.at++
	p.space()
	for first := true; p.peek() != ']'; first = false {
		if !first {
			p.comma(']')
		}
		n.items = append(n.items, p.value(depth+1))
		p.space()
	}
	p.at++
	n.end = p.at
	return n
}

// comma reads the separator between two entries.
func (p *parser) comma(end byte) {
	if p.at >= len(p.text) {
		p.fail("the file ends where a comma or %q is expected", end)
	}
	if p.peek() != ',' {
		p.fail("found %s where a comma or %q is expected", p.shown(), end)
	}
	p.at++
	p.space()
	if p.peek() == end {
		p.fail("there is a comma directly before %q", end)
	}
}

// quoted reads a string and returns its value.
func (p *parser) quoted() string {
	start := p.at
	for p.at++; ; p.at++ {
		switch c := p.peek(); {
		case p.at >= len(p.text):
			p.fail("the file ends in the middle of a text")
		case c < ' ':
			p.fail("a text has a line break or control character in it")
		case c == '"':
			p.at++
			return p.decoded(start)
		case c == '\\':
			p.escape()
		}
	}
}

// escape reads an escape sequence up to its last byte.
func (p *parser) escape() {
	p.at++
	switch p.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return
	case 'u':
		for range 4 {
			p.at++
			c := p.peek() | 0x20
			if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f') || p.peek() < '0' {
				p.fail("\\u is not followed by four hexadecimal digits")
			}
		}
		return
	}
	p.fail("%s cannot be escaped", p.shown())
}

func (p *parser) decoded(start int) string {
	raw := p.text[start:p.at]
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		p.at = start
		p.fail("this text is not valid: %v", err)
	}
	return s
}

func (p *parser) number() {
	digits := func() {
		if c := p.peek(); c < '0' || c > '9' {
			p.fail("found %s where a digit is expected", p.shown())
		}
		for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
			p.at++
		}
	}
	if p.peek() == '-' {
		p.at++
	}
	if p.peek() == '0' {
		p.at++
		if c := p.peek(); c >= '0' && c <= '9' {
			p.fail("a number cannot start with 0")
		}
	} else {
		digits()
	}
	if p.peek() == '.' {
		p.at++
		digits()
	}
	if p.peek()|0x20 == 'e' {
		p.at++
		if c := p.peek(); c == '+' || c == '-' {
			p.at++
		}
		digits()
	}
}
