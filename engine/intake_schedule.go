package engine

import (
	"context"
	"time"

	"coppice"
	"coppice/store"
)

// WhyPerson is the reason of a schedule that a person paused.
const WhyPerson = "a person paused it"

// WithZone sets the time zone of cron lines; the default is UTC.
func WithZone(z *time.Location) Option { return func(i *Intake) { i.zone = z } }

// AddSchedule adds a schedule to a project. Its first run starts at its first time.
func (i *Intake) AddSchedule(ctx context.Context, project string, n coppice.NewSchedule) (s coppice.Schedule, err error) {
	if err := validSchedule(n); err != nil {
		return s, err
	}
	tasks, err := i.expand(ctx, project, []coppice.NewTask{n.Task})
	if err != nil {
		return s, inTask(err)
	}
	n.Task = withTitles(tasks)[0]
	if err := repeatable(n.Task); err != nil {
		return s, inTask(err)
	}
	if i, err = i.ahead(ctx, project, []coppice.NewTask{n.Task}); err != nil {
		return s, err
	}
	err = i.store.Update(ctx, func(tx store.Tx) error {
		p, err := knownProject(tx.Projects.ByPrefix(project))
		if err != nil {
			return err
		}
		if err := i.checkRun(tx.Reader(), p, n.Task); err != nil {
			return inTask(err)
		}
		all, err := tx.Schedules.In(p.ID)
		if err != nil {
			return err
		}
		if len(all) >= coppice.MaxSchedules {
			return coppice.Errorf(coppice.ETooLarge, "%s has %d schedules, which is the limit", p.Prefix, len(all)).WithFix("remove one with `coppice schedule remove NAME`")
		}
		for _, other := range all {
			if other.Name == n.Name {
				return coppice.Errorf(coppice.EConflict, "%s has a schedule %s already", p.Prefix, coppice.Quote(n.Name)).
					WithFix("choose another name, or run `coppice schedule remove %s` first", n.Name).WithField("name")
			}
		}
		now := i.now().UTC()
		s = coppice.Schedule{ProjectID: p.ID, Name: n.Name, ScheduleDetails: coppice.ScheduleDetails{
			Task: n.Task, Every: n.Every, Cron: n.Cron, Always: n.Always, CreatedAt: now, CreatedBy: i.by.String(),
		}}
		if s.NextAt = nextRun(s.ScheduleDetails, now, i.zone); s.NextAt.IsZero() {
			return badCron(n.Cron, "it never has a next time")
		}
		return i.putSchedule(tx, &s, coppice.EventScheduleAdded, s.When())
	})
	return s, err
}

// inTask adds to an error that its field belongs to the task of a schedule.
func inTask(err error) error {
	e := coppice.Public(err)
	if e.Code == coppice.EInternal || e.Field == "" {
		return err
	}
	return e.WithField("task." + e.Field)
}

func validSchedule(n coppice.NewSchedule) error {
	if err := coppice.ValidName("schedule", n.Name); err != nil {
		return coppice.Public(err).WithField("name")
	}
	switch {
	case (n.Every != 0) == (n.Cron != ""):
		return coppice.Errorf(coppice.EInvalid, "a schedule has either an interval or a cron line").WithFix("set every, such as 6h, or cron: %s", cronFix).WithField("every")
	case n.Cron != "":
		_, err := parseCron(n.Cron)
		return err
	case n.Every < coppice.MinEvery || n.Every > coppice.MaxEvery:
		return coppice.Errorf(coppice.EInvalid, "the interval %s is out of range", n.Every.D()).WithFix("use an interval from 1m to 366d").WithField("every")
	}
	return nil
}

// repeatable refuses what only one task can have.
func repeatable(n coppice.NewTask) error {
	for _, f := range []struct {
		field string
		set   bool
	}{
		{"after", len(n.After) > 0}, {"branch", n.Branch != ""}, {"feature", n.Feature != ""}, {"images", len(n.Images) > 0},
		{"interactive", n.Interactive}, {"not_before", !n.NotBefore.IsZero()}, {"ref", n.Ref != ""}, {"workspace", n.Workspace == coppice.WorkspaceNone},
	} {
		if f.set {
			return coppice.Errorf(coppice.EInvalid, "the task of a schedule has no %s: it is created again and again", f.field).WithFix("leave it out").WithField(f.field)
		}
	}
	return nil
}

