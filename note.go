package coppice

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Limits of notes.
const (
	MaxNoteKey   = 200       // bytes in a key
	MaxNoteValue = 256 << 10 // bytes in a value
	MaxNotes     = 1000      // notes of a project
	MaxNoteBytes = 16 << 20  // bytes in the keys and values of a project's notes
)

// NoteScope says to what a note belongs. It is project, task/<id> or flow/<id>.
type NoteScope string

// NotesOfProject is the scope of notes that belong to the whole project.
const NotesOfProject NoteScope = "project"

// NotesOfTask returns the scope of notes that belong to a task, and are removed with
// it.
func NotesOfTask(id int64) NoteScope { return NoteScope(TaskSubject(id).String()) }

// Task returns the task to which notes of the scope belong, or 0.
func (s NoteScope) Task() int64 {
	if of := ParseSubject(string(s)); of.Kind == SubjectTask {
		return of.Num()
	}
	return 0
}

// Note is a text under a key, which sessions and people share. Its version changes
// with every write. A project uses no version twice, not even after a note was
// deleted.
type Note struct {
	ProjectID int64     `json:"project_id"`
	Scope     NoteScope `json:"scope"`
	Key       string    `json:"key"`
	Value     string    `json:"value"` // empty in a list
	Version   int64     `json:"version"`
	Size      int64     `json:"size"` // bytes of the value
	By        Actor     `json:"by"`
	At        time.Time `json:"at"`
}

// NoteChange says what an EventNoteChanged is about. It does not have the value.
type NoteChange struct {
	Scope   NoteScope `json:"scope"`
	Key     string    `json:"key"`
	Version int64     `json:"version"`
	Deleted bool      `json:"deleted,omitempty"`
}

// NoteTotals says how much a project's notes use.
type NoteTotals struct {
	Notes   int
	Bytes   int64 // of keys and values
	Version int64 // the last one
}

var notePartRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:@+=-]*$`) })

// ValidNoteKey checks the key of a note.
func ValidNoteKey(key string) error {
	ok := len(key) <= MaxNoteKey
	for part := range strings.SplitSeq(key, "/") {
		ok = ok && notePartRE().MatchString(part)
	}
	if ok {
		return nil
	}
	return Errorf(EInvalid, "%s is not a valid key of a note", Quote(key)).WithField("key").
		WithFix("use up to %d letters, digits and _ . : @ + = -, in parts that slashes separate, as in plan/step-1", MaxNoteKey)
}

// ValidNotePrefix checks the beginning of keys. All notes have the empty one.
func ValidNotePrefix(prefix string) error {
	if prefix == "" || ValidNoteKey(strings.TrimSuffix(prefix, "/")) == nil {
		return nil
	}
	return Errorf(EInvalid, "%s is not the beginning of a key", Quote(prefix)).WithField("prefix").WithFix("write the first characters of a key, such as plan/")
}

// NoteLimit returns an error, with a fix, if a project cannot have another note with
// this size, which replaces one of the size before. Without one, before is negative.
func (t NoteTotals) NoteLimit(key string, size, before int64) error {
	fix := "delete notes that are no longer needed; `coppice note list` shows them"
	if before < 0 && t.Notes >= MaxNotes {
		return Errorf(ETooLarge, "the project has %d notes, which is the limit", t.Notes).WithFix("%s", fix)
	}
	more := size - before
	if before < 0 {
		more = size + int64(len(key))
	}
	if t.Bytes+more > MaxNoteBytes && more > 0 {
		return Errorf(ETooLarge, "the notes of the project would have %d bytes, %d are allowed", t.Bytes+more, int64(MaxNoteBytes)).WithFix("%s", fix)
	}
	return nil
}

// NoteConflict returns the error of a write that expected another version. The
// current version is 0 if the note does not exist.
func NoteConflict(key string, expected, current int64) error {
	cause := fmt.Sprintf("the note %s has version %d, not %d", key, current, expected)
	switch {
	case current == 0:
		cause = fmt.Sprintf("there is no note %s; version %d of it was deleted", key, expected)
	case expected == 0:
		cause = fmt.Sprintf("the note %s exists already, with version %d", key, current)
	}
	return Errorf(EConflict, "%s", cause).WithField("if_version").WithFix("read the note again, and write it with the version that it has then")
}
