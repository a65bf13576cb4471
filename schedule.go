package coppice

import "time"

// Schedule creates a task again and again. The task of each run names the schedule;
// see TaskDetails.Schedule.
type Schedule struct {
	ID        int64     `json:"id"`
	ProjectID int64     `json:"project_id"`
	Name      string    `json:"name"`               // unique in the project; see ValidName
	NextAt    time.Time `json:"next_at,omitzero"`   // when the next run is due; zero while it is paused, or waits for a run that has not ended
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
	Runs     int       `json:"runs,omitempty"` // number of runs
	LastTask int64     `json:"last_task,omitempty"`
	LastKey  string    `json:"last_key,omitempty"`
	LastAt   time.Time `json:"last_at,omitzero"`
	Problem  string    `json:"problem,omitempty"` // why the last run could not be created
}

// Paused reports whether the schedule is paused.
func (s Schedule) Paused() bool { return !s.PausedAt.IsZero() }
