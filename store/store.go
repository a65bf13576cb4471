// Package store is the contract of the truth: facts as rows, and the log of
// what happened to them.
//
// A Store has one writer. Update runs its function in a transaction that sees
// every earlier one and nothing of a later one; several Updates may share one
// commit, but each succeeds or fails alone, and none returns before its commit
// is on disk. A function passed to Update or View must not keep its Tx or
// Reader, must not call the Store again, and may run while others wait: it does
// no I/O of its own. View reads one consistent snapshot and never waits for the
// writer.
//
// Lookups of one thing return a *coppice.Error with code not_found when it is
// not there. A Put with ID 0 inserts and sets the ID; otherwise it replaces the
// row. Times are stored with nanoseconds, in UTC; the zero time stays zero.
package store

import (
	"context"
	"time"

	"coppice"
)

// Store is the truth. All methods may be called from any goroutine.
type Store interface {
	// View runs f on a snapshot.
	View(ctx context.Context, f func(Reader) error) error
	// Update runs f in a transaction and commits it unless f returns an error,
	// which Update then returns as it is.
	Update(ctx context.Context, f func(Tx) error) error
	// WaitEvent returns once the log's newest event is after seq.
	WaitEvent(ctx context.Context, seq int64) error
	// WaitOutput returns once the session's committed cursor is after the
	// offset, or the session has ended.
	WaitOutput(ctx context.Context, session, offset int64) error
	// Writers tells from now on which sessions write, whichever they are. It must
	// be closed.
	Writers() Writers
	// WaitWork returns once work may have become takeable since the previous
	// call returned. It may return for no reason. It serves one caller: of two,
	// one could miss what the other was told.
	WaitWork(ctx context.Context) error
	// Backup writes a consistent copy to path, which must not exist, while
	// reads and writes go on.
	Backup(ctx context.Context, path string) error
	// Close waits for running transactions and closes. Later calls fail with
	// code unavailable.
	Close() error
}

// Writers tells which sessions write. It keeps no more than their ids, each once.
// Its methods are called one at a time.
type Writers interface {
	// Wait returns the sessions that wrote something or ended since it last
	// returned, by their ids, once there are any.
	Wait(ctx context.Context) ([]int64, error)
	Close()
}

// Reader reads facts.
type Reader interface {
	Project(id int64) (coppice.Project, error)
	ProjectByPrefix(prefix string) (coppice.Project, error)
	ProjectByPath(path string) (coppice.Project, error)
	Projects() ([]coppice.Project, error) // by prefix

	Task(id int64) (coppice.Task, error)
	TaskByKey(key string) (coppice.Task, error)
	Tasks(TaskFilter) ([]coppice.Task, error)
	CountTasks(TaskFilter) (int, error)
	Dependants(task int64) ([]int64, error) // tasks that name it in After, that have not ended

	// NextLane returns the first lane after the given one that has a queued
	// task, and false when there is none. The zero Lane comes before all.
	NextLane(after coppice.Lane) (coppice.Lane, bool, error)
	// LaneHeads returns the first most tasks of a lane: those with a session
	// behind them first, then by priority, then the oldest.
	LaneHeads(lane coppice.Lane, most int) ([]coppice.Task, error)
	// CountLanes counts queued tasks by lane; project 0 means all.
	CountLanes(project int64) (map[coppice.Lane]int, error)
	// CountWaits counts waiting tasks by what they wait for; "" stands for
	// those that nobody has looked at yet. Project 0 means all.
	CountWaits(project int64) (map[coppice.WaitKind]int, error)
	// Pending returns the first most tasks that wait or are queued, by
	// priority, then the oldest: those that wait for a person, or all others.
	Pending(project int64, person bool, most int) ([]coppice.Task, error)
	// Running counts live sessions by lane.
	Running() (map[coppice.Lane]int, error)

	Session(id int64) (coppice.Session, error)
	SessionByKey(key string) (coppice.Session, error)
	// Lists of sessions come without their prompts, which can be megabytes; a
	// Put without a prompt leaves it as it is.
	SessionsOf(task int64) ([]coppice.Session, error) // oldest first
	LiveSessions() ([]coppice.Session, error)         // oldest first
	LastSession(task int64) (*coppice.Session, error) // nil when there is none
	// Output returns a session's output after an offset, at most so many
	// pieces; kinds nil means all. Lists of output tell the size of a picture
	// and leave out its data, which can be megabytes. A list ends with the piece
	// that makes its data MostOutput or more: Full tells that it may go on.
	Output(session, after int64, most int, kinds ...coppice.OutputKind) ([]coppice.Output, error)
	// Picture returns the picture at an offset, whole.
	Picture(session, offset int64) (coppice.Output, error)
	// OutputBefore returns the last most pieces before an offset, oldest first.
	OutputBefore(session, before int64, most int, kinds ...coppice.OutputKind) ([]coppice.Output, error)
	// Mask returns what is remembered at a session's cursor to hide secrets in
	// what follows; nil when there is nothing.
	Mask(session int64) ([]byte, error)
	// OutputSizes tells how much output is kept, by project, about.
	OutputSizes() (map[int64]int64, error)
	// Busy tells whether a project has tasks that have not ended, or work that
	// is not settled.
	Busy(project int64) (bool, error)
	// Outsiders returns the keys of the first most tasks of other projects that
	// come after tasks of this one and have not ended.
	Outsiders(project int64, most int) ([]string, error)
	// Usage sums up what sessions used, newest day first.
	Usage(UsageQuery) ([]UsageRow, error)

	WorkspaceOf(task int64) (*coppice.Workspace, error) // the newest; nil when there is none
	Workspaces(project int64) ([]coppice.Workspace, error)

	LandingsOf(task int64) ([]coppice.Landing, error) // oldest first
	LastLanding(task int64) (*coppice.Landing, error) // nil when there is none
	// QueuedLandings returns the first most landings of a project's queue.
	QueuedLandings(project int64, most int) ([]coppice.Landing, error)
	// QueuePlaces returns the ids of the same landings, in the same order. It
	// reads an index alone.
	QueuePlaces(project int64, most int) ([]int64, error)
	// ChecksOn returns the newest check of each command and environment on a
	// tree. A killed one judges nothing and is left out.
	ChecksOn(project int64, tree string) ([]coppice.Check, error)
	ChecksOf(task int64) ([]coppice.Check, error) // oldest first

	Work(id int64) (coppice.Work, error)
	WorkByKey(key string) (*coppice.Work, error)      // nil when there is none
	UnsettledWork(task int64) ([]coppice.Work, error) // offered, taken and finished, oldest first
	WorkHeldBy(worker string) ([]coppice.Work, error) // taken, oldest first
	// TakeableWork returns offered work of the pools and kinds, oldest first.
	TakeableWork(pools []string, kinds []coppice.WorkKind, most int) ([]coppice.Work, error)
	CountWork() (map[coppice.WorkState]int, error) // unsettled ones only

	Question(id int64) (coppice.Question, error)
	QuestionsOf(task int64) ([]coppice.Question, error) // oldest first
	OpenQuestion(task int64) (*coppice.Question, error) // the oldest open one; nil when there is none
	MessagesOf(task int64) ([]coppice.Message, error)   // oldest first

	AgentLimits() ([]coppice.AgentLimit, error)
	Trash(id int64) (coppice.Trash, error)
	TrashOf(project int64) ([]coppice.Trash, error) // neither restored nor purged, newest first

	// Events returns events after a sequence number, oldest first.
	Events(after int64, most int, f EventFilter) ([]coppice.Event, error)
	// EventBounds returns the oldest and newest sequence number in the log,
	// both 0 when nothing was ever logged. When all were forgotten, the oldest
	// is the one to come.
	EventBounds() (first, last int64, err error)

	// DueTimers returns timers at or before now, earliest first.
	DueTimers(now time.Time, most int) ([]Timer, error)
	// NextTimer returns the earliest timer's moment, zero when there is none.
	NextTimer() (time.Time, error)
	// Cursor returns how far a named reader has come in the log.
	Cursor(name string) (int64, error)
}

