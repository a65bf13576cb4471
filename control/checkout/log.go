package checkout

import (
	"context"
	"maps"
	"slices"
	"time"

	"coppice"
	"coppice/store"
)

// gather is how long news is left to gather: a task that moves on does so in
// several steps, and one look sees them all.
const gather = 100 * time.Millisecond

// follow sends news when the log has grown, and waits for how far it was read.
func (s *Follower) follow(ctx context.Context, seq int64, news chan<- struct{}, ack <-chan int64) {
	for {
		if err := s.store.WaitEvent(ctx, seq); err != nil {
			return // only ends with ctx, or with the store
		}
		if !s.rest(ctx, gather) {
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

// read takes over what was logged since the last time.
func (s *Follower) read(ctx context.Context) error {
	const page = 1000
	changed, policies, seq := map[*featureProject]bool{}, false, s.seq
	paused, first, ended := map[int64]coppice.Project{}, map[int64]string{}, map[int64]bool{}
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
			s.glance(ctx, id)
		}
	}
	for _, id := range s.order() {
		if p := s.projects[id]; changed[p] {
			s.turn(ctx, p)
		}
	}
	return nil
}
