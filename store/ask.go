package store

import (
	"time"

	"coppice"
)

// AskReader reads what is asked of subjects.
type AskReader interface {
	// Open returns what is asked of a subject and not settled, oldest first.
	Open(coppice.Subject) ([]coppice.Ask, error)
	// AllOpen returns what is asked of any subject and not settled, oldest first.
	AllOpen() ([]coppice.Ask, error)
	// Of returns all that was asked of a subject of a project, oldest first.
	Of(project int64, s coppice.Subject) ([]coppice.Ask, error)
}

// Asks reads and writes what is asked of subjects.
type Asks interface {
	AskReader
	Put(*coppice.Ask) error
	// Trim forgets what was settled before the moment.
	Trim(before time.Time) (int, error)
}
