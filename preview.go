package coppice

import "time"

// PreviewState says how far the preview of a task's app is.
type PreviewState string

// The states of a preview.
const (
	PreviewStarting PreviewState = "starting" // the app starts
	PreviewReady    PreviewState = "ready"    // the app answers
	PreviewFailed   PreviewState = "failed"   // the app did not start, or ended
	PreviewStopped  PreviewState = "stopped"  // a person stopped it, or its workspace was removed
)

// Preview is the app of a task's workspace that a person started, to look at it.
type Preview struct {
	ID        int64        `json:"id"`
	ProjectID int64        `json:"project_id"`
	TaskID    int64        `json:"task_id"`
	State     PreviewState `json:"state" enum:"starting,ready,failed,stopped"`
	Port      int          `json:"port,omitempty"`
	Address   string       `json:"address,omitempty" doc:"Where a browser opens it"`
	By        string       `json:"by" doc:"Who started it"`
	CreatedAt time.Time    `json:"created_at"`
	ReadyAt   time.Time    `json:"ready_at,omitzero"`
	EndedAt   time.Time    `json:"ended_at,omitzero"`
	Reason    string       `json:"reason,omitempty" doc:"Why it ended, with the end of its log if it failed"`
	Fix       string       `json:"fix,omitempty"`
	StopAt    time.Time    `json:"stop_at,omitzero" doc:"When it was last asked to stop"`
	StopTries int          `json:"-"`
}

// Live reports whether the app runs, or is about to.
func (p Preview) Live() bool { return p.State == PreviewStarting || p.State == PreviewReady }

// PreviewSpec asks to serve the app of a workspace until it is stopped.
type PreviewSpec struct {
	ID     int64        `json:"id"`   // the preview's
	Task   string       `json:"task"` // key
	Repo   string       `json:"repo"`
	Path   string       `json:"path"` // of the workspace
	Branch string       `json:"branch"`
	Serve  ServePolicy  `json:"serve"`
	Docker DockerPolicy `json:"docker,omitzero"`
	Output Bytes        `json:"output,omitempty"` // limit of its kept output; 0 means no limit

	PassEnv []string `json:"pass_env,omitempty"` // variables that the project passes on: names and patterns
}

// PreviewResult reports how the app ended. Without a failure, it was stopped.
type PreviewResult struct {
	Failure *Failure `json:"failure,omitempty"`
}

// ServedApp is the app of a preview as its worker reports it.
type ServedApp struct {
	Port    int
	Address string
	Ready   bool
}
