package store

import (
	"time"

	"coppice"
)

// MostTrimmed is the maximum number of rows that one call of a Trim removes, so
// that other transactions do not wait long.
const MostTrimmed = 5000

// Keep has the limits of the history. They apply only to tasks that are over:
// their work has landed, or a person archived them. Zero means no limit.
type Keep struct {
	Output     time.Duration // age of output and check logs, since the task was over
	OutputSize int64         // bytes of output of all tasks together; the oldest is removed first
	Tasks      time.Duration // age of tasks with everything that belongs to them, since they were over
	TasksMost  int           // number of ended tasks; the oldest is removed first
	// Notice replaces the output of a session, as a piece of the kind host.
	Notice []byte
}

// Kept is the size of the history.
type Kept struct {
	Output int64 // bytes of output
	Tasks  int   // ended tasks
}

// Forgotten is the result of a call of Forget.
type Forgotten struct {
	Task   *coppice.Task // the oldest task; nil if nothing was due
	Checks []int64       // the checks whose logs were removed
	All    bool          // the task itself is removed, not only its output
	Done   bool          // nothing more of this task has to be removed
}

// HistoryReader reads the size of the history. Its cost does not depend on that
// size.
type HistoryReader interface {
	Kept() (Kept, error)
	// Due returns when something has to be removed: now, later because of its age,
	// or never, as the zero time.
	Due(k Keep, now time.Time) (time.Time, error)
}

// History removes old tasks and their output.
type History interface {
	HistoryReader
	// Forget removes a part of one task that is beyond the limits, about most rows.
	// It does not remove a task that has files on disk, on which an open task
	// depends, or that is in the features file. It removes a step only after its flow,
	// because a flow creates the steps that it does not have. Ids and keys are never
	// used again.
	Forget(k Keep, now time.Time, most int) (Forgotten, error)
}
