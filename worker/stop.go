package worker

import (
	"cmp"
	"context"
	"slices"

	"coppice"
	"coppice/store"
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

// Pending is an effect that a stop waits for.
type Pending struct {
	Kind coppice.WorkKind
	Task string // its key
}

// Pending lists the whole effects under way, the oldest first.
func (w *Worker) Pending(ctx context.Context) ([]Pending, error) {
	var work []coppice.Work
	w.mu.Lock()
	for _, h := range w.held {
		if executors[h.lease.Work.Kind].whole {
			work = append(work, h.lease.Work)
		}
	}
	w.mu.Unlock()
	if len(work) == 0 {
		return nil, nil
	}
	slices.SortFunc(work, func(a, b coppice.Work) int { return cmp.Compare(a.ID, b.ID) })
	var out []Pending
	err := w.cfg.Store.View(ctx, func(r store.Reader) error {
		for _, x := range work {
			t, err := r.Tasks.Get(x.TaskID)
			if err != nil {
				return err
			}
			out = append(out, Pending{x.Kind, t.Key})
		}
		return nil
	})
	return out, err
}
