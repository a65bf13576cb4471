package store

import (
	"strconv"

	"coppice"
)

// NoteReader reads notes.
type NoteReader interface {
	// Get returns a note with its value. It fails with code not_found.
	Get(project int64, scope coppice.NoteScope, key string) (coppice.Note, error)
	// List returns notes without their values, sorted by scope and key.
	List(NoteFilter) ([]coppice.Note, error)
	// Totals says how much a project's notes use. It reads one row.
	Totals(project int64) (coppice.NoteTotals, error)
}

// Notes reads and writes notes. They are removed with their project, and those of a
// task with the task.
type Notes interface {
	NoteReader
	// Put stores a note, and replaces the one with the same key. It sets the version
	// and the size.
	Put(*coppice.Note) error
	// Delete removes a note. It fails with code not_found.
	Delete(project int64, scope coppice.NoteScope, key string) error
}

// NoteFilter chooses notes of a project.
type NoteFilter struct {
	ProjectID int64
	Scope     coppice.NoteScope // empty means all scopes
	Prefix    string            // of the key
	// AfterScope and After name the last note of the previous page. Both are empty
	// for the first page.
	AfterScope coppice.NoteScope
	After      string
	Most       int
}

// TopicNotes returns the topic that is touched when a note of a scope changed whose
// key starts with the prefix. The prefix must end with a slash, or be empty.
func TopicNotes(project int64, scope coppice.NoteScope, prefix string) string {
	return "notes/" + strconv.FormatInt(project, 10) + "/" + string(scope) + "/" + prefix
}

// TopicNote returns the topic that is touched when a note was written or deleted.
func TopicNote(project int64, scope coppice.NoteScope, key string) string {
	return TopicNotes(project, scope, key)
}
