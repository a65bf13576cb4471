package store

import "coppice"

// The values of TaskFilter.Pull.
const (
	PullOpen = "open" // a request that has not ended
	PullAny  = "any"
)

// PullReader reads pull requests.
type PullReader interface {
	// Of returns the pull request of a task, or nil.
	Of(task int64) (*coppice.Pull, error)
	// OfTasks returns the pull requests of tasks, by the id of the task.
	OfTasks(tasks []int64) (map[int64]coppice.Pull, error)
	// Marks returns the pull requests of tasks in short, by the id of the task.
	Marks(tasks []int64) (map[int64]coppice.PullMark, error)
	// ByNumber returns the newest pull request of a project with a number. If there is
	// none, the code is not_found.
	ByNumber(project int64, number int) (coppice.Pull, error)
	// Followed returns what a pass over the forge needs of the pull requests of a project
	// that the forge has and that have not ended, oldest first.
	Followed(project int64) ([]coppice.FollowedPull, error)
}

// Pulls reads and writes pull requests. They are removed with their task.
type Pulls interface {
	PullReader
	Put(*coppice.Pull) error
}

// ForgeReader reads what is remembered about reading forges.
type ForgeReader interface {
	// Of returns the row of a project, which is empty before the first pass.
	Of(project int64) (coppice.ForgeRow, error)
}

// Forges reads and writes what is remembered about reading forges.
type Forges interface {
	ForgeReader
	Put(coppice.ForgeRow) error
}

// ReactionReader reads the history of reactions.
type ReactionReader interface {
	// Of returns the entries of a task, oldest first. Task 0 means the entries of the
	// project that belong to no task.
	Of(project, task int64) ([]coppice.Reacted, error)
	// List returns entries, newest first.
	List(ReactionFilter) ([]coppice.Reacted, error)
}

// Reactions reads and writes the history of reactions.
type Reactions interface {
	ReactionReader
	// Put stores an entry. If another one of the task has the key, it fails with code
	// conflict. The oldest entries of the task beyond coppice.KeptReactions are removed.
	Put(*coppice.Reacted) error
}

// ReactionFilter chooses entries of the history of reactions. A zero field chooses
// all.
type ReactionFilter struct {
	ProjectID int64
	TaskID    int64
	BeforeID  int64
	Most      int
}
