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
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Mask is what stands in place of a secret.
const Mask = "[redacted]"

// MinValue is the length below which a told value is not hidden: hiding every
// "on" and "1234" would destroy the text and tell the value at the same time.
const MinValue = 6

// MaxValue is the length up to which a line of a value is hidden wherever it
// stands, also in lines that are too long to be held back whole.
const MaxValue = overlap

// Redactor hides secrets. It is safe for concurrent use.
type Redactor struct {
	starts atomic.Pointer[table] // replaced as a whole, never changed

	mu sync.Mutex // held by Add
}

// table is what can begin with each byte.
type table [256]start

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
	t := &table{}
	for _, rule := range rules {
		s := &t[rule.prefix[0]]
		s.any, s.rules = true, append(s.rules, rule)
	}
	for _, shape := range shapes {
		for _, c := range []byte(shape.first) {
			t[c].any, t[c].shapes = true, append(t[c].shapes, shape)
		}
	}
	r := &Redactor{}
	r.starts.Store(t)
	for _, v := range values {
		r.Add(v)
	}
	return r
}

// Add hides a further value from now on, in everything that uses this Redactor.
// The value is hidden as it is, and as it is written in JSON and in addresses.
func (r *Redactor) Add(value string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := *r.starts.Load()
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); len(line) < MinValue {
			continue
		}
		for _, form := range forms(line) {
			s := &t[form[0]]
			at, found := slices.BinarySearchFunc(s.values, form, longer)
			if !found {
				s.any, s.values = true, slices.Insert(slices.Clone(s.values), at, form)
			}
		}
	}
	r.starts.Store(&t)
}

// longer orders values, the longest first.
func longer(a, b []byte) int { return cmp.Or(len(b)-len(a), bytes.Compare(a, b)) }

// forms are the ways in which a value is written.
func forms(value string) [][]byte {
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // of text, into memory
	quoted, _ := json.Marshal(value)
	all := [][]byte{[]byte(value)}
	for _, text := range [][]byte{bytes.TrimSpace(plain.Bytes()), quoted} {
		all = append(all, text[1:len(text)-1]) // without the quotes
	}
	return append(all, []byte(url.QueryEscape(value)), []byte(url.PathEscape(value)))
}

// Writer returns a writer that hides secrets in what is written to w. Each write
// is judged by itself, so it is for whole lines, such as those of a log.
func (r *Redactor) Writer(w io.Writer) io.Writer { return writer{r, w} }

type writer struct {
	r *Redactor
	w io.Writer
}

func (w writer) Write(p []byte) (int, error) {
	if _, err := w.w.Write(w.r.Bytes(p)); err != nil {
		return 0, err
	}
	return len(p), nil
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
	starts := r.starts.Load()
	for at := from; at < len(line); at++ {
		s := &starts[line[at]]
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
