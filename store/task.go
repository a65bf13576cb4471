package store

import "coppice"

// ProjectReader reads projects.
type ProjectReader interface {
	Get(id int64) (coppice.Project, error)
	// ByPrefix returns the project that has the prefix, or had it earlier. No two
	// projects can have the same.
	ByPrefix(prefix string) (coppice.Project, error)
	ByPath(path string) (coppice.Project, error)
	All() ([]coppice.Project, error) // in the order of their prefixes
	// Some returns projects by their ids, with one query.
	Some(ids []int64) (map[int64]coppice.Project, error)
	// Busy reports whether a project has tasks that have not ended, or work
	// that is not settled.
	Busy(project int64) (bool, error)
	// Dependants returns the keys of the first most tasks of other projects that
	// depend on tasks of this project and have not ended.
	Dependants(project int64, most int) ([]string, error)
}

// Projects reads and writes projects.
type Projects interface {
	ProjectReader
	Put(*coppice.Project) error
	// Forget removes a project and everything that belongs to it, except its
	// events. One call removes about most rows, so that other transactions do not
	// wait long. If more is true, call it again. While the project is busy, it fails
	// with code conflict and changes nothing. Tasks of other projects no longer
	// depend on removed tasks. Ids and keys are never used again.
	Forget(project int64, most int) (more bool, err error)
}

// TaskReader reads tasks.
type TaskReader interface {
	Get(id int64) (coppice.Task, error)
	ByKey(key string) (coppice.Task, error)
	List(TaskFilter) ([]coppice.Task, error)
	Count(TaskFilter) (int, error)
	// Some returns tasks by their ids, and Keys returns their keys, with one query.
	Some(ids []int64) (map[int64]coppice.Task, error)
	Keys(ids []int64) (map[int64]string, error)
	Dependants(task int64) ([]int64, error) // tasks that name it in After and have not ended
	// Waits counts waiting tasks by what they wait for. The key "" has the tasks
	// about which the engine has not decided yet. Project 0 means all projects.
	Waits(project int64) (map[coppice.WaitKind]int, error)
	// Pending returns tasks that wait or are queued, by priority, then the oldest.
	// It returns either tasks that wait for a person or all others. The filter's
	// stages, outcomes, BeforeID, order and Archived do not apply. CountPending
	// counts them.
	Pending(f TaskFilter, person bool) ([]coppice.Task, error)
	CountPending(f TaskFilter, person bool) (int, error)
	// Tally counts all tasks, by everything that a Tally names.
	Tally() ([]Tally, error)
}

// FamilyReader reads families: see TaskDetails.Parent.
type FamilyReader interface {
	Children(task int64) ([]coppice.Task, error) // the tasks that sessions of a task created, oldest first
	OpenChildren(task int64) ([]int64, error)    // the ids of those that have not ended
	Steps(flow int64) ([]coppice.Task, error)    // the steps of a flow, oldest first; ended ones, too
	Ancestors(task int64) ([]int64, error)       // its parent, the parent's parent, and so on
}

// Tasks reads and writes tasks.
type Tasks interface {
	TaskReader
	Put(*coppice.Task) error // writes After, too
}

// TaskFilter chooses tasks; its zero value chooses all.
type TaskFilter struct {
	ProjectID int64
	Stages    []coppice.Stage
	Outcomes  []coppice.Outcome
	Track     string
	Agent     string
	Group     int64
	Label     string
	Flagged   bool
	UnreadBy  coppice.Actor      // only tasks that are unread for this person
	Text      string             // in title or key, case-insensitive
	BeforeID  int64              // only older tasks than this one, for paging
	Most      int                // 0 means no limit
	OldFirst  bool               // otherwise the newest first
	ByEnd     bool               // the tasks that ended last come first; not with BeforeID
	ByArchive bool               // only archived tasks, those that were archived last first; not with BeforeID
	Archived  Archived           // whether archived tasks are chosen
	ForkOf    string             // only tasks that were forked from the task with this key
	Parent    int64              // only tasks that sessions of this task created
	Flows     []coppice.FlowKind // only flows of these kinds; all flows have one of coppice.FlowKinds
	Pull      string             // PullOpen or PullAny: only tasks with such a pull request
	Schedule  int64              // only tasks that this schedule created
}

// Tally is the number of tasks of a project that have the same track, agent,
// stage and outcome.
type Tally struct {
	ProjectID int64
	Track     string
	Agent     string
	Stage     coppice.Stage
	Outcome   coppice.Outcome
	N         int
}

// Archived says whether a filter chooses archived tasks.
type Archived int

// The values of Archived.
const (
	ArchivedToo  Archived = iota // archived tasks and others
	ArchivedNot                  // no archived tasks
	ArchivedOnly                 // only archived tasks
)

// LaneReader reads lanes. A lane has the queued tasks and live sessions of one
// project, track and account.
type LaneReader interface {
	// Next returns the first lane after the given one that has a queued task, or
	// false if there is none. The zero Lane comes before all others.
	Next(after coppice.Lane) (coppice.Lane, bool, error)
	// Heads returns the first most tasks of a lane: tasks that already had a session
	// first, then by priority, then the oldest.
	Heads(lane coppice.Lane, most int) ([]coppice.Task, error)
	// Count counts queued tasks by lane; project 0 means all projects.
	Count(project int64) (map[coppice.Lane]int, error)
	// Running counts live sessions by lane, without those that are parked.
	Running() (map[coppice.Lane]int, error)
	// InFlight counts, by project, the tasks between the start of a session and
	// their landing.
	InFlight() (map[int64]int, error)
}

// TaskRows are the rows of a task that say where its commits are.
type TaskRows struct {
	Project   coppice.Project
	Workspace *coppice.Workspace // nil if there is none
	Sessions  []coppice.Session
	Landings  []coppice.Landing
}

// RowsOf reads the rows of a task.
func RowsOf(r Reader, t coppice.Task) (rows TaskRows, err error) {
	if rows.Project, err = r.Projects.Get(t.ProjectID); err != nil {
		return rows, err
	}
	if rows.Workspace, err = r.Workspaces.Of(t.ID); err != nil {
		return rows, err
	}
	if rows.Sessions, err = r.Sessions.Of(t.ID); err != nil {
		return rows, err
	}
	rows.Landings, err = r.Landings.Of(t.ID)
	return rows, err
}
