package redact

import "bytes"

const (
	// maxLine is how much of a line is held back at most. A longer one is
	// treated in pieces, each of which hands its end over to the next.
	maxLine = 64 << 10
	overlap = 4 << 10
	// maxKeyLines is how many lines a private key can have at most.
	maxKeyLines = 400
)

// Stream hides secrets in text that comes in chunks, cut anywhere: the output
// as a whole depends on the input as a whole and not on the cuts. It holds back
// the line that is not complete yet.
type Stream struct {
	redactor *Redactor
	held     []byte
	keyLines int // lines into a private key; 0 outside of one
}

// Stream makes a stream. It must be used by one goroutine at a time.
func (r *Redactor) Stream() *Stream { return &Stream{redactor: r} }

// Write takes the next chunk and returns what can be shown.
func (s *Stream) Write(chunk []byte) []byte {
	var out []byte
	for len(chunk) > 0 {
		n := bytes.IndexByte(chunk, '\n') + 1
		whole := n > 0
		if !whole {
			n = len(chunk)
		}
		if room := maxLine - len(s.held); n > room {
			n, whole = room, false
		}
		s.held = append(s.held, chunk[:n]...)
		chunk = chunk[n:]
		switch {
		case whole:
			out = s.line(out, s.held)
			s.held = s.held[:0]
		case len(s.held) == maxLine:
			var used int
			out, used = s.piece(out)
			s.held = append(s.held[:0], s.held[used:]...)
		}
	}
	return out
}

// Flush returns what is held back, as if the line ended here.
func (s *Stream) Flush() []byte {
	out := s.line(nil, s.held)
	s.held = s.held[:0]
	return out
}

// piece treats the front of an overlong line, up to a place that lies in no
// secret, and returns how much that was.
func (s *Stream) piece(out []byte) ([]byte, int) {
	cut := maxLine - overlap
	if s.keyLines == 0 {
		for at := 0; at < cut; {
			a, b, ok := s.redactor.find(s.held, at)
			if !ok || a >= cut {
				break
			}
			if b > cut {
				cut = b
			}
			at = b
		}
	}
	return s.line(out, s.held[:cut]), cut
}

var (
	keyBegin = []byte("-----BEGIN ")
	keyEnd   = []byte("-----END ")
	keyKind  = []byte("PRIVATE KEY")
	dashes   = []byte("-----")
)

// line appends a line with its secrets hidden.
func (s *Stream) line(out, line []byte) []byte {
	for len(line) > 0 {
		if s.keyLines > 0 {
			end, inside := s.insideKey(line)
			if inside {
				return out
			}
			line = line[end:]
			continue
		}
		begin, rest, found := findKey(line)
		out = s.plain(out, line[:begin])
		if !found {
			return out
		}
		out = append(out, Mask...)
		s.keyLines = 1
		line = line[rest:]
	}
	return out
}

// findKey finds the first line of a private key: where it begins and where
// what follows it does.
func findKey(line []byte) (begin, rest int, found bool) {
	for from := 0; ; {
		i := bytes.Index(line[from:], keyBegin)
		if i < 0 {
			return len(line), len(line), false
		}
		begin = from + i
		kind := line[begin+len(keyBegin):]
		j := bytes.Index(kind, dashes)
		if j >= 0 && j <= 60 && bytes.Contains(kind[:j], keyKind) {
			return begin, begin + len(keyBegin) + j + len(dashes), true
		}
		from = begin + len(keyBegin)
	}
}

// insideKey tells whether the whole line belongs to the private key, or else
// where in it the key ends.
func (s *Stream) insideKey(line []byte) (end int, inside bool) {
	if i := bytes.Index(line, keyEnd); i >= 0 {
		s.keyLines = 0
		tail := line[i+len(keyEnd):]
		if j := bytes.Index(tail, dashes); j >= 0 && j <= 60 {
			return i + len(keyEnd) + j + len(dashes), false
		}
		return i + len(keyEnd), false
	}
	s.keyLines++
	if s.keyLines > maxKeyLines || prose(line) {
		s.keyLines = 0 // it was never ended: a person only wrote about one
		return 0, false
	}
	return 0, true
}

// prose tells whether a line within a key is not part of one: it has words with
// spaces between, and is no header such as "Proc-Type: 4,ENCRYPTED".
func prose(line []byte) bool {
	text := bytes.TrimSpace(line)
	return bytes.Count(text, []byte(" ")) >= 3 && !bytes.Contains(text, []byte(": "))
}

// plain appends text with the secrets hidden that stand in one line.
func (s *Stream) plain(out, line []byte) []byte {
	at := 0
	for {
		a, b, ok := s.redactor.find(line, at)
		if !ok {
			return append(out, line[at:]...)
		}
		out = append(append(out, line[at:a]...), Mask...)
		at = b
	}
}
