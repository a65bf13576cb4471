package engine

import (
	"fmt"
	"time"

	"coppice"
	"coppice/store"
)

// ScheduleView is what the deciders of a schedule see.
type ScheduleView struct {
	Common
	Schedule coppice.Schedule
	Zone     *time.Location // of cron lines
	Last     *coppice.Task  // its newest run; nil if it has none, or if it was removed
	Open     *coppice.Task  // a run that has not ended, or nil
	// Draft returns the task of the next run, complete and not stored. It fails if the
	// project cannot have such a task.
	Draft func() (coppice.Task, error)
}

// scheduleView loads the view of a schedule.
func (t *turn) scheduleView(id int64) (*ScheduleView, error) {
	s, err := t.tx.Schedules.Get(id)
	if err != nil {
		return nil, gone(err)
	}
	v := &ScheduleView{Schedule: s, Zone: t.cfg.Zone}
	if v.Common, err = t.common(coppice.ScheduleSubject(id)); err != nil {
		return nil, err
	}
	if v.Project, err = t.tx.Projects.Get(s.ProjectID); err != nil {
		return nil, gone(err)
	}
	v.Draft = func() (coppice.Task, error) { return t.draftRun(v) }
	return v, v.loadRuns(t)
}

func (v *ScheduleView) loadRuns(t *turn) error {
	v.Last, v.Open = nil, nil
	last, err := t.tx.Tasks.Get(v.Schedule.LastTask)
	switch {
	case err == nil:
		v.Last = &last
	case coppice.ErrorCode(err) != coppice.ENotFound:
		return err
	}
	v.Open, err = OpenRun(t.tx.Reader(), v.Schedule.ID)
	return err
}

// OpenRun returns a run of a schedule that has not ended, or nil. A person might have
// retried one that is not the newest.
func OpenRun(r store.Reader, schedule int64) (*coppice.Task, error) {
	open, err := r.Tasks.List(store.TaskFilter{Schedule: schedule, Stages: openStages, Archived: store.ArchivedToo, Most: 1})
	if err != nil || len(open) == 0 {
		return nil, err
	}
	return &open[0], nil
}

func (v *ScheduleView) due() time.Time {
	if v.Project.Removal != nil {
		return time.Time{}
	}
	return v.Schedule.NextAt
}

func (v *ScheduleView) follow(t *turn, _ *Decision) error { return v.loadRuns(t) }

// draftRun returns the task of a schedule's next run. A group that no longer exists
// is created again.
func (t *turn) draftRun(v *ScheduleView) (coppice.Task, error) {
	i, n := t.intake("schedule"), v.Schedule.Task
	task, err := i.draft(v.Project, n)
	if err != nil {
		return task, err
	}
	if err := i.planned(t.tx.Reader(), v.Project, n, &task); err != nil {
		return task, err
	}
	if task.Group, err = group(t.tx, i.groupFor(v.Project, nil), n.Group); err != nil {
		return task, err
	}
	if err := i.flowGroup(t.tx, v.Project, &task); err != nil {
		return task, err
	}
	if !task.IsFlow() {
		task.Next = firstSession(task, "")
	}
	task.Schedule = v.Schedule.ID
	return task, nil
}

// scheduleEntry returns the entry of a schedule in the inbox. It reports whether the
// schedule needs a person: one that a person paused does not.
func scheduleEntry(s coppice.Schedule, prefix string) (coppice.InboxEntry, bool) {
	e := coppice.InboxEntry{
		ID: fmt.Sprintf("%s/%s/%s", coppice.InboxSchedule, prefix, s.Name), Kind: coppice.InboxSchedule, Project: prefix, Title: s.Name, ProjectID: s.ProjectID,
	}
	action := func(label, verb string) {
		e.Actions = append(e.Actions, coppice.InboxAction{
			Label: label, Method: "POST", Route: fmt.Sprintf("/projects/%s/schedules/%s/%s", prefix, s.Name, verb), Command: fmt.Sprintf("coppice schedule %s %s -p %s", verb, s.Name, prefix),
		})
	}
	switch {
	case s.Paused() && s.Why != WhyPerson:
		e.Text, e.Since = "the schedule is paused: "+s.Why, s.PausedAt
		e.Fix = fmt.Sprintf("fix the cause, then run `coppice schedule resume %s`", s.Name)
		action("Resume", "resume")
	case s.Problem != "":
		e.Text, e.Since = "the last run of the schedule could not be created: "+s.Problem, s.ProblemAt
		e.Fix = fmt.Sprintf("fix the cause, then run `coppice schedule run %s`", s.Name)
		action("Run now", "run")
		action("Pause", "pause")
	default:
		return e, false
	}
	return withMark(e), true
}
