// Package redact hides secrets in text that will be stored or shown: text that looks
// like a known kind of credential, and known values.
//
// It does not find all secrets. It recognizes tokens by their form, so a password in
// prose stays visible.
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

// Mask replaces a secret.
const Mask = "[redacted]"

// MinValue is the length below which a known value is not hidden: hiding every "on"
// and "1234" would destroy the text and show the value at the same time.
const MinValue = 6

// maxSecret is the maximum length of a secret. Bytes beyond it do not affect the
// decision, so it limits how much of a text is undecided.
const maxSecret = 16 << 10

// MaxValue is the length up to which a line of a value is hidden everywhere.
const MaxValue = 4 << 10

// Redactor hides secrets. It is safe for concurrent use.
type Redactor struct {
	known atomic.Pointer[table] // replaced as a whole, never changed

	mu sync.Mutex // held by Add
}

// table is what secrets can begin with.
type table struct {
	pairs  [1 << 10]uint64 // one bit for each two bytes that one can begin with
	starts [256]start
}

// start is what can begin with a certain byte.
type start struct {
	any    bool
	values [][]byte // longest first
	rules  []rule
	shapes []shape
}

// begin notes that a secret can begin with two bytes. Most places of a text are
// ruled out by them.
func (t *table) begin(a, b byte) *start {
	pair := uint(a)<<8 | uint(b)
	t.pairs[pair>>6] |= 1 << (pair & 63)
	t.starts[a].any = true
	return &t.starts[a]
}

// New makes a Redactor for the known patterns and the given values. A value of
// several lines is hidden line by line.
func New(values ...string) *Redactor {
	t := &table{}
	for _, rule := range rules {
		s := t.begin(rule.prefix[0], rule.prefix[1])
		s.rules = append(s.rules, rule)
	}
	for _, shape := range shapes {
		for _, c := range []byte(shape.first) {
			t.starts[c].shapes = append(t.starts[c].shapes, shape)
			for _, d := range []byte(shape.second) {
				t.begin(c, d)
			}
		}
	}
	r := &Redactor{}
	r.known.Store(t)
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
	t := *r.known.Load()
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); len(line) < MinValue {
			continue
		}
		for _, form := range forms(line) {
			s := t.begin(form[0], form[1])
			at, found := slices.BinarySearchFunc(s.values, form, longer)
			if !found {
				s.values = slices.Insert(slices.Clone(s.values), at, form)
			}
		}
	}
	r.known.Store(&t)
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
// Text before start is hidden already and does not count. More says that more text
// may follow.
func (r *Redactor) find(text []byte, start, from int, more bool) hit {
	t := r.known.Load()
	for at := from; at < len(text); at++ {
		if at+1 < len(text) {
			if pair := uint(text[at])<<8 | uint(text[at+1]); t.pairs[pair>>6]&(1<<(pair&63)) == 0 {
				continue
			}
		} else if !more || !t.starts[text[at]].any {
			continue
		}
		if h := t.judge(text[start:], at-start, more); h.verdict != none {
			h.at, h.from, h.to = at, h.from+start, h.to+start
			return h
		}
	}
	return hit{}
}

// judge looks at one place.
func (t *table) judge(text []byte, at int, more bool) hit {
	if len(text)-at > maxSecret {
		text, more = text[:at+maxSecret], false
	}
	s, rest := &t.starts[text[at]], text[at:]
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
