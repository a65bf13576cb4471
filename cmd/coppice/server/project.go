package server

import (
	"context"
	"path/filepath"
	"strings"

	"coppice"
	"coppice/api"
	apihttp "coppice/api/http"
	"coppice/config"
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
	settings, err := spaces.Settings(ctx, root)
	if err != nil {
		return coppice.Project{}, err
	}
	return coppice.Project{Path: repo.Root, Prefix: prefix(repo.Root), Policy: policy, BaseCommit: repo.BaseCommit, Git: settings}, nil
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

// diff shows what a task has changed: all, or since its last session began.
func diff(ctx context.Context, st store.Store, spaces *workspace.Workspaces, t coppice.Task, since string) (string, error) {
	var p coppice.Project
	var ws *coppice.Workspace
	var landings []coppice.Landing
	var sessions []coppice.Session
	err := st.View(ctx, func(r store.Reader) (err error) {
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
	if since == apihttp.SinceSession {
		return diffSession(ctx, spaces, p, ws, last)
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

// lastWorker returns the newest session that worked on the branch, nil when
// there is none: a verifier edits nothing.
func lastWorker(sessions []coppice.Session) *coppice.Session {
	for i := len(sessions) - 1; i >= 0; i-- {
		if s := &sessions[i]; s.Role != coppice.RoleVerify && s.From != "" {
			return s
		}
	}
	return nil
}

// diffSession shows what changed since a session began.
func diffSession(ctx context.Context, spaces *workspace.Workspaces, p coppice.Project, ws *coppice.Workspace, last *coppice.Session) (string, error) {
	switch {
	case last == nil:
		return "", nil
	case ws != nil && ws.Ready():
		return spaces.DiffWorkspace(ctx, ws.Path, last.From, false)
	case last.Head != "":
		return spaces.Diff(ctx, p.Path, last.From, last.Head, false)
	}
	return "", nil
}

// bring brings a task's branch into the person's repository.
func (s *Server) bring(ctx context.Context, t coppice.Task) (api.Branch, error) {
	var p coppice.Project
	err := s.store.View(ctx, func(r store.Reader) (err error) {
		p, err = r.Projects.Get(t.ProjectID)
		return err
	})
	if err != nil {
		return api.Branch{}, err
	}
	name := coppice.TaskBranch(t.Key)
	commit, err := s.spaces.Bring(ctx, p.Path, p.Policy.Base, name)
	return api.Branch{Name: name, Commit: commit}, err
}
