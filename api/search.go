package api

import (
	"time"

	"coppice"
)

// The kinds of hit.
const (
	HitTask   = "task"   // in a task's key, title or description
	HitOutput = "output" // in a session's output
	HitCheck  = "check"  // in the command or the log of a check
)

// Hit is one match of a search.
type Hit struct {
	Kind    string             `json:"kind" enum:"task,output,check"`
	Task    string             `json:"task" doc:"The task's key"`
	Title   string             `json:"title" doc:"The task's title"`
	Status  coppice.Status     `json:"status,omitempty" doc:"The task's status; absent if the task was removed"`
	Session string             `json:"session,omitempty" doc:"For output: the session's key"`
	Offset  *int64             `json:"offset,omitempty" doc:"For output: the offset of the piece"`
	Source  coppice.OutputKind `json:"source,omitempty" enum:"event,stdout,stderr,host,app" doc:"For output: who wrote it. event is what the agent said and did, stdout and stderr the output of its process, host the output of Coppice's own process, app the output of the app that was served for a verifier"`
	Check   int64              `json:"check,omitempty" doc:"For a check: its id, as in the task's check_runs"`
	Command string             `json:"command,omitempty" doc:"For a check: its command"`
	At      time.Time          `json:"at" doc:"When the task was created, the piece written, or the check ended"`
	Snippet string             `json:"snippet" doc:"The text around the matches, on one line; plain text, never markup"`
	Marks   [][]int            `json:"marks" doc:"Where the matches are in the snippet: start and length, in UTF-16 code units, as in JavaScript"`
}

// SearchPage has the hits: tasks, then output, then checks, each newest first.
type SearchPage struct {
	Hits   []Hit `json:"hits"`
	More   bool  `json:"more" doc:"There are more hits than requested"`
	Behind bool  `json:"behind" doc:"The newest output is not indexed yet"`
}
