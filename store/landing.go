package store

import (
	"time"

	"coppice"
)

// WorkspaceReader reads workspaces.
type WorkspaceReader interface {
	// OfBranch returns the key of a task of the project for whose branch a name was
	// chosen that conflicts with this name; see coppice.BranchesConflict. It returns ""
	// if there is none.
	OfBranch(project int64, name string) (string, error)
	// InCheckout returns the key of a task of the project, besides the given one, that
	// works in the person's own checkout and has not ended, or has an open request. It
	// returns "" if there is none.
	InCheckout(project, except int64) (string, error)
	Of(task int64) (*coppice.Workspace, error) // the newest; nil if there is none
	OfEach(tasks []int64) (map[int64]coppice.Workspace, error)
	In(project int64) ([]coppice.Workspace, error)
}

// Workspaces reads and writes workspaces.
type Workspaces interface {
	WorkspaceReader
	Put(*coppice.Workspace) error
}

// TrashReader reads the trash.
type TrashReader interface {
	Get(id int64) (coppice.Trash, error)
	In(project int64) ([]coppice.Trash, error) // neither restored nor purged, newest first
	Of(task int64) ([]coppice.Trash, error)    // neither restored nor purged, oldest first
	OfEach(tasks []int64) (map[int64][]coppice.Trash, error)
}

// Trash reads and writes the trash.
type Trash interface {
	TrashReader
	Put(*coppice.Trash) error
}

// LandingReader reads landings.
type LandingReader interface {
	Get(id int64) (coppice.Landing, error)
	Of(task int64) ([]coppice.Landing, error)  // oldest first
	Last(task int64) (*coppice.Landing, error) // nil if there is none
	LastOfEach(tasks []int64) (map[int64]coppice.Landing, error)
	// Queued returns the first most landings of a queue.
	Queued(queue int64, most int) ([]coppice.Landing, error)
	// QueuedIDs returns the ids of the same landings, in the same order. It reads
	// only an index.
	QueuedIDs(queue int64, most int) ([]int64, error)
	// FirstRed returns the open landing of a project whose RedOn is a tree and that
	// runs the check there, or the oldest if none does, and its task. Both are 0 if
	// there is none.
	FirstRed(project int64, tree string) (landing, task int64, err error)
	// Blocked returns the first most tasks of a project that wait for a person
	// because the base fails their checks as well. Those that wait longest come
	// first.
	Blocked(project int64, most int) ([]int64, error)
	// Candidates returns all candidates of a landing, oldest first, including the
	// current one.
	Candidates(landing int64) ([]coppice.Candidate, error)
}

// Landings reads and writes landings.
type Landings interface {
	LandingReader
	// Put writes a landing and its current candidate. A candidate without an id is
	// new, and the previous ones stay.
	Put(*coppice.Landing) error
}

// CheckReader reads checks.
type CheckReader interface {
	Get(id int64) (coppice.Check, error)
	// On returns the newest check of each command and environment on a tree. It
	// leaves out killed checks, which are not verdicts.
	On(project int64, tree string) ([]coppice.Check, error)
	// Env returns the environment in which the newest check of a project ran, or ""
	// if there is none.
	Env(project int64) (string, error)
	Of(task int64) ([]coppice.Check, error) // oldest first
	// Since returns those of the newest most checks that ended at a time or later,
	// newest first. They have no logs, trees and environments. Project 0 means all
	// projects.
	Since(project int64, from time.Time, most int) ([]coppice.Check, error)
}

// Checks reads and writes checks.
type Checks interface {
	CheckReader
	Put(*coppice.Check) error
}
