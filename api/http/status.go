package http

import (
	"cmp"
	"context"
	"slices"

	"coppice"
	"coppice/api"
	"coppice/store"
)

// A status counts all tasks, but lists at most this many of each kind. Its cost
// does not depend on the length of the history or the number of waiting tasks.
const (
	mostWaiting = 100
	mostListed  = 200
)

// statusTasks counts tasks in the store. It reads only the tasks that it lists
// and those that have a session, whose status depends on more than their stage.
// It reads all of them together.
func (s *Server) statusTasks(ctx context.Context, r store.Reader, project int64, out *api.Status) error {
	for status, outcome := range outcomeOf {
		f := store.TaskFilter{ProjectID: project, Stages: []coppice.Stage{coppice.StageEnded}, Outcomes: []coppice.Outcome{outcome}, Archived: store.ArchivedNot}
		n, err := r.Tasks.Count(f)
		if err != nil {
			return err
		}
		out.Counts[status] = n
	}
	busy, unlisted, err := busyTasks(r, project)
	if err != nil {
		return err
	}
	people, waiting, err := waitingTasks(r, project, out)
	if err != nil {
		return err
	}
	heads, lanes, err := laneHeads(r, project)
	if err != nil {
		return err
	}
	views, err := s.views(ctx, r, slices.Concat(busy, people, waiting, heads))
	if err != nil {
		return err
	}
	for i := range views {
		views[i].Body = ""
	}
	take := func(n int) (part []api.Task) {
		part, views = views[:n], views[n:]
		return part
	}
	for _, v := range take(len(busy)) {
		out.Counts[v.Status] += 1 + unlisted[v.ID]
		part := &out.Active
		switch v.Status {
		case coppice.StatusNeedsYou:
			part = &out.NeedsYou
		case coppice.StatusWaiting: // its session waits for a free one
			part = &out.Waiting
		}
		*part = append(*part, v)
	}
	out.NeedsYou = append(out.NeedsYou, take(len(people))...)
	out.Waiting = append(out.Waiting, take(len(waiting))...)
	for i, v := range take(len(heads)) {
		out.Counts[v.Status] += lanes[heads[i].Lane()]
	}
	older := func(a, b api.Task) int { return cmp.Compare(a.ID, b.ID) }
	slices.SortFunc(out.NeedsYou, older)
	slices.SortFunc(out.Active, older)
	return nil
}

// busyTasks returns the tasks that are being worked on, checked, held or
// landed. If a stage has more than can be listed, unlisted has their number by
// the first one's id: all of them have the status of their stage.
func busyTasks(r store.Reader, project int64) (all []coppice.Task, unlisted map[int64]int, err error) {
	unlisted = map[int64]int{}
	for _, stage := range append(coppice.StagesThat(coppice.Stage.Lands), coppice.StageSession) {
		f := store.TaskFilter{ProjectID: project, Stages: []coppice.Stage{stage}, OldFirst: true}
		if stage != coppice.StageSession { // there are only as many as running sessions
			f.Most = mostListed
		}
		tasks, err := r.Tasks.List(f)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, tasks...)
		if f.Most > 0 && len(tasks) == f.Most {
			n, err := r.Tasks.Count(store.TaskFilter{ProjectID: project, Stages: f.Stages})
			if err != nil {
				return nil, nil, err
			}
			unlisted[tasks[0].ID] = n - len(tasks)
		}
	}
	return all, unlisted, nil
}

// waitingTasks counts the waiting tasks, and returns those that wait for a
// person, and the others.
func waitingTasks(r store.Reader, project int64, out *api.Status) (people, others []coppice.Task, err error) {
	waits, err := r.Tasks.Waits(project)
	if err != nil {
		return nil, nil, err
	}
	for on, n := range waits {
		if on == coppice.WaitPerson {
			out.Counts[coppice.StatusNeedsYou] += n
		} else {
			out.Counts[coppice.StatusWaiting] += n
		}
	}
	if waits[coppice.WaitPerson] > 0 {
		if people, err = r.Tasks.Pending(store.TaskFilter{ProjectID: project, Most: mostListed}, true); err != nil {
			return nil, nil, err
		}
	}
	others, err = r.Tasks.Pending(store.TaskFilter{ProjectID: project, Most: mostWaiting}, false)
	return people, others, err
}

// laneHeads returns the first queued task of each lane, and how many are queued
// there: all tasks of a lane are ready, or none.
func laneHeads(r store.Reader, project int64) (heads []coppice.Task, lanes map[coppice.Lane]int, err error) {
	if lanes, err = r.Lanes.Count(project); err != nil {
		return nil, nil, err
	}
	for lane := range lanes {
		first, err := r.Lanes.Heads(lane, 1)
		if err != nil {
			return nil, nil, err
		}
		heads = append(heads, first...)
	}
	return heads, lanes, nil
}
