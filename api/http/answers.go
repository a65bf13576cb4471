package http

import (
	"context"
	"slices"
	"sync"
	"time"

	"coppice"
	"coppice/api"
	"coppice/store"
)

// answers caches what was made from the facts while the facts stay the same.
// Requests at the same time share one computation. An answer is never older
// than the request: the number of the facts is read first.
type answers struct {
	facts func() uint64
	now   func() time.Time

	mu        sync.Mutex
	made      uint64 // the number of the facts
	of        map[string]*answer
	refreshes sync.WaitGroup
}

// answer is complete when done is closed.
type answer struct {
	done  chan struct{}
	since time.Time
	value any
	err   error

	facts    uint64 // the number of the facts before it was made
	replaced bool   // its replacement is being made
}

const (
	maxAnswers = 16
	// maxAge is how long an answer is kept, because snoozes end and free memory
	// changes without a fact. An answer that reports its end is kept longer.
	maxAge    = time.Second
	maxEnding = 5 * time.Second
	// maxStale is how much longer an answer is given while the next one is being
	// made. So a client that asks often never waits for an answer that is made from
	// the same facts.
	maxStale = 2 * time.Second
)

// ending is an answer that reports when it becomes wrong although no fact changes.
type ending interface {
	end() time.Time // zero for never
}

// age returns for how long an answer is kept, and false if it has failed or ended.
func (a *answer) age(now time.Time) (time.Duration, bool) {
	select {
	case <-a.done:
	default:
		return maxAge, true
	}
	e, ok := a.value.(ending)
	if !ok {
		return maxAge, a.err == nil
	}
	return maxEnding, a.err == nil && (e.end().IsZero() || now.Before(e.end()))
}

// reuse returns the answer to a question. f makes it if none is cached. The
// caller must not change it.
func reuse[T any](ctx context.Context, all *answers, question string, f func(context.Context) (T, error)) (T, error) {
	produce := func(a *answer) {
		defer close(a.done)
		a.err = coppice.Errorf(coppice.EInternal, "the answer was not computed") // if f panics
		a.value, a.err = f(context.WithoutCancel(ctx))                           // others might wait for it
	}
	a, next := all.find(question)
	switch {
	case next == a:
		produce(a)
	case next != nil:
		all.refreshes.Go(func() {
			defer func() { _ = recover() }() // a later request panics too, and reports it
			produce(next)
			all.replace(question, next)
		})
	}
	select {
	case <-a.done:
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
	value, _ := a.value.(T)
	return value, a.err
}

// find returns the answer to a question. If next is not nil, the caller has to make
// it: either it is the answer itself, or the one that replaces the answer.
func (all *answers) find(question string) (a, next *answer) {
	all.mu.Lock()
	defer all.mu.Unlock()
	now := all.facts()
	if now != all.made || len(all.of) >= maxAnswers || all.of == nil {
		all.made, all.of = now, map[string]*answer{}
	}
	next = &answer{done: make(chan struct{}), since: all.now(), facts: now}
	if a = all.of[question]; a != nil {
		age, ok := a.age(next.since)
		switch over := next.since.Sub(a.since) - age; {
		case !ok || over >= maxStale:
		case over < 0 || a.replaced:
			return a, nil
		default:
			a.replaced = true
			return a, next
		}
	}
	all.of[question] = next
	return next, next
}

// replace stores the next answer to a question, unless the facts have changed.
func (all *answers) replace(question string, next *answer) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.made == next.facts && next.err == nil {
		all.of[question] = next
	}
}

// updateLines updates the lines of live sessions in lists of tasks. The lists become
// copies.
func (s *Server) updateLines(ctx context.Context, lists ...*[]api.Task) error {
	return s.cfg.Store.View(ctx, func(r store.Reader) error {
		live, err := r.Sessions.Written()
		if err != nil {
			return err
		}
		cursors := map[int64]int64{}
		for _, list := range lists {
			*list = slices.Clone(*list)
			for _, v := range *list {
				if w, ok := live[v.Session]; ok {
					cursors[w.Session] = w.Cursor
				}
			}
		}
		lines, err := s.lines.live(r, cursors)
		if err != nil {
			return err
		}
		for _, list := range lists {
			for i, v := range *list {
				if w, ok := live[v.Session]; ok {
					(*list)[i].Says = lines[w.Session]
				}
			}
		}
		return nil
	})
}
