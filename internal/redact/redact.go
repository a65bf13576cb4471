// Package redact hides secrets in text that is about to be kept or shown: what
// looks like a known kind of credential, and the values it was told.
//
// It is a net, not a wall. It knows tokens that carry their kind in their own
// text; a password in prose passes through.
package redact

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// Mask is what stands in place of a secret.
const Mask = "[redacted]"

// MinValue is the length below which a told value is not hidden: hiding every
// "on" and "1234" would destroy the text and tell the value at the same time.
const MinValue = 6

// Redactor hides secrets. It is immutable and safe for concurrent use.
type Redactor struct {
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
// several lines is hidden line by line.
func New(values ...string) *Redactor {
	r := &Redactor{}
	for _, v := range values {
		for line := range strings.Lines(v) {
			line = strings.TrimSpace(line)
			if len(line) < MinValue {
				continue
			}
			s := &r.starts[line[0]]
			s.values = append(s.values, []byte(line))
		}
	}
	for _, rule := range rules {
		s := &r.starts[rule.prefix[0]]
		s.rules = append(s.rules, rule)
	}
	for _, shape := range shapes {
		for _, c := range []byte(shape.first) {
			r.starts[c].shapes = append(r.starts[c].shapes, shape)
		}
	}
	for i := range r.starts {
		s := &r.starts[i]
		slices.SortFunc(s.values, func(a, b []byte) int { return cmp.Or(len(b)-len(a), bytes.Compare(a, b)) })
		s.any = len(s.values)+len(s.rules)+len(s.shapes) > 0
	}
	return r
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
	s := r.Stream()
	return append(s.Write(b), s.Flush()...)
}

// find returns the first secret in the line at or after from.
func (r *Redactor) find(line []byte, from int) (int, int, bool) {
	for at := from; at < len(line); at++ {
		s := &r.starts[line[at]]
		if !s.any {
			continue
		}
		for _, v := range s.values {
			if bytes.HasPrefix(line[at:], v) {
				return at, at + len(v), true
			}
		}
		if len(s.rules) > 0 && boundary(line, at) {
			for _, rule := range s.rules {
				if n := rule.match(line[at:]); n > 0 {
					return at, at + n, true
				}
			}
		}
		for _, shape := range s.shapes {
			if a, b, ok := shape.find(line, at); ok {
				return a, b, true
			}
		}
	}
	return 0, 0, false
}
