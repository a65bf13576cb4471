package http

import (
	"cmp"
	"context"
	"slices"

	"coppice"
	"coppice/api"
	"coppice/store"
)

// A status counts all tasks, but lists no more than this of each kind: a
// history of any length, and any number of tasks that wait, cost it nothing.
const (
	mostWaiting = 100
	mostListed  = 200
)

// statusTasks counts tasks in the store, and looks only at those it lists and
// at those that have a session, whose status depends on more than their stage.
func (s *Server) statusTasks(ctx context.Context, r store.Reader, project int64, out *api.Status) error {
	for status, outcome := range outcomeOf {
		f := store.TaskFilter{ProjectID: project, Stages: []coppice.Stage{coppice.StageEnded}, Outcomes: []coppice.Outcome{outcome}, Archived: store.ArchivedNot}
		n, err := r.Tasks.Count(f)
		if err != nil {
			return err
		}
		out.Counts[status] = n
	}
	needs, active, answered, err := s.busyTasks(ctx, r, project, out)
	if err != nil {
		return err
	}
	people, err := s.waitingTasks(ctx, r, project, out)
	if err != nil {
		return err
	}
	waiting, err := r.Tasks.Pending(project, false, mostWaiting)
	if err != nil {
		return err
	}
	needs, waiting = append(needs, people...), append(answered, waiting...)
	older := func(a, b coppice.Task) int { return cmp.Compare(a.ID, b.ID) }
	slices.SortFunc(needs, older)
	slices.SortFunc(active, older)
	for _, part := range []struct {
		tasks []coppice.Task
		to    *[]api.Task
	}{{needs, &out.NeedsYou}, {active, &out.Active}, {waiting, &out.Waiting}} {
		if *part.to, err = s.views(ctx, r, part.tasks); err != nil {
			return err
		}
		for i := range *part.to {
			(*part.to)[i].Body = ""
		}
	}
	return nil
}

// busyTasks counts the tasks that are being worked on, checked, held or landed,
// and returns those that need a person, those whose session waits for a free one,
// and the others.
func (s *Server) busyTasks(ctx context.Context, r store.Reader, project int64, out *api.Status) (needs, active, waiting []coppice.Task, err error) {
	for _, stage := range append(coppice.StagesThat(coppice.Stage.Lands), coppice.StageSession) {
		f := store.TaskFilter{ProjectID: project, Stages: []coppice.Stage{stage}, OldFirst: true}
		if stage != coppice.StageSession { // of those there are as many as sessions may run
			f.Most = mostListed
		}
		tasks, err := r.Tasks.List(f)
		if err != nil {
			return nil, nil, nil, err
		}
		statuses, err := s.cfg.Status.Statuses(ctx, r, tasks)
		if err != nil {
			return nil, nil, nil, err
		}
		for i, t := range tasks {
			out.Counts[statuses[i].Status]++
			switch statuses[i].Status {
			case coppice.StatusNeedsYou:
				needs = append(needs, t)
			case coppice.StatusWaiting:
				waiting = append(waiting, t)
			default:
				active = append(active, t)
			}
		}
		if f.Most > 0 && len(tasks) == f.Most { // their status is their stage's: the rest need no look
			n, err := r.Tasks.Count(store.TaskFilter{ProjectID: project, Stages: f.Stages})
			if err != nil {
				return nil, nil, nil, err
			}
			out.Counts[statuses[0].Status] += n - len(tasks)
		}
	}
	return needs, active, waiting, nil
}

// waitingTasks counts the tasks that wait or are queued, and returns those that
// wait for a person. Whether a queued one is ready is the same for all of its
// lane, so the first of each tells.
func (s *Server) waitingTasks(ctx context.Context, r store.Reader, project int64, out *api.Status) ([]coppice.Task, error) {
	waits, err := r.Tasks.Waits(project)
	if err != nil {
		return nil, err
	}
	for on, n := range waits {
		if on == coppice.WaitPerson {
			out.Counts[coppice.StatusNeedsYou] += n
		} else {
			out.Counts[coppice.StatusWaiting] += n
		}
	}
	lanes, err := r.Lanes.Count(project)
	if err != nil {
		return nil, err
	}
	var heads []coppice.Task
	for lane := range lanes {
		first, err := r.Lanes.Heads(lane, 1)
		if err != nil {
			return nil, err
		}
		heads = append(heads, first...)
	}
	statuses, err := s.cfg.Status.Statuses(ctx, r, heads)
	if err != nil {
		return nil, err
	}
	for i, t := range heads {
		out.Counts[statuses[i].Status] += lanes[t.Lane()]
	}
	if waits[coppice.WaitPerson] == 0 {
		return nil, nil
	}
	return r.Tasks.Pending(project, true, mostListed)
}
