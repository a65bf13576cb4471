package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coppice/workspace/repo"
)

// A workspace is a separate repository. Its git directory is created from scratch
// for each task, so a task inherits nothing that an earlier one did to git. This
// table says where each part comes from. A new workspace has nothing else.
//
//	HEAD                     the commit from which it starts, detached
//	config                   WorkspaceConfig
//	index                    the one that git wrote at Coppice's last checkout in that directory
//	objects                  empty; it borrows from Coppice's own repository and the person's
//	packed-refs, symbolic    the person's branches, tags and remote-tracking branches
//	shallow                  as in the person's repository
//	info/exclude, attributes as in the person's repository
//	info/sparse-checkout     as in the person's checkout
//	hooks                    none; core.hooksPath names the person's

// savedIndex returns Coppice's copy of the index of a workspace. An agent can change
// the index in the workspace.
func (s slot) savedIndex(r repo.Repo) string { return filepath.Join(r.Dir, s.Name+".index") }

// renew gives a workspace a new git directory at a commit. The files stay as they
// are. The old git directory is removed: what must be kept is in Coppice's own
// repository before.
func (w *Workspaces) renew(ctx context.Context, r repo.Repo, s slot, commit string) error {
	path := s.path(r)
	if st, err := os.Lstat(path); err == nil && !st.IsDir() {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	if err := errors.Join(os.MkdirAll(path, 0o755), os.MkdirAll(r.Tmp(), 0o700)); err != nil {
		return err
	}
	made, err := os.MkdirTemp(r.Tmp(), "git-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(made)
	if err := w.fillGitDir(ctx, r, s, made, commit); err != nil {
		return err
	}
	if err := os.Chmod(made, 0o755); err != nil {
		return err
	}
	at := filepath.Join(path, ".git")
	old := made + ".old"
	switch err := os.Rename(at, old); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	}
	if err := os.Rename(made, at); err != nil {
		return err
	}
	return repo.RemoveWhole(old)
}

func (w *Workspaces) fillGitDir(ctx context.Context, r repo.Repo, s slot, dir, commit string) error {
	config, sparse, err := w.WorkspaceConfig(ctx, r)
	if err != nil {
		return err
	}
	refs, symbolic, err := w.RefsBelow(ctx, r.Users(), repo.ShownRefs...)
	if err != nil {
		return err
	}
	delete(refs, "refs/heads/"+s.Branch)
	files := map[string]string{
		"HEAD":                    commit + "\n",
		"config":                  config,
		"objects/info/alternates": repo.Alternate(filepath.Join(r.Git, "objects")) + repo.Alternate(filepath.Join(r.User, "objects")),
		"objects/pack/":           "",
		"refs/heads/":             "",
		"refs/tags/":              "",
		"info/":                   "",
	}
	if len(refs) > 0 {
		var b strings.Builder
		b.WriteString("# pack-refs with: sorted \n")
		for _, name := range slices.Sorted(maps.Keys(refs)) {
			fmt.Fprintf(&b, "%s %s\n", refs[name], name)
		}
		files["packed-refs"] = b.String()
	}
	for name, to := range symbolic {
		files[name] = "ref: " + to + "\n"
	}
	if err := repo.WriteFiles(dir, files); err != nil {
		return err
	}
	if err := repo.CopyInfo(r, dir); err != nil {
		return err
	}
	if sparse {
		data, err := os.ReadFile(filepath.Join(r.User, "info", "sparse-checkout"))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "info", "sparse-checkout"), data, 0o644)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := repo.CopyChanged(filepath.Join(r.Git, "shallow"), filepath.Join(dir, "shallow")); err != nil {
		return err
	}
	err = repo.CopyIndex(s.savedIndex(r), filepath.Join(dir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err
}

// saveIndex copies the index that Coppice's checkout has just written.
func (w *Workspaces) saveIndex(r repo.Repo, s slot) error {
	tmp := s.savedIndex(r) + ".new" // not an atomicfile: it keeps the time of the original
	if err := repo.CopyIndex(filepath.Join(s.path(r), ".git", "index"), tmp); err != nil {
		return err
	}
	return os.Rename(tmp, s.savedIndex(r))
}
