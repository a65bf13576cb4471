package coppice

import "time"

// UndoKind is a kind of thing that can be undone.
type UndoKind string

// The kinds of thing that can be undone.
const (
	UndoLanding UndoKind = "landing" // its commit is taken off the branch
	UndoStop    UndoKind = "stop"    // the task continues as it was
	UndoArchive UndoKind = "archive" // the task is shown again
	UndoRemoval UndoKind = "removal" // its workspace comes back
)

// UndoKinds lists the kinds of thing that can be undone.
var UndoKinds = []UndoKind{UndoLanding, UndoStop, UndoArchive, UndoRemoval}

// Undo is a thing that can be undone.
type Undo struct {
	Kind  UndoKind  `json:"kind" enum:"landing,stop,archive,removal"`
	Task  string    `json:"task" doc:"The key of its task"`
	Title string    `json:"title" doc:"The title of its task"`
	At    time.Time `json:"at" doc:"When it happened"`
	By    string    `json:"by,omitempty" doc:"Who did it, or who created the task"`
	Own   bool      `json:"own" doc:"The person who asks did it"`
	Text  string    `json:"text" doc:"What undoing it does"`
	// Branch is set if undoing it changes a branch of the person.
	Branch string `json:"branch,omitempty" doc:"The branch that undoing it changes"`
	Commit string `json:"commit,omitempty" doc:"The commit that undoing it takes off that branch"`
}
