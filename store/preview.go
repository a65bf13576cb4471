package store

import "coppice"

// PreviewReader reads previews.
type PreviewReader interface {
	Last(task int64) (*coppice.Preview, error) // nil if there is none
	Live() ([]coppice.Preview, error)          // of all projects, oldest first
}

// Previews reads and writes previews.
type Previews interface {
	PreviewReader
	Put(*coppice.Preview) error
}
