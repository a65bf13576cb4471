package control

import (
	"context"
	"slices"

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
	rows, err := store.Read(ctx, c.Store, func(r store.Reader) (store.TaskRows, error) { return store.RowsOf(r, t) })
	if err != nil {
		return "", err
	}
	if t.Checkout {
		return c.diffCheckout(ctx, rows.Project, rows.Sessions, since)
	}
	p, ws, landings, last := rows.Project, rows.Workspace, rows.Landings, lastWorker(rows.Sessions)
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
		if s := &sessions[i]; !s.Role.Detached() && s.From != "" {
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

// diffCheckout shows what the sessions of a task changed in the person's checkout,
// as far as it is known: in the newest round, or in the newest session.
func (c Changes) diffCheckout(ctx context.Context, p coppice.Project, sessions []coppice.Session, since string) (string, error) {
	if len(sessions) == 0 {
		return "", nil
	}
	last := sessions[len(sessions)-1]
	from := last.From
	for _, s := range slices.Backward(sessions) {
		if s.Round == last.Round && s.From != "" && since != api.SinceSession {
			from = s.From
		}
	}
	to, err := last.Head, error(nil)
	if from == "" {
		return "", nil
	}
	if last.State.Live() {
		to, _, err = c.Spaces.SnapCheckout(ctx, p.Path, "", "")
	}
	if err != nil || to == "" {
		return "", err
	}
	return c.Spaces.DiffCheckout(ctx, p.Path, from, to)
}

// Bring copies a task's branch into the user's repository, or one of the stray
// branches that its agents created.
func (c Changes) Bring(ctx context.Context, t coppice.Task, stray string) (api.Branch, error) {
	p, err := store.Read(ctx, c.Store, func(r store.Reader) (coppice.Project, error) { return r.Projects.Get(t.ProjectID) })
	if err != nil {
		return api.Branch{}, err
	}
	name, commit := t.BranchName(), ""
	if stray != "" {
		n := slices.IndexFunc(t.Strays, func(b coppice.StrayBranch) bool { return b.Name == stray })
		if n < 0 {
			return api.Branch{}, coppice.Errorf(coppice.ENotFound, "%s has no stray branch %s", t.Key, coppice.Quote(stray)).WithFix("see its branches with `coppice show %s`", t.Key)
		}
		name, commit = name+"-"+stray, t.Strays[n].Head
	}
	commit, err = c.Spaces.Bring(ctx, p.Path, p.Onto(t), name, commit)
	return api.Branch{Name: name, Commit: commit}, err
}
