package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"coppice"
	"coppice/store"
)

// decide starts a run that is due, waits for a run that has not ended, and plans the
// next run after that. Two runs are never open at the same time, unless a person
// retries one.
func (v *ScheduleView) decide() *Decision {
	s := v.Schedule
	waits := s.NextAt.IsZero()
	switch {
	case v.Project.Removal != nil, !waits && s.NextAt.After(v.Now), waits && (s.Paused() || v.Open != nil):
		return nil
	case waits:
		return afterRun(v)
	case v.Open != nil:
		s.NextAt = time.Time{}
		return changeSchedule(v, s, fmt.Sprintf("waits for the end of %s", v.Open.Key))
	}
	return startRun(v)
}

// afterRun plans the next run after one has ended. After a run that failed, the
// schedule pauses, unless it is to continue always.
func afterRun(v *ScheduleView) *Decision {
	s := v.Schedule
	if t := v.Last; t != nil && t.Outcome == coppice.OutcomeFailed && !s.Always {
		s.PausedAt, s.Why = v.Now, fmt.Sprintf("%s failed", t.Key)
		if t.Failure != nil && t.Failure.Text != "" {
			s.Why += ": " + t.Failure.Text
		}
		return changeSchedule(v, s, "paused: "+s.Why)
	}
	return planRun(v, s, "")
}

// startRun creates the task of a run that is due. If that is not possible, the
// schedule tries again at its next time.
func startRun(v *ScheduleView) *Decision {
	s := v.Schedule
	task, err := v.Draft()
	if err != nil {
		if s.Problem == "" {
			s.ProblemAt = v.Now
		}
		s.Problem = coppice.Public(err).Error()
		return planRun(v, s, "the run could not be created: "+s.Problem)
	}
	s.NextAt, s.LastAt, s.Problem, s.ProblemAt = time.Time{}, v.Now, "", time.Time{}
	s.Runs++
	d := changeSchedule(v, s, task.Title)
	d.Kind, d.Create = coppice.EventScheduleRun, []coppice.Task{task}
	d.More = []Row{scheduleRow(v, d, s)}
	return d
}

// planRun sets the time of the next run. A paused schedule has none.
func planRun(v *ScheduleView, s coppice.Schedule, reason string) *Decision {
	s.NextAt = time.Time{}
	if !s.Paused() {
		if s.NextAt = nextRun(s.ScheduleDetails, v.Now, v.Zone); s.NextAt.IsZero() {
			s.PausedAt, s.Why = v.Now, fmt.Sprintf("the cron line %s has no next time", coppice.Quote(s.Cron))
			return changeSchedule(v, s, "paused: "+s.Why)
		}
	}
	if reason == "" {
		reason = "the next run is at " + s.NextAt.Format(time.RFC3339)
	}
	return changeSchedule(v, s, reason)
}

func changeSchedule(v *ScheduleView, s coppice.Schedule, reason string) *Decision {
	d := &Decision{By: "schedule", Kind: coppice.EventScheduleChanged, Reason: reason}
	d.More = []Row{scheduleRow(v, d, s)}
	return d
}

// scheduleRow writes a schedule, with the task that the decision creates.
func scheduleRow(v *ScheduleView, d *Decision, s coppice.Schedule) Row {
	return row{coppice.SubjectSchedule, func(tx store.Tx) error {
		for _, t := range d.Create {
			s.LastTask, s.LastKey = t.ID, t.Key
		}
		return tx.Schedules.Put(&s)
	}, func() { v.Schedule = s }}
}

// nextRun returns when a schedule runs next after a time. It is zero if it never does.
func nextRun(s coppice.ScheduleDetails, after time.Time, zone *time.Location) time.Time {
	if s.Cron == "" {
		return after.Add(s.Every.D()).UTC()
	}
	line, err := parseCron(s.Cron)
	if err != nil {
		return time.Time{}
	}
	if zone == nil {
		zone = time.UTC
	}
	at := line.Next(after.In(zone))
	if at.IsZero() {
		return at
	}
	return at.UTC()
}

// NextRuns returns the next times of a schedule that is not paused, at most n. Those
// of an interval are exact only if each run ends immediately.
func NextRuns(s coppice.Schedule, zone *time.Location, n int) []time.Time {
	var list []time.Time
	for at := s.NextAt; !at.IsZero() && len(list) < n; at = nextRun(s.ScheduleDetails, at, zone) {
		list = append(list, at)
	}
	return list
}

// cronFix says how a cron line is written.
const cronFix = `write minute, hour, day of month, month and day of week, such as "0 7 * * 1-5", or @daily`

// parseCron reads a cron line.
func parseCron(text string) (cron.Schedule, error) {
	line := strings.TrimSpace(text)
	if zone, rest, _ := strings.Cut(line, " "); strings.HasPrefix(zone, "TZ=") || strings.HasPrefix(zone, "CRON_TZ=") {
		line = strings.TrimSpace(rest) // the parser panics if nothing follows the zone
	}
	if line == "" || strings.HasPrefix(line, "@every") {
		return nil, badCron(text, "it has no times")
	}
	s, err := cron.ParseStandard(strings.TrimSpace(text))
	if err != nil {
		return nil, badCron(text, err.Error())
	}
	return s, nil
}

func badCron(text, why string) error {
	return coppice.Errorf(coppice.EInvalid, "%s is not a valid cron line: %s", coppice.Quote(text), why).WithFix("%s; for an interval, use every", cronFix).WithField("cron")
}
