package coppice

import "time"

// Schedule creates a task again and again. The task of each run names the schedule;
// see TaskDetails.Schedule.
type Schedule struct {
	ID        int64     `json:"id"`
	ProjectID int64     `json:"project_id"`
	Name      string    `json:"name"`               // unique in the project; see ValidName
	NextAt    time.Time `json:"next_at,omitzero"`   // when the next run is due; zero while it is paused or waits for the end of a run; a person who runs it now sets it
	PausedAt  time.Time `json:"paused_at,omitzero"` // zero unless it is paused
	ScheduleDetails
}

// ScheduleDetails are fields of a schedule that the store keeps together, as JSON.
// Add new fields of a schedule here: they need no column.
type ScheduleDetails struct {
	Task   NewTask  `json:"task"`             // what each run creates; a flow is a task, too
	Every  Duration `json:"every,omitempty"`  // the interval; 0 if Cron is set
	Cron   string   `json:"cron,omitempty"`   // a cron line, in the server's time zone unless it has CRON_TZ=
	Always bool     `json:"always,omitempty"` // it continues after a run that failed; otherwise such a run pauses it

	CreatedBy string    `json:"created_by,omitempty"`
	CreatedAt time.Time `json:"created_at"`

	// The newest run.
	Runs      int       `json:"runs,omitempty"` // number of runs
	LastTask  int64     `json:"last_task,omitempty"`
	LastKey   string    `json:"last_key,omitempty"`
	LastAt    time.Time `json:"last_at,omitzero"`
	Problem   string    `json:"problem,omitempty"`   // why the last run could not be created
	ProblemAt time.Time `json:"problem_at,omitzero"` // when that happened first
	Why       string    `json:"why,omitempty"`       // why it is paused
}

// Paused reports whether the schedule is paused.
func (s Schedule) Paused() bool { return !s.PausedAt.IsZero() }

// MinEvery is the shortest interval of a schedule, and MaxEvery the longest.
const (
	MinEvery = Duration(time.Minute)
	MaxEvery = Duration(366 * 24 * time.Hour)
)

// MaxSchedules limits the schedules of a project.
const MaxSchedules = 200

// NewSchedule is a request for a schedule.
type NewSchedule struct {
	Name   string   `json:"name" minLength:"1" maxLength:"64" doc:"Unique in the project"`
	Task   NewTask  `json:"task" doc:"What each run creates: a task, or a flow"`
	Every  Duration `json:"every,omitempty" doc:"The time from the end of a run to the start of the next one, such as 6h; either this or cron"`
	Cron   string   `json:"cron,omitempty" maxLength:"200" doc:"A cron line with 5 fields, such as 0 7 * * 1-5, in the server's time zone unless it starts with CRON_TZ=ZONE"`
	Always bool     `json:"always,omitempty" doc:"Continue after a run that failed; otherwise such a run pauses the schedule"`
}

// When says when the schedule runs.
func (s ScheduleDetails) When() string {
	if s.Cron != "" {
		return s.Cron
	}
	text, _ := s.Every.MarshalText() // it never fails
	return "every " + string(text)
}
