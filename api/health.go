package api

import "time"

// Health says whether the server can do its work, and why not.
type Health struct {
	At       time.Time       `json:"at"`
	Healthy  bool            `json:"healthy"`
	Problems []HealthProblem `json:"problems" doc:"The most urgent first"`
	Started  time.Time       `json:"started_at,omitzero" doc:"When the server started"`
	Backup   time.Time       `json:"backup_at,omitzero" doc:"When the newest backup was written; absent if there is none"`
	DiskFree uint64          `json:"disk_free,omitempty" doc:"Free bytes on the disk of the state directory; absent if unknown"`
	State    string          `json:"state,omitempty" doc:"The state directory"`
}

// HealthProblem is a reason why the server is not healthy.
type HealthProblem struct {
	Kind   string `json:"kind" enum:"database,disk,clock,worker,backup,queue,hosts,limit,webhooks,agent" doc:"What it is about"`
	Text   string `json:"text" doc:"What is wrong, in a sentence"`
	Fix    string `json:"fix" doc:"What a person can do about it"`
	Urgent bool   `json:"urgent,omitempty" doc:"Work stops, or is lost, until it is fixed"`
}
