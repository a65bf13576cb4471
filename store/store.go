// Package store is the contract of the database: facts as rows, and the log of
// what happened to them.
//
// A Store has one writer. Update runs its function in a transaction that sees
// every earlier transaction and no later one. Several Updates can share one
// commit, but each succeeds or fails alone, and none returns before its commit is
// on disk. A function that is passed to Update or View must not keep its Tx or
// Reader and must not call the Store. Others wait while it runs, so it must not do
// I/O. View reads one consistent snapshot and never waits for the writer.
//
// Facts are grouped by noun: Reader and Tx have one field for each group. Method
// names do not repeat the noun: tx.Tasks.Get(id). In every group, Of lists the
// rows of a task, In lists the rows of a project, and Last returns the newest row
// of a task, or nil. OfEach and LastOfEach do the same for many tasks with one
// query. A task without rows is not in their map.
//
// Lookups of one row return a *coppice.Error with code not_found if there is no
// such row. A Put with ID 0 inserts a row and sets the ID. Otherwise it replaces
// the row. Times are stored with nanoseconds, in UTC. The zero time stays zero.
package store

import "context"

// Store keeps facts. All methods can be called from any goroutine.
type Store interface {
	// View runs f on a snapshot.
	View(ctx context.Context, f func(Reader) error) error
	// Update runs f in a transaction and commits it. If f returns an error, Update
	// commits nothing and returns that error unchanged.
	Update(ctx context.Context, f func(Tx) error) error
	// WaitEvent returns when the log's newest event is after seq.
	WaitEvent(ctx context.Context, seq int64) error
	// FactsVersion returns a number that increases with each commit that changed more than
	// the output of sessions. A cache that was filled after reading the number is
	// valid while the number is the same. It changes before Update returns.
	FactsVersion() uint64
	// Watch reports which of the topics are touched by commits from now on. The
	// caller must close it.
	Watch(topics ...string) Watch
	// Backup writes a consistent copy to path, which must not exist. It blocks
	// neither reads nor writes.
	Backup(ctx context.Context, path string) error
	// Close waits for running transactions and closes the store. Later calls fail
	// with code unavailable.
	Close() error
}

// Read returns what f reads from a snapshot.
func Read[T any](ctx context.Context, s Store, f func(Reader) (T, error)) (T, error) {
	var out T
	err := s.View(ctx, func(r Reader) (err error) {
		out, err = f(r)
		return err
	})
	return out, err
}

// Reader reads facts.
type Reader struct {
	Projects   ProjectReader
	Tasks      TaskReader
	Families   FamilyReader
	Lanes      LaneReader
	Sessions   SessionReader
	Spend      SpendReader
	Outputs    OutputReader
	Workspaces WorkspaceReader
	Trash      TrashReader
	Queues     QueueReader
	Landings   LandingReader
	Checks     CheckReader
	Previews   PreviewReader
	Work       WorkReader
	Questions  QuestionReader
	Messages   MessageReader
	Images     ImageReader
	Comments   CommentReader
	Viewed     ViewedReader
	Asks       AskReader
	Calls      CallReader
	Locks      LockReader
	Limits     LimitReader
	Log        LogReader
	Timers     TimerReader
	Features   FeatureReader
	History    HistoryReader
	Snoozes    SnoozeReader
	Groups     GroupReader
	Seen       SeenReader
	Hooks      HookReader
	Notes      NoteReader
	Documents  DocumentReader
	Schedules  ScheduleReader
	Templates  TemplateReader
	Pulls      PullReader
	Forges     ForgeReader
	Reactions  ReactionReader
	Trackers   TrackerReader
	Issues     IssueReader

	Notices       NoticeReader
	Notifications NotificationReader
}

// Tx reads and writes facts.
type Tx struct {
	Projects   Projects
	Tasks      Tasks
	Families   FamilyReader
	Lanes      LaneReader
	Sessions   Sessions
	Spend      Spend
	Outputs    Outputs
	Workspaces Workspaces
	Trash      Trash
	Queues     Queues
	Landings   Landings
	Checks     Checks
	Previews   Previews
	Work       Work
	Questions  Questions
	Messages   Messages
	Images     Images
	Comments   Comments
	Viewed     Viewed
	Asks       Asks
	Calls      Calls
	Locks      Locks
	Limits     Limits
	Log        Log
	Timers     Timers
	Features   Features
	History    History
	Snoozes    Snoozes
	Groups     Groups
	Seen       Seen
	Hooks      Hooks
	Notes      Notes
	Documents  Documents
	Schedules  Schedules
	Templates  TemplateReader
	Pulls      Pulls
	Forges     Forges
	Reactions  Reactions
	Trackers   Trackers
	Issues     Issues

	Notices       Notices
	Notifications Notifications
}

// Reader returns the groups for reading, which see what the transaction wrote.
func (t Tx) Reader() Reader {
	return Reader{
		Projects: t.Projects, Tasks: t.Tasks, Families: t.Families, Lanes: t.Lanes, Sessions: t.Sessions, Spend: t.Spend, Outputs: t.Outputs,
		Workspaces: t.Workspaces, Trash: t.Trash, Queues: t.Queues, Landings: t.Landings, Checks: t.Checks, Work: t.Work,
		Questions: t.Questions, Messages: t.Messages, Images: t.Images, Comments: t.Comments, Viewed: t.Viewed, Asks: t.Asks, Calls: t.Calls, Locks: t.Locks, Limits: t.Limits, Log: t.Log, Timers: t.Timers,
		Features: t.Features, History: t.History, Previews: t.Previews, Snoozes: t.Snoozes, Groups: t.Groups, Seen: t.Seen,
		Notes: t.Notes, Hooks: t.Hooks, Documents: t.Documents, Schedules: t.Schedules, Templates: t.Templates,
		Pulls: t.Pulls, Forges: t.Forges, Reactions: t.Reactions, Trackers: t.Trackers, Issues: t.Issues,
		Notices: t.Notices, Notifications: t.Notifications,
	}
}
