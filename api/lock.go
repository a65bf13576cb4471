package api

import (
	"time"

	"coppice"
)

// Locks are the locks of a project, the sessions that wait for some, and cycles.
type Locks struct {
	Project string      `json:"project" doc:"The prefix of the project"`
	Seq     int64       `json:"seq" doc:"Grows with each change of a lock"`
	Held    []Lock      `json:"held" doc:"By name"`
	Waiting []LockWait  `json:"waiting" doc:"Oldest first"`
	Cycles  []LockCycle `json:"cycles" doc:"Found in the last 10 minutes, oldest first"`
}

// Lock is a file, glob or tree that a session has locked.
type Lock struct {
	Name       string               `json:"name" doc:"Relative to the repository"`
	Session    string               `json:"session" doc:"The key of the session that holds it"`
	Task       string               `json:"task" doc:"The key of its task"`
	State      coppice.SessionState `json:"state" doc:"Of the session"`
	Parked     bool                 `json:"parked,omitempty" doc:"The session can only wait, so the lock is not renewed"`
	Reason     string               `json:"reason,omitempty"`
	AcquiredAt time.Time            `json:"acquired_at"`
	ExpiresAt  time.Time            `json:"expires_at" doc:"Unless it is renewed, which happens while the session works"`
}

// LockWait is a request for locks that waits.
type LockWait struct {
	Session string      `json:"session" doc:"The key of the session that waits"`
	Task    string      `json:"task" doc:"The key of its task"`
	Names   []string    `json:"names"`
	Reason  string      `json:"reason,omitempty"`
	Since   time.Time   `json:"since"`
	Until   time.Time   `json:"until" doc:"When it stops to wait"`
	Blocked []LockBlock `json:"blocked" doc:"The names that are not free"`
}

// LockBlock says why a name is not free.
type LockBlock struct {
	Name    string `json:"name"`
	Session string `json:"session" doc:"The key of the session that holds it, or waits for it since earlier"`
	Waits   bool   `json:"waits,omitempty" doc:"That session waits, too"`
}

// LockCycle is a cycle of sessions that would have waited for each other.
type LockCycle struct {
	Sessions []string  `json:"sessions" doc:"Each waits for the next, and the last for the first, whose request was refused"`
	Names    []string  `json:"names" doc:"The names that the first one requested"`
	Hint     string    `json:"hint" doc:"Who should release what"`
	FoundAt  time.Time `json:"found_at"`
}

// ReleasedLocks are locks that a person released.
type ReleasedLocks struct {
	Released []Lock `json:"released"`
}
