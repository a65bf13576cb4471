package store

import (
	"time"

	"coppice"
)

// WorkReader reads work items.
type WorkReader interface {
	Get(id int64) (coppice.Work, error)
	ByKey(key string) (*coppice.Work, error) // nil if there is none
	// Unsettled returns a subject's work that is offered, taken or finished,
	// oldest first.
	Unsettled(coppice.Subject) ([]coppice.Work, error)
	HeldBy(worker string) ([]coppice.Work, error) // taken, oldest first
	// Open returns the offered and taken work of a kind, oldest first.
	Open(kind coppice.WorkKind) ([]coppice.Work, error)
	// Takeable returns offered work of the pools and kinds, by rank and then by age.
	// If checks are the only kind, projects take turns.
	Takeable(pools []string, kinds []coppice.WorkKind, most int) ([]coppice.Work, error)
	Count() (map[coppice.WorkState]int, error) // of unsettled work
}

// Work reads and writes work items.
type Work interface {
	WorkReader
	Put(*coppice.Work) error
	// Renew extends the leases that are current, and returns the others. It does
	// not change FactsVersion.
	Renew(leases []coppice.Lease, until time.Time) (lost []coppice.Lease, err error)
	// Trim removes settled and cancelled work that is older than the given time.
	Trim(before time.Time) (int, error)
}

// LogReader reads the log of events.
type LogReader interface {
	// Events returns events after a sequence number, oldest first.
	Events(after int64, most int, f EventFilter) ([]coppice.Event, error)
	// Bounds returns the oldest and newest sequence number in the log, both 0 if
	// nothing was ever logged. If all events were removed, first is the number of
	// the next event.
	Bounds() (first, last int64, err error)
	// Cursor returns the last event that a named reader has read.
	Cursor(name string) (int64, error)
}

// Log reads and extends the log of events.
type Log interface {
	LogReader
	// Append adds events to the log, in order, and sets their Seq.
	Append(...*coppice.Event) error
	SetCursor(name string, seq int64) error
	// Trim removes events before the given time, and all but the newest keep events.
	// It never removes events after a cursor. The zero time and a keep of 0 mean no
	// limit. As with every Trim, one call removes at most MostTrimmed rows.
	Trim(before time.Time, keep int) (int, error)
}

// EventFilter chooses events; its zero value chooses all.
type EventFilter struct {
	ProjectID int64
	TaskID    int64
	Kinds     []coppice.EventKind
}

// TimerReader reads timers.
type TimerReader interface {
	// Due returns timers at or before now, earliest first.
	Due(now time.Time, most int) ([]Timer, error)
	// Next returns the time of the earliest timer, or zero if there is none.
	Next() (time.Time, error)
}

// Timers reads and sets timers.
type Timers interface {
	TimerReader
	// Set wakes the engine for a subject at a time; the zero time removes the timer.
	// A subject has one timer.
	Set(Timer) error
	// Postpone sets those timers of a kind that exist to a time. It does not change
	// FactsVersion.
	Postpone(kind string, ids []string, to time.Time) error
}

// Timer is a time at which the engine decides about a subject again.
type Timer struct {
	Kind string // the kind of subject: a coppice.SubjectKind, work or lanes
	ID   string
	At   time.Time
}
