package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

func event(kind coppice.EventKind, project, task int64, at time.Duration) *coppice.Event {
	return &coppice.Event{Kind: kind, ProjectID: project, TaskID: task, At: start.Add(at), By: "test"}
}

func seqs(t *testing.T, s store.Store, after int64, most int, f store.EventFilter) []int64 {
	t.Helper()
	events := get(t, s, func(r store.Reader) ([]coppice.Event, error) { return r.Log.Events(after, most, f) })
	return ids(events, func(e coppice.Event) int64 { return e.Seq })
}

func testEvents(t *testing.T, open Open) {
	s := open(t)
	update(t, s, func(tx store.Tx) error {
		return tx.Log.Append(event(coppice.EventTaskCreated, 1, 1, 0), event(coppice.EventTaskStage, 1, 1, 0), event(coppice.EventTaskCreated, 1, 2, 0))
	})
	update(t, s, func(tx store.Tx) error {
		return tx.Log.Append(event(coppice.EventAgentLimited, 0, 0, 0), event(coppice.EventTaskCreated, 2, 3, 0))
	})
	for _, c := range []struct {
		name   string
		after  int64
		most   int
		filter store.EventFilter
		want   []int64
	}{
		{"all", 0, 10, store.EventFilter{}, []int64{1, 2, 3, 4, 5}},
		{"after", 3, 10, store.EventFilter{}, []int64{4, 5}},
		{"most", 1, 2, store.EventFilter{}, []int64{2, 3}},
		{"project", 0, 10, store.EventFilter{ProjectID: 1}, []int64{1, 2, 3}},
		{"task", 0, 10, store.EventFilter{TaskID: 1}, []int64{1, 2}},
		{"kinds", 0, 10, store.EventFilter{Kinds: []coppice.EventKind{coppice.EventTaskStage, coppice.EventAgentLimited}}, []int64{2, 4}},
		{"all of it", 1, 10, store.EventFilter{ProjectID: 1, TaskID: 1, Kinds: []coppice.EventKind{coppice.EventTaskStage}}, []int64{2}},
		{"none left", 5, 10, store.EventFilter{}, nil},
	} {
		same(t, c.name, c.want, seqs(t, s, c.after, c.most, c.filter))
	}
	update(t, s, func(tx store.Tx) error { return firstOf(tx.Log.SetCursor("a", 3), tx.Log.SetCursor("a", 4)) })
	same(t, "cursor", int64(4), get(t, s, func(r store.Reader) (int64, error) { return r.Log.Cursor("a") }))
}

