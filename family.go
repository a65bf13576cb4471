package coppice

import (
	"cmp"
	"slices"
	"time"
)

// A family is a task, the tasks that its sessions created, and theirs. TaskDetails
// has the parent of a task.

// Waits says for which tasks the agent of a session waits.
type Waits struct {
	Tasks []int64   `json:"tasks"` // their ids, in the agent's order, each once
	Since time.Time `json:"since"`
	Until time.Time `json:"until"` // then the agent gets the results that exist
}

// Same reports whether the agent waits for the same tasks.
func (w *Waits) Same(tasks []int64) bool { return w != nil && slices.Equal(w.Tasks, tasks) }

// The limits of wait_for_tasks.
const (
	MostAwaited  = 100 // tasks of one call
	MostWait     = 24 * time.Hour
	DefaultWait  = 30 * time.Minute
	MostResult   = 2 << 10         // bytes of one result in a prompt
	MostResults  = 20 << 10        // bytes of all results in a prompt
	DefaultReply = 5 * time.Minute // how long ask_user waits for a person
)

// The limits of families where the policy has none.
const (
	defaultDepth    = 3
	defaultChildren = 20
)

// MostDepth returns how many levels of tasks can be below a task that no session
// created.
func (l Limits) MostDepth() int { return cmp.Or(l.Depth, defaultDepth) }

// MostChildren returns how many open tasks the sessions of one task can have
// created.
func (l Limits) MostChildren() int { return cmp.Or(l.Children, defaultChildren) }
