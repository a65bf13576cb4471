package api

import "time"

// Note is a text under a key, which sessions and people share.
type Note struct {
	Project   string    `json:"project" doc:"The prefix of its project"`
	Scope     string    `json:"scope" doc:"To what it belongs: project, or task/ and a number"`
	Task      string    `json:"task,omitempty" doc:"The key of the task to which it belongs"`
	Key       string    `json:"key"`
	Value     string    `json:"value,omitempty" doc:"Absent in a list, and if it is empty"`
	Version   int64     `json:"version" doc:"Changes with every write; a project uses none twice"`
	Size      int64     `json:"size" doc:"Bytes of the value"`
	By        string    `json:"by" doc:"Who wrote it: person, or session: and the session's key"`
	UpdatedAt time.Time `json:"updated_at"`
}

// NotePage is one page of notes without their values, sorted by key. Notes of the
// project come before those of tasks.
type NotePage struct {
	Notes []Note `json:"notes"`
	Next  string `json:"next,omitempty" doc:"Pass as after to get the next page; absent on the last one"`
	Total int    `json:"total" doc:"How many notes the project has, in all scopes"`
	Bytes int64  `json:"bytes" doc:"Bytes of their keys and values"`
}

// NoteWrite writes a note.
type NoteWrite struct {
	Value     string `json:"value" doc:"The text, at most 256 KiB"`
	IfVersion *int64 `json:"if_version,omitempty" minimum:"0" doc:"The version that the note must have now; 0 means that it must not exist. Without it, the note is replaced whatever version it has"`
}
