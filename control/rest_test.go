package control_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"coppice"
	"coppice/control"
	"coppice/internal/clock"
	"coppice/store"
	"coppice/store/sqlite"
)

// What only work needs is given back once after the start, and once after each
// stretch of work.
func TestRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.Memory})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		ctx, cancel := context.WithCancel(t.Context())
		given := 0
		r := &control.Rest{Store: s, Clock: clock.Real(), Then: []func(context.Context) error{s.Shrink, func(context.Context) error { given++; return nil }}}
		ended := make(chan error)
		go func() { ended <- r.Run(ctx) }()
		event := func() {
			err := s.Update(ctx, func(tx store.Tx) error {
				return tx.Log.Append(&coppice.Event{At: time.Now(), Kind: coppice.EventProjectChanged})
			})
			if err != nil {
				t.Error(err)
			}
		}
		after := func(d time.Duration, want int) {
			t.Helper()
			time.Sleep(d) // of the bubble's clock
			synctest.Wait()
			if given != want {
				t.Errorf("given back %d times, want %d", given, want)
			}
		}
		after(1500*time.Millisecond, 1)
		after(time.Hour, 1)
		for range 20 { // as long as something happens, it is not at rest
			event()
			after(500*time.Millisecond, 1)
		}
		after(3*time.Second, 2)
		after(time.Hour, 2)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
