package sim

import (
	"fmt"
	"time"

	"coppice"
	"coppice/store"
)

// mostRuns bounds the runs of the schedules that people add.
const mostRuns = 3

// schedule is a person who adds a schedule, or pauses, resumes or runs one.
func (s *sim) schedule() error {
	f := s.flowing
	if f.schedules < f.repeats {
		return s.addSchedule()
	}
	if f.schedules == 0 {
		return nil
	}
	name := fmt.Sprintf("s%d", f.rng.IntN(f.schedules))
	var err error
	switch f.rng.IntN(4) {
	case 0:
		_, err = s.intake.RunSchedule(s.ctx, "p", name)
	case 1:
		_, err = s.intake.PauseSchedule(s.ctx, "p", name, true)
	default:
		if f.Scheduled < mostRuns {
			_, err = s.intake.PauseSchedule(s.ctx, "p", name, false)
		}
	}
	return err
}

func (s *sim) addSchedule() error {
	f := s.flowing
	n := coppice.NewSchedule{Name: fmt.Sprintf("s%d", f.schedules), Always: f.rng.IntN(2) == 0, Task: coppice.NewTask{Title: "again", Answer: f.rng.IntN(2) == 0}}
	if f.rng.IntN(2) == 0 {
		n.Task = coppice.NewTask{Title: "again", Flow: &coppice.NewFlow{Kind: coppice.FlowDebate, Spec: coppice.Raw(s.debateSpec())}}
	}
	if f.rng.IntN(2) == 0 {
		n.Cron = some(f, "*/5 * * * *", "@hourly")
	} else {
		n.Every = coppice.Duration(1+f.rng.IntN(30)) * coppice.Duration(time.Minute)
	}
	_, err := s.intake.AddSchedule(s.ctx, "p", n)
	if err == nil {
		f.schedules++
	}
	return err
}

// restSchedules is a person who pauses all schedules, so that the world comes to rest.
func (s *sim) restSchedules() error {
	if !s.opt.Flows {
		return nil
	}
	for n := range s.flowing.schedules {
		if _, err := s.intake.PauseSchedule(s.ctx, "p", fmt.Sprintf("s%d", n), true); err != nil {
			return err
		}
	}
	return nil
}

// schedulesHold checks schedules after a turn: a run that is due has started, one that
// is not paused has a next time or an open run, and two runs are never open, unless a
// person continued one that had ended.
func (s *sim) schedulesHold(r store.Reader) error {
	all, err := r.Schedules.In(0)
	if err != nil {
		return err
	}
	for _, x := range all {
		runs, err := r.Tasks.List(store.TaskFilter{Schedule: x.ID, OldFirst: true})
		if err != nil {
			return err
		}
		if len(runs) != x.Runs {
			return fmt.Errorf("the schedule %s counts %d runs, and has %d", x.Name, x.Runs, len(runs))
		}
		open, first := 0, 0
		for _, t := range runs {
			if t.Ended() {
				continue
			}
			open++
			ended, err := r.Log.Events(0, 1, store.EventFilter{TaskID: t.ID, Kinds: []coppice.EventKind{coppice.EventTaskEnded}})
			if err != nil {
				return err
			}
			if len(ended) == 0 {
				first++
			}
		}
		switch {
		case first > 1:
			return fmt.Errorf("the schedule %s has %d open runs", x.Name, first)
		case !x.NextAt.IsZero() && !x.NextAt.After(s.now):
			return fmt.Errorf("the run of %s was due at %s, and did not start", x.Name, x.NextAt)
		case !x.Paused() && x.NextAt.IsZero() && open == 0:
			return fmt.Errorf("the schedule %s is not paused, and never runs again", x.Name)
		}
	}
	return nil
}
