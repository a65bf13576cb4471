package store

import (
	"time"

	"coppice"
)

// MostTrimmed is how many rows one call of a Trim forgets at most, so that others
// get their turn.
const MostTrimmed = 5000

// Keep is how much of the history is kept. Only tasks that are over count: their
// work has landed, or a person put them away. A zero limit is none.
type Keep struct {
	Output     time.Duration // what sessions and checks wrote, after the task was over
	OutputSize int64         // bytes of what sessions wrote, of all tasks together; the oldest go first
	Tasks      time.Duration // tasks with all that belongs to them, after they were over
	TasksMost  int           // how many ended tasks; the oldest go first
	// Notice takes the place of what a session wrote: a piece of the kind host.
	Notice []byte
}

// Kept is how much there is.
type Kept struct {
	Output int64 // bytes of what sessions wrote
	Tasks  int   // that have ended
}

// Forgotten is what a call of Forget did.
type Forgotten struct {
	Task   *coppice.Task // that was the oldest; nil when nothing was due
	Checks []int64       // the checks whose logs were removed
	All    bool          // the task is gone, and not only what was written for it
	Done   bool          // with this task
}

// HistoryReader reads how long the history is. None of it depends on its length.
type HistoryReader interface {
	Kept() (Kept, error)
	// Due returns when something has to be forgotten: now, later because of its age,
	// or, as the zero time, never.
	Due(k Keep, now time.Time) (time.Time, error)
}

// History forgets.
type History interface {
	HistoryReader
	// Forget removes a bit of what is beyond the limits, of one task, and at most
	// about so many rows. A task is not forgotten while something of it is on disk,
	// an open task comes after it, or the features file has it. The ids and keys of
	// what is forgotten are never given again.
	Forget(k Keep, now time.Time, most int) (Forgotten, error)
}
