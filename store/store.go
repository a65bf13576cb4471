// Package store is the contract of what Coppice knows: facts as rows, and the
// log of what happened to them.
//
// A Store has one writer. Update runs its function in a transaction that sees
// every earlier one and nothing of a later one; several Updates may share one
// commit, but each succeeds or fails alone, and none returns before its commit
// is on disk. A function passed to Update or View must not keep its Tx or
// Reader, must not call the Store again, and may run while others wait: it does
// no I/O of its own. View reads one consistent snapshot and never waits for the
// writer.
//
// Facts are grouped by noun: Reader and Tx hand out one group for each. A method
// name leaves out the noun, which the group says: tx.Tasks.Get(id). In every
// group, Of lists what belongs to a task, In what belongs to a project, and Last
// returns a task's newest, or nil. OfEach and LastOfEach do the same for many
// tasks with one query; what has none is not in their map.
//
// Lookups of one thing return a *coppice.Error with code not_found when it is
// not there. A Put with ID 0 inserts and sets the ID; otherwise it replaces the
// row. Times are stored with nanoseconds, in UTC; the zero time stays zero.
package store

import "context"

// Store keeps facts. All methods may be called from any goroutine.
type Store interface {
	// View runs f on a snapshot.
	View(ctx context.Context, f func(Reader) error) error
	// Update runs f in a transaction and commits it unless f returns an error,
	// which Update then returns as it is.
	Update(ctx context.Context, f func(Tx) error) error
	// WaitEvent returns once the log's newest event is after seq.
	WaitEvent(ctx context.Context, seq int64) error
	// Facts returns a number that is another one after each commit that changed
	// more than the output of sessions. Whoever reads the number and then the facts
	// can use what was made of them while the number is the same. It changes before
	// Update returns.
	Facts() uint64
	// Watch reports from now on which of the topics commits touch. It must be
	// closed.
	Watch(topics ...string) Watch
	// Backup writes a consistent copy to path, which must not exist, while
	// reads and writes go on.
	Backup(ctx context.Context, path string) error
	// Close waits for running transactions and closes. Later calls fail with
	// code unavailable.
	Close() error
}

// Reader reads facts.
type Reader struct {
	Projects   ProjectReader
	Tasks      TaskReader
	Lanes      LaneReader
	Sessions   SessionReader
	Spend      SpendReader
	Outputs    OutputReader
	Workspaces WorkspaceReader
	Trash      TrashReader
	Queues     QueueReader
	Landings   LandingReader
	Checks     CheckReader
	Work       WorkReader
	Questions  QuestionReader
	Messages   MessageReader
	Asks       AskReader
	Limits     LimitReader
	Log        LogReader
	Timers     TimerReader
	Features   FeatureReader
	History    HistoryReader
}

// Tx reads and adds facts.
type Tx struct {
	Projects   Projects
	Tasks      Tasks
	Lanes      LaneReader
	Sessions   Sessions
	Spend      Spend
	Outputs    Outputs
	Workspaces Workspaces
	Trash      Trash
	Queues     Queues
	Landings   Landings
	Checks     Checks
	Work       Work
	Questions  Questions
	Messages   Messages
	Asks       Asks
	Limits     Limits
	Log        Log
	Timers     Timers
	Features   Features
	History    History
}

// Reader returns the groups for reading. They see what the transaction wrote.
func (t Tx) Reader() Reader {
	return Reader{
		Projects: t.Projects, Tasks: t.Tasks, Lanes: t.Lanes, Sessions: t.Sessions, Spend: t.Spend, Outputs: t.Outputs,
		Workspaces: t.Workspaces, Trash: t.Trash, Queues: t.Queues, Landings: t.Landings, Checks: t.Checks, Work: t.Work,
		Questions: t.Questions, Messages: t.Messages, Asks: t.Asks, Limits: t.Limits, Log: t.Log, Timers: t.Timers,
		Features: t.Features, History: t.History,
	}
}
