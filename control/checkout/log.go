package checkout

import (
	"context"
	"maps"
	"slices"
	"time"

	"coppice"
	"coppice/store"
)

// between is the shortest time between two reads of the log, and gather between
// two writes of a features file: a task changes in several steps, and one write
// has them all. The first after a quiet time, and the last of all, do not wait.
const (
	between = 10 * time.Millisecond
	gather  = 100 * time.Millisecond
)

// follow sends news when the log has grown, and waits for the position up to
// which it was read.
func (s *Follower) follow(ctx context.Context, seq int64, news chan<- struct{}, ack <-chan int64) {
	for read := (time.Time{}); ; read = s.clock.Now() {
		if err := s.store.WaitEvent(ctx, seq); err != nil {
			return // WaitEvent fails only with ctx, or with the store
		}
		if early := between - s.clock.Now().Sub(read); early > 0 && !s.rest(ctx, early) {
			return
		}
		select {
		case news <- struct{}{}:
		case <-ctx.Done():
			return
		}
		select {
		case seq = <-ack:
		case <-ctx.Done():
			return
		}
	}
}

// mayWrite reports whether to update a features file now. Otherwise it sets the
// time of the update.
func (s *Follower) mayWrite(p *featureProject) bool {
	next := p.wrote.Add(gather)
	if !s.clock.Now().Before(next) || p.atRest() {
		return true
	}
	p.owed = next
	return false
}

// atRest reports whether no feature's task is in progress.
func (p *featureProject) atRest() bool {
	for _, t := range p.tasks {
		if !t.Ended() {
			return false
		}
	}
	return true
}

// read processes the events since the last read.
func (s *Follower) read(ctx context.Context) error {
	const page = 1000
	changed, policies, seq := map[*featureProject]bool{}, false, s.seq
	paused, first, ended := map[int64]coppice.Project{}, map[int64]waiting{}, map[int64]bool{}
	err := s.store.View(ctx, func(r store.Reader) error {
		for {
			events, err := r.Log.Events(seq, page, store.EventFilter{})
			if err != nil {
				return err
			}
			tasks, touched := map[int64]*featureProject{}, map[int64]bool{}
			for _, ev := range events {
				seq, touched[ev.ProjectID] = ev.Seq, true
				ended[ev.ProjectID] = ended[ev.ProjectID] || ev.Kind == coppice.EventSessionEnded
				policies = policies || ev.Kind == coppice.EventProjectAdded || ev.Kind == coppice.EventProjectChanged || ev.Kind == coppice.EventProjectRemoved
				if p := s.projects[ev.ProjectID]; p != nil && ev.TaskID != 0 {
					tasks[ev.TaskID] = p
				}
			}
			for _, id := range slices.Sorted(maps.Keys(tasks)) {
				t, err := r.Tasks.Get(id)
				if coppice.ErrorCode(err) == coppice.ENotFound {
					continue // it was removed with its project
				}
				if err != nil {
					return err
				}
				news, err := s.learn(r, tasks[id], t)
				if err != nil {
					return err
				}
				changed[tasks[id]] = changed[tasks[id]] || news
			}
			for id := range touched {
				if s.policies[id] == nil {
					continue
				}
				p, err := r.Projects.Get(id)
				if coppice.ErrorCode(err) == coppice.ENotFound {
					continue // it was removed
				}
				if err != nil {
					return err
				}
				if paused[id] = p; p.Removal != nil {
					continue
				}
				if first[id], err = waitsFor(r, id); err != nil {
					return err
				}
			}
			if len(events) < page {
				return nil
			}
		}
	})
	if err != nil {
		return err
	}
	if policies {
		if err := s.reload(ctx); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(paused)) {
		s.waits.follow(paused[id], first[id])
		if p := s.policies[id]; p != nil && !maps.Equal(p.project.PausedTracks, paused[id].PausedTracks) {
			p.project.PausedTracks = paused[id].PausedTracks
			s.warnPolicy(ctx, p)
		}
	}
	s.seq = seq
	for _, id := range slices.Sorted(maps.Keys(ended)) {
		if ended[id] {
			s.checkAfterSession(ctx, id)
		}
	}
	for _, id := range s.order() {
		if p := s.projects[id]; changed[p] && s.mayWrite(p) {
			s.turn(ctx, p)
		}
	}
	return nil
}
