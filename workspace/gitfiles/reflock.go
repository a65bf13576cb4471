package gitfiles

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"coppice/internal/process"
)

// Locks are files beside the locked file, as git has them. Unlike git's locks they
// name the process that holds them, so a lock of a killed process can be removed.

// lockMark is the start of the text in a lock of Coppice.
const lockMark = "coppice "

// TempPrefix is the start of the names of temporary files in a git directory.
const TempPrefix = "coppice-ref-"

// Lock creates a lock file. It takes over a lock whose process of Coppice is gone,
// and one that this process holds already. If another process holds it, the error
// is fs.ErrExist. Temporary files are written to dir, which must be on the same
// file system.
func Lock(lock, dir string) error {
	start, err := process.OwnStartTime()
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s%d %d\n", lockMark, os.Getpid(), start)
	held, err := tempFile(dir, text, false)
	if err != nil {
		return err
	}
	defer os.Remove(held)
	err = os.Link(held, lock) // the lock has its text from the start
	if errors.Is(err, fs.ErrExist) && IsAbandoned(lock) {
		_ = os.Remove(lock)
		err = os.Link(held, lock)
	}
	return err
}

// HoldsLock reports whether this process holds a lock.
func HoldsLock(lock string) bool {
	pid, start, err := readLock(lock)
	own, err2 := process.OwnStartTime()
	return err == nil && err2 == nil && pid == os.Getpid() && start == own
}

// IsMarked reports whether a lock says that a process of Coppice holds it.
func IsMarked(lock string) bool {
	b, err := os.ReadFile(lock)
	return err == nil && strings.HasPrefix(string(b), lockMark)
}

// IsAbandoned reports whether a lock is of Coppice and its process is gone.
func IsAbandoned(lock string) bool {
	pid, start, err := readLock(lock)
	return err == nil && !process.Alive(pid, start)
}

func readLock(lock string) (pid int, start uint64, err error) {
	b, err := os.ReadFile(lock)
	if err == nil {
		_, err = fmt.Sscanf(string(b), lockMark+"%d %d", &pid, &start)
	}
	return pid, start, err
}

// lockRef locks the file of a ref.
func (r *Repo) lockRef(file string) (unlock func() error, err error) {
	lock := file + ".lock"
	if err := Lock(lock, r.dir); err != nil {
		return nil, ErrUseGit // git waits for the other process, or names the lock
	}
	return func() error { return os.Remove(lock) }, nil
}

// ownRefs are the refs that only Coppice writes.
var ownRefs = []string{"refs/coppice/", "refs/heads/coppice/"}

func isOwnRef(name string) bool {
	return isRefName(name) && slices.ContainsFunc(ownRefs, func(p string) bool { return strings.HasPrefix(name, p) })
}

// SetRef points a ref of Coppice at a commit, which must exist.
func (r *Repo) SetRef(name, id string) error {
	if !isOwnRef(name) || !isID(id) || !r.hasRefFiles() {
		return ErrUseGit
	}
	file := r.path(name)
	if !exists(file) && !r.fits(name) {
		return ErrUseGit
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return ErrUseGit
	}
	return r.replaceRef(file, id, func() error { return nil })
}

// fits reports whether a ref can exist beside the packed refs: neither a directory
// of its name is a ref, nor is there a ref below it.
func (r *Repo) fits(name string) bool {
	b, err := ReadRegular(r.path("packed-refs"), maxPacked)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	if bytes.Contains(b, []byte(" "+name+"/")) {
		return false
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if bytes.Contains(b, []byte(" "+dir+"\n")) {
			return false
		}
	}
	return true
}

// replaceRef writes a ref under its lock, after check.
func (r *Repo) replaceRef(file, id string, check func() error) error {
	temp, err := tempFile(r.dir, id+"\n", true)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	unlock, err := r.lockRef(file)
	if err != nil {
		return err
	}
	if err = check(); err == nil {
		err = os.Rename(temp, file)
	}
	return errors.Join(err, unlock())
}

// ErrPacked means that a ref has no file any more, but may be among the packed
// refs: git must delete it there.
var ErrPacked = errors.New("gitfiles: the ref may be packed")

// DeleteRef deletes a ref of Coppice that is at a commit, and its log.
func (r *Repo) DeleteRef(name, at string) error {
	if !isOwnRef(name) || !r.hasRefFiles() {
		return ErrUseGit
	}
	file, log := r.path(name), r.path("logs/"+name)
	unlock, err := r.lockRef(file)
	if err != nil {
		return err
	}
	b, err := ReadRegular(file, maxRef)
	if err == nil && string(b) == at+"\n" {
		err = os.Remove(file)
	} else {
		err = ErrUseGit
	}
	if err == nil {
		_ = os.Remove(log) // git ignores the log of a missing ref
	}
	if err = errors.Join(err, unlock()); err != nil {
		return err
	}
	for _, p := range ownRefs {
		if strings.HasPrefix(name, p) {
			RemoveEmpty(filepath.Dir(file), r.path(p))
			RemoveEmpty(filepath.Dir(log), r.path("logs/"+p))
		}
	}
	// A git that packs refs holds this lock from before it read the file until
	// packed-refs is in place. If nobody holds it, packed-refs is up to date.
	if exists(r.path("packed-refs.lock")) {
		return ErrPacked
	}
	if id, err := r.packed(name); err != nil || id != "" {
		return ErrPacked
	}
	return nil
}

// RemoveEmpty removes a directory and its parents while they are empty, up to top,
// which stays.
func RemoveEmpty(dir, top string) {
	for ; dir != top && strings.HasPrefix(dir, top) && os.Remove(dir) == nil; dir = filepath.Dir(dir) {
	}
}

// tempFile writes a temporary file. It is not an atomicfile, because it gets its
// name by a link, or by a rename under a lock.
func tempFile(dir, text string, durable bool) (string, error) {
	f, err := os.CreateTemp(dir, TempPrefix+"*")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if durable {
		err = errors.Join(err, f.Chmod(0o644), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}
