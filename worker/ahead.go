package worker

import (
	"context"
	"time"

	"coppice"
	"coppice/host"
)

// A session's host is a process, which takes its time to come up. It is started
// while the session's workspace is being made, and waits.

// aheadFor is how long a host waits for its session once the workspace is there.
// A task that was stopped in between has none.
const aheadFor = time.Minute

// meanwhile makes a session's workspace, and has the session's host come up in
// the meantime.
func meanwhile[S, R any](ctx context.Context, w *Worker, l coppice.Lease, f func(context.Context, S) (R, error)) (any, error) {
	id := l.Work.SessionID
	if id == 0 {
		return with(ctx, l, f)
	}
	w.launch(id)
	res, err := with(ctx, l, f)
	if err != nil {
		w.drop(id)
		return res, err
	}
	time.AfterFunc(aheadFor, func() { w.drop(id) })
	return res, nil
}

// launch starts the host of a session ahead. If it cannot be started, its
// session will be told why.
func (w *Worker) launch(id int64) {
	a, err := host.Launch(w.cfg.Host, w.sessionDir(id))
	if err != nil {
		return
	}
	w.mu.Lock()
	was := w.ahead[id]
	w.ahead[id] = a
	w.mu.Unlock()
	if was != nil {
		was.Drop()
	}
}

// launched returns the host of a session that was started ahead, or a new one.
func (w *Worker) launched(id int64) (*host.Ahead, error) {
	if a := w.takeAhead(id); a != nil {
		return a, nil
	}
	return host.Launch(w.cfg.Host, w.sessionDir(id))
}

func (w *Worker) takeAhead(id int64) *host.Ahead {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.ahead[id]
	delete(w.ahead, id)
	return a
}

// drop ends a host for which no session came.
func (w *Worker) drop(id int64) {
	if a := w.takeAhead(id); a != nil {
		a.Drop()
	}
}

// dropAll leaves no host behind that waits.
func (w *Worker) dropAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, a := range w.ahead {
		a.Drop()
		a.Wait()
		delete(w.ahead, id)
	}
}
