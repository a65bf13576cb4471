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

// File is a features file in a checkout. No symbolic link leads out of it.
type File struct {
	Root string // the checkout
	Name string // relative to it, with slashes
}

// ErrChanged says that the file is no longer what it was when it was read.
var ErrChanged = errors.New("features: the file has changed")

// mostHops bounds a chain of symbolic links.
const mostHops = 16

// place opens the folder in which the file itself stands, symbolic links
// followed, and tells its name there and its path within the checkout.
func (f File) place() (dir *os.Root, base, rel string, err error) {
	root, err := os.OpenRoot(f.Root)
	if err != nil {
		return nil, "", "", err
	}
	defer root.Close() // nothing was written
	rel = path.Clean(f.Name)
	for range mostHops {
		target, err := root.Readlink(rel)
		if err != nil { // no link, or not there: opening it tells
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
			return nil, "", "", coppice.Errorf(coppice.EInvalid, "%s leaves the repository: it leads to %s", f.Name, target).
				WithFix("make it a file of the repository")
		}
	}
	return nil, "", "", coppice.Errorf(coppice.EInvalid, "%s is a chain of too many symbolic links", f.Name).WithFix("make it a plain file")
}

// Paths returns the names of the file within the checkout: the one it is known
// by and, where that is a symbolic link, the one it leads to.
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

// Folders returns the folders, within the checkout, in which something happens
// when the file is replaced: the one it is named in, the one it stands in, and
// those above them.
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

// Read returns the file's text. It must be a regular file of a bounded size.
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
		return &coppice.Error{Code: coppice.ENotFound, Cause: f.Name + " is not there", Fix: "write it, or take features out of coppice.yaml", Err: err}
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return coppice.Errorf(coppice.EInvalid, "%s cannot be read: %w", f.Name, err).WithFix("make it a plain file that the user who runs coppice can read")
}

// Write replaces the file's text, whole or not at all, if it still is old; else
// it leaves the file alone and returns ErrChanged. The file keeps its mode, and
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
	if err := dir.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a crash
		return err
	}
	if err := put(dir, temp, text, st); err != nil {
		return errors.Join(err, dir.Remove(temp))
	}
	return swap(dir, temp, base, old)
}

// put writes a new file of the same mode and, where that is allowed, owner.
func put(dir *os.Root, name string, text []byte, like fs.FileInfo) error {
	out, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	own(out, like)
	return errors.Join(err, out.Chmod(like.Mode().Perm()), out.Sync(), out.Close())
}

// swap puts the new file in the old one's place. Where the system can exchange
// the two in one step, what was there is looked at once more: an edit of the
// very last moment goes back into its place.
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
			return fmt.Errorf("an edit stands in %s: %w", temp, errors.Join(err, back))
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
