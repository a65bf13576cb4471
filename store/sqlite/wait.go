package sqlite

import (
	"context"
	"maps"
	"slices"
	"sync"

	"coppice/store"
)

// wake says what a transaction changed, for callers who wait for that.
type wake struct {
	event  int64    // the newest event, 0 for none
	facts  bool     // whether it changed more than output
	topics []string // without the log
}

func (w *wake) add(v wake) {
	w.event = max(w.event, v.event)
	w.facts = w.facts || v.facts
	w.topics = append(w.topics, v.topics...)
}

// touch names a topic that the transaction touches.
func (t *tx) touch(topic string) {
	if n := len(t.wake.topics); n == 0 || t.wake.topics[n-1] != topic { // often the same one is touched several times in a row
		t.wake.topics = append(t.wake.topics, topic)
	}
}

// signals reports commits to callers who wait.
type signals struct {
	mu      sync.Mutex
	event   int64                            // the newest committed event
	facts   uint64                           // the number of commits that changed facts
	events  chan struct{}                    // closed when there is a newer event, and then replaced
	watches map[string]map[*watcher]struct{} // by topic
}

// watcher implements store.Watch.
type watcher struct {
	store  *Store
	topics []string
	wake   chan struct{} // has a value if there might be touched topics

	// signals.mu guards these.
	touched map[string]struct{} // topics since the last take
	commits uint64              // the number of commits that touched one of the topics
}

func newSignals() *signals {
	return &signals{events: make(chan struct{}), watches: map[string]map[*watcher]struct{}{}}
}

// Watch implements store.Store.
func (s *Store) Watch(topics ...string) store.Watch { return s.watchTopics(topics...) }

func (s *Store) watchTopics(topics ...string) *watcher {
	g := s.signals
	g.mu.Lock()
	defer g.mu.Unlock()
	w := &watcher{store: s, topics: topics, wake: make(chan struct{}, 1), touched: map[string]struct{}{}}
	for _, topic := range topics {
		if g.watches[topic] == nil {
			g.watches[topic] = map[*watcher]struct{}{}
		}
		g.watches[topic][w] = struct{}{}
	}
	return w
}

// Close implements store.Watch.
func (w *watcher) Close() {
	g := w.store.signals
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, topic := range w.topics {
		if delete(g.watches[topic], w); len(g.watches[topic]) == 0 {
			delete(g.watches, topic)
		}
	}
}

// Wait implements store.Watch.
func (w *watcher) Wait(ctx context.Context) ([]string, error) {
	for {
		if err := w.store.wait(ctx, w.wake); err != nil {
			return nil, err
		}
		if topics := w.take(); len(topics) > 0 {
			return topics, nil
		}
	}
}

// take returns the topics that were touched since its last call, in order.
func (w *watcher) take() []string {
	g := w.store.signals
	g.mu.Lock()
	defer g.mu.Unlock()
	topics := slices.Sorted(maps.Keys(w.touched))
	clear(w.touched)
	return topics
}

// seen returns the number of commits that touched one of the topics.
func (w *watcher) seen() uint64 {
	g := w.store.signals
	g.mu.Lock()
	defer g.mu.Unlock()
	return w.commits
}

func (g *signals) announce(w wake) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if w.facts {
		g.facts++
	}
	for _, topic := range w.topics {
		g.touch(topic, topic)
		for i, c := range topic {
			if c == '/' {
				g.touch(topic[:i+1], topic)
			}
		}
	}
	if w.event > g.event {
		g.event = w.event
		g.touch(store.TopicLog, store.TopicLog)
		close(g.events)
		g.events = make(chan struct{})
	}
}

// touch wakes the watchers of a name and adds the topic to what they take.
func (g *signals) touch(name, topic string) {
	for w := range g.watches[name] {
		w.touched[topic] = struct{}{}
		w.commits++
		select {
		case w.wake <- struct{}{}:
		default: // it has not taken an earlier one yet
		}
	}
}

// FactsVersion implements store.Store.
func (s *Store) FactsVersion() uint64 {
	s.signals.mu.Lock()
	defer s.signals.mu.Unlock()
	return s.signals.facts
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
