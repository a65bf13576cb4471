package ingest

import (
	"context"
	"slices"
	"sync"

	"coppice"
	"coppice/fabric"
	"coppice/internal/redact"
	"coppice/store"
)

// Limits of what is kept in memory.
const (
	liveHead = 64 << 10  // bytes of the start of a command's output
	liveTail = 256 << 10 // bytes of its end
	mostRuns = 64        // runs; a worker that disappeared leaves one
)

// Live keeps the running commands of work and their output for people, in memory.
// Its methods are safe for concurrent use. Readers read at their own speed: nothing
// is queued for them.
type Live struct {
	redact *redact.Redactor

	mu    sync.Mutex
	runs  map[int64]*LiveRun // by work id
	order []int64            // oldest first
}

// NewLive returns a Live that masks secrets.
func NewLive(r *redact.Redactor) *Live { return &Live{redact: r, runs: map[int64]*LiveRun{}} }

// Run returns the run of a work item, or nil if nothing was reported. It can be
// read after its end.
func (l *Live) Run(work int64) *LiveRun {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.runs[work]
}

// begin replaces the run of a work item by that of a new attempt.
func (l *Live) begin(work int64, attempt int) *LiveRun {
	r := &LiveRun{redact: l.redact, attempt: attempt, changed: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(work)
	if len(l.order) >= mostRuns {
		l.drop(l.order[0])
	}
	l.runs[work], l.order = r, append(l.order, work)
	return r
}

// end ends the run of an attempt. Its readers read the rest, and its memory is
// freed after them.
func (l *Live) end(work int64, attempt int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.runs[work]; r != nil && r.attempt <= attempt {
		l.drop(work)
	}
}

// drop ends a run and forgets it. The caller holds the lock.
func (l *Live) drop(work int64) {
	if r := l.runs[work]; r != nil {
		r.end()
		delete(l.runs, work)
		l.order = slices.DeleteFunc(l.order, func(id int64) bool { return id == work })
	}
}

// LiveRun has the commands of one attempt of a work item.
type LiveRun struct {
	redact  *redact.Redactor
	attempt int

	mu       sync.Mutex
	version  int64
	changed  chan struct{} // closed and replaced with every change
	ended    bool
	commands []*liveCommand
	app      coppice.ServedApp // as it is stored with the preview
}

// liveCommand is one command and its masked output.
type liveCommand struct {
	coppice.CommandRun
	got  int64 // bytes of raw output that were reported
	live *redact.Live
	kept excerpt
}

// add adds a report. Bytes that were reported before are ignored.
func (r *LiveRun) add(p fabric.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, c := range p.Commands {
		if i == len(r.commands) {
			r.commands = append(r.commands, &liveCommand{live: r.redact.Live(false)})
		}
		r.commands[i].CommandRun = c
	}
	for _, o := range p.Output {
		if o.Command >= 0 && o.Command < len(r.commands) {
			r.commands[o.Command].take(o)
		}
	}
	for i, c := range r.commands {
		if p.Quiet || i < len(r.commands)-1 {
			c.kept.write(c.live.Flush())
		}
	}
	r.notify()
}

// take masks the new part of a piece, and keeps it.
func (c *liveCommand) take(o coppice.RunOutput) {
	from := c.got - o.Offset
	if from < 0 { // the worker left out a part
		c.live.Skip()
		from = 0
	}
	if from >= int64(len(o.Data)) {
		return
	}
	c.kept.write(c.live.Write(o.Data[from:]))
	c.got = o.Offset + int64(len(o.Data))
}

// notify wakes the readers. The caller holds the lock.
func (r *LiveRun) notify() {
	r.version++
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *LiveRun) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.commands {
		c.kept.write(c.live.Flush())
	}
	r.ended = true
	r.notify()
}

