// Package disk measures what directories take on disk.
package disk

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
)

// Size is what files take: the space on disk, not their lengths, which differ
// for files with holes. Partial tells that not all of them were counted.
type Size struct {
	Bytes   int64
	Files   int64
	Partial bool
}

// Add returns the sum of two sizes.
func (s Size) Add(o Size) Size {
	return Size{Bytes: s.Bytes + o.Bytes, Files: s.Files + o.Files, Partial: s.Partial || o.Partial}
}

// file names a file whatever its path.
type file struct{ device, node uint64 }

// Of measures a file or everything below a directory. It follows no links and
// counts a file with several names once. What vanishes meanwhile or cannot be
// read is left out; the latter makes the size partial, as does the end of ctx.
// What does not exist takes nothing.
func Of(ctx context.Context, path string) (s Size) {
	seen := map[file]bool{}
	err := filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			s.Partial = s.Partial || !errors.Is(err, fs.ErrNotExist)
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil // it vanished
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			s.Bytes += info.Size()
		} else if id := (file{uint64(st.Dev), uint64(st.Ino)}); st.Nlink < 2 || d.IsDir() || !seen[id] {
			if st.Nlink > 1 && !d.IsDir() {
				seen[id] = true
			}
			s.Bytes += int64(st.Blocks) * 512 // whatever the disk's own blocks are
		}
		if !d.IsDir() {
			s.Files++
		}
		return nil
	})
	s.Partial = s.Partial || err != nil
	return s
}

// Free tells how much room the file system of a path has for its user.
func Free(path string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}
