package store

import "coppice"

// SnoozeReader reads which entries of the inbox are hidden.
type SnoozeReader interface {
	All() ([]coppice.Snooze, error) // by the id of the entry
}

// Snoozes reads and writes which entries of the inbox are hidden. An entry has at
// most one snooze.
type Snoozes interface {
	SnoozeReader
	Put(coppice.Snooze) error
	// Drop removes the snooze of an entry, and reports whether there was one.
	Drop(entry string) (bool, error)
}
