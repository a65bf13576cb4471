package redact

import "slices"

// State is what has to be known about a text to handle what follows it. Its zero
// value is the start of a text. It contains only bytes that were shown, so it can
// be stored with the text.
type State struct {
	Before []byte `json:"before,omitempty"` // the last bytes, if a word may continue
	Shown  []byte `json:"shown,omitempty"`  // the end of the text, if it may be the start of a secret and was shown anyway
	Skip   int    `json:"skip,omitempty"`   // so many bytes of what follows belong to a secret that is hidden
	Key    int    `json:"key,omitempty"`    // lines into a private key; 0 outside of one
}

// Zero reports whether nothing is to be remembered.
func (s State) Zero() bool { return len(s.Before)+len(s.Shown)+s.Skip+s.Key == 0 }

// Pieces hides the secrets in pieces of one text that follow each other. State
// is that of the text before them. The result does not depend on how the text is
// cut: a secret in several pieces is hidden in all of them, and the mask is at its
// start. Pieces returns only leading pieces that no later text can change, each
// with the state after it. The caller passes the others again with the text that
// follows.
//
// If last is true, all pieces are returned, as if the text ended here. If it continues,
// the rest of a secret that was partly shown is hidden.
func (r *Redactor) Pieces(st State, pieces [][]byte, last bool) (done []Piece) {
	s := r.scan(st, slices.Concat(pieces...), last, false)
	at := s.base
	for _, p := range pieces {
		if at+len(p) > s.decided {
			break
		}
		text := s.masked(at, at+len(p), func(int) string { return Mask })
		at += len(p)
		done = append(done, Piece{Text: text, Behind: s.state(at)})
	}
	return done
}

// Piece is a part of a text with its secrets hidden.
type Piece struct {
	Text   []byte
	Behind State
}

// cut is a range of a text that is hidden.
type cut struct {
	at       int // where it is recognized, such as at "Bearer"
	from, to int
	bare     bool // no mask stands for it: it belongs to the one before
	key      int  // lines into a private key behind it
}

// scan is a text that was looked at.
type scan struct {
	began   State
	text    []byte // with what began remembers before it
	base    int    // where the new text begins
	cuts    []cut
	decided int
	open    int // from here on it may begin a secret; len(text) when nothing may
	key     int // lines into a private key where it is decided
}

func (r *Redactor) scan(st State, text []byte, last, screen bool) *scan {
	s := &scan{began: st, text: text, base: len(st.Before) + len(st.Shown), key: st.Key}
	if s.base > 0 {
		s.text = slices.Concat(st.Before, st.Shown, text)
	}
	at := len(st.Before)
	if st.Skip > 0 {
		at = min(st.Skip, len(text))
		s.cuts = append(s.cuts, cut{to: at, bare: true, key: st.Key})
		if at < st.Skip {
			// All of it is hidden, and more of what follows.
			s.cuts[0].to = st.Skip
			s.decided, s.open = len(text), len(text)
			return s
		}
	}
	s.open = r.look(s, at, true, screen)
	at = s.open
	if last {
		at = r.look(s, at, false, screen)
	}
	s.decided = max(at, s.base)
	return s
}

// look notes what is hidden from a place on. It returns where that is not
// decided, or the end.
func (r *Redactor) look(s *scan, at int, more, screen bool) int {
	for at < len(s.text) {
		if s.key > 0 && !screen {
			size, next, v := keyLine(s.text[at:], s.key, more)
			if v == open {
				return at
			}
			if size > 0 {
				s.cuts = append(s.cuts, cut{at: at, from: at, to: at + size, bare: true, key: next})
			}
			at, s.key = at+size, next
			continue
		}
		h := r.next(s, at, more)
		switch {
		case h.verdict == none:
			return len(s.text)
		case h.verdict == open:
			return h.at
		case h.from == h.to: // the end of a key
			at, s.key = h.at+1, 0
			continue
		case h.key:
			s.key = (s.key + 1) % maxKeyLines
		}
		s.cuts = append(s.cuts, cut{at: h.at, from: h.from, to: h.to, key: s.key})
		at = h.to
	}
	return at
}

// next finds the next place; on a screen that shows a key, also its lines.
func (r *Redactor) next(s *scan, at int, more bool) hit {
	start := 0
	if n := len(s.cuts); n > 0 {
		start = min(s.cuts[n-1].to, at)
	}
	h := r.find(s.text, start, at, more)
	if s.key == 0 {
		return h
	}
	end := len(s.text)
	if h.verdict != none {
		end = h.at
	}
	for i := at; i < end; i++ {
		if k := keyOnScreen(s.text[start:], i-start, more); k.verdict != none {
			return hit{verdict: k.verdict, at: i, from: k.from + start, to: k.to + start, key: k.key}
		}
	}
	return h
}

// masked returns a range of the text without hidden bytes. Fill returns what replaces
// n bytes.
func (s *scan) masked(from, to int, fill func(size int) string) []byte {
	first := slices.IndexFunc(s.cuts, func(c cut) bool { return c.to > from })
	if first < 0 || s.cuts[first].from >= to {
		return s.text[from:to:to]
	}
	out, at := make([]byte, 0, to-from+len(Mask)), from
	for _, c := range s.cuts[first:] {
		if c.from >= to {
			break
		}
		out = append(out, s.text[at:max(at, c.from)]...)
		if begin := max(c.from, s.base); !c.bare && begin >= from { // of one that was shown in part, the rest
			out = append(out, fill(c.to-begin)...)
		}
		at = min(c.to, to)
	}
	return append(out, s.text[at:to]...)
}

// state returns what is to be remembered at a place that is decided.
func (s *scan) state(at int) State {
	if at == s.base {
		return s.began
	}
	st, start, first := State{}, 0, at
	if at == len(s.text) {
		first = min(at, s.open)
	}
	for _, c := range s.cuts {
		switch {
		case c.to <= at:
			start = c.to
			st.Key = c.key
		case c.from < at:
			return State{Skip: c.to - at, Key: c.key}
		default:
			first = min(first, c.at)
		}
	}
	if start < at {
		st.Key = 0
	}
	if at == s.decided {
		st.Key = s.key
	}
	if start <= first && first < at {
		st.Shown, at = slices.Clone(s.text[first:at]), first
	}
	if at > start && !spaces[s.text[at-1]] {
		st.Before = slices.Clone(s.text[max(start, at-lookBehind):at])
	}
	return st
}

// spaces are the bytes behind which nothing needs to be remembered.
var spaces = set(" \t\r\n")
