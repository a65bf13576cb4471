package features

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"coppice"
)

// File is a features file in a checkout. It follows no symbolic link out of the
// checkout.
type File struct {
	Root string // the checkout
	Name string // relative to it, with slashes
}

// ErrChanged says that the file has changed since it was read.
var ErrChanged = errors.New("features: the file has changed")

// mostHops limits a chain of symbolic links.
const mostHops = 16

// place follows symbolic links and opens the folder of the file itself. It
// returns its name there and its path within the checkout.
func (f File) place() (dir *os.Root, base, rel string, err error) {
	root, err := os.OpenRoot(f.Root)
	if err != nil {
		return nil, "", "", err
	}
	defer root.Close() // nothing was written
	rel = path.Clean(f.Name)
	for range mostHops {
		target, err := root.Readlink(rel)
		if err != nil { // not a link, or missing: opening it reports that
			dir, err := root.OpenRoot(path.Dir(rel))
			return dir, path.Base(rel), rel, err
		}
		if filepath.IsAbs(target) {
			if target, err = filepath.Rel(f.Root, target); err != nil {
				return nil, "", "", err
			}
			rel = filepath.ToSlash(target)
		} else {
			rel = path.Join(path.Dir(rel), filepath.ToSlash(target))
		}
		if !filepath.IsLocal(rel) {
			return nil, "", "", coppice.Errorf(coppice.EInvalid, "%s leaves the repository: it links to %s", f.Name, target).
				WithFix("make it a file of the repository")
		}
	}
	return nil, "", "", coppice.Errorf(coppice.EInvalid, "%s is a chain of too many symbolic links", f.Name).WithFix("make it a plain file")
}

// Paths returns the names of the file within the checkout: its configured name
// and, if that is a symbolic link, its target.
func (f File) Paths() []string {
	names := []string{path.Clean(f.Name)}
	if dir, _, rel, err := f.place(); err == nil {
		_ = dir.Close() // nothing was written
		if rel != names[0] {
			names = append(names, rel)
		}
	}
	return names
}

// Folders returns the folders, within the checkout, in which events occur when
// the file is replaced: that of its name, that of its target, and those above
// them.
func (f File) Folders() []string {
	var all []string
	have := map[string]bool{}
	for _, name := range f.Paths() {
		for d := path.Dir(name); !have[d]; d = path.Dir(d) {
			have[d] = true
			all = append(all, d)
		}
	}
	return all
}

// Read returns the file's text. It must be a regular file of limited size.
func (f File) Read() ([]byte, error) {
	dir, base, _, err := f.place()
	if err != nil {
		return nil, f.unreadable(err)
	}
	defer dir.Close() // nothing was written
	text, _, err := readIn(dir, base)
	if err != nil {
		return nil, f.unreadable(err)
	}
	return text, nil
}

func readIn(dir *os.Root, base string) ([]byte, fs.FileInfo, error) {
	st, err := dir.Lstat(base)
	if err != nil {
		return nil, nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, nil, errors.New("it is not a plain file")
	}
	in, err := dir.Open(base)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close() // nothing was written
	text, err := io.ReadAll(io.LimitReader(in, MaxSize+1))
	return text, st, err
}

func (f File) unreadable(err error) error {
	var e *coppice.Error
	if errors.As(err, &e) {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &coppice.Error{Code: coppice.ENotFound, Cause: f.Name + " does not exist", Fix: "write it, or remove features from coppice.yaml", Err: err}
	}
	return coppice.Errorf(coppice.EInvalid, "%s cannot be read: %w", f.Name, coppice.WithoutPath(err)).WithFix("make it a plain file that the user who runs coppice can read")
}

// Write replaces the file's text atomically if it still is old. Otherwise it
// does not change the file and returns ErrChanged. The file keeps its mode, and
// a symbolic link stays one.
func (f File) Write(old, text []byte) error {
	err := f.write(old, text)
	if err != nil && !errors.Is(err, ErrChanged) {
		return fmt.Errorf("features: writing %s: %w", f.Name, err)
	}
	return err
}

func (f File) write(old, text []byte) (err error) {
	dir, base, _, err := f.place()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	now, st, err := readIn(dir, base)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, old) {
		return ErrChanged
	}
	temp := "." + base + ".coppice"
	if err := dir.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) { // left by a crash
		return err
	}
	if err := put(dir, temp, text, st); err != nil {
		return errors.Join(err, dir.Remove(temp))
	}
	return swap(dir, temp, base, old)
}

// put writes a new file with the mode and, if that is allowed, the owner of
// another.
func put(dir *os.Root, name string, text []byte, like fs.FileInfo) error {
	out, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	own(out, like)
	return errors.Join(err, out.Chmod(like.Mode().Perm()), out.Sync(), out.Close())
}

// swap replaces the old file with the new one. If the system can exchange the
// two in one step, the old content is checked again: an edit of the last moment
// is put back.
func swap(dir *os.Root, temp, base string, old []byte) error {
	exchanged, err := exchange(dir, temp, base)
	if err != nil {
		return errors.Join(err, dir.Remove(temp))
	}
	if !exchanged {
		if now, _, err := readIn(dir, base); err != nil || !bytes.Equal(now, old) {
			return errors.Join(ErrChanged, err, dir.Remove(temp))
		}
		return errors.Join(dir.Rename(temp, base), syncDir(dir))
	}
	was, _, err := readIn(dir, temp)
	if err != nil || !bytes.Equal(was, old) {
		if _, back := exchange(dir, temp, base); back != nil {
			return fmt.Errorf("an edit is in %s: %w", temp, errors.Join(err, back))
		}
		return errors.Join(ErrChanged, dir.Remove(temp))
	}
	return errors.Join(dir.Remove(temp), syncDir(dir))
}

func syncDir(dir *os.Root) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
