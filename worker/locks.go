package worker

import (
	"context"
	"errors"

	"coppice"
	"coppice/host"
)

// sendLocks keeps the host's copy of the project's locks current, until ctx ends
// or the host is gone. The host refuses edits until it has the first one.
func (f *follower) sendLocks(ctx context.Context, c *host.Client) {
	after := int64(-1)
	for try := 1; ; try++ {
		seq, err := f.passLocks(ctx, c, after)
		switch {
		case err == nil:
			after, try = seq, 0
			continue
		case ctx.Err() != nil || errors.Is(err, host.ErrGone):
			return
		}
		f.w.cfg.Logger.Error("the locks of a project did not reach a session; they are sent again", "session", f.id, "try", try, "error", coppice.Public(err).Cause)
		if f.w.pause(ctx, try) != nil {
			return
		}
	}
}

// passLocks sends the locks of the session's project to its host, as soon as they
// are newer than a sequence number. It returns theirs. A host of an older release
// has no locks, and its session was started without them.
func (f *follower) passLocks(ctx context.Context, c *host.Client, after int64) (int64, error) {
	t, err := f.w.cfg.Ledger.Locks(ctx, f.id, after)
	if err == nil {
		err = c.Locks(ctx, t)
	}
	if errors.Is(err, host.ErrOld) {
		err = nil
	}
	return t.Seq, err
}
