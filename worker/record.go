package worker

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"coppice"
	"coppice/fabric"
	"coppice/host"
)

// stopGrace limits each step of a stop that the host does by itself.
const stopGrace = 5 * time.Second

// Limits of one batch of output.
const (
	mostFrames = 512
	mostBytes  = 1 << 20
	fewFrames  = 16 // whose memory a quiet session keeps
)

// follower reports one session's output, starting at the ledger's cursor. One
// goroutine at a time can call drain.
type follower struct {
	w   *Worker
	id  int64
	dir string

	locks bool // the session's host judges edits by the locks of its project

	mu     sync.Mutex
	at     fabric.Standing
	spool  *host.Reader   // nil until the first drain
	frames []fabric.Frame // that the ledger did not take yet
	kept   int64          // the spool was trimmed up to here
}

// close closes the spool.
func (f *follower) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.spool != nil {
		f.spool.Close()
		f.spool = nil
	}
}

// begin reports that the session runs, and from which commit. After a restart it
// only reads the ledger's Standing.
func (f *follower) begin(ctx context.Context, head string) error {
	f.close() // it is opened again at the ledger's cursor
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.w.cfg.Ledger.Begin(ctx, f.id, head)
	if err == nil {
		f.at = at
	}
	return err
}

// drain reports everything in the spool that is not reported yet, in batches.
// held says that the ledger waits for more before it accepts the rest. If quiet
// is set, it accepts everything.
func (f *follower) drain(ctx context.Context, quiet bool) (held bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.spool == nil {
		if f.spool, err = host.OpenSpool(f.dir, f.at.Cursor); err != nil {
			return false, err
		}
		f.frames = nil
	}
	defer func() {
		if err != nil {
			f.spool.Close()
			f.spool = nil
		}
	}()
	for end := false; !end; {
		if f.frames, end, err = batch(f.spool, f.frames); err != nil {
			return false, err
		}
		if len(f.frames) == 0 {
			continue
		}
		at, err := f.w.cfg.Ledger.Record(ctx, fabric.Batch{Session: f.id, From: f.at.Cursor, Frames: f.frames, Quiet: quiet && end})
		if err != nil {
			return false, err
		}
		f.at = at
		n := 0
		for n < len(f.frames) && f.frames[n].Next <= f.at.Cursor {
			n++
		}
		if f.frames = slices.Delete(f.frames, 0, n); len(f.frames) == 0 && cap(f.frames) > fewFrames {
			f.frames = nil
		}
		if err := f.trim(); err != nil {
			return false, err
		}
	}
	return len(f.frames) > 0, nil
}

// trim removes the segments of the spool whose frames are all recorded.
func (f *follower) trim() error {
	segment := f.spool.Segment()
	if segment <= f.kept || f.at.Cursor < segment {
		return nil
	}
	f.kept = segment
	return host.TrimSpool(f.dir, f.at.Cursor)
}

// batch reads the next frames after those that were not accepted. end says that
// there are no more now. A torn or damaged tail is the end: nothing after it can
// be read.
func batch(r *host.Reader, frames []fabric.Frame) (_ []fabric.Frame, end bool, err error) {
	size := 0
	for _, f := range frames {
		size += len(f.Data)
	}
	for len(frames) < mostFrames && size < mostBytes {
		f, err := r.Next()
		if errors.Is(err, io.EOF) {
			return frames, true, nil
		}
		if err != nil {
			return frames, true, err
		}
		frames = append(frames, fabric.Frame(f))
		size += len(f.Data)
	}
	return frames, false, nil
}

// follow reads what the host writes until the session has ended, or the host is
// gone.
func (f *follower) follow(ctx context.Context) error {
	for {
		phase, _, _, err := host.Inspect(f.dir)
		if err != nil || phase != host.PhaseRunning {
			return err
		}
		err = f.listen(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, host.ErrGone) && !errors.Is(err, io.EOF) {
			return err
		}
	}
}

// listen follows one connection to the host.
func (f *follower) listen(ctx context.Context) error {
	c, err := host.Dial(ctx, f.dir)
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	grown := make(chan struct{}, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := f.report(ctx, grown); err != nil {
			cancel(err)
		}
	}()
	calls := f.answerCalls(ctx, c)
	if f.locks {
		calls.Go(func() { f.sendLocks(ctx, c) })
	}
	err = c.Follow(ctx, func(int64) { signal(grown) })
	close(grown)
	<-done
	cause := context.Cause(ctx)
	cancel(nil)
	calls.Wait()
	if cause != nil {
		return cause
	}
	return err
}

// report drains the spool whenever it has grown, until grown is closed. It
// drains again after a pause if the ledger did not accept everything.
func (f *follower) report(ctx context.Context, grown <-chan struct{}) error {
	var still <-chan time.Time
	for {
		quiet := false
		select {
		case _, ok := <-grown:
			if !ok {
				return nil
			}
		case <-still:
			quiet = true
		}
		held, err := f.drain(ctx, quiet)
		if err != nil {
			return err
		}
		if still = nil; held {
			still = time.After(fabric.Quiet)
		}
	}
}

// publish makes the head of the session's branch known to the repository in
// which work lands.
func (f *follower) publish(ctx context.Context, spec coppice.RunSpec, head string) error {
	return f.w.cfg.Ledger.Publish(ctx, fabric.Head{Session: f.id, RepoID: spec.RepoID, Repo: spec.Repo, Branch: spec.Branch, Commit: head})
}
