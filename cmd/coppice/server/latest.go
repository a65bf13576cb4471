package server

import "sync/atomic"

// latest is a part of the user's configuration, as it was last read.
type latest[T any] struct{ now atomic.Pointer[T] }

func (l *latest[T]) set(v T) { l.now.Store(&v) }

// get returns the zero value before the first call of set.
func (l *latest[T]) get() (v T) {
	if now := l.now.Load(); now != nil {
		v = *now
	}
	return v
}