// Read returns the state of all commands, and at most this many bytes of output
// after a position.
func (r *LiveRun) Read(after coppice.RunPosition, most int) coppice.Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	run := coppice.Run{Attempt: r.attempt, Version: r.version, Ended: r.ended, Next: after}
	for i, c := range r.commands {
		c.Size = c.kept.size
		run.Commands = append(run.Commands, c.CommandRun)
		if i < after.Command {
			continue
		}
		if i > run.Next.Command && most > 0 {
			run.Next = coppice.RunPosition{Command: i}
		}
		for i == run.Next.Command && most > 0 {
			data, at := c.kept.read(run.Next.Offset, most)
			if len(data) == 0 {
				break
			}
			run.Output = append(run.Output, coppice.RunOutput{Command: i, Offset: at, Data: data})
			run.Next.Offset, most = at+int64(len(data)), most-len(data)
		}
	}
	return run
}

// Wait returns when the run has another version, or ctx ends.
func (r *LiveRun) Wait(ctx context.Context, version int64) error {
	r.mu.Lock()
	changed, now := r.changed, r.version
	r.mu.Unlock()
	if now != version {
		return nil
	}
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Progress implements fabric.Ledger.
func (l *Ledger) Progress(ctx context.Context, p fabric.Progress) error {
	r := l.cfg.Live.Run(p.Work)
	switch {
	case r != nil && r.attempt > p.Attempt:
		return notHeld(p)
	case r == nil || r.attempt < p.Attempt:
		r = l.cfg.Live.begin(p.Work, p.Attempt) // before the event, so that its readers find it
		if err := l.started(ctx, p); err != nil {
			l.cfg.Live.end(p.Work, p.Attempt)
			return err
		}
	}
	r.add(p)
	if p.App == nil || !r.serves(*p.App) {
		return nil
	}
	err := l.served(ctx, p)
	if err != nil {
		r.serves(coppice.ServedApp{}) // it is reported again
	}
	return err
}

// serves remembers the app, and reports whether it has changed.
func (r *LiveRun) serves(app coppice.ServedApp) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	changed := r.app != app
	r.app = app
	return changed
}

// served stores where the app of a preview is, and whether it is ready.
func (l *Ledger) served(ctx context.Context, p fabric.Progress) error {
	return l.cfg.Store.Update(ctx, func(tx store.Tx) error {
		w, err := tx.Work.Get(p.Work)
		if err != nil {
			return err
		}
		spec, err := coppice.DecodeSpec[coppice.PreviewSpec](w)
		if err != nil {
			return err
		}
		v, err := tx.Previews.Last(w.TaskID)
		if err != nil || v == nil || v.ID != spec.ID || !v.Live() {
			return err
		}
		v.Port, v.Address = p.App.Port, p.App.Address
		ready := p.App.Ready && v.State != coppice.PreviewReady
		if ready {
			v.State, v.ReadyAt = coppice.PreviewReady, l.cfg.Now().UTC()
		}
		if err := tx.Previews.Put(v); err != nil || !ready {
			return err
		}
		return tx.Log.Append(&coppice.Event{
			At: v.ReadyAt, Kind: coppice.EventPreviewReady, ProjectID: w.ProjectID, TaskID: w.TaskID, About: w.Subject, Subject: spec.Task, By: l.cfg.Worker, Reason: v.Address,
		})
	})
}

func notHeld(p fabric.Progress) error {
	return coppice.Errorf(coppice.EConflict, "the worker does not hold work item %d with attempt %d", p.Work, p.Attempt)
}

// started fails unless the worker holds a work item. It logs that checks run.
func (l *Ledger) started(ctx context.Context, p fabric.Progress) error {
	return l.cfg.Store.Update(ctx, func(tx store.Tx) error {
		w, err := tx.Work.Get(p.Work)
		if err != nil {
			return err
		}
		if w.State != coppice.WorkTaken || w.Attempt != p.Attempt || w.Worker != l.cfg.Worker {
			return notHeld(p)
		}
		t, err := tx.Tasks.Get(w.TaskID)
		if err != nil || w.Kind != coppice.WorkCheck {
			return err
		}
		return tx.Log.Append(&coppice.Event{
			At: l.cfg.Now().UTC(), Kind: coppice.EventCheckStarted, ProjectID: w.ProjectID, TaskID: w.TaskID, About: w.Subject, Subject: t.Key, By: l.cfg.Worker,
		})
	})
}
