package ingest

import "slices"

// excerpt keeps the start and the end of a text.
type excerpt struct {
	head, tail []byte
	size       int64 // of the whole text
}

func (e *excerpt) write(b []byte) {
	e.size += int64(len(b))
	n := min(len(b), liveHead-len(e.head))
	e.head = append(e.head, b[:n]...)
	e.tail = append(e.tail, b[n:]...)
	if len(e.tail) > 2*liveTail { // it grows to twice its size before it is cut, so each byte moves once
		e.tail = slices.Clone(e.tail[len(e.tail)-liveTail:])
	}
}

// read returns at most this many bytes after an offset, and where they start. If
// the text at the offset was not kept, they start later.
func (e *excerpt) read(after int64, most int) ([]byte, int64) {
	if after < int64(len(e.head)) {
		part := e.head[max(after, 0):]
		return slices.Clone(part[:min(len(part), most)]), max(after, 0)
	}
	start := e.size - int64(len(e.tail))
	after = max(after, start)
	if after >= e.size {
		return nil, after
	}
	part := e.tail[after-start:]
	return slices.Clone(part[:min(len(part), most)]), after
}
