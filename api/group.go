package api

import (
	"time"

	"coppice"
)

// Group is a set of tasks of a project that belong together.
type Group struct {
	ID        int64                  `json:"id"`
	Project   string                 `json:"project" doc:"The prefix of its project"`
	Name      string                 `json:"name" doc:"Unique in the project"`
	Title     string                 `json:"title,omitempty"`
	Kind      coppice.GroupKind      `json:"kind" enum:"batch,import,flow,hand" doc:"How it was made: by a request for several tasks, by a file, by a flow, or by hand"`
	CreatedBy string                 `json:"created_by,omitempty"`
	CreatedAt time.Time              `json:"created_at"`
	Tasks     int                    `json:"tasks" doc:"How many tasks it has, with archived ones"`
	Archived  int                    `json:"archived,omitempty" doc:"How many of them are archived; only of a group that was asked for"`
	Counts    map[coppice.Status]int `json:"counts" doc:"The same by status"`
	Usage     coppice.Usage          `json:"usage" doc:"What its tasks have used"`
}

// GroupPage is one page of groups, newest first.
type GroupPage struct {
	Groups []Group `json:"groups"`
	Page
}
