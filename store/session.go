package store

import (
	"time"

	"coppice"
)

// SessionReader reads sessions. Lists come without prompts, which can be
// megabytes.
type SessionReader interface {
	Get(id int64) (coppice.Session, error)
	// Caller returns who calls a tool, and whether it can: ProjectID, TaskID, N, Key,
	// Role, Path, State and ParkedAt. Every call reads it, and a whole row has 45
	// columns and the prompt.
	Caller(id int64) (coppice.Session, error)
	ByKey(key string) (coppice.Session, error)
	Of(task int64) ([]coppice.Session, error) // oldest first
	OfEach(tasks []int64) (map[int64][]coppice.Session, error)
	Live() ([]coppice.Session, error) // oldest first
	// Since returns the newest most sessions that ran at a time or later, newest
	// first. Project 0 means all projects.
	Since(project int64, from time.Time, most int) ([]coppice.Session, error)
	Written() (map[string]Written, error)      // of live sessions, by their keys
	Last(task int64) (*coppice.Session, error) // nil if there is none
	// MemoryUsed returns, by agent, an estimate of the memory of a session. An ended
	// session that used more than the estimate replaces it. One that used less lowers
	// it by a quarter of the difference.
	MemoryUsed() (map[string]coppice.Bytes, error)
}

// Written is the id of a session, and the offset up to which its output is stored.
type Written struct{ Session, Cursor int64 }

// Sessions reads and writes sessions.
type Sessions interface {
	SessionReader
	// Put also updates MemoryUsed when the session's memory becomes known. If Prompt
	// is empty, the stored prompt stays.
	Put(*coppice.Session) error
}

// OutputReader reads the output of sessions. Lists have the size of a picture
// without its data, which can be megabytes. A list ends with the piece that
// makes its data MostOutput or more. Full reports whether there might be more.
type OutputReader interface {
	// After returns the first most pieces of a session's output after an offset.
	// Without kinds it returns pieces of all kinds.
	After(session, offset int64, most int, kinds ...coppice.OutputKind) ([]coppice.Output, error)
	// Before returns the last most pieces before an offset, oldest first.
	Before(session, offset int64, most int, kinds ...coppice.OutputKind) ([]coppice.Output, error)
	// LastOfEach returns the last most pieces of one kind of each session, oldest
	// first.
	LastOfEach(sessions []int64, most int, kind coppice.OutputKind) (map[int64][]coppice.Output, error)
	// Picture returns the picture at an offset, with its data.
	Picture(session, offset int64) (coppice.Output, error)
	// Mask returns the state that is needed to mask secrets in the output after a
	// session's cursor, or nil if there is none.
	Mask(session int64) ([]byte, error)
	// Sizes returns the approximate size of the stored output by project, in bytes.
	Sizes() (map[int64]int64, error)
}

// Outputs reads and adds the output of sessions.
type Outputs interface {
	OutputReader
	// Add appends output to a session and moves its cursor from one offset to
	// another. If the cursor is not at from, it fails with code conflict and changes
	// nothing, so a batch is never added twice.
	Add(session, from, to int64, out []coppice.Output) error
	// PutMask replaces the state that Mask returns; nil removes it.
	PutMask(session int64, state []byte) error
}

// MostOutput is the maximum size of a list of output without its last piece, in
// bytes.
const MostOutput = 1 << 20

// Full reports whether a list of at most most pieces of output might have been
// cut.
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
	Open(task int64) (*coppice.Question, error) // the oldest open one; nil if there is none
	OpenOfEach(tasks []int64) (map[int64]coppice.Question, error)
	OfEach(tasks []int64) (map[int64][]coppice.Question, error) // oldest first
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

// Limits reads and writes the limits of accounts. An account has at most one.
type Limits interface {
	LimitReader
	Put(coppice.AgentLimit) error
	Drop(account string) error // no error if there is none
}
