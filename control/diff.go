package control

import (
	"context"

	"coppice"
	"coppice/api"
	"coppice/store"
	"coppice/workspace"
)

// Changes shows what tasks have changed, and copies branches to people.
type Changes struct {
	Store  store.Store
	Spaces *workspace.Workspaces
}

// Diff shows what a task has changed: what landed, the content of its
// workspace, or its branch. It shows everything, or what changed since its last
// session started.
func (c Changes) Diff(ctx context.Context, t coppice.Task, since string) (string, error) {
	var p coppice.Project
	var ws *coppice.Workspace
	var landings []coppice.Landing
	var sessions []coppice.Session
	err := c.Store.View(ctx, func(r store.Reader) (err error) {
		if p, err = r.Projects.Get(t.ProjectID); err != nil {
			return err
		}
		if ws, err = r.Workspaces.Of(t.ID); err != nil {
			return err
		}
		if sessions, err = r.Sessions.Of(t.ID); err != nil {
			return err
		}
		landings, err = r.Landings.Of(t.ID)
		return err
	})
	if err != nil {
		return "", err
	}
	last := lastWorker(sessions)
	if since == api.SinceSession {
		return c.diffSession(ctx, p, ws, last)
	}
	if n := len(landings); t.Landed != "" && n > 0 && landings[n-1].Commit == t.Landed {
		return c.Spaces.Diff(ctx, p.Path, landings[n-1].Base, t.Landed, false)
	}
	if ws != nil && ws.Ready() {
		return c.Spaces.DiffWorkspace(ctx, ws.Path, p.Onto(t), false)
	}
	if last != nil && last.Head != "" {
		return c.Spaces.Diff(ctx, p.Path, p.Onto(t), last.Head, false)
	}
	return "", nil
}

// lastWorker returns the newest session that worked on the branch, nil if there
// is none: a verifier edits nothing.
func lastWorker(sessions []coppice.Session) *coppice.Session {
	for i := len(sessions) - 1; i >= 0; i-- {
		if s := &sessions[i]; s.Role != coppice.RoleVerify && s.From != "" {
			return s
		}
	}
	return nil
}

// diffSession shows what changed since a session started.
func (c Changes) diffSession(ctx context.Context, p coppice.Project, ws *coppice.Workspace, last *coppice.Session) (string, error) {
	switch {
	case last == nil:
		return "", nil
	case ws != nil && ws.Ready():
		return c.Spaces.DiffWorkspace(ctx, ws.Path, last.From, false)
	case last.Head != "":
		return c.Spaces.Diff(ctx, p.Path, last.From, last.Head, false)
	}
	return "", nil
}

// Bring copies a task's branch into the user's repository.
func (c Changes) Bring(ctx context.Context, t coppice.Task) (api.Branch, error) {
	var p coppice.Project
	err := c.Store.View(ctx, func(r store.Reader) (err error) {
		p, err = r.Projects.Get(t.ProjectID)
		return err
	})
	if err != nil {
		return api.Branch{}, err
	}
	name := coppice.TaskBranch(t.Key)
	commit, err := c.Spaces.Bring(ctx, p.Path, p.Onto(t), name)
	return api.Branch{Name: name, Commit: commit}, err
}
