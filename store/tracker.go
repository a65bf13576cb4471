package store

import (
	"time"

	"coppice"
)

// TrackerReader reads what is remembered about reading sources of issues.
type TrackerReader interface {
	// In returns the sources of a project, sorted by name, also those that its policy no
	// longer has.
	In(project int64) ([]coppice.Tracker, error)
}

// Trackers reads and writes what is remembered about reading sources of issues. They are
// removed with their project.
type Trackers interface {
	TrackerReader
	// Put stores a source. If another one of the project has the name, it fails with code
	// conflict.
	Put(*coppice.Tracker) error
}

// IssueReader reads issues.
type IssueReader interface {
	// Of returns the issue of a task, or nil.
	Of(task int64) (*coppice.Issue, error)
	// Named returns an issue of a tracker, or nil.
	Named(tracker int64, issue string) (*coppice.Issue, error)
	// Due returns the issues of a project whose NextAt has come, the longest due first.
	Due(project int64, now time.Time, most int) ([]coppice.Issue, error)
	// Next returns the earliest NextAt of the issues of a project; zero if there is none.
	Next(project int64) (time.Time, error)
	// Count returns how many issues of a tracker wait or have a task that the tracker does
	// not show as ended, by the status of the task. Those that wait have an empty one.
	Count(tracker int64) (map[coppice.IssueStatus]int, error)
	// Waiting returns the issues of a tracker that wait to become tasks, oldest first.
	Waiting(tracker int64) ([]coppice.IssueMark, error)
	// Known returns the issues of a tracker that have not ended, or that the tracker
	// showed as open, newest first.
	Known(tracker int64, most int) ([]coppice.IssueMark, error)
	// Some returns those issues of a tracker that exist, by name.
	Some(tracker int64, issues []string) (map[string]coppice.IssueMark, error)
	// List returns issues in short, newest first.
	List(IssueFilter) ([]coppice.IssueMark, error)
}

// Issues reads and writes issues. They are removed with their project. If a task is
// removed, its issue stays, so that it is not imported again.
type Issues interface {
	IssueReader
	// Put stores an issue. If the tracker has one with the name, or the task has another
	// issue, it fails with code conflict.
	Put(*coppice.Issue) error
	// Wake makes all issues of a tracker due that have a task and have not ended.
	Wake(tracker int64, at time.Time) error
	// Delete removes an issue. It fails with code not_found.
	Delete(id int64) error
}

// IssueFilter chooses issues of a project. A zero field chooses all.
type IssueFilter struct {
	ProjectID int64
	Ended     bool // also issues that have ended
	BeforeID  int64
	Most      int
}
