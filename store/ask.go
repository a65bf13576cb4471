package store

import (
	"time"

	"coppice"
)

// AskReader reads requests to subjects.
type AskReader interface {
	// Open returns the open requests to a subject, oldest first.
	Open(coppice.Subject) ([]coppice.Ask, error)
	// AllOpen returns the open requests to all subjects, oldest first.
	AllOpen() ([]coppice.Ask, error)
	// Of returns all requests to a subject of a project, oldest first.
	Of(project int64, s coppice.Subject) ([]coppice.Ask, error)
}

// Asks reads and writes requests to subjects.
type Asks interface {
	AskReader
	Put(*coppice.Ask) error
	// Trim removes requests that were settled before the given time.
	Trim(before time.Time) (int, error)
}
