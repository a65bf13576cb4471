package workspace

import (
	"context"

	"coppice"
	"coppice/workspace/repo"
)

// PreviewPort returns the port on which a person looks at the app of a task's
// workspace. It differs from the ports of the workspace, which its agent uses. A
// repeated call returns the same port.
func (w *Workspaces) PreviewPort(ctx context.Context, address, key, path string) (int, error) {
	r, err := w.Use(ctx, address)
	if err != nil {
		return 0, err
	}
	if s, ok, err := w.owned(r, key); err != nil {
		return 0, err
	} else if !ok || s.State != slotReady || s.path(r) != path { // the path may be that of another task by now
		return 0, coppice.Failf(coppice.ClassEnvironment, key+" has no workspace", "retry the task, or restore its workspace with `coppice undo "+key+"`")
	}
	ports, err := w.ports.Give(ctx, previewOwner(r, key), 1)
	if err != nil {
		return 0, err
	}
	return ports[0], nil
}

// FreePreviewPort gives the port back.
func (w *Workspaces) FreePreviewPort(ctx context.Context, address, key string) error {
	r, err := w.Use(ctx, address)
	if err != nil {
		return err
	}
	return w.ports.Free(ctx, previewOwner(r, key))
}

func previewOwner(r repo.Repo, key string) string { return portOwner(r, key) + "/preview" }
