// Package disk measures the disk space of directories.
package disk

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
)

// Size is the disk space of files, which differs from their lengths for files with
// holes. Partial means that not all of them were counted.
type Size struct {
	Bytes   int64
	Files   int64
	Partial bool
}

// Add returns the sum of two sizes.
func (s Size) Add(o Size) Size {
	return Size{Bytes: s.Bytes + o.Bytes, Files: s.Files + o.Files, Partial: s.Partial || o.Partial}
}

// file identifies a file independently of its path.
type file struct{ device, node uint64 }

// Of measures a file or everything below a directory. It follows no links and counts
// a file with several names once. It ignores files that are removed at the same
// time. Files that cannot be read, and the end of ctx, make the size partial. A path
// that does not exist has size 0.
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
			return nil // it was removed
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			s.Bytes += info.Size()
		} else if id := (file{uint64(st.Dev), uint64(st.Ino)}); st.Nlink < 2 || d.IsDir() || !seen[id] {
			if st.Nlink > 1 && !d.IsDir() {
				seen[id] = true
			}
			s.Bytes += int64(st.Blocks) * 512 // the unit does not depend on the file system
		}
		if !d.IsDir() {
			s.Files++
		}
		return nil
	})
	s.Partial = s.Partial || err != nil
	return s
}

// Free returns the space that is left for the user on the file system of a path.
func Free(path string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}
