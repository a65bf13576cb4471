package gitfiles

import (
	"bytes"
	"crypto/sha1"
	"os"
	"path/filepath"

	"coppice/internal/atomicfile"
)

// isUnchanged reports whether a file in a checkout is as it was staged. If it was
// written in the same moment as the index, its times do not show that, so its
// content is read.
func (f *indexEntry) isUnchanged(checkout string, index os.FileInfo) (bool, error) {
	path := filepath.Join(checkout, filepath.FromSlash(f.path))
	info, err := os.Lstat(path)
	if err != nil || f.marked || f.mode == ModeModule {
		return false, ErrUseGit
	}
	if f.mode != fileMode(info) {
		return false, ErrUseGit
	}
	if f.hasStat(info) && info.ModTime().Before(index.ModTime()) {
		return true, nil
	}
	return f.hasContent(path)
}

// fileMode returns the mode that git stages a file with, or "" for what it does not
// stage as a file.
func fileMode(info os.FileInfo) string {
	switch mode := info.Mode(); {
	case mode&os.ModeSymlink != 0:
		return ModeLink
	case !mode.IsRegular():
		return ""
	case mode&0o100 != 0:
		return modeExec
	}
	return modeFile
}

// hasStat reports whether a file has the stat data of the entry. Git does not compare
// the device and the owner either.
func (f *indexEntry) hasStat(info os.FileInfo) bool {
	now := f.stat
	if putStat(now[:], info) != nil {
		return false
	}
	same := func(from, to int) bool { return bytes.Equal(now[from:to], f.stat[from:to]) }
	return same(0, statDevice) && same(statInode, statMode) && same(statSize, len(now))
}

// hasContent reports whether a file has the content of the entry.
func (f *indexEntry) hasContent(path string) (bool, error) {
	var data []byte
	var err error
	if f.mode == ModeLink {
		var to string
		to, err = os.Readlink(path)
		data = []byte(to)
	} else {
		data, err = ReadRegular(path, maxObject)
	}
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
		return putStat(e, info)
	}, func(string, []byte) {})
	if err != nil {
		return err
	}
	sum := sha1.Sum(b[:len(b)-sha1.Size])
	copy(b[len(b)-sha1.Size:], sum[:])
	return atomicfile.Write(c.index, b, 0o644)
}
