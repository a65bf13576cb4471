package store

import "coppice"

// ProjectReader reads projects.
type ProjectReader interface {
	Get(id int64) (coppice.Project, error)
	ByPrefix(prefix string) (coppice.Project, error)
	ByPath(path string) (coppice.Project, error)
	All() ([]coppice.Project, error) // by prefix
	// Some returns projects by their ids, with one query.
	Some(ids []int64) (map[int64]coppice.Project, error)
	// Busy reports whether a project has tasks that have not ended, or work
	// that is not settled.
	Busy(project int64) (bool, error)
	// Outsiders returns the keys of the first most tasks of other projects that
	// come after tasks of this one and have not ended.
	Outsiders(project int64, most int) ([]string, error)
}

// Projects reads and writes projects.
type Projects interface {
	ProjectReader
	Put(*coppice.Project) error
	// Forget forgets a project and everything that belongs to it, except its
	// events. One call forgets at most about so many rows, so that others get
	// their turn; more reports that it must be called again. It fails with code
	// conflict, changing nothing, while the project is busy. Tasks of other
	// projects no longer come after what is forgotten. The ids and keys of what
	// is forgotten are never given again.
	Forget(project int64, most int) (more bool, err error)
}

// TaskReader reads tasks.
type TaskReader interface {
	Get(id int64) (coppice.Task, error)
	ByKey(key string) (coppice.Task, error)
	List(TaskFilter) ([]coppice.Task, error)
	Count(TaskFilter) (int, error)
	// Some returns tasks by their ids, and Keys their keys, with one query.
	Some(ids []int64) (map[int64]coppice.Task, error)
	Keys(ids []int64) (map[int64]string, error)
	Dependants(task int64) ([]int64, error) // tasks that name it in After, that have not ended
	// Waits counts waiting tasks by what they wait for; "" stands for those
	// that nobody has looked at yet. Project 0 means all.
	Waits(project int64) (map[coppice.WaitKind]int, error)
	// Pending returns the first most tasks that wait or are queued, by
	// priority, then the oldest: those that wait for a person, or all others.
	Pending(project int64, person bool, most int) ([]coppice.Task, error)
}

// Tasks reads and writes tasks.
type Tasks interface {
	TaskReader
	Put(*coppice.Task) error // After is written with it
}

// TaskFilter chooses tasks; its zero value chooses all.
type TaskFilter struct {
	ProjectID int64
	Stages    []coppice.Stage
	Outcomes  []coppice.Outcome
	Track     string
	Agent     string
	Text      string   // in title or key, case-insensitive
	BeforeID  int64    // older ones than this, for paging
	Most      int      // 0 means no bound
	OldFirst  bool     // otherwise the newest first
	Archived  Archived // those put away: left out, or they alone
}

// Archived says what a filter makes of tasks that were put away.
type Archived int

// The ways to treat them.
const (
	ArchivedToo  Archived = iota // they are as good as others
	ArchivedNot                  // they are left out
	ArchivedOnly                 // they alone
)

// LaneReader reads lanes: queued tasks, and live sessions, by project, track and
// account.
type LaneReader interface {
	// Next returns the first lane after the given one that has a queued task,
	// and false when there is none. The zero Lane comes before all.
	Next(after coppice.Lane) (coppice.Lane, bool, error)
	// Heads returns the first most tasks of a lane: those with a session behind
	// them first, then by priority, then the oldest.
	Heads(lane coppice.Lane, most int) ([]coppice.Task, error)
	// Count counts queued tasks by lane; project 0 means all.
	Count(project int64) (map[coppice.Lane]int, error)
	// Running counts live sessions by lane, without those that are parked.
	Running() (map[coppice.Lane]int, error)
	// InFlight counts by project the tasks between the start of a session and their
	// landing.
	InFlight() (map[int64]int, error)
}
