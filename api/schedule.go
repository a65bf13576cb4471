package api

import (
	"time"

	"coppice"
)

// Schedule creates a task again and again.
type Schedule struct {
	Project   string           `json:"project"`
	Name      string           `json:"name"`
	State     string           `json:"state" enum:"waiting,running,paused" doc:"waiting for its next time, or a run has not ended, or paused"`
	Can       []string         `json:"can" enum:"run,pause,resume,remove" doc:"What can be requested of it now; run while no run is open"`
	Title     string           `json:"title" doc:"Of the tasks that it creates"`
	Flow      coppice.FlowKind `json:"flow,omitempty" doc:"The kind of flow that it creates; absent for a task"`
	Every     coppice.Duration `json:"every,omitempty"`
	Cron      string           `json:"cron,omitempty"`
	When      string           `json:"when" doc:"The interval or the cron line, for people"`
	Always    bool             `json:"always,omitempty" doc:"It continues after a run that failed"`
	Next      []time.Time      `json:"next" doc:"The next times, at most 3; empty while it is paused or running"`
	Why       string           `json:"why,omitempty" doc:"Why it is paused"`
	Problem   string           `json:"problem,omitempty" doc:"Why the last run could not be created"`
	Runs      int              `json:"runs" doc:"Number of runs"`
	Last      string           `json:"last,omitempty" doc:"The key of the newest run"`
	Open      string           `json:"open,omitempty" doc:"The key of the run that has not ended: until then no other one starts"`
	LastAt    time.Time        `json:"last_at,omitzero"`
	CreatedAt time.Time        `json:"created_at"`
	CreatedBy string           `json:"created_by,omitempty"`
}

// ScheduleList has schedules, sorted by project and name.
type ScheduleList struct {
	Schedules []Schedule `json:"schedules"`
}

// ScheduleDetail is a schedule with its task and its newest runs.
type ScheduleDetail struct {
	Schedule
	Task    coppice.NewTask `json:"task" doc:"What each run creates"`
	History []Task          `json:"history" doc:"Its runs, newest first, at most 50"`
}
