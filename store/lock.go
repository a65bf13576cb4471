package store

import (
	"strconv"

	"coppice"
)

// TopicLocks returns the topic that is touched when a lock of the project, or a
// request for one, changes.
func TopicLocks(project int64) string { return "locks/" + strconv.FormatInt(project, 10) }

// TopicLockRequest returns the topic that is touched when a request of a session
// for locks of its project changes.
func TopicLockRequest(project, session int64) string {
	return TopicLocks(project) + "/" + strconv.FormatInt(session, 10)
}

// LockReader reads locks and the requests for them.
type LockReader interface {
	Held(project int64) ([]coppice.Lock, error)            // by name
	Requests(project int64) ([]coppice.LockRequest, error) // oldest first
	// Outcome returns the outcome of the request for which a call of a session
	// waits. ok is false if there is none.
	Outcome(session int64, call string) (o coppice.LockOutcome, ok bool, err error)
	// Uses reports whether a session has locks or requests.
	Uses(session int64) (bool, error)
	// Table returns the locks of a project with their sequence number. Its mode
	// is empty.
	Table(project int64) (coppice.LockTable, error)
}

// Locks reads and writes locks and the requests for them. Each change touches the
// project's topic. A change of a lock also increases the project's sequence
// number.
type Locks interface {
	LockReader
	Put(coppice.Lock) error
	// Drop removes a lock. One that does not exist changes nothing.
	Drop(coppice.Lock) error
	PutRequest(*coppice.LockRequest) error
	DropRequest(coppice.LockRequest) error
}
