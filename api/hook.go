package api

import (
	"time"

	"coppice"
)

// ConfiguredHook is a command that follows an event, as it is configured.
type ConfiguredHook struct {
	Event     coppice.HookEvent `json:"event"`
	Run       string            `json:"run" doc:"The shell command"`
	Timeout   coppice.Duration  `json:"timeout"`
	OnFailure string            `json:"on_failure" enum:"ignore,warn,block"`
	From      string            `json:"from" enum:"project,user" doc:"Whose configuration has it: coppice.yaml, or the user's config.yaml"`
	Project   string            `json:"project,omitempty" doc:"The prefix of the project; absent for a hook of the user"`
	Last      *HookRun          `json:"last,omitempty" doc:"Its newest run"`
}

// HookList has all hooks and the events that they can follow.
type HookList struct {
	Hooks  []ConfiguredHook        `json:"hooks"`
	Events []coppice.HookEventInfo `json:"events"`
}

// HookRun is one firing of a hook.
type HookRun struct {
	ID        string            `json:"id" doc:"COPPICE_HOOK_ID; the same if the command was repeated"`
	Event     coppice.HookEvent `json:"event"`
	Run       string            `json:"run"`
	From      string            `json:"from" enum:"project,user"`
	Project   string            `json:"project,omitempty"`
	Task      string            `json:"task,omitempty"`
	State     string            `json:"state" enum:"waiting,running,passed,failed,skipped"`
	Text      string            `json:"text,omitempty" doc:"How it ended, in a sentence"`
	OnFailure string            `json:"on_failure" enum:"ignore,warn,block"`
	Test      bool              `json:"test,omitempty" doc:"A person tested the hook"`
	Exit      int               `json:"exit"`
	Output    string            `json:"output,omitempty" doc:"At most 64 KiB, without the middle if it was longer"`
	Attempts  int               `json:"attempts,omitempty" doc:"How often a worker started it"`
	At        time.Time         `json:"at" doc:"When the event happened"`
	EndedAt   time.Time         `json:"ended_at,omitzero"`
	TookMS    int64             `json:"took_ms,omitempty"`
}

// HookRunPage is one page of runs, newest first.
type HookRunPage struct {
	Runs []HookRun `json:"runs"`
	Page
}
