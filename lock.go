package coppice

import "time"

// LockTable is a copy of the locks of a project. Hosts judge edits by it.
type LockTable struct {
	Seq  int64      `json:"seq"`            // grows with each change of the project's locks
	Mode string     `json:"mode,omitempty"` // advisory, enforce or required
	Held []HeldLock `json:"held,omitempty"` // ordered by name
}

// HeldLock is a lock that a session holds, as other sessions see it.
type HeldLock struct {
	Name    string    `json:"name"`    // a file, a glob or a tree, relative to the repository
	Session string    `json:"session"` // the key of the session
	Task    string    `json:"task"`    // the key of the session's task
	Reason  string    `json:"reason,omitempty"`
	Expires time.Time `json:"expires"`
}

// Limits of locks.
const (
	LockTTL        = 10 * time.Minute // how long a lock lasts that is not renewed, unless the request says otherwise
	MinLockTTL     = 10 * time.Second
	MaxLockTTL     = time.Hour
	LockWait       = 11 * time.Minute // how long a request waits, unless it says otherwise
	MaxLockWait    = time.Hour
	LockCollect    = 2 * time.Minute  // how long the answer to a request is kept for its agent
	LockCycleKept  = 10 * time.Minute // how long people see a cycle that was found
	MaxLockNames   = 200              // in one request
	MaxLocks       = 2000             // of a project, those that are waited for included
	MaxLockName    = 1000             // bytes
	MaxLockReason  = 500
	MaxLockChanges = 50 // names of one kind in one event
)

// Lock is the right of a session to change files. At most one session holds a
// lock on a file.
type Lock struct {
	ProjectID  int64     `json:"project_id"`
	SessionID  int64     `json:"session_id"`
	Name       string    `json:"name"` // as package lock writes it
	Reason     string    `json:"reason,omitempty"`
	TTL        Duration  `json:"ttl"`
	AcquiredAt time.Time `json:"acquired_at"`
	ExpiresAt  time.Time `json:"expires_at"`
	Owner      LockOwner `json:"owner"` // read with the row, not written
}

// LockOwner describes the session of a lock or a request.
type LockOwner struct {
	Session string       `json:"session"` // key
	Task    string       `json:"task"`    // key
	State   SessionState `json:"state"`   // empty if the session was removed
	Parked  bool         `json:"parked,omitempty"`
}

// Works reports whether locks of the session are renewed.
func (o LockOwner) Works() bool { return o.State.Live() && !o.Parked }

// LockOutcome is how a request for locks ended.
type LockOutcome string

// The outcomes of a request for locks. An empty outcome means that it waits.
const (
	LockGranted  LockOutcome = "granted"
	LockTimedOut LockOutcome = "timed_out"
	LockDeadlock LockOutcome = "deadlock" // it would have waited for itself
)

// LockRequest is a request for locks that waits, or whose answer the agent has
// not received yet. A request that closed a cycle is kept for people.
type LockRequest struct {
	ID        int64       `json:"id"`
	ProjectID int64       `json:"project_id"`
	SessionID int64       `json:"session_id"`
	Call      string      `json:"call,omitempty"` // the call that waits for it; empty between two calls
	Names     []string    `json:"names"`
	Reason    string      `json:"reason,omitempty"`
	TTL       Duration    `json:"ttl"`
	Since     time.Time   `json:"since"`
	Until     time.Time   `json:"until"` // when it stops to wait; after its end, when it is removed
	Outcome   LockOutcome `json:"outcome,omitempty"`
	Got       []string    `json:"got,omitempty"`   // the granted names that the session did not hold before
	Cycle     []string    `json:"cycle,omitempty"` // keys of sessions: each waits for the next, the last for the first
	Hint      string      `json:"hint,omitempty"`  // what ends the cycle
	Owner     LockOwner   `json:"owner"`           // read with the row, not written
}

// Waits reports whether the request has no outcome yet.
func (r LockRequest) Waits() bool { return r.Outcome == "" }

// LockRef names a lock of a session.
type LockRef struct {
	Name    string `json:"name"`
	Session string `json:"session"` // key
}

// LocksChanged is the data of EventLocksChanged. Each list has at most
// MaxLockChanges entries.
type LocksChanged struct {
	Acquired []LockRef `json:"acquired,omitempty"`
	Renewed  []LockRef `json:"renewed,omitempty"`
	Released []LockRef `json:"released,omitempty"`
	Waiting  []LockRef `json:"waiting,omitempty"` // names for which a session waits now
	Ended    []LockRef `json:"ended,omitempty"`   // names for which a session no longer waits
	Cycle    []string  `json:"cycle,omitempty"`   // keys of the sessions of a cycle that was found
}
