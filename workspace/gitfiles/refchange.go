package gitfiles

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// RefUpdate moves a ref from one commit to another.
type RefUpdate struct{ Name, Old, New string }

// RefChange is a change of refs that is prepared: their locks are held, and their old
// commits were compared. It must be ended by Commit or Abort. If this process dies,
// the locks say so.
type RefChange struct {
	locks []string
	moves []refMove
}

// refMove is the move of one ref.
type refMove struct {
	temp, file string
	line       string   // of the logs
	logs       []string // of the ref, and of HEAD if it names the ref
}

// BeginRefs prepares a change of refs, as git update-ref does for the repository's
// main worktree. The logs say who did it and why.
func (r *Repo) BeginRefs(by Signature, why string, updates ...RefUpdate) (*RefChange, error) {
	conf, err := r.config()
	who, err2 := by.Line()
	if err = errors.Join(err, err2); err != nil || !r.hasRefFiles() || bytes.Contains(conf, []byte("sharedrepository")) || bytes.Contains(conf, []byte("[include")) {
		return nil, errors.Join(err, ErrUseGit)
	}
	t := &RefChange{}
	for _, u := range updates {
		move := refMove{file: r.path(u.Name), line: fmt.Sprintf("%s %s %s\t%s\n", u.Old, u.New, who, why)}
		if err := t.prepare(r, u, move); err != nil {
			return nil, errors.Join(err, t.Abort(), ErrUseGit)
		}
	}
	return t, nil
}

// prepare locks a ref and compares it with its old commit.
func (t *RefChange) prepare(r *Repo, u RefUpdate, m refMove) error {
	if !isRefName(u.Name) || !r.hasExactName(u.Name) || u.Old == u.New { // git writes fewer logs if nothing changes
		return ErrUseGit
	}
	if _, err := r.Commit(u.New); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(m.file), 0o777); err != nil {
		return err
	}
	if err := t.lock(r, m.file); err != nil {
		return err
	}
	b, err := ReadRegular(m.file, maxRef)
	if errors.Is(err, fs.ErrNotExist) {
		var id string
		id, err = r.packed(u.Name)
		b = []byte(id + "\n")
	}
	if err != nil || string(b) != u.Old+"\n" {
		return errors.Join(err, ErrUseGit)
	}
	if m.logs, err = t.logsOf(r, u.Name); err != nil {
		return err
	}
	head, err := os.Lstat(r.path("HEAD"))
	if err != nil {
		return err
	}
	if m.temp, err = tempFile(r.dir, u.New+"\n", true); err != nil {
		return err
	}
	t.moves = append(t.moves, m)
	return os.Chmod(m.temp, head.Mode().Perm()) // git gives all of its files the same permissions
}

func (t *RefChange) lock(r *Repo, file string) error {
	lock := file + ".lock"
	if err := Lock(lock, r.dir); err != nil {
		return err // git waits for the other process, or names the lock
	}
	t.locks = append(t.locks, lock)
	return nil
}

// logsOf returns the logs to which a move of a ref belongs. It locks HEAD if HEAD
// names the ref.
func (t *RefChange) logsOf(r *Repo, name string) (logs []string, err error) {
	isHead := func() bool {
		b, err := ReadRegular(r.path("HEAD"), maxRef)
		return err == nil && string(b) == "ref: "+name+"\n"
	}
	if isHead() {
		if err := t.lock(r, r.path("HEAD")); err != nil {
			return nil, err
		}
		if !isHead() {
			return nil, ErrUseGit
		}
		logs = append(logs, r.path("logs/HEAD"))
	}
	// Git starts a log for these refs, and continues those of others.
	if log := r.path("logs/" + name); strings.HasPrefix(name, "refs/heads/") || strings.HasPrefix(name, "refs/remotes/") || exists(log) {
		logs = append(logs, log)
	}
	for _, log := range logs {
		if info, err := os.Lstat(log); err == nil && !info.Mode().IsRegular() || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, ErrUseGit
		}
	}
	return logs, nil
}

// Commit makes the change. After an error only a look at the refs reports whether it
// happened.
func (t *RefChange) Commit() error {
	var err error
	for _, m := range t.moves {
		for _, log := range m.logs {
			if err == nil {
				err = appendLine(log, m.line)
			}
		}
		if err == nil {
			err = os.Rename(m.temp, m.file)
		}
	}
	return errors.Join(err, t.Abort())
}

// Abort releases the locks, and gives up what is not committed.
func (t *RefChange) Abort() error {
	var err error
	for _, m := range t.moves {
		_ = os.Remove(m.temp)
	}
	for _, lock := range t.locks {
		err = errors.Join(err, os.Remove(lock))
	}
	t.moves, t.locks = nil, nil
	return err
}

// appendLine adds a line to a log, which it creates if necessary.
func appendLine(file, line string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}