func testTrimEvents(t *testing.T, open Open) {
	s := open(t)
	grow := func(n int) {
		update(t, s, func(tx store.Tx) error {
			for range n {
				_, last, err := tx.Log.Bounds()
				if err := firstOf(err, tx.Log.Append(event(coppice.EventTaskStage, 1, 1, time.Duration(last+1)*time.Second))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	trim := func(before time.Time, keep int) (n int) {
		update(t, s, func(tx store.Tx) (err error) { n, err = tx.Log.Trim(before, keep); return err })
		return n
	}
	bounds := func(first, last int64) {
		t.Helper()
		view(t, s, func(r store.Reader) error {
			f, l, err := r.Log.Bounds()
			same(t, "bounds", []int64{first, last}, []int64{f, l})
			return err
		})
	}
	same(t, "an empty log", 0, trim(start, 1))
	grow(10)
	bounds(1, 10)
	same(t, "no bound", 0, trim(time.Time{}, 0))
	same(t, "keep 8", 2, trim(time.Time{}, 8))
	bounds(3, 10)
	same(t, "before the 5th", 2, trim(start.Add(5*time.Second), 0))
	bounds(5, 10)
	update(t, s, func(tx store.Tx) error { return firstOf(tx.Log.SetCursor("slow", 6), tx.Log.SetCursor("fast", 10)) })
	same(t, "events after a cursor stay", 2, trim(start.Add(time.Hour), 1))
	bounds(7, 10)
	update(t, s, func(tx store.Tx) error { return tx.Log.SetCursor("slow", 10) })
	same(t, "all", 4, trim(start.Add(time.Hour), 0))
	bounds(11, 10)
	grow(1)
	bounds(11, 11)
	same(t, "no number is used twice", []int64{11}, seqs(t, s, 0, 10, store.EventFilter{}))
}

func testWaitEvent(t *testing.T, open Open) {
	s := open(t)
	ctx := within(t)
	woken := make(chan error, 1)
	wait := func(ctx context.Context, seq int64) {
		go func() { woken <- s.WaitEvent(ctx, seq) }()
		settle()
	}
	add := func() {
		update(t, s, func(tx store.Tx) error { return tx.Log.Append(event(coppice.EventTaskStage, 0, 0, 0)) })
	}
	const rounds = 10
	for i := range int64(rounds) {
		wait(ctx, 2*i+1)
		add()
		select {
		case err := <-woken:
			t.Fatal("woken too early:", err)
		default:
		}
		add()
		if err := <-woken; err != nil {
			t.Fatal(err)
		}
	}
	if err := s.WaitEvent(ctx, 0); err != nil {
		t.Fatal("existing events:", err)
	}
	waiting, stop := context.WithCancel(ctx)
	wait(waiting, 2*rounds)
	stop()
	if err := <-woken; !errors.Is(err, context.Canceled) {
		t.Fatal("cancelled:", err)
	}
}

// testWriters runs many writers in parallel, some of which fail. The log has no gap
// and no event twice, and the events of each writer are in order.
func testWriters(t *testing.T, open Open) {
	s := open(t)
	const writers, each = 16, 50
	failed := errors.New("on purpose")
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				err := s.Update(t.Context(), func(tx store.Tx) error {
					e := event(coppice.EventTaskStage, int64(w+1), int64(i+1), 0)
					if err := tx.Log.Append(e, event(coppice.EventTaskWarned, 0, 0, 0)); err != nil {
						return err
					}
					if i%5 == 4 {
						return failed
					}
					return nil
				})
				if want := i%5 == 4; errors.Is(err, failed) != want || (!want && err != nil) {
					t.Errorf("writer %d, update %d: %v", w, i, err)
				}
			}
		})
	}
	wg.Wait()
	events := get(t, s, func(r store.Reader) ([]coppice.Event, error) { return r.Log.Events(0, 1<<20, store.EventFilter{}) })
	if want := writers * each * 4 / 5 * 2; len(events) != want {
		t.Fatalf("%d events, want %d", len(events), want)
	}
	newest := map[int64]int64{}
	for i, e := range events {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has number %d", i+1, e.Seq)
		}
		if e.ProjectID != 0 {
			if e.TaskID <= newest[e.ProjectID] {
				t.Fatalf("writer %d: %d after %d", e.ProjectID, e.TaskID, newest[e.ProjectID])
			}
			newest[e.ProjectID] = e.TaskID
		}
	}
}

// RunReopen runs the additional tests of a durable store. open opens the same store
// again after it was closed; the caller closes it.
func RunReopen(t *testing.T, open func(t *testing.T) store.Store) {
	const readers, rounds, writers, each = 4, 5, 4, 20
	total := int64(rounds * writers * each)
	ctx := within(t)
	current := make([]chan store.Store, readers) // each reader receives each new store
	var following sync.WaitGroup
	for i := range readers {
		current[i] = make(chan store.Store, rounds)
		following.Go(func() {
			if err := follow(ctx, current[i], total); err != nil {
				t.Errorf("reader %d: %v", i, err)
			}
		})
	}
	for range rounds {
		s := open(t)
		for _, c := range current {
			c <- s
		}
		var writing sync.WaitGroup
		for range writers {
			writing.Go(func() {
				for range each {
					err := s.Update(ctx, func(tx store.Tx) error { return tx.Log.Append(event(coppice.EventTaskStage, 1, 1, 0)) })
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		writing.Wait()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t)
	for _, c := range current {
		c <- s
	}
	following.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// follow reads the log to the end, from store to store as each is closed, and
// fails when an event is missing or comes twice.
func follow(ctx context.Context, stores <-chan store.Store, total int64) error {
	var seen int64
	s := <-stores
	for seen < total {
		err := s.WaitEvent(ctx, seen)
		if err == nil {
			err = s.View(ctx, func(r store.Reader) error {
				events, err := r.Log.Events(seen, 7, store.EventFilter{})
				for _, e := range events {
					if e.Seq != seen+1 {
						return fmt.Errorf("event %d after %d", e.Seq, seen)
					}
					seen = e.Seq
				}
				return err
			})
		}
		if coppice.ErrorCode(err) == coppice.EUnavailable {
			s = <-stores // it was closed; continue with the next one
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}
