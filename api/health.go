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
	Forges   []HealthForge   `json:"forges,omitempty" doc:"How Coppice learns of changes on the forges of projects that land by pull request"`
}

// HealthForge is how Coppice learns of changes on the forge of a project.
type HealthForge struct {
	Project string    `json:"project" doc:"Its prefix"`
	Text    string    `json:"text" doc:"Whether webhooks arrive, or the forge is read at intervals"`
	Fix     string    `json:"fix,omitempty" doc:"What a person can do so that webhooks arrive"`
	ReadAt  time.Time `json:"read_at,omitzero" doc:"When everything was last read"`
	HookAt  time.Time `json:"hook_at,omitzero" doc:"When the last valid webhook arrived"`
}

// HealthProblem is a reason why the server is not healthy.
type HealthProblem struct {
	Kind   string `json:"kind" enum:"database,disk,clock,worker,backup,queue,hosts,limit,config,webhooks,tracker,agent,notify" doc:"What it is about"`
	Text   string `json:"text" doc:"What is wrong, in a sentence"`
	Fix    string `json:"fix" doc:"What a person can do about it"`
	Urgent bool   `json:"urgent,omitempty" doc:"Work stops, or is lost, until it is fixed"`
}
