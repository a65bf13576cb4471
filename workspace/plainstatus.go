package workspace

import (
	"crypto/sha1"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// unchanged tells whether a file in a checkout is as it was staged. One that was
// written in the moment in which the index was cannot be told by its times, so it
// is read.
func (f stagedFile) unchanged(checkout string, index os.FileInfo) (bool, error) {
	path := filepath.Join(checkout, filepath.FromSlash(f.path))
	info, err := os.Lstat(path)
	if err != nil || f.odd {
		return false, errOdd
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || f.mode == modeLink || f.mode == modeModule || !info.Mode().IsRegular() || (info.Mode()&0o100 != 0) != (f.mode == "100755") {
		return false, errOdd
	}
	ctime, mtime := changedAt(st), info.ModTime()
	var now [40]byte
	for i, n := range []int64{ctime.Unix(), int64(ctime.Nanosecond()), mtime.Unix(), int64(mtime.Nanosecond())} {
		binary.BigEndian.PutUint32(now[4*i:], uint32(n))
	}
	const inode, size = 20, 36
	binary.BigEndian.PutUint32(now[inode:], uint32(st.Ino))
	binary.BigEndian.PutUint32(now[size:], uint32(info.Size()))
	if same := slices.Equal(now[:16], f.seen[:16]) && slices.Equal(now[inode:inode+4], f.seen[inode:inode+4]) && slices.Equal(now[size:], f.seen[size:]); same && mtime.Before(index.ModTime()) {
		return true, nil
	}
	data, err := readRegular(path, maxObject)
	if err != nil {
		return false, errOdd
	}
	return hashOf(whole("blob", data)) == f.id(), nil
}

// mostIndex bounds an index whose stat data is changed here.
const mostIndex = 64 << 20

// restat writes the stat data of files of a checkout into an index. It is odd
// where git must do it.
func restat(index, checkout string, names map[string]bool) error {
	b, err := readRegular(index, mostIndex)
	if err != nil {
		return err
	}
	err = eachEntry(b, func(e []byte, path string) error {
		if !names[path] {
			return nil
		}
		info, err := os.Lstat(filepath.Join(checkout, filepath.FromSlash(path)))
		if err != nil {
			return nil // the person removed it
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return errOdd
		}
		ctime, mtime := changedAt(st), info.ModTime()
		for i, n := range []uint32{uint32(ctime.Unix()), uint32(ctime.Nanosecond()), uint32(mtime.Unix()), uint32(mtime.Nanosecond()), uint32(st.Dev), uint32(st.Ino)} {
			binary.BigEndian.PutUint32(e[4*i:], n)
		}
		for i, n := range []uint32{st.Uid, st.Gid, uint32(info.Size())} {
			binary.BigEndian.PutUint32(e[28+4*i:], n)
		}
		return nil
	})
	if err != nil {
		return err
	}
	sum := sha1.Sum(b[:len(b)-sha1.Size])
	copy(b[len(b)-sha1.Size:], sum[:])
	return replaceFile(index, b)
}
