package workspace

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// keptChanges lists the tracked files of a checkout that differ from a commit. It
// is odd when there are others than those that are kept, when something is
// staged, and wherever git must look: then git tells what it is.
func keptChanges(common string, t worktree, commit string, keep []string) ([]string, error) {
	file := filepath.Join(t.git, "index")
	info, err := os.Lstat(file)
	if err != nil || !plainObjects(common) {
		return nil, errOdd
	}
	files, err := readIndex(file)
	if err != nil {
		return nil, err
	}
	at, err := readCommit(common, commit)
	if err != nil {
		return nil, err
	}
	if tree, err := hashStaged(files); err != nil || tree != at.tree {
		return nil, errOdd
	}
	var changed []string
	for _, f := range files {
		same, err := f.unchanged(t.path, info)
		if err != nil {
			return nil, err
		}
		if same {
			continue
		}
		if !slices.Contains(keep, f.path) {
			return nil, errOdd
		}
		changed = append(changed, f.path)
	}
	return changed, nil
}

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
	return hashOf(whole("blob", data)) == f.id, nil
}
