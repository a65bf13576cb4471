package sqlite

import (
	"context"
	"maps"
	"slices"
	"sync"

	"coppice/store"
)

// wake says what a transaction brought that somebody may wait for.
type wake struct {
	event    int64   // the newest event, 0 for none
	work     bool    // work was offered
	sessions []int64 // wrote something, or ended
}

func (w *wake) add(v wake) {
	w.event = max(w.event, v.event)
	w.work = w.work || v.work
	w.sessions = append(w.sessions, v.sessions...)
}

// signals tells waiters of commits. A channel is closed to wake all who wait
// on it, and a new one takes its place.
type signals struct {
	mu       sync.Mutex
	event    int64 // the newest one committed
	events   chan struct{}
	work     chan struct{}
	workNew  bool // work was offered that no WaitWork has told of
	sessions map[int64]*sessionSignal

	listeners map[*listener]struct{}
	count     uint64 // of commits that a listener for events wants to hear of
}

// listener hears of commits: which sessions wrote, and maybe of events.
type listener struct {
	wake   chan struct{}      // tells that there is something to hear
	events bool               // it hears of events too
	fresh  map[int64]struct{} // the sessions that wrote, or ended, since it asked last; the signals' mu guards it
}

type sessionSignal struct {
	waiters int
	changed chan struct{}
}

// newSignals starts with workNew: there may be work from before.
func newSignals() *signals {
	return &signals{
		events: make(chan struct{}), work: make(chan struct{}), workNew: true, sessions: map[int64]*sessionSignal{},
		listeners: map[*listener]struct{}{},
	}
}

// listen tells of commits from now on.
func (g *signals) listen(events bool) *listener {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := &listener{wake: make(chan struct{}, 1), events: events, fresh: map[int64]struct{}{}}
	g.listeners[l] = struct{}{}
	return l
}

func (g *signals) leave(l *listener) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.listeners, l)
}

// commits counts what a listener for events wants to hear of since the store was opened.
func (g *signals) commits() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.count
}

// written takes the sessions that wrote since it was last called, by their ids.
func (g *signals) written(l *listener) []int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	ids := slices.Sorted(maps.Keys(l.fresh))
	clear(l.fresh)
	return ids
}

func (g *signals) announce(w wake) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if w.event != 0 || len(w.sessions) > 0 { // all else is nothing that anybody could look for
		g.count++
	}
	for l := range g.listeners {
		l.hear(w)
	}
	if w.event > g.event {
		g.event = w.event
		close(g.events)
		g.events = make(chan struct{})
	}
	if w.work {
		g.workNew = true
		close(g.work)
		g.work = make(chan struct{})
	}
	for _, id := range w.sessions {
		if s := g.sessions[id]; s != nil {
			close(s.changed)
			s.changed = make(chan struct{})
		}
	}
}

func (l *listener) hear(w wake) {
	if len(w.sessions) == 0 && (w.event == 0 || !l.events) {
		return
	}
	for _, id := range w.sessions {
		l.fresh[id] = struct{}{}
	}
	select {
	case l.wake <- struct{}{}:
	default: // it has yet to hear of an earlier one
	}
}

// WaitEvent implements store.Store.
func (s *Store) WaitEvent(ctx context.Context, seq int64) error {
	g := s.signals
	for {
		g.mu.Lock()
		newest, changed := g.event, g.events
		g.mu.Unlock()
		if newest > seq && !s.isClosing() {
			return nil
		}
		if err := s.wait(ctx, changed); err != nil {
			return err
		}
	}
}

// WaitWork implements store.Store.
func (s *Store) WaitWork(ctx context.Context) error {
	g := s.signals
	g.mu.Lock()
	fresh, changed := g.workNew, g.work
	g.mu.Unlock()
	if !fresh || s.isClosing() {
		if err := s.wait(ctx, changed); err != nil {
			return err
		}
	}
	g.mu.Lock()
	g.workNew = false
	g.mu.Unlock()
	return nil
}

// WaitOutput implements store.Store.
func (s *Store) WaitOutput(ctx context.Context, session, offset int64) error {
	g := s.signals
	g.mu.Lock()
	sig := g.sessions[session]
	if sig == nil {
		sig = &sessionSignal{changed: make(chan struct{})}
		g.sessions[session] = sig
	}
	sig.waiters++
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if sig.waiters--; sig.waiters == 0 {
			delete(g.sessions, session)
		}
	}()
	for {
		g.mu.Lock()
		changed := sig.changed // taken before the look, so that no change falls between
		g.mu.Unlock()
		there, err := s.hasOutput(ctx, session, offset)
		if err != nil || there {
			return err
		}
		if err := s.wait(ctx, changed); err != nil {
			return err
		}
	}
}

func (s *Store) hasOutput(ctx context.Context, session, offset int64) (there bool, err error) {
	err = s.view(ctx, func(t *tx) error {
		now, err := t.q.Progress(t.ctx, session)
		there = now.Cursor > offset || !now.Live
		return lookup(err, "session", session)
	})
	return there, err
}

// Writers implements store.Store.
func (s *Store) Writers() store.Writers { return &writers{s, s.signals.listen(false)} }

type writers struct {
	store *Store
	heard *listener
}

func (w *writers) Wait(ctx context.Context) ([]int64, error) {
	for {
		if ids := w.store.signals.written(w.heard); len(ids) > 0 && !w.store.isClosing() {
			return ids, nil
		}
		if err := w.store.wait(ctx, w.heard.wake); err != nil {
			return nil, err
		}
	}
}

func (w *writers) Close() { w.store.signals.leave(w.heard) }

func (s *Store) wait(ctx context.Context, changed <-chan struct{}) error {
	if s.isClosing() {
		return errClosed
	}
	select {
	case <-changed:
		return nil
	case <-s.closing:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) isClosing() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}
