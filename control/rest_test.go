package control_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"coppice"
	"coppice/control"
	"coppice/internal/clock"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
)

// Rest calls its functions one time after the start, and one time after each
// period of work.
func TestRest(t *testing.T) {
	t.Parallel()
	s := sqlitetest.Open(t, sqlite.Config{})
	now := clock.NewManual(time.Unix(0, 0))
	ctx, cancel := context.WithCancel(t.Context())
	gave, ended := make(chan struct{}, 9), make(chan error)
	r := &control.Rest{Store: s, Clock: now, After: 5 * time.Second, Then: []func(context.Context) error{s.Shrink, func(context.Context) error { gave <- struct{}{}; return nil }}}
	go func() { ended <- r.Run(ctx) }()
	event := func() {
		err := s.Update(ctx, func(tx store.Tx) error {
			return tx.Log.Append(&coppice.Event{At: now.Now(), Kind: coppice.EventProjectChanged})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	second := func() {
		if err := now.WaitPending(ctx, 1); err != nil {
			t.Fatal(err)
		}
		if len(gave) > 0 {
			t.Error("given back though the server is not at rest")
		}
		now.Advance(5 * time.Second)
	}
	second()
	<-gave
	event() // nothing is given back again without one
	for range 5 {
		if err := now.WaitPending(ctx, 1); err != nil {
			t.Fatal(err)
		}
		event() // as long as something happens, it is not at rest
		second()
	}
	second()
	<-gave
	// The time counts from the newest event, not from the last look at the log.
	event()
	if err := now.WaitPending(ctx, 1); err != nil {
		t.Fatal(err)
	}
	now.Advance(3 * time.Second)
	event()
	now.Advance(2 * time.Second)
	if err := now.WaitPending(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if len(gave) > 0 {
		t.Error("given back 2 seconds after an event")
	}
	now.Advance(3 * time.Second)
	<-gave
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
