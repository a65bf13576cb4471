package store

import "coppice"

// ScheduleReader reads schedules.
type ScheduleReader interface {
	Get(id int64) (coppice.Schedule, error)
	ByName(project int64, name string) (coppice.Schedule, error)
	// In returns the schedules of a project, sorted by name. Project 0 means all
	// projects.
	In(project int64) ([]coppice.Schedule, error)
}

// Schedules reads and writes schedules. They are removed with their project. A
// removed schedule has no timer, and its id is never used again.
type Schedules interface {
	ScheduleReader
	// Put stores a schedule. If another one of the project has the name, it fails with
	// code conflict.
	Put(*coppice.Schedule) error
	// Delete removes a schedule. It fails with code not_found.
	Delete(id int64) error
}
