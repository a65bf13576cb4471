package store

import (
	"time"

	"coppice"
)

// WorkReader reads work items.
type WorkReader interface {
	Get(id int64) (coppice.Work, error)
	ByKey(key string) (*coppice.Work, error) // nil when there is none
	// Unsettled returns a subject's work that is offered, taken or finished,
	// oldest first.
	Unsettled(coppice.Subject) ([]coppice.Work, error)
	HeldBy(worker string) ([]coppice.Work, error) // taken, oldest first
	// Open returns the work of a kind that workers hold or may take, oldest first.
	Open(kind coppice.WorkKind) ([]coppice.Work, error)
	// Takeable returns offered work of the pools and kinds: the lowest rank first, and
	// the oldest among equals. Where only checks are asked for, projects take turns.
	Takeable(pools []string, kinds []coppice.WorkKind, most int) ([]coppice.Work, error)
	Count() (map[coppice.WorkState]int, error) // unsettled ones only
}

// Work reads and writes work items.
type Work interface {
	WorkReader
	Put(*coppice.Work) error
	// Trim forgets settled and cancelled work older than the moment.
	Trim(before time.Time) (int, error)
}

// LogReader reads the log of events.
type LogReader interface {
	// Events returns events after a sequence number, oldest first.
	Events(after int64, most int, f EventFilter) ([]coppice.Event, error)
	// Bounds returns the oldest and newest sequence number in the log, both 0
	// when nothing was ever logged. When all were forgotten, the oldest is the
	// one to come.
	Bounds() (first, last int64, err error)
	// Cursor returns how far a named reader has come in the log.
	Cursor(name string) (int64, error)
}

// Log reads and extends the log of events.
type Log interface {
	LogReader
	// Append adds events to the log, in order, and gives them their Seq.
	Append(...*coppice.Event) error
	SetCursor(name string, seq int64) error
	// Trim forgets the oldest events: those before the moment, and those beyond
	// the newest keep. It never forgets what a cursor has yet to read. The zero
	// time and a keep of 0 mean no bound. As every Trim, one call forgets at most
	// MostTrimmed rows.
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
	// Next returns the earliest timer's moment, zero when there is none.
	Next() (time.Time, error)
}

// Timers reads and sets timers.
type Timers interface {
	TimerReader
	// Set wakes the engine for a subject at a moment; the zero time takes the
	// timer away. A subject has one timer.
	Set(Timer) error
}

// Timer is a moment at which the engine looks at a subject again.
type Timer struct {
	Kind string // what the subject is: a coppice.SubjectKind, work or lanes
	ID   string
	At   time.Time
}
