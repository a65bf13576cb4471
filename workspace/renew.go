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

	"coppice"
	"coppice/workspace/repo"
)

// A workspace is a separate repository. Its git directory is created from scratch
// for each task, so a task inherits nothing that an earlier one did to git. This
// table says where each part comes from. A new workspace has nothing else.
//
//	HEAD, its branch, logs   the commit from which it starts
//	config                   WorkspaceConfig
//	index                    the one of Coppice's last checkout in that directory
//	objects                  empty; it borrows from Coppice's own repository and the person's
//	packed-refs, symbolic    the person's branches, tags and remote-tracking branches
//	shallow                  as in the person's repository
//	info/exclude, attributes as in the person's repository
//	info/sparse-checkout     as in the person's checkout
//	hooks                    none; core.hooksPath names the person's

// savedIndex returns Coppice's copy of the index of a workspace. An agent can change
// the index in the workspace.
func (s slot) savedIndex(r repo.Repo) string { return filepath.Join(r.Dir, s.Name+".index") }

// renew gives a workspace a new git directory at a commit, on a branch or detached.
// The files stay as they are. The old git directory is removed: what must be kept is
// in Coppice's own repository before.
func (w *Workspaces) renew(ctx context.Context, r repo.Repo, s slot, branch, commit string) error {
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
	if err := w.fillGitDir(ctx, r, s, made, branch, commit); err != nil {
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

func (w *Workspaces) fillGitDir(ctx context.Context, r repo.Repo, s slot, dir, branch, commit string) error {
	config, sparse, err := w.WorkspaceConfig(ctx, r)
	if err != nil {
		return err
	}
	refs, symbolic, err := w.RefsBelow(ctx, r.Users(), repo.ShownRefs...)
	if err != nil {
		return err
	}
	dropConflicts(refs, s.Branch)
	dropConflicts(symbolic, s.Branch)
	files := map[string]string{
		"HEAD":                    commit + "\n",
		"config":                  config,
		"objects/info/alternates": repo.Alternate(filepath.Join(r.Git, "objects")) + repo.Alternate(filepath.Join(r.User, "objects")),
		"objects/pack/":           "",
		"refs/heads/":             "",
		"refs/tags/":              "",
		"info/":                   "",
	}
	if branch != "" {
		if err := w.startBranch(ctx, r, files, branch, commit); err != nil {
			return err
		}
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

// startBranch adds the files of a branch that is checked out at a commit, with logs as
// git checkout -B writes them.
func (w *Workspaces) startBranch(ctx context.Context, r repo.Repo, files map[string]string, branch, commit string) error {
	who, err := w.Signature(ctx, r, coppice.Identity{})
	if err != nil {
		return err
	}
	by, err := who.Line()
	if err != nil { // git would write the name in another way
		by, err = repo.OwnSignature(w.Now()).Line()
	}
	ref := "refs/heads/" + branch
	files["HEAD"], files[ref] = "ref: "+ref+"\n", commit+"\n"
	files["logs/HEAD"] = fmt.Sprintf("%s %s %s\tcheckout: moving from %s to %s\n", commit, commit, by, commit, branch)
	files["logs/"+ref] = fmt.Sprintf("%s %s %s\tbranch: Created from %s\n", strings.Repeat("0", len(commit)), commit, by, commit)
	return err
}

// dropConflicts removes refs that cannot exist beside a branch: the branch itself, and
// those whose name is a directory of the other's.
func dropConflicts(refs map[string]string, branch string) {
	ref := "refs/heads/" + branch
	maps.DeleteFunc(refs, func(name, _ string) bool {
		return name == ref || strings.HasPrefix(name, ref+"/") || strings.HasPrefix(ref, name+"/")
	})
}

// saveIndex copies the index that a checkout has just written.
func (w *Workspaces) saveIndex(r repo.Repo, s slot) error {
	tmp := s.savedIndex(r) + ".new" // not an atomicfile: it keeps the time of the original
	if err := repo.CopyIndex(filepath.Join(s.path(r), ".git", "index"), tmp); err != nil {
		return err
	}
	return os.Rename(tmp, s.savedIndex(r))
}
