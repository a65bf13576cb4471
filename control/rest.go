package control

import (
	"context"
	"time"

	"coppice/internal/clock"
	"coppice/store"
)

// Rest calls functions whenever the server becomes idle: one time after its
// start, and one time after each period of work.
type Rest struct {
	Store store.Store
	Clock clock.Clock
	After time.Duration                 // how long nothing must happen before the server is idle
	Then  []func(context.Context) error // which release what only work needs
}

// Run follows the log until ctx ends.
func (r *Rest) Run(ctx context.Context) error {
	for seq := int64(-1); ; {
		newest, at, err := r.newest(ctx)
		if err != nil {
			return err
		}
		if newest == seq {
			for _, f := range r.Then {
				if err := f(ctx); err != nil {
					return err
				}
			}
			if err := r.Store.WaitEvent(ctx, seq); err != nil {
				return err
			}
		}
		wait := r.After
		if age := r.Clock.Now().Sub(at); seq >= 0 && age > 0 && age < r.After {
			wait -= age // the server is idle since the newest event
		}
		seq = newest
		timer := r.Clock.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// newest returns the number and the time of the newest event.
func (r *Rest) newest(ctx context.Context) (seq int64, at time.Time, err error) {
	err = r.Store.View(ctx, func(r store.Reader) error {
		if _, seq, err = r.Log.Bounds(); err != nil {
			return err
		}
		last, err := r.Log.Events(seq-1, 1, store.EventFilter{})
		if len(last) > 0 {
			at = last[0].At
		}
		return err
	})
	return seq, at, err
}