// MostOutput is how much data a list of output holds, besides its last piece.
const MostOutput = 1 << 20

// Full tells whether a list of output that was asked for at most so many pieces
// may have been cut, so that there are more.
func Full(out []coppice.Output, most int) bool {
	size := 0
	for _, o := range out {
		size += len(o.Data)
	}
	return len(out) >= most || size >= MostOutput
}

// Tx reads and adds facts.
type Tx interface {
	Reader

	PutProject(*coppice.Project) error
	PutTask(*coppice.Task) error // After is written with it
	PutSession(*coppice.Session) error
	PutWorkspace(*coppice.Workspace) error
	PutLanding(*coppice.Landing) error
	PutCheck(*coppice.Check) error
	PutWork(*coppice.Work) error
	PutQuestion(*coppice.Question) error
	PutMessage(*coppice.Message) error
	PutAgentLimit(coppice.AgentLimit) error // one for each agent
	DropAgentLimit(agent string) error      // no error when there is none
	PutTrash(*coppice.Trash) error

	// AddOutput appends output to a session and moves its cursor from one
	// offset to another. It fails with code conflict, changing nothing, when
	// the cursor is not at from; so the same batch is never taken twice.
	AddOutput(session, from, to int64, out []coppice.Output) error

	// PutMask replaces what is remembered at a session's cursor; nil forgets it.
	PutMask(session int64, state []byte) error

	// Append adds events to the log, in order, and gives them their Seq.
	Append(...*coppice.Event) error
	// TrimEvents forgets the oldest events: those before the moment, and those
	// beyond the newest keep. It never forgets what a cursor has yet to read.
	// The zero time and a keep of 0 mean no bound.
	TrimEvents(before time.Time, keep int) (int, error)
	// TrimWork forgets settled and cancelled work older than the moment.
	TrimWork(before time.Time) (int, error)

	// Forget forgets a project and everything that belongs to it, except its
	// events. One call forgets at most about so many rows, so that others get
	// their turn; more tells that it must be called again. It fails with code
	// conflict, changing nothing, while the project is busy. Tasks of other
	// projects no longer come after what is forgotten. The ids and keys of what
	// is forgotten are never given again.
	Forget(project int64, most int) (more bool, err error)

	// SetTimer wakes the engine for a subject at a moment; the zero time
	// takes the timer away. A subject has one timer.
	SetTimer(t Timer) error
	SetCursor(name string, seq int64) error
}

// Timer is a moment at which the engine looks at a subject again.
type Timer struct {
	Kind string // what the subject is: task, work, agent, trash
	ID   string
	At   time.Time
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

// EventFilter chooses events; its zero value chooses all.
type EventFilter struct {
	ProjectID int64
	TaskID    int64
	Kinds     []coppice.EventKind
}
