package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coppice/internal/process"
)

// lockMark begins what a lock of ours says: who holds it.
const lockMark = "coppice "

// refTemp begins the names, in git's directory, of files on their way to a ref.
const refTemp = "coppice-ref-"

// lockRef locks a ref beside its file, as git does. Unlike git's, the lock tells
// who holds it from the moment it is there, so that one whose holder was killed
// is known for what it is.
func lockRef(common, file string) (unlock func() error, err error) {
	start, err := process.StartTime(os.Getpid())
	if err != nil {
		return nil, err
	}
	held, err := tempFile(common, fmt.Sprintf("%s%d %d\n", lockMark, os.Getpid(), start), false)
	if err != nil {
		return nil, err
	}
	defer os.Remove(held)
	lock := file + ".lock"
	err = os.Link(held, lock) // fails when the name is taken
	if errors.Is(err, fs.ErrExist) && abandoned(lock) {
		_ = os.Remove(lock)
		err = os.Link(held, lock)
	}
	if err != nil {
		return nil, err
	}
	return func() error { return os.Remove(lock) }, nil
}

// replaceRef writes a ref through a lock beside it.
func replaceRef(common, file, text string) (err error) {
	whole, err := tempFile(common, text, true)
	if err != nil {
		return err
	}
	defer os.Remove(whole)
	unlock, err := lockRef(common, file)
	if err != nil {
		return err
	}
	return errors.Join(os.Rename(whole, file), unlock())
}

// ownRefs are the refs that belong to Coppice alone.
var ownRefs = []string{"refs/coppice/", "refs/heads/coppice/"}

func ownRef(name string) bool {
	return plainName(name) && slices.ContainsFunc(ownRefs, func(p string) bool { return strings.HasPrefix(name, p) })
}

// errPacked says that a ref's file is gone, but that it is or may come to be
// among the packed ones.
var errPacked = errors.New("the ref may be packed")

// dropRef deletes a ref of ours that is in a file of its own and at a commit,
// with its log. It is odd, or errPacked, where git must do it.
func dropRef(common, name, at string) error {
	if !ownRef(name) || !plainRefs(common) {
		return errOdd
	}
	file := filepath.Join(common, filepath.FromSlash(name))
	unlock, err := lockRef(common, file)
	if err != nil {
		return errOdd // git waits for whoever holds it, or says who does
	}
	b, err := readRegular(file, maxLoose)
	if err == nil && string(b) == at+"\n" {
		err = os.Remove(file)
	} else {
		err = errOdd
	}
	logged := filepath.Join(common, "logs", filepath.FromSlash(name))
	if err == nil {
		_ = os.Remove(logged) // a log alone tells of nothing
	}
	if err = errors.Join(err, unlock()); err != nil {
		return err
	}
	for _, p := range ownRefs {
		if strings.HasPrefix(name, p) {
			dropEmpty(filepath.Dir(file), filepath.Join(common, filepath.FromSlash(p)))
			dropEmpty(filepath.Dir(logged), filepath.Join(common, "logs", filepath.FromSlash(p)))
		}
	}
	// Whoever packs refs holds this lock from before it read the file until
	// the packed ones are in place. When nobody does, they tell the truth.
	if exists(filepath.Join(common, "packed-refs.lock")) {
		return errPacked
	}
	if id, err := packed(common, name); err != nil || id != "" {
		return errPacked
	}
	return nil
}

// dropEmpty removes a directory and those above it as far as they are empty, but
// not the one named last.
func dropEmpty(dir, last string) {
	for ; dir != last && strings.HasPrefix(dir, last) && os.Remove(dir) == nil; dir = filepath.Dir(dir) {
	}
}

func tempFile(dir, text string, durable bool) (string, error) {
	f, err := os.CreateTemp(dir, refTemp+"*")
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

// marked tells whether a lock says that a process of ours holds it.
func marked(lock string) bool {
	b, err := os.ReadFile(lock)
	return err == nil && strings.HasPrefix(string(b), lockMark)
}

// abandoned tells whether a lock is one of ours and its holder is gone.
func abandoned(lock string) bool {
	b, err := os.ReadFile(lock)
	if err != nil || !strings.HasPrefix(string(b), lockMark) {
		return false
	}
	var pid int
	var start uint64
	if n, err := fmt.Sscanf(string(b[len(lockMark):]), "%d %d", &pid, &start); err != nil || n != 2 {
		return false
	}
	return !process.Alive(pid, start)
}
