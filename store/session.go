package store

import "coppice"

// SessionReader reads sessions. Lists come without prompts, which can be
// megabytes.
type SessionReader interface {
	Get(id int64) (coppice.Session, error)
	ByKey(key string) (coppice.Session, error)
	Of(task int64) ([]coppice.Session, error) // oldest first
	OfEach(tasks []int64) (map[int64][]coppice.Session, error)
	Live() ([]coppice.Session, error)          // oldest first
	Written() (map[string]Written, error)      // of live sessions, by their keys
	Last(task int64) (*coppice.Session, error) // nil when there is none
	// MemoryUsed returns, by agent, what a session takes, as those that have ended
	// show. A session that took more raises it at once, and one that took less
	// lowers it by a quarter of the difference.
	MemoryUsed() (map[string]coppice.Bytes, error)
}

// Written is how far the output of a session is kept.
type Written struct{ Session, Cursor int64 }

// Sessions reads and writes sessions.
type Sessions interface {
	SessionReader
	// Put counts the session's memory when that becomes known. Without a prompt,
	// the stored one stays.
	Put(*coppice.Session) error
}

// OutputReader reads what sessions wrote. Lists report the size of a picture and
// leave out its data, which can be megabytes. A list ends with the piece that
// makes its data MostOutput or more: Full reports that it may go on.
type OutputReader interface {
	// After returns a session's output after an offset, at most so many pieces;
	// kinds nil means all.
	After(session, offset int64, most int, kinds ...coppice.OutputKind) ([]coppice.Output, error)
	// Before returns the last most pieces before an offset, oldest first.
	Before(session, offset int64, most int, kinds ...coppice.OutputKind) ([]coppice.Output, error)
	// LastOfEach returns the last most pieces of one kind of each session, oldest
	// first.
	LastOfEach(sessions []int64, most int, kind coppice.OutputKind) (map[int64][]coppice.Output, error)
	// Picture returns the picture at an offset, whole.
	Picture(session, offset int64) (coppice.Output, error)
	// Mask returns what is remembered at a session's cursor to hide secrets in
	// what follows; nil when there is nothing.
	Mask(session int64) ([]byte, error)
	// Sizes returns about how much output is kept, by project.
	Sizes() (map[int64]int64, error)
}

// Outputs reads and adds what sessions wrote.
type Outputs interface {
	OutputReader
	// Add appends output to a session and moves its cursor from one offset to
	// another. It fails with code conflict, changing nothing, when the cursor is
	// not at from; so the same batch is never taken twice.
	Add(session, from, to int64, out []coppice.Output) error
	// PutMask replaces what is remembered at a session's cursor; nil forgets it.
	PutMask(session int64, state []byte) error
}

// MostOutput is how much data a list of output holds, besides its last piece.
const MostOutput = 1 << 20

// Full reports whether a list of output that was asked for at most so many pieces
// may have been cut, so that there are more.
func Full(out []coppice.Output, most int) bool {
	size := 0
	for _, o := range out {
		size += len(o.Data)
	}
	return len(out) >= most || size >= MostOutput
}

// QuestionReader reads questions.
type QuestionReader interface {
	Get(id int64) (coppice.Question, error)
	Of(task int64) ([]coppice.Question, error)  // oldest first
	Open(task int64) (*coppice.Question, error) // the oldest open one; nil when there is none
	OpenOfEach(tasks []int64) (map[int64]coppice.Question, error)
}

// Questions reads and writes questions.
type Questions interface {
	QuestionReader
	Put(*coppice.Question) error
}

// MessageReader reads messages.
type MessageReader interface {
	Of(task int64) ([]coppice.Message, error) // oldest first
	OfEach(tasks []int64) (map[int64][]coppice.Message, error)
}

// Messages reads and writes messages.
type Messages interface {
	MessageReader
	Put(*coppice.Message) error
}

// LimitReader reads the limits of accounts.
type LimitReader interface {
	All() ([]coppice.AgentLimit, error)
}

// Limits reads and writes the limits of accounts, one for each.
type Limits interface {
	LimitReader
	Put(coppice.AgentLimit) error
	Drop(account string) error // no error when there is none
}
