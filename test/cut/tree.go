//go:build linux

package cut

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// entry is a file, directory or link of a tree.
type entry struct {
	mode   fs.FileMode
	data   []byte
	target string
	mtime  time.Time
	was    stat // in the tree that was taken
	now    stat // in the tree that was restored last
}

// stat shows whether a file was changed since.
type stat struct {
	dev, ino     uint64
	size         int64
	mtime, ctime unix.Timespec
	mode         uint32
}

func statOf(path string) (stat, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return stat{}, err
	}
	return stat{dev: uint64(st.Dev), ino: st.Ino, size: st.Size, mtime: st.Mtim, ctime: st.Ctim, mode: st.Mode}, nil
}

// Tree is the contents of a directory at one moment.
type Tree struct {
	root    string
	entries map[string]*entry // by path; the root is "."
}

// Take remembers the directory.
func Take(root string) (*Tree, error) {
	t := &Tree{root: root, entries: map[string]*entry{}}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		e := &entry{mode: info.Mode(), mtime: info.ModTime()}
		if e.was, err = statOf(path); err != nil {
			return err
		}
		e.now = e.was
		switch {
		case info.Mode().IsRegular():
			e.data, err = os.ReadFile(path)
		case info.Mode()&fs.ModeSymlink != 0:
			e.target, err = os.Readlink(path)
		case !info.IsDir():
			err = fmt.Errorf("%s is neither a file nor a directory nor a link", path)
		}
		t.entries[rel] = e
		return err
	})
	return t, err
}

// Restore makes the directory what it was when it was taken. Files that nobody
// touched since the last time stay as they are.
func (t *Tree) Restore() error {
	err := filepath.WalkDir(t.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(t.root, path)
		if err != nil {
			return err
		}
		e := t.entries[rel]
		if e != nil && e.mode.IsDir() && d.IsDir() {
			return os.Chmod(path, e.mode.Perm())
		}
		if e != nil && !e.mode.IsDir() && !d.IsDir() {
			if now, err := statOf(path); err == nil && now == e.now {
				return nil
			}
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, rel := range t.paths() {
		if err := t.entries[rel].write(filepath.Join(t.root, rel)); err != nil {
			return err
		}
	}
	return nil
}

// paths lists the tree, a directory before what is in it.
func (t *Tree) paths() []string {
	list := make([]string, 0, len(t.entries))
	for rel := range t.entries {
		list = append(list, rel)
	}
	slices.Sort(list)
	return list
}

// write makes the entry where it is missing.
func (e *entry) write(path string) (err error) {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	switch {
	case e.mode.IsDir():
		return errors.Join(os.Mkdir(path, 0o700), os.Chmod(path, e.mode.Perm()))
	case e.mode&fs.ModeSymlink != 0:
		err = os.Symlink(e.target, path)
	default:
		err = errors.Join(os.WriteFile(path, e.data, 0o600), os.Chmod(path, e.mode.Perm()))
	}
	at := unix.NsecToTimespec(e.mtime.UnixNano())
	err = errors.Join(err, unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW))
	if err == nil {
		e.now, err = statOf(path)
	}
	return err
}

// Diff lists the paths in which two trees differ, times apart.
func Diff(a, b *Tree) []string {
	var list []string
	for rel, x := range a.entries {
		switch y := b.entries[rel]; {
		case y == nil:
			list = append(list, rel+" is missing")
		case x.mode != y.mode:
			list = append(list, fmt.Sprintf("%s has mode %v, not %v", rel, y.mode, x.mode))
		case !bytes.Equal(x.data, y.data) || x.target != y.target:
			list = append(list, rel+" has other contents")
		}
	}
	for rel := range b.entries {
		if a.entries[rel] == nil {
			list = append(list, rel+" should not be there")
		}
	}
	slices.Sort(list)
	return list
}
