package fabric

import (
	"context"
	"time"

	"coppice"
)

// Quiet is how long a worker waits for more output before it sends the part that
// Record has not accepted again, marked as quiet.
const Quiet = 250 * time.Millisecond

// Ledger takes a worker's reports and answers its questions while it runs
// sessions. It belongs to one worker. The control process, behind the Ledger,
// decides what reports mean.
//
// All methods are safe for concurrent use and safe to repeat: a worker that does
// not know whether a call arrived calls again. For an unknown session they
// return an error with code not_found.
type Ledger interface {
	// Session returns the id of the session with a key.
	Session(ctx context.Context, key string) (int64, error)
	// Begin records that a session runs from now on, and from which commit. A
	// session that has begun does not change, so Begin also returns its Standing
	// after a restart.
	Begin(ctx context.Context, session int64, head string) (Standing, error)
	// Prompt returns the session's first message.
	Prompt(ctx context.Context, session int64) (string, error)
	// Image returns the bytes of an image that belongs to a prompt or a message.
	// An unknown one is an error with code not_found.
	Image(ctx context.Context, id string) ([]byte, error)
	// Record accepts output. It can accept less than it got: Standing.Cursor
	// says how far. The rest must be sent again, with what follows it, or marked
	// as quiet. Record fails with code conflict, and accepts nothing, if the
	// batch does not start at the cursor. Begin returns the cursor.
	Record(ctx context.Context, b Batch) (Standing, error)
	// Over returns the sessions, of those given, that no worker has to end any
	// more. Unknown sessions are not among them.
	Over(ctx context.Context, sessions []int64) ([]int64, error)
	// Publish makes the head of a session's branch known to the repository in
	// which work lands. A worker calls it before it reports the result that
	// names the head. It fails if the commit does not exist there and cannot be
	// transferred.
	Publish(ctx context.Context, h Head) error
	// Progress shows people the running commands of a work item and their output.
	// The ledger masks secrets, keeps a bounded part in memory, and drops it when
	// the work ends. Nothing is decided by it: a worker can leave out output, and
	// must not delay the work for it. It fails with code conflict if the caller
	// does not hold the item with this attempt.
	Progress(ctx context.Context, p Progress) error
	// Call passes a request that a session's agent sent to its endpoint to the
	// tools of Coppice, and returns the reply. A call that waits for something
	// replies after CallWait at the latest. A call with an ID that was answered
	// before changes nothing, and gets the same answer. If ctx ends first, it is
	// unknown whether the call had an effect, and the worker calls again.
	Call(ctx context.Context, c Call) (Reply, error)
	// Locks returns the locks of a session's project, with the mode of the
	// project's policy, as soon as their sequence number is greater than after.
	// With -1 it returns immediately. Workers call it only for sessions whose
	// locks are enforced.
	Locks(ctx context.Context, session int64, after int64) (coppice.LockTable, error)
}

// CallWait is how long a call to a tool can wait before it replies that it is
// still waiting. A known client gives up after 120 seconds.
const CallWait = 90 * time.Second

// Call is a request that an agent sent to its session's endpoint.
type Call struct {
	Session int64
	ID      string // the session's key and a number; the same if the call is repeated
	Method  string // of HTTP
	// Header has the headers that CallHeaders lists, by their names there.
	Header map[string]string
	Body   []byte
	// Gone says that the agent no longer waits for the call, which has not been
	// answered. Only Session and ID are set. The reply is empty.
	Gone bool
}

// CallHeaders are the headers of a request or a reply that are passed on. The
// agent's token is not among them.
var CallHeaders = []string{"Accept", "Content-Type", "Mcp-Protocol-Version", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name", "Allow", "Last-Event-Id"}

// Reply is the answer to a Call.
type Reply struct {
	Status int // of HTTP
	Header map[string]string
	Body   []byte
}

// Limits of reports about running commands, which a worker observes.
const (
	ProgressEvery = 100 * time.Millisecond // the least time between two reports about an item
	ProgressBytes = 64 << 10               // of output in one report
)

// Progress is how far the commands of a work item are.
type Progress struct {
	Work    int64 // its id
	Attempt int
	// Commands are those that have started, in order. All reports of an attempt
	// list the same commands at the same index.
	Commands []coppice.CommandRun
	// Output follows the output of earlier reports. Bytes that were reported
	// before are ignored.
	Output []coppice.RunOutput
	// Quiet says that no output follows, or has not for a while, as in Batch.
	Quiet bool
	// App is the app of a preview. The ledger stores it with the preview.
	App *coppice.ServedApp
}

// Batch is output of one session, in order.
type Batch struct {
	Session int64
	From    int64 // the cursor at which it starts
	Frames  []Frame
	// Quiet says that nothing follows, or has not for a while. Then the whole
	// batch is accepted. Otherwise bytes that might start a secret wait for what
	// follows.
	Quiet bool
}

// Frame is one piece of output. Next is the offset after it.
type Frame struct {
	coppice.Output
	Next int64
}

// Standing is how far the ledger is with a session.
type Standing struct {
	Cursor       int64  // how much of its output is accepted
	From         string // the commit from which it started
	Usage        coppice.Usage
	Conversation string
	Spent        coppice.Usage // of earlier sessions of the same conversation; only Begin returns it
}

// Head is a commit of a session.
type Head struct {
	Session int64
	RepoID  int64
	Repo    string // the repository's address
	Branch  string
	Commit  string
}
