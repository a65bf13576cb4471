package spool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Writer appends to a spool. It is not safe for concurrent use.
type Writer struct {
	dir     string
	segment int64 // size at which a segment is full

	file     *os.File
	start    int64    // offset of file's first byte
	end      int64    // offset of the spool's end
	unsynced []string // full segments whose bytes may not be on the disk yet
	buf      []byte
	broken   error // set when the file's end could not be restored
}

// Open opens a spool for writing and makes it where there is none. A torn tail
// is cut off.
func Open(dir string) (*Writer, error) { return open(dir, SegmentSize) }

func open(dir string, size int64) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	list, err := segments(dir)
	if err != nil {
		return nil, err
	}
	w := &Writer{dir: dir, segment: size}
	if len(list) == 0 {
		return w, w.begin(0)
	}
	last := list[len(list)-1]
	w.file, err = os.OpenFile(last.path, os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	w.start = last.start
	if err := w.cut(); err != nil {
		w.file.Close()
		return nil, err
	}
	for _, s := range list[:len(list)-1] {
		w.unsynced = append(w.unsynced, s.path)
	}
	return w, nil
}

// cut sets the end behind the last good frame and removes what follows it.
func (w *Writer) cut() error {
	r := &Reader{dir: w.dir, file: w.file, start: w.start, offset: w.start}
	for {
		_, err := r.read()
		if errors.Is(err, io.EOF) || errors.Is(err, ErrCorrupt) {
			break
		}
		if err != nil {
			return err
		}
	}
	w.end = r.offset
	return w.restore()
}

// restore makes the file end where the spool ends.
func (w *Writer) restore() error {
	if err := w.file.Truncate(w.end - w.start); err != nil {
		return fmt.Errorf("spool: cut: %w", err)
	}
	if _, err := w.file.Seek(w.end-w.start, io.SeekStart); err != nil {
		return fmt.Errorf("spool: cut: %w", err)
	}
	return nil
}

// begin makes the segment that starts at offset the present one.
func (w *Writer) begin(offset int64) error {
	f, err := os.OpenFile(segmentPath(w.dir, offset), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	if w.file != nil {
		w.unsynced = append(w.unsynced, w.file.Name())
		if err := w.file.Close(); err != nil {
			f.Close()
			os.Remove(f.Name())
			return fmt.Errorf("spool: %w", err)
		}
	}
	w.file, w.start, w.end = f, offset, offset
	return nil
}

// Append writes one frame and returns its offset. After an error the spool
// ends where it ended before.
func (w *Writer) Append(at time.Time, kind Kind, data []byte) (int64, error) {
	if w.broken != nil {
		return 0, w.broken
	}
	if len(data) > MaxData {
		return 0, ErrTooLarge
	}
	if w.end-w.start >= w.segment {
		if err := w.begin(w.end); err != nil {
			return 0, err
		}
	}
	w.buf = encode(w.buf[:0], w.end, at, kind, data)
	n := len(w.buf)
	_, err := w.file.Write(w.buf)
	if cap(w.buf) > 2*MaxRaw {
		w.buf = nil // one large frame must not keep its memory
	}
	if err != nil {
		if cut := w.restore(); cut != nil {
			w.broken = cut
		}
		return 0, fmt.Errorf("spool: %w", err)
	}
	offset := w.end
	w.end += int64(n)
	return offset, nil
}

// Offset returns the spool's end: where the next frame will stand.
func (w *Writer) Offset() int64 { return w.end }

// Sync brings everything appended so far to the disk.
func (w *Writer) Sync() error {
	for len(w.unsynced) > 0 {
		if err := syncPath(w.unsynced[0]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("spool: sync: %w", err)
		}
		w.unsynced = w.unsynced[1:]
	}
	if err := w.file.Sync(); err != nil {
		return fmt.Errorf("spool: sync: %w", err)
	}
	if err := syncPath(w.dir); err != nil {
		return fmt.Errorf("spool: sync: %w", err)
	}
	return nil
}

// Close syncs and closes.
func (w *Writer) Close() error {
	return errors.Join(w.Sync(), w.file.Close())
}

// syncPath syncs a file or directory by name; the kernel keeps no account of
// which descriptor wrote what, so any will do.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
