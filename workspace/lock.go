package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

func isNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EDQUOT)
}

// lock takes the lock of that file, within this process and among all that
// share the directory. The file stays: a removed lock file would let two
// processes hold two different ones. A crash frees the lock by itself.
func (w *Workspaces) lock(ctx context.Context, file string) (unlock func(), err error) {
	gate := w.gate(file)
	select {
	case gate <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	f, err := flock(file, syscall.LOCK_EX)
	if err != nil {
		<-gate
		return nil, err
	}
	return func() { unflock(f); <-gate }, nil
}

// tryLock is lock for callers that go elsewhere when somebody holds it.
func (w *Workspaces) tryLock(file string) (unlock func(), ok bool, err error) {
	gate := w.gate(file)
	select {
	case gate <- struct{}{}:
	default:
		return nil, false, nil
	}
	f, err := flock(file, syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		<-gate
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, false, nil
		}
		return nil, false, err
	}
	return func() { unflock(f); <-gate }, true, nil
}

func (w *Workspaces) gate(file string) chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := w.gates[file]
	if g == nil {
		g = make(chan struct{}, 1)
		w.gates[file] = g
	}
	return g
}

func flock(file string, how int) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// unflock frees the lock by name before it closes the file: a child that was
// forked in this moment has the file too, and would hold the lock until it
// runs its program.
func unflock(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	f.Close()
}
