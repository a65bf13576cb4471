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

	mu   sync.Mutex
	made uint64 // the number of the facts
	of   map[string]*answer
}

// answer is complete when done is closed.
type answer struct {
	done  chan struct{}
	since time.Time
	value any
	err   error
}

const (
	maxAnswers = 16
	// maxAge is how long an answer is kept, because limits end and free memory
	// changes without a fact.
	maxAge = time.Second
)

// reuse returns the answer to a question. f makes it if none is cached. The
// caller must not change it.
func reuse[T any](ctx context.Context, all *answers, question string, f func(context.Context) (T, error)) (T, error) {
	a, first := all.find(question)
	if first {
		func() {
			defer close(a.done)
			a.err = coppice.Errorf(coppice.EInternal, "the answer was not computed") // if f panics
			a.value, a.err = f(context.WithoutCancel(ctx))                           // others might wait for it
		}()
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

// find returns the answer to a question, and whether the caller has to make it.
func (all *answers) find(question string) (a *answer, first bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	now := all.facts()
	if now != all.made || len(all.of) >= maxAnswers || all.of == nil {
		all.made, all.of = now, map[string]*answer{}
	}
	if a = all.of[question]; a != nil && !a.failed() && all.now().Sub(a.since) < maxAge {
		return a, false
	}
	a = &answer{done: make(chan struct{}), since: all.now()}
	all.of[question] = a
	return a, true
}

// failed reports whether an answer was made and is an error.
func (a *answer) failed() bool {
	select {
	case <-a.done:
		return a.err != nil
	default:
		return false
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
