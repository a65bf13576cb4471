package api

import (
	"time"

	"coppice"
)

// Board is the tasks that the board shows, in columns, from one snapshot. What
// needs a person is always the first column.
type Board struct {
	Seq      int64         `json:"seq" doc:"The newest event that it includes"`
	Columns  []BoardColumn `json:"columns" doc:"In the order in which they are shown, with the empty ones"`
	Count    int           `json:"count" doc:"How many tasks match the filter"`
	Empty    bool          `json:"empty" doc:"There is no task at all, not even an archived one"`
	Needs    []ProjectNeed `json:"needs" doc:"What projects that match the filter need a person for, the oldest first"`
	Statuses []string      `json:"statuses" doc:"The statuses, in the order in which people want to see them"`
	Projects []string      `json:"projects" doc:"Every project, to filter by"`
	Tracks   []string      `json:"tracks" doc:"Tracks of projects and listed tasks, to filter by"`
	Agents   []string      `json:"agents" doc:"Agents of projects and listed tasks, to filter by"`
	Groups   []GroupName   `json:"groups" doc:"The newest groups, to filter by"`
	Labels   []string      `json:"labels" doc:"Labels, to filter by"`

	// Entries repeat Needs, with the actions that help.
	Entries []coppice.InboxEntry `json:"entries" doc:"Entries of the inbox about projects and accounts that match the filter, without those that are snoozed"`
}

// GroupName names a group of tasks.
type GroupName struct {
	ID      int64  `json:"id"`
	Project string `json:"project" doc:"The prefix of its project"`
	Name    string `json:"name"`
}

// BoardColumn is one column of the board.
type BoardColumn struct {
	Name  string `json:"name"`
	Count int    `json:"count" doc:"How many tasks it has; more than are listed if the limit cut it"`
	Needs bool   `json:"needs,omitempty" doc:"It has what needs a person"`
	Shown bool   `json:"shown,omitempty" doc:"It has something to show, or is shown even if it is empty"`
	Tasks []Task `json:"tasks" doc:"The first of them, without their descriptions"`

	Ordered bool `json:"ordered,omitempty" doc:"Its tasks are in the order of their priority, so that a person can move one by changing its priority"`
}

// ProjectNeed is something that a project needs a person for.
type ProjectNeed struct {
	Project string       `json:"project"`
	Need    coppice.Need `json:"need"`
}

// LandingList is the landings in progress, and the last tasks that landed.
type LandingList struct {
	Queue  []QueuedLanding `json:"queue" doc:"Oldest first"`
	Landed []Task          `json:"landed" doc:"Newest first, at most 50"`
}

// QueuedLanding is a task whose work is being checked or landed.
type QueuedLanding struct {
	Task   Task   `json:"task"`
	Reason string `json:"reason" doc:"What it waits for, or what happens now"`
	Tries  int    `json:"tries,omitempty" doc:"How often in a row a step was postponed"`
	Killed int    `json:"killed,omitempty" doc:"How often in a row its checks were killed"`
}

// Timeline is when the sessions and checks of tasks ran, the task that started
// last first.
type Timeline struct {
	Rows []TimelineRow `json:"rows"`
	More bool          `json:"more,omitempty" doc:"Older sessions or checks were left out"`
}

// TimelineRow is the sessions and checks of one task.
type TimelineRow struct {
	Task  string        `json:"task" doc:"The task's key"`
	Title string        `json:"title"`
	Bars  []TimelineBar `json:"bars" doc:"In the order in which they started"`
}

// TimelineBar is when a session ran and waited for a person, or when a check ran.
type TimelineBar struct {
	Kind    string       `json:"kind" enum:"session,check" doc:"The kind of work"`
	Session string       `json:"session" doc:"The session's key; empty for a check"`
	Role    coppice.Role `json:"role" doc:"The session's role; empty for a check"`
	Check   int64        `json:"check,omitempty" doc:"The check's id; absent while it runs"`
	Command string       `json:"command,omitempty" doc:"The check's command"`
	From    time.Time    `json:"from"`
	To      time.Time    `json:"to,omitzero" doc:"Absent while it runs"`
	State   string       `json:"state" doc:"How it ended, or its state"`
	Failed  bool         `json:"failed,omitempty"`
	Waits   []Interval   `json:"waits,omitempty" doc:"When it waited for a person"`
}

// Interval is a time span.
type Interval struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to,omitzero" doc:"Absent if it has not ended"`
}

// Graph is the tasks that depend on others, and those that others depend on.
type Graph struct {
	Tasks []Task `json:"tasks" doc:"Newest first, without their descriptions"`
	More  bool   `json:"more,omitempty" doc:"Older tasks were left out"`
}