// checkRun fails if the project cannot have the task of a schedule.
func (i *Intake) checkRun(r store.Reader, p coppice.Project, n coppice.NewTask) error {
	t, err := i.draft(p, n)
	if err != nil {
		return err
	}
	if n.Group != "" {
		if err := coppice.ValidGroup(n.Group); err != nil {
			return err
		}
	}
	return i.planned(r, p, n, &t)
}

// PauseSchedule pauses a schedule. A run that has started continues. If on is false,
// it resumes the schedule: the next run starts at its next time, after the run that
// has not ended, if there is one.
func (i *Intake) PauseSchedule(ctx context.Context, project, name string, on bool) (coppice.Schedule, error) {
	return i.changeSchedule(ctx, project, name, func(s *coppice.Schedule, open *coppice.Task) (string, error) {
		switch now := i.now().UTC(); {
		case s.Paused() == on:
			return "", nil
		case on:
			s.PausedAt, s.NextAt, s.Why = now, time.Time{}, WhyPerson
			return "paused", nil
		case open == nil:
			s.NextAt = nextRun(s.ScheduleDetails, now, i.zone)
		}
		s.PausedAt, s.Why = time.Time{}, ""
		return "continues", nil
	})
}

// RunSchedule starts a run now. It fails with code conflict while a run has not ended.
// A paused schedule stays paused.
func (i *Intake) RunSchedule(ctx context.Context, project, name string) (coppice.Schedule, error) {
	return i.changeSchedule(ctx, project, name, func(s *coppice.Schedule, open *coppice.Task) (string, error) {
		if open != nil {
			return "", coppice.Errorf(coppice.EConflict, "%s of the schedule %s has not ended", open.Key, s.Name).WithFix("wait for it with `coppice wait %s`, or stop it with `coppice stop %s`", open.Key, open.Key)
		}
		s.NextAt = i.now().UTC()
		return "a person runs it now", nil
	})
}

// RemoveSchedule removes a schedule. Its tasks stay.
func (i *Intake) RemoveSchedule(ctx context.Context, project, name string) (s coppice.Schedule, err error) {
	err = i.store.Update(ctx, func(tx store.Tx) error {
		if s, err = FindSchedule(tx.Reader(), project, name); err != nil {
			return err
		}
		if err := tx.Schedules.Delete(s.ID); err != nil {
			return err
		}
		return tx.Log.Append(i.scheduleEvent(s, coppice.EventScheduleRemoved, s.When()))
	})
	return s, err
}

// FindSchedule returns a schedule of a project by its name.
func FindSchedule(r store.Reader, project, name string) (s coppice.Schedule, err error) {
	p, err := r.Projects.ByPrefix(project)
	if err != nil {
		return s, err
	}
	s, err = r.Schedules.ByName(p.ID, name)
	if coppice.ErrorCode(err) == coppice.ENotFound {
		return s, coppice.Errorf(coppice.ENotFound, "%s has no schedule %s", p.Prefix, coppice.Quote(name)).WithFix("see `coppice schedule list`")
	}
	return s, err
}

// changeSchedule stores what change does to a schedule, unless that is nothing. change
// also gets a run that has not ended, or nil.
func (i *Intake) changeSchedule(ctx context.Context, project, name string, change func(*coppice.Schedule, *coppice.Task) (string, error)) (s coppice.Schedule, err error) {
	err = i.store.Update(ctx, func(tx store.Tx) error {
		if s, err = FindSchedule(tx.Reader(), project, name); err != nil {
			return err
		}
		_, err := knownProject(tx.Projects.Get(s.ProjectID))
		if err != nil {
			return err
		}
		open, err := OpenRun(tx.Reader(), s.ID)
		if err != nil {
			return err
		}
		reason, err := change(&s, open)
		if err != nil || reason == "" {
			return err
		}
		return i.putSchedule(tx, &s, coppice.EventScheduleChanged, reason)
	})
	return s, err
}

func (i *Intake) putSchedule(tx store.Tx, s *coppice.Schedule, kind coppice.EventKind, reason string) error {
	if err := tx.Schedules.Put(s); err != nil {
		return err
	}
	return tx.Log.Append(i.scheduleEvent(*s, kind, reason))
}

func (i *Intake) scheduleEvent(s coppice.Schedule, kind coppice.EventKind, reason string) *coppice.Event {
	return &coppice.Event{At: i.now().UTC(), Kind: kind, ProjectID: s.ProjectID, About: coppice.ScheduleSubject(s.ID), Subject: s.Name, By: i.by.String(), Reason: reason}
}
