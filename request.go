package coppice

import (
	"encoding/json"
	"time"
)

// NewTask is a request for a task. After names tasks by key, or other tasks of
// the same request by their Ref.
type NewTask struct {
	Ref       string    `json:"ref,omitempty" doc:"A name for this task within the request, so that others can come after it"`
	Title     string    `json:"title,omitempty" doc:"What should be done, in a line; if absent, the first sentence of the description"`
	Body      string    `json:"body,omitempty" doc:"The whole description"`
	Priority  int       `json:"priority,omitempty" doc:"From -10 to 10; higher goes first"`
	Track     string    `json:"track,omitempty"`
	Agent     string    `json:"agent,omitempty"`
	Model     string    `json:"model,omitempty"`
	Effort    string    `json:"effort,omitempty" maxLength:"64" doc:"How hard its agent thinks, as one of the agent's own levels"`
	Retry     string    `json:"retry,omitempty" enum:"none,same,analyze" doc:"What follows a failed session: nothing, another session, or another session after one that finds out why; the project's when absent"`
	Checks    []string  `json:"checks,omitempty" doc:"Shell commands that judge the result, besides the project's"`
	After     []string  `json:"after,omitempty" doc:"Keys of tasks, or refs within the request, that must be done first"`
	NotBefore time.Time `json:"not_before,omitzero"`

	Category string   `json:"category,omitempty" doc:"Routes it to a track when none is named"`
	Steps    []string `json:"steps,omitempty" doc:"What must be true when it is done, one by one"`
	Feature  string   `json:"feature,omitempty" doc:"Its id in the project's features file"`
	Budget   USD      `json:"budget,omitempty" doc:"The most to spend on it, such as 5 USD; the project's when absent"`

	Turns     int      `json:"turns,omitempty" minimum:"0" maximum:"1000" doc:"The most turns of each of its sessions; its role's limit when absent"`
	Time      Duration `json:"time,omitempty" doc:"How long each of its sessions can work, such as 30m; its role's limit when absent"`
	UntilDone bool     `json:"until_done,omitempty" doc:"Only completion, a budget or 1,000 turns stop its sessions: the limits of its role and health.timeout do not apply"`

	Completion []string `json:"completion,omitempty" maxItems:"3" enum:"diff_not_empty,no_error_in_output,none" doc:"Checks of its sessions that end without a failure; those of the role, track or project when absent"`

	Context map[string]string `json:"context,omitempty" doc:"Small values that every session of the task gets, by name: at most 20, each up to 4096 bytes"`

	Images []string `json:"images,omitempty" maxItems:"10" doc:"Ids of uploaded images, which its agent sees if it can; see POST /images"`

	Group  string   `json:"group,omitempty" maxLength:"64" doc:"The name of its group, which is created if it does not exist; several tasks of a request without one get a new group"`
	Labels []string `json:"labels,omitempty" maxItems:"10" doc:"Lower-case words, at most 10"`

	Interactive bool `json:"interactive,omitempty" doc:"Its first session runs on the agent's own screen, for a person who attaches to it; if the agent has no screen, the task waits for the person after each turn"`

	Workspace string `json:"workspace,omitempty" enum:"worktree,none" doc:"Where its sessions work: worktree is a separate repository, the default; none is the person's own checkout, where nothing lands"`

	Branch string `json:"branch,omitempty" maxLength:"200" doc:"The name of its branch, which must not exist; if absent, the project's workspace.branch decides"`

	Template  string            `json:"template,omitempty" maxLength:"64" doc:"The name of a template of the project, which has the fields that are absent here"`
	Variables map[string]string `json:"variables,omitempty" doc:"The values of the template's variables, by name"`

	Flow *NewFlow `json:"flow,omitempty" doc:"Its work is done by other tasks, as a kind of flow plans them"`

	Answer bool            `json:"answer,omitempty" doc:"It wants an answer, not a change: its session may change nothing, and nothing lands"`
	Schema json.RawMessage `json:"schema,omitempty" doc:"The JSON schema that the answer must match; if absent, the answer is a text"`
}

// NewFlow is a request for a flow.
type NewFlow struct {
	Kind FlowKind        `json:"kind" enum:"goal,cycle,debate,batch"`
	Spec json.RawMessage `json:"spec,omitempty" doc:"What the kind has to know; see docs/flows.md"`
	Time Duration        `json:"time,omitempty" doc:"How long the whole flow can take, such as 8h; no limit when absent"`
}

// Role returns the role of the task's first session.
func (n NewTask) Role() Role {
	if n.Workspace == WorkspaceNone {
		return RoleCheckout
	}
	if n.Answer || len(n.Schema) > 0 {
		return RoleAnswer
	}
	return RoleImplement
}

// TaskChange changes a task's request. A nil field stays as it is.
type TaskChange struct {
	Title     *string    `json:"title,omitempty"`
	Body      *string    `json:"body,omitempty"`
	Priority  *int       `json:"priority,omitempty"`
	After     *[]string  `json:"after,omitempty"`
	NotBefore *time.Time `json:"not_before,omitempty"`

	// Between sets the priority, too.
	Between *Between `json:"between,omitempty" doc:"Where it goes in the queue, instead of a priority"`

	// These can change until work on the task has started.
	Track  *string `json:"track,omitempty"`
	Agent  *string `json:"agent,omitempty"`
	Model  *string `json:"model,omitempty"`
	Effort *string `json:"effort,omitempty" maxLength:"64"`

	Category *string   `json:"category,omitempty"`
	Steps    *[]string `json:"steps,omitempty"`
	Budget   *USD      `json:"budget,omitempty"`
	Retry    *string   `json:"retry,omitempty" doc:"none, same or analyze; empty for the project's"`

	Turns     *int      `json:"turns,omitempty" minimum:"0" maximum:"1000" doc:"0 for the limit of its role"`
	Time      *Duration `json:"time,omitempty" doc:"0 for the limit of its role"`
	UntilDone *bool     `json:"until_done,omitempty"`

	Completion *[]string `json:"completion,omitempty" maxItems:"3" doc:"diff_not_empty, no_error_in_output or none; empty for those of the role, track or project"`

	// These can change at any time, also when the task has ended.
	Labels  *[]string `json:"labels,omitempty" doc:"Replaces the labels"`
	Group   *string   `json:"group,omitempty" maxLength:"64" doc:"The name of its group, which is created if it does not exist; empty for none"`
	Flagged *bool     `json:"flagged,omitempty"`
}

// Between names the tasks between which a task goes in the queue. One is enough.
type Between struct {
	Above string `json:"above,omitempty" maxLength:"40" doc:"The key of the task directly before it"`
	Below string `json:"below,omitempty" maxLength:"40" doc:"The key of the task directly after it"`
}

// Remove says how a project is removed.
type Remove struct {
	Force bool `json:"force,omitempty" doc:"Stop its open tasks first, instead of refusing because of them"`
	Purge bool `json:"purge,omitempty" doc:"Remove everything as well that Coppice made for it on disk and in the repository: workspaces, trash, branches"`
}
