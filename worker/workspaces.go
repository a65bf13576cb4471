package worker

import (
	"context"

	"coppice"
)

// Workspaces is what a worker needs of the directories that agents work in.
// Package workspace has the implementation for git on this machine; its comments
// say what each method guarantees.
type Workspaces interface {
	// What work items ask for.
	Prepare(ctx context.Context, s coppice.PrepareSpec) (coppice.PrepareResult, error)
	Remove(ctx context.Context, s coppice.RemoveSpec) (coppice.RemoveResult, error)
	Restore(ctx context.Context, s coppice.RestoreSpec) (coppice.PrepareResult, error)
	Purge(ctx context.Context, s coppice.PurgeSpec) error
	Merge(ctx context.Context, s coppice.MergeSpec) (coppice.MergeResult, error)
	Push(ctx context.Context, s coppice.PushSpec) (coppice.PushResult, error)
	Move(ctx context.Context, s coppice.MoveSpec) (coppice.MoveResult, error)
	Check(ctx context.Context, s coppice.CheckSpec) (coppice.CheckResult, error)

	// What a session needs of the workspace at a path.
	Save(ctx context.Context, path, message string, exclude []string) (head string, changed bool, err error)
	Changed(ctx context.Context, path string) (head string, files []string, err error)
	Stat(ctx context.Context, path, from, to string) (string, error)
	Hide(ctx context.Context, path, file string) error
	Author(ctx context.Context, path string) (map[string]string, error)
	// CommandEnv is the environment of a command that runs beside the agent.
	CommandEnv(own []string) []string
}
