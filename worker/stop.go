package worker

import (
	"cmp"
	"slices"

	"coppice"
)

// Stop ends the worker. It takes no further work and ends what can be begun
// again: checks, workspaces that are being made, and following sessions, which
// go on by themselves. It waits for whole effects, keeps their leases, and hands
// in their results. What it did not finish stays its own.
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

// Hurry ends what a stop waits for, as far as that does no harm: pushes. What
// writes to a repository on this machine is not ended.
func (w *Worker) Hurry() { w.hurried.Do(func() { close(w.hurry) }) }

// stops tells whether the worker is being stopped.
func (w *Worker) stops() bool {
	select {
	case <-w.stopping:
		return true
	default:
		return false
	}
}

// Pending lists the whole effects under way, for which a stop waits, the oldest
// first.
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
