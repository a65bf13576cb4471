package worker

import (
	"cmp"
	"slices"

	"coppice"
)

// Stop stops the worker. It takes no further work and ends what can be started
// again: checks, workspaces in preparation, and following sessions, which
// continue without it. It waits for whole effects, renews their leases, and
// reports their results. Unfinished work stays leased to this worker.
func (w *Worker) Stop() {
	w.stopOnce.Do(func() {
		close(w.stopping)
		if w.cancel != nil {
			w.cancel()
		}
	})
	w.takers.Wait()
	w.wg.Wait()
	if w.rest != nil {
		w.rest()
	}
	w.renewer.Wait()
	w.dropAll()
}

// Hurry ends what a stop waits for, as far as that is safe: pushes. It does not
// end effects that write to a repository on this machine.
func (w *Worker) Hurry() { w.hurried.Do(func() { close(w.hurry) }) }

// stops reports whether the worker is being stopped.
func (w *Worker) stops() bool {
	select {
	case <-w.stopping:
		return true
	default:
		return false
	}
}

// Pending lists the whole effects in progress, for which a stop waits, the
// oldest first.
func (w *Worker) Pending() []coppice.Work {
	var work []coppice.Work
	w.mu.Lock()
	for _, h := range w.held {
		if executors[h.lease.Work.Kind].whole {
			work = append(work, h.lease.Work)
		}
	}
	w.mu.Unlock()
	slices.SortFunc(work, func(a, b coppice.Work) int { return cmp.Compare(a.ID, b.ID) })
	return work
}
