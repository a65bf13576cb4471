package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"coppice"
	"coppice/internal/filelock"
)

// fileLock makes sure that only one process opens a database. The kernel releases
// it when the process exits. The file has the holder's process id.
type fileLock struct{ f *os.File }

// lingerWait bounds the wait for a lock whose holder is dead: a child process
// that the holder was starting has a copy of the lock until its exec.
const lingerWait = 5 * time.Second

// acquire creates the database's directory and acquires the lock in it.
func acquire(ctx context.Context, path string) (*fileLock, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, unwritable(dir, err)
	}
	name := path + ".lock"
	ctx, cancel := context.WithTimeout(ctx, lingerWait)
	defer cancel()
	for {
		f, err := filelock.Try(name, filelock.Exclusive)
		if errors.Is(err, filelock.ErrHeld) {
			pid := signature(name)
			if isDead(pid) && pause(ctx) {
				continue
			}
			return nil, held(path, pid)
		}
		if err != nil {
			return nil, unwritable(dir, err)
		}
		l := &fileLock{f: f}
		if !l.current() {
			f.Close() // its holder removed it between our open and our lock
			continue
		}
		if err := l.sign(); err != nil {
			f.Close()
			return nil, unwritable(dir, err)
		}
		return l, nil
	}
}

// isDead reports whether the process that signed the lock has exited.
func isDead(signature string) bool {
	pid, err := strconv.Atoi(signature)
	return err == nil && pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// pause waits for 5 ms and reports whether the context is still valid.
func pause(ctx context.Context) bool {
	t := time.NewTimer(5 * time.Millisecond)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// current reports whether the locked file still has its name.
func (l *fileLock) current() bool {
	mine, err := l.f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(l.f.Name())
	return err == nil && os.SameFile(mine, named)
}

// sign writes the process id of the holder.
func (l *fileLock) sign() error {
	if err := l.f.Truncate(0); err != nil {
		return err
	}
	_, err := l.f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// release removes the file, and then releases the lock.
func (l *fileLock) release() {
	os.Remove(l.f.Name())
	l.f.Close()
}

// signature returns the text that sign wrote.
func signature(name string) string {
	b, _ := os.ReadFile(name)
	return strings.TrimSpace(string(b))
}

func held(path, pid string) error {
	who := "another process"
	if pid != "" {
		who = "process " + pid
	}
	return coppice.Errorf(coppice.EConflict, "%s has the database %s open", who, path).
		WithFix("use the coppice that is running, or stop it first with coppice serve --stop")
}

func unwritable(dir string, err error) error {
	return unavailable(err, "the state directory %s cannot be written: %v", dir, coppice.WithoutPath(err)).
		WithFix("make it writable for this user, or choose another directory")
}
