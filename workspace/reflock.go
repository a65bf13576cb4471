package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"coppice/internal/process"
)

// lockMark begins what a lock of ours says: who holds it.
const lockMark = "coppice "

// refTemp begins the names, in git's directory, of files on their way to a ref.
const refTemp = "coppice-ref-"

// replaceRef writes a ref through a lock beside it, as git does. Unlike git's,
// the lock tells who holds it from the moment it is there, so that one whose
// holder was killed is known for what it is.
func replaceRef(common, file, text string) (err error) {
	whole, err := tempFile(common, text, true)
	if err != nil {
		return err
	}
	defer os.Remove(whole)
	start, err := process.StartTime(os.Getpid())
	if err != nil {
		return err
	}
	held, err := tempFile(common, fmt.Sprintf("%s%d %d\n", lockMark, os.Getpid(), start), false)
	if err != nil {
		return err
	}
	defer os.Remove(held)
	lock := file + ".lock"
	if err := os.Link(held, lock); err != nil { // fails when the name is taken
		return err
	}
	return errors.Join(os.Rename(whole, file), os.Remove(lock))
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

// sweepRefs removes the locks that a killed process left on our refs, and what
// it had on its way to them.
func (w *Workspaces) sweepRefs(common string) {
	old := w.now().Add(-staleAge)
	for _, refs := range []string{"refs/coppice", "refs/heads/coppice"} {
		_ = filepath.WalkDir(filepath.Join(common, refs), func(p string, d os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(p, ".lock") {
				return nil
			}
			if st, err := d.Info(); err == nil && (st.ModTime().Before(old) || abandoned(p)) {
				_ = os.Remove(p)
			}
			return nil
		})
	}
	sweepDir(common, refTemp, old)
}
