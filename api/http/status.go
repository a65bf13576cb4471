package http

import (
	"cmp"
	"context"
	"slices"
	"time"

	"coppice"
	"coppice/api"
	"coppice/engine"
	"coppice/store"
)

// A status counts all tasks, but lists at most this many of each kind. Its cost
// does not depend on the length of the history or the number of waiting tasks.
const (
	mostWaiting = 100
	mostListed  = 200

	// failedFor is how long a status lists a failed task.
	failedFor = 24 * time.Hour
)

// statusRows are the tasks of a status, and their statuses in the order of all.
type statusRows struct {
	busy     []coppice.Task // being worked on, checked, held or landed
	people   []coppice.Task // waiting for a person
	failed   []coppice.Task // those that the inbox lists
	waiting  []coppice.Task // for something else, or queued
	heads    []coppice.Task // the first of each lane
	lanes    map[coppice.Lane]int
	unlisted map[int64]int
	statuses []engine.TaskStatus
}

// all returns the tasks. Those that the inbox needs come first.
func (x *statusRows) all() []coppice.Task {
	return slices.Concat(x.busy, x.people, x.failed, x.waiting, x.heads)
}

// statusTasks counts tasks in the store. It reads only the tasks that it lists
// and those that have a session, whose status depends on more than their stage.
// It reads all of them together, with those that only the inbox lists.
func (s *Server) statusTasks(ctx context.Context, r store.Reader, project int64, in *statusIn, out *madeStatus) (err error) {
	for status, outcome := range outcomeOf {
		f := store.TaskFilter{ProjectID: project, Stages: []coppice.Stage{coppice.StageEnded}, Outcomes: []coppice.Outcome{outcome}, Archived: store.ArchivedNot}
		if out.Counts[status], err = r.Tasks.Count(f); err != nil {
			return err
		}
	}
	var x statusRows
	if x.busy, x.unlisted, err = busyTasks(r, project); err != nil {
		return err
	}
	if err := x.readWaiting(r, project, in.Brief, &out.Status); err != nil {
		return err
	}
	if x.heads, x.lanes, err = laneHeads(r, project); err != nil {
		return err
	}
	if x.failed, err = r.Tasks.List(engine.FailedTasks(project)); err != nil {
		return err
	}
	if x.statuses, err = s.cfg.Status.Statuses(ctx, r, x.all()); err != nil {
		return err
	}
	x.count(&out.Status)
	if err := s.statusInbox(r, project, &x, out); err != nil || in.Brief {
		return err
	}
	return s.statusLists(r, &x, &out.Status)
}

// count counts the tasks whose status depends on more than their stage.
func (x *statusRows) count(out *api.Status) {
	for i, t := range x.busy {
		out.Counts[x.statuses[i].Status] += 1 + x.unlisted[t.ID]
	}
	rest := x.statuses[len(x.statuses)-len(x.heads):]
	for i, t := range x.heads {
		out.Counts[rest[i].Status] += x.lanes[t.Lane()]
	}
}

// statusInbox counts the entries of the inbox, and what was spent today.
func (s *Server) statusInbox(r store.Reader, project int64, x *statusRows, out *madeStatus) error {
	n := len(x.busy) + len(x.people) + len(x.failed)
	f, err := engine.InboxOf(r, s.cfg.Now(), project, x.all()[:n], x.statuses[:n])
	if err != nil {
		return err
	}
	for _, e := range engine.Inbox(f) {
		if !e.Snoozed {
			out.Inbox++
		} else if at := e.SnoozedUntil; !at.IsZero() && (out.Wakes.IsZero() || at.Before(out.Wakes)) {
			out.Wakes = at
		}
	}
	out.Accounts = accountBudgets(f.Budgets, f.Today)
	all := true // projects have a budget
	for i, p := range f.Projects {
		of := coppice.ProjectSubject(p.ID)
		out.Projects[i].Today, out.Projects[i].DayUSD = float64(f.Today[of]), float64(p.Policy.Budget.Day)
		if w := engine.DayWarning(of, f.Today[of], p.Policy.Budget.Day); w != "" {
			out.Projects[i].Warnings = append(out.Projects[i].Warnings, w)
			out.NearDay = true
		}
		out.Today += out.Projects[i].Today
		out.DayUSD += out.Projects[i].DayUSD
		all = all && p.Policy.Budget.Day > 0
	}
	if !all {
		out.DayUSD = 0
	}
	return nil
}

// statusLists lists tasks by what they need.
func (s *Server) statusLists(r store.Reader, x *statusRows, out *api.Status) error {
	begun := len(x.busy) + len(x.people)
	later := begun + len(x.failed)
	shown := begun + len(x.waiting)
	tasks, statuses := slices.Concat(x.busy, x.people, x.waiting), slices.Concat(x.statuses[:begun], x.statuses[later:later+len(x.waiting)])
	since := s.cfg.Now().Add(-failedFor)
	for i, t := range x.failed {
		if t.EndedAt.After(since) {
			tasks, statuses = append(tasks, t), append(statuses, x.statuses[begun+i])
		}
	}
	views, err := s.viewsOf(r, tasks, statuses)
	if err != nil {
		return err
	}
	for i, v := range views {
		v.Body = ""
		part := &out.Active
		switch {
		case i >= shown:
			part = &out.Failed
		case i >= begun, i < len(x.busy) && v.Status == coppice.StatusWaiting: // its session waits for a free one
			part = &out.Waiting
		case i >= len(x.busy), v.Status == coppice.StatusNeedsYou:
			part = &out.NeedsYou
		}
		*part = append(*part, v)
	}
	older := func(a, b api.Task) int { return cmp.Compare(a.ID, b.ID) }
	slices.SortFunc(out.NeedsYou, older)
	slices.SortFunc(out.Active, older)
	slices.SortFunc(out.Failed, func(a, b api.Task) int { return cmp.Or(b.EndedAt.Compare(a.EndedAt), cmp.Compare(b.ID, a.ID)) })
	return nil
}

// busyTasks returns the tasks that are being worked on, checked, held or
// landed. If a stage has more than can be listed, unlisted has their number by
// the first one's id: all of them have the status of their stage.
func busyTasks(r store.Reader, project int64) (all []coppice.Task, unlisted map[int64]int, err error) {
	unlisted = map[int64]int{}
	for _, stage := range append(coppice.StagesThat(coppice.Stage.Lands), coppice.StageSession, coppice.StageFlow) {
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

// readWaiting counts the waiting tasks. It reads those that wait for a person, and
// unless the status is brief the others.
func (x *statusRows) readWaiting(r store.Reader, project int64, brief bool, out *api.Status) error {
	waits, err := r.Tasks.Waits(project)
	if err != nil {
		return err
	}
	for on, n := range waits {
		if on == coppice.WaitPerson {
			out.Counts[coppice.StatusNeedsYou] += n
		} else {
			out.Counts[coppice.StatusWaiting] += n
		}
	}
	if waits[coppice.WaitPerson] > 0 {
		if x.people, err = r.Tasks.Pending(store.TaskFilter{ProjectID: project, Most: mostListed}, true); err != nil {
			return err
		}
	}
	if !brief {
		x.waiting, err = r.Tasks.Pending(store.TaskFilter{ProjectID: project, Most: mostWaiting}, false)
	}
	return err
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
