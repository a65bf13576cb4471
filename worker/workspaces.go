package worker

import (
	"context"

	"coppice"
)

// Workspaces has the methods that a worker needs for the directories in which
// agents work. Package workspace has the implementation for git on this machine.
// Its comments say what each method guarantees.
type Workspaces interface {
	// For work items.
	Prepare(ctx context.Context, s coppice.PrepareSpec) (coppice.PrepareResult, error)
	Remove(ctx context.Context, s coppice.RemoveSpec) (coppice.RemoveResult, error)
	Restore(ctx context.Context, s coppice.RestoreSpec) (coppice.PrepareResult, error)
	Purge(ctx context.Context, s coppice.PurgeSpec) error
	DropStrays(ctx context.Context, s coppice.StraysSpec) (coppice.StraysResult, error)
	FlowBranch(ctx context.Context, s coppice.BranchSpec) (coppice.BranchResult, error)
	Merge(ctx context.Context, s coppice.MergeSpec) (coppice.MergeResult, error)
	Push(ctx context.Context, s coppice.PushSpec) (coppice.PushResult, error)
	Move(ctx context.Context, s coppice.MoveSpec) (coppice.MoveResult, error)
	PullPush(ctx context.Context, s coppice.PullPushSpec) (coppice.PullPushResult, error)
	Check(ctx context.Context, s coppice.CheckSpec) (coppice.CheckResult, error)
	Hook(ctx context.Context, s coppice.HookSpec) (coppice.HookResult, error)

	// For a session, with the path of its workspace.
	Save(ctx context.Context, path, message string, by coppice.Identity, exclude []string) (head string, changed bool, err error)
	Strays(ctx context.Context, path string) ([]coppice.StrayBranch, error)
	Changed(ctx context.Context, path string) (head string, files []string, err error)
	// SnapCheckout stores the files of the person's checkout for a session, and returns
	// their commit, with what changed since an earlier one.
	SnapCheckout(ctx context.Context, dir, session, since string) (commit, stat string, err error)
	Stat(ctx context.Context, path, from, to string) (string, error)
	DiffStart(ctx context.Context, path, from, to string, most int) (string, error)
	Hide(ctx context.Context, path, file string) error
	Author(ctx context.Context, path string, by coppice.Identity) (map[string]string, error)
	// PreviewPort returns the port of the preview of a task's app, if the task
	// still has the workspace at path. FreePreviewPort gives it back.
	PreviewPort(ctx context.Context, repo, key, path string) (int, error)
	FreePreviewPort(ctx context.Context, repo, key string) error
	// CommandEnv returns the environment of a command that runs beside the
	// agent, with the variables that the project passes on, and more.
	CommandEnv(project, more []string) []string
}

// Forges reads and changes pull requests. The errors are those of package forge.
type Forges interface {
	Read(ctx context.Context, s coppice.ForgeReadSpec) (coppice.ForgeReadResult, error)
	Write(ctx context.Context, s coppice.ForgeWriteSpec) (coppice.ForgeWriteResult, error)
}

// Trackers carries out work on the sources of issues of projects. A work item that is
// repeated changes nothing twice.
type Trackers interface {
	Read(ctx context.Context, s coppice.TrackerReadSpec) (coppice.TrackerReadResult, error)
	Write(ctx context.Context, s coppice.TrackerWriteSpec) (coppice.TrackerWriteResult, error)
}

// Notifier sends notifications. One that is repeated has the same id.
type Notifier interface {
	Send(ctx context.Context, s coppice.NotifySpec) (coppice.NotifyResult, error)
}
