// Package redact hides secrets in text that is about to be kept or shown: what
// looks like a known kind of credential, and the values it was told.
//
// It is a net, not a wall. It knows tokens that carry their kind in their own
// text; a password in prose passes through.
package redact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// Mask is what stands in place of a secret.
const Mask = "[redacted]"

// MinValue is the length below which a told value is not hidden: hiding every
// "on" and "1234" would destroy the text and tell the value at the same time.
const MinValue = 6

// maxSecret is how far a secret reaches at most; what lies behind it does not
// decide. It bounds how much of a text can be undecided.
const maxSecret = 16 << 10

// Redactor hides secrets. It is immutable and safe for concurrent use.
type Redactor struct {
	pairs  [1 << 10]uint64 // one bit for each two bytes that a secret can begin with
	starts [256]start
}

// start is what can begin with a certain byte.
type start struct {
	any    bool
	values [][]byte // longest first
	rules  []rule
	shapes []shape
}

// New makes a Redactor for the known patterns and the given values. A value of
// several lines is hidden line by line, also as JSON writes it.
func New(values ...string) *Redactor {
	r := &Redactor{}
	for _, v := range values {
		for line := range strings.Lines(v) {
			if line = strings.TrimSpace(line); len(line) >= MinValue {
				r.value(line)
				if b, err := json.Marshal(line); err == nil && string(b) != `"`+line+`"` {
					r.value(string(b[1 : len(b)-1]))
				}
			}
		}
	}
	for i := range r.starts {
		slices.SortFunc(r.starts[i].values, func(a, b []byte) int { return cmp.Or(len(b)-len(a), bytes.Compare(a, b)) })
	}
	for _, rule := range rules {
		s := &r.starts[rule.prefix[0]]
		s.rules = append(s.rules, rule)
		r.begin(rule.prefix[0], rule.prefix[1])
	}
	for _, shape := range shapes {
		for _, c := range []byte(shape.first) {
			r.starts[c].shapes = append(r.starts[c].shapes, shape)
			for _, d := range []byte(shape.second) {
				r.begin(c, d)
			}
		}
	}
	return r
}

func (r *Redactor) value(text string) {
	s := &r.starts[text[0]]
	s.values = append(s.values, []byte(text))
	r.begin(text[0], text[1])
}

// begin notes that a secret can begin with two bytes. Most places of a text are
// ruled out by them.
func (r *Redactor) begin(a, b byte) {
	r.starts[a].any = true
	pair := uint(a)<<8 | uint(b)
	r.pairs[pair>>6] |= 1 << (pair & 63)
}

// String returns s with its secrets hidden.
func (r *Redactor) String(s string) string {
	if s == "" {
		return s
	}
	return string(r.Bytes([]byte(s)))
}

// Bytes returns b with its secrets hidden. It does not change b.
func (r *Redactor) Bytes(b []byte) []byte {
	return r.Pieces(State{}, [][]byte{b}, true)[0].Text
}

// Clean reports whether a whole text has no secret in it.
func (r *Redactor) Clean(b []byte) bool { return r.find(b, 0, 0, false).verdict == none }

// verdict is what is known of a place in a text.
type verdict int

const (
	none  verdict = iota // no secret begins here
	open                 // what follows decides
	found                // one does
)

// hit is a place at which something begins, and the range to hide.
type hit struct {
	verdict
	at, from, to int
	key          bool // a private key begins
}

// find returns the first place at or after from that holds a secret, or may.
// Text before floor is hidden already and does not count. More says that the
// text may go on behind its end.
func (r *Redactor) find(text []byte, floor, from int, more bool) hit {
	for at := from; at < len(text); at++ {
		if at+1 < len(text) {
			if pair := uint(text[at])<<8 | uint(text[at+1]); r.pairs[pair>>6]&(1<<(pair&63)) == 0 {
				continue
			}
		} else if !more || !r.starts[text[at]].any {
			continue
		}
		if h := r.judge(text[floor:], at-floor, more); h.verdict != none {
			h.at, h.from, h.to = at, h.from+floor, h.to+floor
			return h
		}
	}
	return hit{}
}

// judge looks at one place.
func (r *Redactor) judge(text []byte, at int, more bool) hit {
	if len(text)-at > maxSecret {
		text, more = text[:at+maxSecret], false
	}
	s, rest := &r.starts[text[at]], text[at:]
	for _, v := range s.values {
		if bytes.HasPrefix(rest, v) {
			return hit{verdict: found, from: at, to: at + len(v)}
		}
		if more && bytes.HasPrefix(v, rest) {
			return hit{verdict: open}
		}
	}
	if len(s.rules) > 0 && boundary(text, at) {
		for _, rule := range s.rules {
			if n, v := rule.match(rest, more); v != none {
				return hit{verdict: v, from: at, to: at + n}
			}
		}
	}
	for _, shape := range s.shapes {
		if h := shape.find(text, at, more); h.verdict != none {
			return h
		}
	}
	return hit{}
}
