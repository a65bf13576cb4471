package sqlite

import (
	"context"
	"slices"

	"coppice/store"
)

// maxBatch is the maximum number of Updates that share a commit. It bounds how
// long the first one waits for the last one.
const maxBatch = 128

// request is one Update.
type request struct {
	ctx    context.Context
	f      func(store.Tx) error
	err    error         // the error of f
	turn   chan *batch   // receives the batch in which it runs now; nil means that it leads the next batch
	ran    chan struct{} // receives when the function has returned
	answer chan error    // receives the result of the commit
}

// batch is one transaction that several Updates share. One goroutine at a time
// uses it: the leader's, or that of the follower whose turn it is.
type batch struct {
	s    *Store
	err  error // why the whole batch fails
	lost bool  // the database was lost, which guard has logged already
	wake wake
}

// Update implements store.Store. The first caller leads: it opens the transaction,
// runs its own function, gives a turn to every caller that waits by then, and
// commits for all. Each function runs in the goroutine of its caller, so that a
// panic reaches the caller.
func (s *Store) Update(ctx context.Context, f func(store.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.running.Done()

	r := &request{ctx: ctx, f: f}
	if s.join(r) {
		return s.lead(r)
	}
	var b *batch
	select {
	case b = <-r.turn:
	case <-ctx.Done():
		if s.leave(r) {
			return ctx.Err()
		}
		b = <-r.turn
	}
	if b == nil {
		return s.lead(r)
	}
	return s.follow(r, b)
}

// join adds a request to the queue, or reports that it leads.
func (s *Store) join(r *request) (lead bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.busy {
		s.busy = true
		return true
	}
	r.turn, r.ran, r.answer = make(chan *batch, 1), make(chan struct{}, 1), make(chan error, 1)
	s.queue = append(s.queue, r)
	return false
}

// leave removes a request from the queue, unless its turn has come.
func (s *Store) leave(r *request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.queue, r)
	if i < 0 {
		return false
	}
	s.queue = slices.Delete(s.queue, i, i+1)
	return true
}

// next removes the first request from the queue and returns it.
func (s *Store) next() *request {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return nil
	}
	r := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	return r
}

// handOver makes the first request in the queue lead the next batch.
func (s *Store) handOver() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		s.busy = false
		return
	}
	r := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	r.turn <- nil
}

// lead runs a batch. It finishes the batch in a deferred function, so that this
// also happens if the leader's own function panics.
func (s *Store) lead(r *request) (err error) {
	b := s.begin()
	defer func() {
		s.finish(b)
		err = r.outcome(b.err)
	}()
	b.run(r, aroundFirst)
	return nil
}

func (s *Store) follow(r *request, b *batch) error {
	func() {
		defer func() { r.ran <- struct{}{} }()
		b.run(r, aroundOther)
	}()
	return r.outcome(<-r.answer)
}

// outcome returns the result of Update: the error of its function, or of the batch.
func (r *request) outcome(batch error) error {
	if r.err != nil {
		return r.err
	}
	return batch
}

func (s *Store) begin() *batch {
	if s.cfg.Path == Memory {
		<-s.readers.free // the only connection; commit gives it back
		s.readers.take()
	}
	if err := s.guard(); err != nil {
		return &batch{s: s, err: err, lost: true}
	}
	return &batch{s: s, err: s.writer.run("BEGIN IMMEDIATE")}
}

// around has the statements that make it possible to undo what one function of a
// batch writes.
type around struct{ begin, keep, undo []string }

var (
	// aroundFirst is for the leader. The transaction has no other changes yet, so it
	// can be rolled back. A savepoint would copy every page before its first change.
	aroundFirst = around{undo: []string{"ROLLBACK", "BEGIN IMMEDIATE"}}
	aroundOther = around{begin: []string{"SAVEPOINT one"}, keep: []string{"RELEASE one"}, undo: []string{"ROLLBACK TO one", "RELEASE one"}}
)

// run runs a function. If the function fails, panics or exits its goroutine, run
// undoes only what that function wrote.
func (b *batch) run(r *request, a around) {
	if r.err = r.ctx.Err(); r.err != nil || b.err != nil {
		return
	}
	c := b.s.writer
	if b.err = c.runAll(a.begin); b.err != nil {
		return
	}
	t, wrote := &tx{conn: c}, c.wrote
	done := false
	defer func() {
		if !done {
			b.err = c.runAll(a.undo)
			return
		}
		t.wake.facts = c.wrote != wrote
		b.wake.add(t.wake)
		b.err = c.runAll(a.keep)
	}()
	r.err = explain(c.path, r.f(t.parts()))
	done = r.err == nil
}

// finish gives the waiting requests their turn, commits, answers and hands over. A
// batch that has failed takes no more requests; they run in the next one.
func (s *Store) finish(b *batch) {
	var followers []*request
	for b.err == nil && len(followers) < maxBatch-1 {
		r := s.next()
		if r == nil {
			break
		}
		followers = append(followers, r)
		r.turn <- b
		<-r.ran
	}
	s.commit(b)
	for _, r := range followers {
		r.answer <- b.err
	}
	s.handOver()
}

func (s *Store) commit(b *batch) {
	if b.err == nil {
		b.err = s.writer.run("COMMIT")
	}
	if b.err != nil && !b.lost {
		s.cfg.Logger.Error("a transaction was not committed", "error", b.err)
		_ = s.writer.run("ROLLBACK") // SQLite might have done so already
	}
	if s.cfg.Path == Memory {
		s.readers.give(s.writer)
	}
	if b.err == nil {
		s.signals.announce(b.wake)
	}
}
