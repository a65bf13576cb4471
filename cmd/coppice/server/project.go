package server

import (
	"context"
	"path/filepath"
	"strings"

	"coppice"
	"coppice/cmd/coppice/config"
	"coppice/store"
	"coppice/workspace"
)

// inspect tells the project that a directory belongs to. It changes nothing.
func inspect(ctx context.Context, spaces *workspace.Workspaces, dir string) (coppice.Project, error) {
	root, err := spaces.Root(ctx, dir)
	if err != nil {
		return coppice.Project{}, err
	}
	policy, _, err := config.Load(root)
	if err != nil {
		return coppice.Project{}, err
	}
	repo, err := spaces.Inspect(ctx, root, policy.Base)
	if err != nil {
		return coppice.Project{}, err
	}
	policy.Base = repo.Base
	return coppice.Project{Path: repo.Root, Prefix: prefix(repo.Root), Policy: policy, BaseCommit: repo.BaseCommit}, nil
}

// prefix makes a task prefix from a directory's name.
func prefix(root string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(filepath.Base(root)) {
		if r >= 'a' && r <= 'z' || b.Len() > 0 && r >= '0' && r <= '9' {
			b.WriteRune(r)
		}
		if b.Len() == 12 {
			break
		}
	}
	if b.Len() == 0 {
		return "task"
	}
	return b.String()
}

// diff shows what a task has changed.
func diff(ctx context.Context, st store.Store, spaces *workspace.Workspaces, t coppice.Task) (string, error) {
	var p coppice.Project
	var ws *coppice.Workspace
	var landings []coppice.Landing
	var last *coppice.Session
	err := st.View(ctx, func(r store.Reader) (err error) {
		if p, err = r.Project(t.ProjectID); err != nil {
			return err
		}
		if ws, err = r.WorkspaceOf(t.ID); err != nil {
			return err
		}
		if last, err = r.LastSession(t.ID); err != nil {
			return err
		}
		landings, err = r.LandingsOf(t.ID)
		return err
	})
	if err != nil {
		return "", err
	}
	if n := len(landings); t.Landed != "" && n > 0 && landings[n-1].Commit == t.Landed {
		return spaces.Diff(ctx, p.Path, landings[n-1].Base, t.Landed, false)
	}
	if ws != nil && ws.Ready() {
		return spaces.DiffWorkspace(ctx, ws.Path, p.Policy.Base, false)
	}
	if last != nil && last.Head != "" {
		return spaces.Diff(ctx, p.Path, p.Policy.Base, last.Head, false)
	}
	return "", nil
}
