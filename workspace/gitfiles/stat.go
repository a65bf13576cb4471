package gitfiles

import (
	"crypto/sha1"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"coppice/internal/atomicfile"
)

// isUnchanged reports whether a file in a checkout is as it was staged. If it was
// written in the same moment as the index, its times do not show that, so its
// content is read.
func (f indexEntry) isUnchanged(checkout string, index os.FileInfo) (bool, error) {
	path := filepath.Join(checkout, filepath.FromSlash(f.path))
	info, err := os.Lstat(path)
	if err != nil || f.marked {
		return false, ErrUseGit
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || f.mode == ModeLink || f.mode == ModeModule || !info.Mode().IsRegular() || (info.Mode()&0o100 != 0) != (f.mode == modeExec) {
		return false, ErrUseGit
	}
	ctime, mtime := changeTime(st), info.ModTime()
	var now [40]byte
	for i, n := range []int64{ctime.Unix(), int64(ctime.Nanosecond()), mtime.Unix(), int64(mtime.Nanosecond())} {
		binary.BigEndian.PutUint32(now[4*i:], uint32(n))
	}
	const inode, size = 20, 36
	binary.BigEndian.PutUint32(now[inode:], uint32(st.Ino))
	binary.BigEndian.PutUint32(now[size:], uint32(info.Size()))
	same := slices.Equal(now[:16], f.stat[:16]) && slices.Equal(now[inode:inode+4], f.stat[inode:inode+4]) && slices.Equal(now[size:], f.stat[size:])
	if same && mtime.Before(index.ModTime()) {
		return true, nil
	}
	data, err := ReadRegular(path, maxObject)
	if err != nil {
		return false, ErrUseGit
	}
	return hashOf(withHeader("blob", data)) == f.id(), nil
}

// Restat writes the stat data of files of a checkout into the index.
func (c *Checkout) Restat(names map[string]bool) error {
	if c.repo.Off {
		return ErrUseGit
	}
	b, err := ReadRegular(c.index, maxRestat)
	if err != nil {
		return err
	}
	err = eachEntry(b, func(e []byte, path, _ string) error {
		if !names[path] {
			return nil
		}
		info, err := os.Lstat(filepath.Join(c.dir, filepath.FromSlash(path)))
		if err != nil {
			return nil // the user removed it
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return ErrUseGit
		}
		ctime, mtime := changeTime(st), info.ModTime()
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
	return atomicfile.Write(c.index, b, 0o644)
}
