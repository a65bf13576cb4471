package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// readAhead is how much is read at once; small, because many spools are read
// at the same time.
const readAhead = 32 << 10

// Reader reads frames in order. It is not safe for concurrent use.
type Reader struct {
	dir    string
	file   *os.File
	start  int64 // offset of file's first byte
	offset int64 // of the next frame

	buf   []byte // bytes of the spool from at on
	space []byte // buf's memory
	at    int64  // offset of buf's first byte
}

// spaces is memory of readers that have reached the end. Most of many spools that
// are read at the same time do not grow at the moment.
var spaces = sync.Pool{New: func() any { b := make([]byte, readAhead); return &b }}

// release gives back the memory.
func (r *Reader) release() {
	if space := r.space; len(space) == readAhead {
		spaces.Put(&space)
	}
	r.buf, r.space = nil, nil
}

// NewReader reads the spool in dir from offset on, which must be the place of
// a frame or the spool's end.
func NewReader(dir string, offset int64) (*Reader, error) {
	if offset < 0 {
		return nil, fmt.Errorf("%w: offset %d", ErrCorrupt, offset)
	}
	r := &Reader{dir: dir, offset: offset, at: offset}
	if err := r.find(); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return r, nil
}

// Offset returns the place of the frame that Next returns next.
func (r *Reader) Offset() int64 { return r.offset }

// Next returns the next frame, whose data belongs to the caller. At the
// spool's current end it returns io.EOF, and continues from there if it is called
// after the spool grew. ErrCorrupt means that the bytes are not a frame.
func (r *Reader) Next() (Frame, error) {
	if r.file == nil {
		if err := r.find(); err != nil {
			return Frame{}, err
		}
	}
	for {
		f, err := r.read()
		if !errors.Is(err, io.EOF) {
			return f, err
		}
		r.release()
		if !r.followed() {
			return Frame{}, io.EOF
		}
		list, err := segments(r.dir)
		if err != nil {
			return Frame{}, err
		}
		if len(list) == 0 || list[len(list)-1].start <= r.start {
			return Frame{}, io.EOF
		}
		// There is a later segment, so this one will not grow any more. It may
		// have grown between the two looks above.
		if f, err = r.read(); !errors.Is(err, io.EOF) {
			return f, err
		}
		if err := r.advance(list[0].start); err != nil {
			return Frame{}, err
		}
	}
}

// followed reports whether there may be a later segment. The next one begins where
// this one ends.
func (r *Reader) followed() bool {
	if _, err := os.Lstat(segmentPath(r.dir, r.offset)); err == nil && r.offset > r.start {
		return true
	}
	info, err := r.file.Stat()
	return err != nil || r.start+info.Size() > r.offset // there is something that is not a frame
}

// Segment returns the offset at which the segment of the next frame begins.
func (r *Reader) Segment() int64 { return r.start }

// advance goes from a complete segment to the one behind it.
func (r *Reader) advance(first int64) error {
	f, err := os.Open(segmentPath(r.dir, r.offset))
	if errors.Is(err, fs.ErrNotExist) || (err == nil && r.offset == r.start) {
		if err == nil {
			f.Close()
		}
		if first > r.offset {
			return fmt.Errorf("%w: offset %d, the first is %d", ErrTrimmed, r.offset, first)
		}
		return fmt.Errorf("%w: offset %d", ErrCorrupt, r.offset)
	}
	if err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	r.file.Close()
	r.file, r.start, r.buf = f, r.offset, nil
	return nil
}

// find opens the segment that holds the offset.
func (r *Reader) find() error {
	list, err := segments(r.dir)
	if err != nil {
		return err
	}
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].start > r.offset {
			continue
		}
		f, err := os.Open(list[i].path)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: offset %d", ErrTrimmed, r.offset)
		}
		if err != nil {
			return fmt.Errorf("spool: %w", err)
		}
		if info, err := f.Stat(); err != nil || info.Size() < r.offset-list[i].start {
			f.Close()
			return errors.Join(fmt.Errorf("%w: offset %d is behind the end", ErrCorrupt, r.offset), err)
		}
		r.file, r.start = f, list[i].start
		return nil
	}
	if len(list) > 0 {
		return fmt.Errorf("%w: offset %d, the first is %d", ErrTrimmed, r.offset, list[0].start)
	}
	if r.offset > 0 {
		return fmt.Errorf("%w: offset %d of an empty spool", ErrCorrupt, r.offset)
	}
	return io.EOF
}

// read returns the frame at the offset of the present segment, or io.EOF when
// it is not there whole.
func (r *Reader) read() (Frame, error) {
	f, err := r.decode()
	if errors.Is(err, ErrCorrupt) {
		// What was read ahead may be the remains of a write that failed and
		// was taken back.
		r.buf = nil
		return r.decode()
	}
	return f, err
}

func (r *Reader) decode() (Frame, error) {
	head, err := r.bytes(headerSize)
	if err != nil {
		return Frame{}, err
	}
	n := int64(binary.LittleEndian.Uint32(head))
	if n > MaxData {
		return Frame{}, fmt.Errorf("%w: offset %d", ErrCorrupt, r.offset)
	}
	b, err := r.bytes(headerSize + n)
	if err != nil {
		return Frame{}, err
	}
	if int64(binary.LittleEndian.Uint32(b)) != n || binary.LittleEndian.Uint32(b[4:]) != checksum(r.offset, b) {
		return Frame{}, fmt.Errorf("%w: offset %d", ErrCorrupt, r.offset)
	}
	f := Frame{
		Offset: r.offset,
		Next:   r.offset + headerSize + n,
		At:     time.Unix(0, int64(binary.LittleEndian.Uint64(b[8:]))).UTC(),
		Kind:   Kind(b[16]),
		Data:   append([]byte(nil), b[headerSize:]...),
	}
	r.offset = f.Next
	return f, nil
}

// bytes returns the n bytes at the offset, or io.EOF when there are fewer.
func (r *Reader) bytes(n int64) ([]byte, error) {
	if have := r.at + int64(len(r.buf)) - r.offset; r.offset >= r.at && have >= n {
		return r.buf[r.offset-r.at:][:n], nil
	}
	info, err := r.file.Stat()
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	if r.start+info.Size()-r.offset < n {
		r.buf = nil
		return nil, io.EOF // allocate nothing for what a damaged length claims
	}
	switch {
	case n > readAhead && int64(len(r.space)) < n:
		r.release()
		r.space = make([]byte, n)
	case r.space == nil:
		r.space = *spaces.Get().(*[]byte)
	}
	got, err := r.file.ReadAt(r.space, r.offset-r.start)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("spool: %w", err)
	}
	r.buf, r.at = r.space[:got], r.offset
	if int64(got) < n {
		return nil, io.EOF
	}
	return r.buf[:n], nil
}

// Close closes the reader.
func (r *Reader) Close() error {
	r.release()
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
