package browser

import (
	"bytes"
	"io"
)

const (
	mostLine = 32 << 20 // bytes of a line that is looked at; longer ones pass unseen
	calmLine = 1 << 20  // a buffer above this is given back after its line
)

// relay copies lines and shows each to see before it is passed on, without its
// end. Not a byte is changed, whatever comes: a line that is too long passes as
// it comes and is not shown, and neither is a last line without an end.
func relay(dst io.Writer, src io.Reader, most int, see func(line []byte)) error {
	r := &relaying{dst: dst, most: most, see: see}
	buf := make([]byte, 64<<10)
	for {
		n, err := src.Read(buf)
		if failed := r.take(buf[:n]); failed != nil {
			return failed
		}
		if err == nil {
			continue
		}
		if failed := r.pass(r.line); failed != nil {
			return failed
		}
		if err == io.EOF {
			return nil
		}
		return err
	}
}

// relaying is one direction of a conversation.
type relaying struct {
	dst  io.Writer
	most int
	see  func(line []byte)
	line []byte // what has come of the present line
	long bool   // the present line is too long, and its beginning has passed
}

func (r *relaying) take(b []byte) error {
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n') + 1
		part := b
		if end > 0 {
			part = b[:end]
		}
		b = b[len(part):]
		if r.long {
			r.long = end == 0
			if err := r.pass(part); err != nil {
				return err
			}
			continue
		}
		r.line = append(r.line, part...)
		tooLong := len(r.line) > r.most
		if end == 0 && !tooLong {
			continue
		}
		if !tooLong {
			r.see(r.line[:len(r.line)-1])
		}
		r.long = end == 0
		if err := r.pass(r.line); err != nil {
			return err
		}
		if r.line = r.line[:0]; cap(r.line) > calmLine {
			r.line = nil
		}
	}
	return nil
}

func (r *relaying) pass(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	_, err := r.dst.Write(b)
	return err
}
