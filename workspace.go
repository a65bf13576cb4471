package coppice

import (
	"path"
	"regexp"
	"strings"
	"time"
)

// The kinds of workspace.
const (
	WorkspaceWorktree = "worktree" // a separate git repository, with the task's branch
	WorkspaceNone     = "none"     // the person's own checkout
)

// Workspace is the directory and branch a task's sessions work in.
type Workspace struct {
	ID         int64     `json:"id"`
	ProjectID  int64     `json:"project_id"`
	TaskID     int64     `json:"task_id"`
	Kind       string    `json:"kind"`
	Node       string    `json:"node"`
	Path       string    `json:"path,omitempty"` // known when it is ready
	Branch     string    `json:"branch"`
	BaseCommit string    `json:"base_commit,omitempty"` // the commit from which it was created
	Ports      []int     `json:"ports,omitempty"`
	CreatedAt  time.Time `json:"created_at"`
	ReadyAt    time.Time `json:"ready_at,omitzero"`
	RemovedAt  time.Time `json:"removed_at,omitzero"`
	TrashID    int64     `json:"trash_id,omitempty"`
	Kept       bool      `json:"kept,omitempty"`    // a person wants to keep it: it is not removed when its task ends
	Tries      int       `json:"tries,omitempty"`   // how often removing it failed
	RetryAt    time.Time `json:"retry_at,omitzero"` // no further try to remove it before this time
}

// StrayBranch is a branch that an agent created in its workspace besides the task's.
type StrayBranch struct {
	Name string `json:"name" doc:"Without refs/heads/"`
	Head string `json:"head" doc:"Its commit"`
	Own  bool   `json:"own,omitempty" doc:"It has commits that no other branch has"`
	Ref  string `json:"ref,omitempty" doc:"The entry of the trash that keeps its commits; absent while it is in the workspace"`
}

// MostStrays limits how many such branches of a task Coppice names and keeps.
const MostStrays = 100

// Ready reports whether sessions can work in it.
func (w Workspace) Ready() bool {
	return !w.ReadyAt.IsZero() && w.RemovedAt.IsZero() && !w.Doubtful()
}

// Doubtful reports whether removing it failed, perhaps halfway. Until another
// try it is unknown whether it still exists.
func (w Workspace) Doubtful() bool { return w.Tries > 0 && w.RemovedAt.IsZero() }

// WorkspacePrefix begins the name of every directory of a workspace.
const WorkspacePrefix = "coppice-"

// RelativePaths returns a function that changes a text for people: a path into a
// workspace becomes relative to it. It knows the path of one workspace. All
// workspaces of a project are beside each other, those of verifiers and checks
// too.
func RelativePaths(workspace string) func(string) string {
	beside := path.Dir(workspace)
	if !path.IsAbs(beside) || beside == "/" {
		return func(text string) string { return text }
	}
	inside := regexp.MustCompile(regexp.QuoteMeta(beside+"/"+WorkspacePrefix) + `[\w-]+/?`)
	return func(text string) string {
		return inside.ReplaceAllStringFunc(text, func(found string) string {
			if strings.HasSuffix(found, "/") {
				return ""
			}
			return "."
		})
	}
}
