package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"coppice/workspace/gitfiles"
	"coppice/workspace/repo"
)

// Earlier versions kept workspaces as worktrees of the person's repository, with
// branches, trash and candidates as refs there. Coppice moves them into its own
// repository: refs when it creates that repository, and each workspace when it is
// next used.

// convert turns a workspace that is a worktree of the person's repository into one
// with its own repository. It reports whether it was such a worktree.
func (w *Workspaces) convert(ctx context.Context, r repo.Repo, s slot) (bool, error) {
	path := s.path(r)
	b, err := gitfiles.ReadRegular(filepath.Join(path, ".git"), repo.MaxSmall)
	if err != nil {
		return false, nil
	}
	admin, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: ")
	if !ok || filepath.Dir(admin) != filepath.Join(r.User, "worktrees") || !repo.Exists(filepath.Join(admin, "HEAD")) {
		return false, nil
	}
	on, at, err := w.Files(ctx, r.User).Resolve(admin, "HEAD")
	if err != nil || at == "" {
		return false, nil
	}
	if s.isDetached() {
		err = w.convertDetached(ctx, r, s, admin, at)
	} else {
		err = w.convertWork(ctx, r, s, admin, on, at)
	}
	return err == nil, err
}

// convertDetached converts a detached workspace: it is on no branch, its commit is
// that of a candidate, and its directory may be read-only.
func (w *Workspaces) convertDetached(ctx context.Context, r repo.Repo, s slot, admin, at string) error {
	path := s.path(r)
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := os.Chmod(path, info.Mode().Perm()|0o200); err != nil {
		return err
	}
	if err := w.takeIndex(ctx, r, s, admin, at); err != nil {
		return err
	}
	return errors.Join(os.Chmod(path, info.Mode().Perm()), dropAdmin(admin))
}

// takeIndex gives a workspace its own repository, with the worktree's index.
func (w *Workspaces) takeIndex(ctx context.Context, r repo.Repo, s slot, admin, at string) error {
	if err := repo.CopyIndex(filepath.Join(admin, "index"), s.savedIndex(r)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return w.renew(ctx, r, s, "", at)
}

// dropAdmin removes the records of a worktree from the person's repository.
func dropAdmin(admin string) error {
	if err := os.RemoveAll(admin); err != nil {
		return err
	}
	_ = os.Remove(filepath.Dir(admin)) // fails if there are others
	return nil
}

// convertWork converts the worktree of a task, with its branch.
func (w *Workspaces) convertWork(ctx context.Context, r repo.Repo, s slot, admin, on, at string) error {
	own := "refs/heads/" + s.Branch
	refs, err := w.Refs(ctx, r.Users(), own)
	if err != nil {
		return err
	}
	head := refs[own]
	if head == "" {
		head = at
	}
	if err := w.CopyObjects(ctx, r, r.Root, r.Git, head+"\n"+at+"\n^"+s.Base+"\n"); err != nil {
		return err
	}
	if err := w.SetRef(ctx, r, own, head); err != nil {
		return err
	}
	if err := w.takeIndex(ctx, r, s, admin, at); err != nil {
		return err
	}
	args := [][]string{{"update-ref", own, head}}
	if on == own {
		args = append(args, []string{"symbolic-ref", "HEAD", own})
	}
	for _, a := range args {
		if _, err := w.Git.Run(ctx, s.path(r), a...); err != nil {
			return err
		}
	}
	if err := dropAdmin(admin); err != nil {
		return err
	}
	if refs[own] != "" {
		err = w.UpdateRefs(ctx, r.Users(), "moved to Coppice's own repository", "option no-deref\ndelete "+own+" "+refs[own])
	}
	return err
}
