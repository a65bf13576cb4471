// Package spool is an append-only file of frames, cut into segments.
//
// A spool is a directory. Each segment is named by the logical offset of its
// first byte, so an offset always names the same frame, also after the segments
// before it were trimmed. A frame is
//
//	length  uint32  of the data
//	sum     uint32  crc32c of the frame's offset and everything behind the sum
//	time    int64   nanoseconds since 1970
//	kind    byte
//	data    length bytes
//
// in little endian, and never spans two segments. The frame's offset is part
// of its sum, so bytes that belong elsewhere are never taken for a frame.
//
// There is one Writer. It appends with one write call per frame and syncs only
// when asked, so what a crash of the machine leaves behind is a prefix; opening
// the spool again cuts a torn tail at its last good frame. Any number of
// Readers, in any process, can read at the same time.
package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind says what a frame holds.
type Kind byte

// The kinds of frame. They are part of the file format: never renumber them.
const (
	Stdout Kind = 1 // raw bytes of the standard output
	Stderr Kind = 2 // raw bytes of the standard error
	Event  Kind = 3 // a normalized event
	Host   Kind = 4 // a note of the writer's own
	App    Kind = 5 // raw bytes of an app that is served beside
	Image  Kind = 6 // a picture, whole
)

const (
	// SegmentSize is how large a segment grows before the next one begins.
	SegmentSize = 4 << 20
	// MaxRaw is how much one raw frame should hold at most.
	MaxRaw = 64 << 10
	// MaxData is how much any frame can hold.
	MaxData = 16 << 20

	headerSize = 17
	suffix     = ".seg"
)

var (
	// ErrCorrupt says that the bytes at an offset are not a frame.
	ErrCorrupt = errors.New("spool: no frame here")
	// ErrTrimmed says that an offset lies before the first segment.
	ErrTrimmed = errors.New("spool: trimmed")
	// ErrTooLarge says that data exceeds MaxData.
	ErrTooLarge = errors.New("spool: data too large for a frame")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Frame is one entry of a spool. Next is the offset of the frame behind it.
type Frame struct {
	Offset int64
	Next   int64
	At     time.Time
	Kind   Kind
	Data   []byte
}

// Size returns how many bytes of the spool a frame with n bytes of data takes.
func Size(n int) int64 { return headerSize + int64(n) }

// encode appends the frame to buf.
func encode(buf []byte, offset int64, at time.Time, kind Kind, data []byte) []byte {
	start := len(buf)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(len(data)))
	buf = binary.LittleEndian.AppendUint32(buf, 0)
	buf = binary.LittleEndian.AppendUint64(buf, uint64(at.UnixNano()))
	buf = append(buf, byte(kind))
	buf = append(buf, data...)
	frame := buf[start:]
	binary.LittleEndian.PutUint32(frame[4:], checksum(offset, frame))
	return buf
}

// checksum covers the offset, the length and all that follows the sum.
func checksum(offset int64, frame []byte) uint32 {
	var place [12]byte
	binary.LittleEndian.PutUint64(place[:], uint64(offset))
	copy(place[8:], frame[:4])
	return crc32.Update(crc32.Checksum(place[:], castagnoli), castagnoli, frame[8:])
}

// segment is a file that holds the frames from start on.
type segment struct {
	start int64
	path  string
}

func segmentPath(dir string, start int64) string {
	return filepath.Join(dir, fmt.Sprintf("%020d%s", start, suffix))
}

// segments lists a spool's segments in order. A spool that does not exist yet
// has none.
func segments(dir string) ([]segment, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	var list []segment
	for _, e := range entries {
		digits, ok := strings.CutSuffix(e.Name(), suffix)
		if !ok {
			continue
		}
		start, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || start < 0 {
			continue
		}
		list = append(list, segment{start: start, path: filepath.Join(dir, e.Name())})
	}
	slices.SortFunc(list, func(a, b segment) int { return int(min(max(a.start-b.start, -1), 1)) })
	return list, nil
}

// Trim removes the segments that lie wholly before upto. The last one always
// stays, so that the spool keeps knowing where it ends.
func Trim(dir string, upto int64) error {
	list, err := segments(dir)
	if err != nil {
		return err
	}
	for i := 0; i+1 < len(list) && list[i+1].start <= upto; i++ {
		if err := os.Remove(list[i].path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("spool: trim: %w", err)
		}
	}
	return nil
}
