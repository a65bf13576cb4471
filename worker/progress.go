package worker

import (
	"context"
	"slices"
	"sync"
	"time"

	"coppice"
	"coppice/fabric"
	"coppice/workspace"
)

// mostPending limits the output that waits to be reported. If the control process
// does not accept it fast enough, the oldest is dropped.
const mostPending = 4 * fabric.ProgressBytes

// pieceBytes limits the output that is reported as one piece.
const pieceBytes = fabric.ProgressBytes / 2

// lastReport limits how long a worker waits, at the end of a check, until the rest
// of its output is reported.
const lastReport = time.Second

// progress reports the commands of a work item and their output while they run. It
// never delays them.
type progress struct {
	w      *Worker
	lease  coppice.Lease
	woken  chan struct{}
	done   chan struct{} // closed when nothing follows
	sender sync.WaitGroup

	mu       sync.Mutex
	commands []coppice.CommandRun
	pending  []coppice.RunOutput
	size     int   // bytes of pending
	written  int64 // bytes of the last command's output
	app      *coppice.ServedApp
}

var _ workspace.Observer = (*progress)(nil)

// newProgress starts to report. It must be followed by close.
func (w *Worker) newProgress(ctx context.Context, l coppice.Lease) *progress {
	p := &progress{w: w, lease: l, woken: make(chan struct{}, 1), done: make(chan struct{})}
	p.sender.Go(func() { p.send(ctx) })
	return p
}

// close reports the rest.
func (p *progress) close() {
	close(p.done)
	p.sender.Wait()
}

// check runs the checks of a landing, and reports them while they run.
func (w *Worker) check(ctx context.Context, l coppice.Lease) (any, error) {
	p := w.newProgress(ctx, l)
	defer p.close()
	return with(workspace.WithObserver(ctx, p), l, w.cfg.Workspaces.Check)
}

// Started implements workspace.Observer.
func (p *progress) Started(command string, setup bool) {
	p.change(func() {
		p.commands = append(p.commands, coppice.CommandRun{Command: command, Setup: setup, State: coppice.RunRunning, StartedAt: p.w.cfg.Now().UTC()})
		p.written = 0
	})
}

// Output implements workspace.Observer.
func (p *progress) Output(b []byte) {
	p.change(func() {
		at := len(p.commands) - 1
		if n := len(p.pending) - 1; n >= 0 && p.pending[n].Command == at && len(p.pending[n].Data)+len(b) <= pieceBytes {
			p.pending[n].Data = append(p.pending[n].Data, b...)
		} else {
			p.pending = append(p.pending, coppice.RunOutput{Command: at, Offset: p.written, Data: slices.Clone(b)})
		}
		p.written += int64(len(b))
		p.bound(len(b))
	})
}

// Ended implements workspace.Observer.
func (p *progress) Ended(c coppice.CommandRun) {
	p.change(func() {
		last := &p.commands[len(p.commands)-1]
		last.State, last.EndedAt = coppice.RunEnded, p.w.cfg.Now().UTC()
		last.Exit, last.Signal, last.TimedOut = c.Exit, c.Signal, c.TimedOut
	})
}

func (p *progress) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	signal(p.woken)
}

// bound counts more pending bytes, and drops the oldest output beyond the limit.
func (p *progress) bound(more int) {
	p.size += more
	for p.size > mostPending {
		p.size -= len(p.pending[0].Data)
		p.pending = p.pending[1:]
	}
}

// send reports until nothing follows.
func (p *progress) send(ctx context.Context) {
	var quiet <-chan time.Time
	for tries := 0; ; {
		still, over := false, false
		select {
		case <-ctx.Done():
			return
		case <-p.done:
			over = true
		case <-p.woken:
		case <-quiet:
			still = true
		}
		if over {
			p.rest(ctx)
			return
		}
		more, err := p.report(ctx, still)
		if !retryable(err) {
			return
		}
		pause := fabric.ProgressEvery
		if tries++; err == nil {
			tries = 0
		} else {
			pause = p.w.backoff(tries)
		}
		if err != nil || more {
			signal(p.woken)
		}
		if quiet = nil; !still {
			quiet = time.After(fabric.Quiet)
		}
		p.pause(ctx, pause)
	}
}

// rest reports what is left when the commands have ended.
func (p *progress) rest(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastReport)
	defer cancel()
	for more := true; more; {
		var err error
		if more, err = p.report(ctx, true); err != nil {
			return // the stored log has it
		}
	}
}

// retryable reports whether a later report can succeed.
func retryable(err error) bool {
	switch coppice.ErrorCode(err) {
	case coppice.EConflict, coppice.ENotFound:
		return false
	}
	return true
}

// pause waits between two reports. The end of the commands ends it.
func (p *progress) pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.done:
	case <-ctx.Done():
	}
}

// report sends one report, and says whether more output is pending.
func (p *progress) report(ctx context.Context, quiet bool) (more bool, err error) {
	r, size, more := p.next()
	r.Quiet = quiet && !more
	if err = p.w.cfg.Ledger.Progress(ctx, r); err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.pending, more = append(r.Output, p.pending...), true
		p.bound(size)
	}
	return more, err
}

// next takes the output of the next report, and returns its size.
func (p *progress) next() (r fabric.Progress, size int, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r = fabric.Progress{Work: p.lease.Work.ID, Attempt: p.lease.Attempt, Commands: slices.Clone(p.commands), App: p.app}
	for len(p.pending) > 0 && (size == 0 || size+len(p.pending[0].Data) <= fabric.ProgressBytes) {
		size += len(p.pending[0].Data)
		r.Output = append(r.Output, p.pending[0])
		p.pending = p.pending[1:]
	}
	p.size -= size
	return r, size, len(p.pending) > 0
}
