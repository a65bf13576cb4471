package http

import (
	"context"
	"fmt"
	"slices"
	"time"

	"coppice"
	"coppice/api"
	"coppice/store"
)

const mostBars = 2000 // of sessions, and of checks

type timelineIn struct {
	Project string    `query:"project" maxLength:"16" doc:"A project's prefix"`
	Task    string    `query:"task" maxLength:"40" doc:"A task's key: everything of this task, whenever it ran"`
	From    time.Time `query:"from" doc:"Only sessions and checks that ran at this time or later; the default is all"`
	MarksIn
}

// work is what a timeline shows, oldest first.
type work struct {
	sessions []coppice.Session
	checks   []coppice.Check
	running  []coppice.Work // the open work items with checks
	more     bool           // older work was left out
}

// timeline reads the newest sessions and checks, and the questions of their tasks.
func (s *Server) timeline(ctx context.Context, in *timelineIn) (out api.Timeline, err error) {
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		w, err := workIn(r, in)
		if err != nil {
			return err
		}
		out.More = w.more
		ids := w.tasks()
		tasks, err := r.Tasks.Some(ids)
		if err != nil {
			return err
		}
		if ids, err = in.fit(r, tasks, ids); err != nil {
			return err
		}
		asked, err := r.Questions.OfEach(ids)
		out.Rows = rows(slices.DeleteFunc(s.bars(w, asked), func(b taskBar) bool { _, fits := slices.BinarySearch(ids, b.task); return !fits }), tasks)
		return err
	})
	return out, err
}

func workIn(r store.Reader, in *timelineIn) (w work, err error) {
	if w.running, err = r.Work.Open(coppice.WorkCheck); err != nil { // usually few
		return w, err
	}
	if in.Task != "" {
		return w.of(r, in.Task)
	}
	project, err := projectID(r, in.Project)
	if err != nil {
		return w, err
	}
	if w.sessions, err = r.Sessions.Since(project, in.From, mostBars+1); err != nil {
		return w, err
	}
	if w.checks, err = r.Checks.Since(project, in.From, mostBars+1); err != nil {
		return w, err
	}
	w.more = len(w.sessions) > mostBars || len(w.checks) > mostBars
	w.sessions, w.checks = w.sessions[:min(len(w.sessions), mostBars)], w.checks[:min(len(w.checks), mostBars)]
	slices.Reverse(w.sessions)
	slices.Reverse(w.checks)
	w.running = slices.DeleteFunc(w.running, func(x coppice.Work) bool { return project != 0 && x.ProjectID != project })
	return w, nil
}

// of reads the work of one task.
func (w work) of(r store.Reader, key string) (work, error) {
	t, err := taskByKey(r, key)
	if err != nil {
		return w, err
	}
	if w.sessions, err = r.Sessions.Of(t.ID); err != nil {
		return w, err
	}
	w.checks, err = r.Checks.Of(t.ID)
	w.running = slices.DeleteFunc(w.running, func(x coppice.Work) bool { return x.TaskID != t.ID })
	return w, err
}

// tasks returns the ids of the tasks that have work.
func (w work) tasks() (ids []int64) {
	for _, x := range w.sessions {
		ids = append(ids, x.TaskID)
	}
	for _, c := range w.checks {
		ids = append(ids, c.TaskID)
	}
	for _, x := range w.running {
		ids = append(ids, x.TaskID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// taskBar is a bar and its task.
type taskBar struct {
	task int64
	api.TimelineBar
}

// bars returns one bar for each session and check, in the order in which they
// started.
func (s *Server) bars(w work, asked map[int64][]coppice.Question) (all []taskBar) {
	for _, x := range w.sessions {
		all = append(all, taskBar{x.TaskID, sessionBar(x, asked[x.TaskID])})
	}
	for _, c := range w.checks {
		all = append(all, taskBar{c.TaskID, checkBar(c)})
	}
	for _, x := range w.running {
		for _, c := range s.runOf(x).Commands {
			if !c.Setup && !c.StartedAt.IsZero() {
				all = append(all, taskBar{x.TaskID, commandBar(c)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b taskBar) int { return a.From.Compare(b.From) })
	return all
}

// rows groups bars by their task. The task whose first listed bar started last
// comes first.
func rows(bars []taskBar, tasks map[int64]coppice.Task) []api.TimelineRow {
	at := map[int64]int{}
	all := []api.TimelineRow{}
	for _, b := range bars {
		t, known := tasks[b.task]
		if !known {
			continue // it was removed after its work was read
		}
		i, known := at[t.ID]
		if !known {
			i, at[t.ID] = len(all), len(all)
			all = append(all, api.TimelineRow{Task: t.Key, Title: t.Title})
		}
		all[i].Bars = append(all[i].Bars, b.TimelineBar)
	}
	slices.Reverse(all)
	return all
}

func checkBar(c coppice.Check) api.TimelineBar {
	b := api.TimelineBar{Kind: "check", Check: c.ID, Command: c.Command, From: c.StartedAt, To: c.EndedAt, State: "passed", Failed: c.Exit != 0}
	if b.From.IsZero() { // of a check that an earlier version stored
		b.From = c.EndedAt.Add(-c.Took)
	}
	if b.Failed {
		b.State = fmt.Sprintf("exit code %d", c.Exit)
	}
	return b
}

// commandBar is the bar of a command whose run has not ended.
func commandBar(c api.CommandRun) api.TimelineBar {
	b := checkBar(coppice.Check{Command: c.Command, StartedAt: c.StartedAt, EndedAt: c.EndedAt, Exit: c.Exit})
	if c.State != coppice.RunEnded {
		b.State = string(c.State)
	}
	return b
}

func sessionBar(x coppice.Session, asked []coppice.Question) api.TimelineBar {
	b := api.TimelineBar{Kind: "session", Session: x.Key, Role: x.Role, From: x.CreatedAt, To: x.EndedAt, State: string(x.State)}
	b.Failed = x.Failure != nil
	if b.Failed {
		b.State = string(x.Failure.Class)
	}
	for _, q := range asked {
		if q.SessionID != x.ID {
			continue
		}
		to := q.AnsweredAt
		if to.IsZero() {
			to = q.ClosedAt
		}
		if to.IsZero() {
			to = x.EndedAt
		}
		b.Waits = append(b.Waits, api.Interval{From: q.AskedAt, To: to})
	}
	return b
}
