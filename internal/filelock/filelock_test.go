package filelock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

func locked(t *testing.T, path string, how Mode) *os.File {
	t.Helper()
	f, err := Try(path, how)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestTry(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	a := locked(t, path, Shared)
	b := locked(t, path, Shared)
	if _, err := Try(path, Exclusive); !errors.Is(err, ErrHeld) {
		t.Errorf("an exclusive lock beside shared ones: %v", err)
	}
	Release(a)
	Release(b)
	c := locked(t, path, Exclusive)
	if _, err := Try(path, Shared); !errors.Is(err, ErrHeld) {
		t.Errorf("a shared lock beside an exclusive one: %v", err)
	}
	Release(c)
	dir := locked(t, t.TempDir(), Exclusive) // a directory can be locked, too
	Release(dir)
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	f := locked(t, path, Exclusive)
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error)
	go func() { _, err := Wait(ctx, path); done <- err }()
	cancel(why)
	if err := <-done; !errors.Is(err, why) || !errors.Is(err, ErrHeld) {
		t.Errorf("waiting ended with %v", err)
	}
	go func() { f, err := Wait(t.Context(), path); Release(f); done <- err }()
	Release(f)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestLocksAreExclusive(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "lock")
	sets := [2]Locks{} // as if they were two processes
	var inside atomic.Int32
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			unlock, err := sets[i%2].Wait(t.Context(), path)
			if err != nil {
				t.Error(err)
				return
			}
			defer unlock()
			if inside.Add(1) != 1 {
				t.Error("two hold the lock")
			}
			if _, err := sets[i%2].Try(path); !errors.Is(err, ErrHeld) {
				t.Errorf("a second lock of one set: %v", err)
			}
			inside.Add(-1)
		})
	}
	all.Wait()
	unlock, err := sets[0].Try(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sets[1].Try(path); !errors.Is(err, ErrHeld) {
		t.Errorf("a second lock of another set: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sets[0].Wait(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that is over: %v", err)
	}
	unlock()
}
