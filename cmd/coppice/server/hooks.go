package server

import (
	"sync/atomic"

	"coppice"
)

// userHooks are the hooks of the user's configuration, as it was last read.
type userHooks struct{ now atomic.Pointer[coppice.Hooks] }

func (u *userHooks) set(h coppice.Hooks) { u.now.Store(&h) }

func (u *userHooks) get() coppice.Hooks {
	if h := u.now.Load(); h != nil {
		return *h
	}
	return nil
}
