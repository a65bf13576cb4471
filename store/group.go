package store

import "coppice"

// GroupReader reads groups and labels of tasks.
type GroupReader interface {
	Get(id int64) (coppice.Group, error)
	// ByName returns the group of a project with a name.
	ByName(project int64, name string) (coppice.Group, error)
	// List returns groups, newest first.
	List(GroupFilter) ([]coppice.Group, error)
	// Some returns groups by their ids, with one query.
	Some(ids []int64) (map[int64]coppice.Group, error)
	// Tasks counts the tasks of groups. It reads an index, not the tasks.
	Tasks(ids []int64) ([]GroupCount, error)
	// Labels returns the first most labels that tasks have, sorted.
	Labels(most int) ([]string, error)
	// Spent returns what the tasks of groups have spent in total.
	Spent(ids []int64) (map[int64]coppice.Usage, error)
}

// Groups reads and writes groups of tasks. A group is removed with its last task.
type Groups interface {
	GroupReader
	Put(*coppice.Group) error
}

// GroupFilter chooses groups.
type GroupFilter struct {
	ProjectID int64 // 0 means all projects
	BeforeID  int64 // only older groups than this one, for paging; 0 means all
	Open      bool  // only groups with a task that has not ended
	Most      int
}

// GroupCount is the number of tasks of a group that are alike.
type GroupCount struct {
	Group   int64
	Stage   coppice.Stage
	Outcome coppice.Outcome
	Wait    coppice.WaitKind
	Lane    coppice.Lane
	N       int
}

// SeenReader reads which tasks people have seen.
type SeenReader interface {
	// Unread returns those of the tasks about which something happened that a
	// person cares about, after the person last saw them: it asked something, waits
	// for approval, or ended.
	Unread(by coppice.Actor, tasks []int64) (map[int64]bool, error)
}

// Seen reads and writes which tasks people have seen.
type Seen interface {
	SeenReader
	// Put says that a person has seen a task up to an event.
	Put(by coppice.Actor, task, seq int64) error
}
