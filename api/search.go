package api

import "time"

// The kinds of hit.
const (
	HitTask   = "task"   // in a task's key, title or description
	HitOutput = "output" // in what a session wrote
)

// Hit is one place in which everything looked for was found.
type Hit struct {
	Kind    string    `json:"kind" enum:"task,output"`
	Task    string    `json:"task" doc:"The task's key"`
	Title   string    `json:"title" doc:"And its title"`
	Session string    `json:"session,omitempty" doc:"Of output: the session's key"`
	Offset  *int64    `json:"offset,omitempty" doc:"Of output: the piece's place in what the session wrote"`
	At      time.Time `json:"at" doc:"When the task was made, or the piece written"`
	Snippet string    `json:"snippet" doc:"The text around the matches, on one line; plain text, never markup"`
	Marks   [][]int   `json:"marks" doc:"Where the matches are in the snippet: start and length, in UTF-16 code units as JavaScript counts"`
}

// SearchPage is what was found: tasks first, each kind newest first.
type SearchPage struct {
	Hits   []Hit `json:"hits"`
	More   bool  `json:"more" doc:"There is more than was asked for"`
	Behind bool  `json:"behind" doc:"Not everything written so far has been looked at yet"`
}
