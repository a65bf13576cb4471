// Package filelock locks files among the processes of one machine. The kernel
// releases a lock when the process that holds it ends, however it ends. The file
// of a lock stays: if it were removed, two processes could hold two locks of the
// same name.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// ErrHeld means that another process, or another part of this one, holds the lock.
var ErrHeld = errors.New("the lock is held")

// Mode is the kind of a lock.
type Mode int

// A file has many shared locks, or one exclusive lock.
const (
	Shared    Mode = syscall.LOCK_SH
	Exclusive Mode = syscall.LOCK_EX
)

// Try locks the file at path, which it creates if necessary, or fails with ErrHeld.
// The lock belongs to the open file, and closing the file releases it. A child
// between fork and exec has a copy of the file and delays that; Release does not
// wait for the child.
func Try(path string, mode Mode) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, syscall.EISDIR) {
		f, err = os.Open(path)
	}
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), int(mode)|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, ErrHeld
	}
	return nil, fmt.Errorf("locking %s: %w", path, err)
}

// Wait locks the file at path exclusively. It waits until it has the lock or ctx
// ends. The kernel cannot stop waiting for a lock, so Wait asks again and again.
func Wait(ctx context.Context, path string) (*os.File, error) {
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		f, err := Try(path, Exclusive)
		if !errors.Is(err, ErrHeld) {
			return f, err
		}
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			return nil, fmt.Errorf("%w: %w", ErrHeld, context.Cause(ctx))
		case <-t.C:
		}
	}
}

// Release releases a lock and closes its file.
func Release(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // closing the file releases it otherwise
	f.Close()
}

// Locks are exclusive locks that many parts of one process wait for. Within the
// process they wait without asking again. The zero value is ready to use.
type Locks struct {
	mu    sync.Mutex
	gates map[string]chan struct{} // by path; full while a part of the process has the file, or tries to
}

// Wait locks the file at path, and creates it and its directory if necessary.
func (l *Locks) Wait(ctx context.Context, path string) (unlock func(), err error) {
	gate := l.gate(path)
	select {
	case gate <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return l.open(gate, path, func() (*os.File, error) { return Wait(ctx, path) })
}

// Try is Wait that fails with ErrHeld if the lock is held.
func (l *Locks) Try(path string) (unlock func(), err error) {
	gate := l.gate(path)
	select {
	case gate <- struct{}{}:
	default:
		return nil, ErrHeld
	}
	return l.open(gate, path, func() (*os.File, error) { return Try(path, Exclusive) })
}

func (l *Locks) open(gate chan struct{}, path string, lock func() (*os.File, error)) (func(), error) {
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	var f *os.File
	if err == nil {
		f, err = lock()
	}
	if err != nil {
		<-gate
		return nil, err
	}
	return func() { Release(f); <-gate }, nil
}

func (l *Locks) gate(path string) chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.gates[path]
	if g == nil {
		if l.gates == nil {
			l.gates = map[string]chan struct{}{}
		}
		g = make(chan struct{}, 1)
		l.gates[path] = g
	}
	return g
}
