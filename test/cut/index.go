//go:build linux

package cut

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A git index remembers the inode and the times of each file, so that git need
// not read a file that nobody touched. A replayed file has another inode and
// other times. restat gives the indexes of the tree those of the replayed files
// wherever they had those of the recorded ones: git believes them as it would
// have after the real cut.
func (r *Recording) restat() error {
	return filepath.WalkDir(r.first.root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.Name() != "index" || !d.Type().IsRegular() {
			return err
		}
		checkout := checkoutOf(filepath.Dir(path))
		if checkout == "" {
			return nil
		}
		return r.restatIndex(path, checkout)
	})
}

// checkoutOf returns the directory whose files an index in dir is about.
func checkoutOf(dir string) string {
	if filepath.Base(dir) == ".git" {
		return filepath.Dir(dir)
	}
	link, err := os.ReadFile(filepath.Join(dir, "gitdir"))
	if err != nil {
		return ""
	}
	return filepath.Dir(strings.TrimSpace(string(link)))
}

// The layout of an index of version 2 or 3: a header, and for each entry fields
// of fixed size, its name and zeros up to a multiple of eight.
const (
	indexHeader = 12
	indexFixed  = 62
	indexSum    = sha1.Size
)

func (r *Recording) restatIndex(path, checkout string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if len(b) < indexHeader+indexSum || string(b[:4]) != "DIRC" || binary.BigEndian.Uint32(b[4:]) > 3 {
		return nil
	}
	if sum := sha1.Sum(b[:len(b)-indexSum]); !bytes.Equal(sum[:], b[len(b)-indexSum:]) {
		return nil // half of an index is left as it is
	}
	changed := false
	at := indexHeader
	for range binary.BigEndian.Uint32(b[8:]) {
		name := at + indexFixed
		if binary.BigEndian.Uint16(b[at+60:])&0x4000 != 0 {
			name += 2 // more flags
		}
		end := name + bytes.IndexByte(b[name:], 0)
		changed = r.restatEntry(b[at:name], filepath.Join(checkout, string(b[name:end]))) || changed
		at += (end - at + 8) &^ 7
	}
	if !changed {
		return nil
	}
	sum := sha1.Sum(b[:len(b)-indexSum])
	copy(b[len(b)-indexSum:], sum[:])
	before, err := statOf(path)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, b, 0); err != nil {
		return err
	}
	return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{before.mtime, before.mtime}, 0)
}

// restatEntry gives one entry the inode and times that its file has now, if it
// had those of the recorded one.
func (r *Recording) restatEntry(fields []byte, path string) bool {
	rel, err := filepath.Rel(r.first.root, path)
	if err != nil {
		return false
	}
	for _, t := range []*Tree{r.first, r.last} {
		e := t.entries[rel]
		if e == nil || !bytes.Equal(fields[:24], indexStat(e.was)) || binary.BigEndian.Uint32(fields[36:]) != uint32(e.was.size) {
			continue
		}
		now, err := statOf(path)
		if err != nil || now.size != e.was.size || now == e.was {
			return false
		}
		copy(fields, indexStat(now))
		return true
	}
	return false
}

// indexStat writes the changing fields as an index has them: both times, the
// device and the inode. Git compares the device on no system by default.
func indexStat(s stat) []byte {
	var b []byte
	for _, v := range []int64{s.ctime.Sec, s.ctime.Nsec, s.mtime.Sec, s.mtime.Nsec, int64(s.dev), int64(s.ino)} {
		b = binary.BigEndian.AppendUint32(b, uint32(v))
	}
	return b
}
