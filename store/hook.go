package store

import "coppice"

// HookReader reads runs of hooks.
type HookReader interface {
	// ByKey returns the run with a key. If there is none, the code is not_found.
	ByKey(key string) (coppice.HookRun, error)
	// Offered returns the runs of a project for which work was offered and that have
	// not ended, oldest first.
	Offered(project int64) ([]coppice.HookRun, error)
	// Next returns runs of a project for which no work was offered and that are the
	// first in their lane. Those that block come first, then the oldest.
	Next(project int64, most int) ([]coppice.HookRun, error)
	// Lane returns the runs of a lane that have not ended, oldest first.
	Lane(lane string) ([]coppice.HookRun, error)
	// Before returns the runs before a landing with a candidate, oldest first.
	Before(landing int64, commit string) ([]coppice.HookRun, error)
	// List returns runs, newest first.
	List(HookFilter) ([]coppice.HookRun, error)
}

// Hooks reads and writes runs of hooks.
type Hooks interface {
	HookReader
	// Put stores a run. When a run has ended, the oldest ended ones of its project
	// beyond coppice.KeptHookRuns are removed.
	Put(*coppice.HookRun) error
}

// HookFilter chooses runs of hooks. A zero field chooses all.
type HookFilter struct {
	ProjectID int64
	TaskID    int64
	Event     coppice.HookEvent
	BeforeID  int64
	Most      int
}
