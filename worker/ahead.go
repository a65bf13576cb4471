package worker

import (
	"context"
	"time"

	"coppice"
	"coppice/host"
)

// A host takes some time to start. So the worker starts a session's host while
// the session's workspace is being prepared, and the host waits.

// aheadFor is how long a host waits for its session after the workspace is ready.
// A task that was stopped in between has no session.
const aheadFor = time.Minute

// aheadHost is a host that waits for its session. The timer, which drops it, is
// nil until the workspace is ready.
type aheadHost struct {
	*host.Ahead
	timer *time.Timer
}

// prepareWithHost prepares a session's workspace while the session's host starts.
func prepareWithHost[S, R any](ctx context.Context, w *Worker, l coppice.Lease, f func(context.Context, S) (R, error)) (any, error) {
	id := l.Work.SessionID
	if id == 0 {
		return with(ctx, l, f)
	}
	a := w.launch(id)
	res, err := with(ctx, l, f)
	if err != nil {
		w.drop(id, a)
		return res, err
	}
	w.dropLater(id, a)
	return res, nil
}

// launch starts the host of a session ahead. It returns nil if the host cannot be
// started. The session will report why.
func (w *Worker) launch(id int64) *aheadHost {
	started, err := host.Launch(w.cfg.Host, w.sessionDir(id))
	if err != nil {
		return nil
	}
	was, a := w.takeAhead(id), &aheadHost{Ahead: started}
	w.mu.Lock()
	w.ahead[id] = a
	w.mu.Unlock()
	if was != nil {
		was.Drop()
	}
	return a
}

// launched returns the host of a session that was started ahead, or a new one.
func (w *Worker) launched(id int64) (*host.Ahead, error) {
	if a := w.takeAhead(id); a != nil {
		return a.Ahead, nil
	}
	return host.Launch(w.cfg.Host, w.sessionDir(id))
}

// takeAhead removes the waiting host of a session, with its timer.
func (w *Worker) takeAhead(id int64) *aheadHost {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.ahead[id]
	delete(w.ahead, id)
	if a != nil && a.timer != nil {
		a.timer.Stop()
	}
	return a
}

// dropLater drops a host if its session does not start in time.
func (w *Worker) dropLater(id int64, a *aheadHost) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a != nil && w.ahead[id] == a {
		a.timer = time.AfterFunc(aheadFor, func() { w.drop(id, a) })
	}
}

// drop ends a host, unless its session has started or another host waits.
func (w *Worker) drop(id int64, a *aheadHost) {
	w.mu.Lock()
	waits := a != nil && w.ahead[id] == a
	if waits {
		delete(w.ahead, id)
	}
	w.mu.Unlock()
	if waits {
		a.Drop()
	}
}

// dropAll ends every host that waits.
func (w *Worker) dropAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, a := range w.ahead {
		if a.timer != nil {
			a.timer.Stop()
		}
		a.Drop()
		a.Wait()
		delete(w.ahead, id)
	}
}
