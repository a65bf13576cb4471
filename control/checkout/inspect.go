package checkout

import (
	"context"
	"path/filepath"
	"strings"

	"coppice"
	"coppice/config"
	"coppice/workspace"
)

// Inspect finds the project of a directory. It changes nothing.
func Inspect(ctx context.Context, spaces *workspace.Workspaces, dir string) (coppice.Project, error) {
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

// reinspect reads the current checkout of a known project. If its policy names
// no base, the base does not change, whatever is checked out.
func reinspect(ctx context.Context, spaces *workspace.Workspaces, p coppice.Project) (coppice.Project, error) {
	policy, _, err := config.Load(p.Path)
	if err != nil {
		return coppice.Project{}, err
	}
	if policy.Base == "" {
		policy.Base = p.Policy.Base
	}
	repo, err := spaces.Inspect(ctx, p.Path, policy.Base)
	if err != nil {
		return coppice.Project{}, err
	}
	policy.Base = repo.Base
	return coppice.Project{Path: repo.Root, Policy: policy, BaseCommit: repo.BaseCommit}, nil
}
