package fabric

import (
	"context"
	"time"

	"coppice"
)

// Quiet is how long a worker waits for more output before it sends what a Record
// has not taken once more, as quiet.
const Quiet = 250 * time.Millisecond

// Ledger is what a worker reports and asks while it runs sessions. It belongs to
// one worker. What reports mean is decided behind it, in the control process.
//
// All methods may be called from any goroutine. Each of them is safe to repeat,
// so a worker that does not know whether a call arrived calls again. A session
// that the Ledger does not know is an error with code not_found.
type Ledger interface {
	// Session returns the id of the session with a key.
	Session(ctx context.Context, key string) (int64, error)
	// Begin records that a session runs from now on, and from which commit. One
	// that has begun stays as it is, so Begin also returns where it stands after
	// a restart.
	Begin(ctx context.Context, session int64, head string) (Standing, error)
	// Prompt returns the session's first message.
	Prompt(ctx context.Context, session int64) (string, error)
	// Record takes output. It may take less than it was sent: Standing.Cursor
	// says how far. The rest has to come again, with what follows it, or marked
	// as quiet. It fails with code conflict, and takes nothing, when the cursor
	// is not where the batch begins: Begin returns where it is.
	Record(ctx context.Context, b Batch) (Standing, error)
	// Over returns those of the sessions that nobody has to bring to an end any
	// more. Sessions that it does not know are not among them.
	Over(ctx context.Context, sessions []int64) ([]int64, error)
	// Publish makes the head of a session's branch known to the repository that
	// work lands in. A worker calls it before it hands in the result that names
	// the head. It fails when the commit is not there and cannot be brought there.
	Publish(ctx context.Context, h Head) error
}

// Batch is output of one session, in order.
type Batch struct {
	Session int64
	From    int64 // the cursor that it begins at
	Frames  []Frame
	// Quiet says that nothing follows, or has not for a while: the whole batch is
	// taken. Without it, bytes that may begin a secret wait for what follows.
	Quiet bool
}

// Frame is one piece of output. Next is the offset behind it.
type Frame struct {
	coppice.Output
	Next int64
}

// Standing is how far a session has come.
type Standing struct {
	Cursor       int64  // how much of its output is taken
	From         string // the commit it began from
	Usage        coppice.Usage
	Conversation string
	Spent        coppice.Usage // by earlier sessions of the conversation it continues; only Begin returns it
}

// Head is a commit that a session made.
type Head struct {
	Session int64
	RepoID  int64
	Repo    string // the repository's address
	Branch  string
	Commit  string
}
