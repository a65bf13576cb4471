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
		newest, err := r.newest(ctx)
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
		seq = newest
		timer := r.Clock.NewTimer(r.After)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

func (r *Rest) newest(ctx context.Context) (seq int64, err error) {
	err = r.Store.View(ctx, func(r store.Reader) error {
		_, seq, err = r.Log.Bounds()
		return err
	})
	return seq, err
}
