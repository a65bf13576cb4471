package landing

import (
	"context"
	"errors"
)

// A stop of the server does not end work that writes to a repository: a git process
// that is killed while it writes leaves locks and an incomplete checkout. It ends
// connections to a remote.

type stopKey struct{}

// errStopped is the cause of work that ended early.
var errStopped = errors.New("the server is stopping")

// WithStop returns a context for work that a stop waits for. Parts that can safely
// end early, such as a push, end when stop is closed.
func WithStop(ctx context.Context, stop <-chan struct{}) context.Context {
	return context.WithValue(ctx, stopKey{}, stop)
}

// stopCtx returns a context for a part of the work that a stop can end: it ends with
// ctx, or when the stop channel of WithStop is closed. The caller must call cancel.
func stopCtx(ctx context.Context) (_ context.Context, cancel context.CancelFunc) {
	out, end := context.WithCancelCause(ctx)
	stop, ok := ctx.Value(stopKey{}).(<-chan struct{})
	if !ok {
		return out, func() { end(nil) }
	}
	go func() {
		select {
		case <-stop:
			end(errStopped)
		case <-out.Done():
		}
	}()
	return out, func() { end(nil) }
}
