package api

import (
	"time"

	"coppice"
)

// The kinds of hit.
const (
	HitTask   = "task"   // in a task's key, title or description
	HitOutput = "output" // in what a session wrote
	HitCheck  = "check"  // in the command or the log of a check
)

// Hit is one place in which everything looked for was found.
type Hit struct {
	Kind    string             `json:"kind" enum:"task,output,check"`
	Task    string             `json:"task" doc:"The task's key"`
	Title   string             `json:"title" doc:"And its title"`
	Session string             `json:"session,omitempty" doc:"Of output: the session's key"`
	Offset  *int64             `json:"offset,omitempty" doc:"Of output: the piece's place in what the session wrote"`
	Source  coppice.OutputKind `json:"source,omitempty" enum:"event,stdout,stderr,host,app" doc:"Of output: who wrote it. event is what the agent said and did, stdout and stderr what its process wrote, host what Coppice's own process said, app what the app wrote that was served for a verifier"`
	Check   int64              `json:"check,omitempty" doc:"Of a check: its id, as in the task's check_runs"`
	Command string             `json:"command,omitempty" doc:"Of a check: what was run"`
	At      time.Time          `json:"at" doc:"When the task was made, the piece written, or the check ended"`
	Snippet string             `json:"snippet" doc:"The text around the matches, on one line; plain text, never markup"`
	Marks   [][]int            `json:"marks" doc:"Where the matches are in the snippet: start and length, in UTF-16 code units as JavaScript counts"`
}

// SearchPage is what was found: tasks, then output, then checks, each newest first.
type SearchPage struct {
	Hits   []Hit `json:"hits"`
	More   bool  `json:"more" doc:"There is more than was asked for"`
	Behind bool  `json:"behind" doc:"Not everything written so far has been looked at yet"`
}
