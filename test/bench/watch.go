package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

// watch is a server's log as it grows.
type watch struct {
	events chan coppice.Event
	cancel context.CancelFunc
	wg     sync.WaitGroup
	err    error
	look   func(coppice.Event) // sees every event that wait passes; optional
}

// watch follows the log from a place on.
func (s *server) watch(ctx context.Context, after int64) *watch {
	ctx, cancel := context.WithCancel(ctx)
	w := &watch{events: make(chan coppice.Event, 1024), cancel: cancel}
	w.wg.Go(func() {
		defer close(w.events)
		w.err = s.client.FollowEvents(ctx, client.EventQuery{After: after}, func(e api.Event) error {
			select {
			case w.events <- e.Event:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}, nil)
	})
	return w
}

func (w *watch) stop() {
	w.cancel()
	for range w.events { // lets the writer end
	}
	w.wg.Wait()
}

// errFailed says that a task went another way than the benchmark's.
var errFailed = errors.New("a task did not land")

// patience is how long the next event may take.
const patience = 2 * time.Minute

// wait waits for n events of a kind and returns the last.
func (w *watch) wait(ctx context.Context, kind coppice.EventKind, n int) (coppice.Event, error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		select {
		case e, ok := <-w.events:
			if w.look != nil && ok {
				w.look(e)
			}
			switch {
			case !ok:
				return e, fmt.Errorf("the log ended: %w", w.err)
			case e.Kind == coppice.EventTaskEnded && e.Reason != string(coppice.OutcomeDone):
				return e, fmt.Errorf("%w: %s: %s", errFailed, e.Subject, e.Reason)
			case e.Kind == kind:
				if n--; n == 0 {
					return e, nil
				}
				late.Reset(patience)
			}
		case <-late.C:
			return coppice.Event{}, fmt.Errorf("no %s within %s", kind, patience)
		case <-ctx.Done():
			return coppice.Event{}, context.Cause(ctx)
		}
	}
}
