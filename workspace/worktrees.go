package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"coppice/workspace/gitfiles"
)

// worktree is one of the person's checkouts.
type worktree struct {
	path   string
	branch string // the full ref; empty if HEAD is detached
	git    string // its git directory; empty if the worktree is gone
}

// worktrees lists the repository's worktrees.
func (w *Workspaces) worktrees(ctx context.Context, r repo) ([]worktree, error) {
	if list, err := w.plainWorktrees(ctx, r); err == nil {
		return list, nil
	}
	out, err := w.git.Run(ctx, r.root, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	var list []worktree
	for f := range strings.SplitSeq(out, "\x00") {
		if p, ok := strings.CutPrefix(f, "worktree "); ok {
			list = append(list, worktree{path: p})
		}
		if b, ok := strings.CutPrefix(f, "branch "); ok && len(list) > 0 {
			list[len(list)-1].branch = b
		}
	}
	for i, t := range list {
		if !exists(t.path) {
			continue
		}
		if list[i].git, err = w.git.Run(ctx, t.path, "rev-parse", "--absolute-git-dir"); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// plainWorktrees reads the list from git's files. It leaves repositories to git whose
// settings decide what a worktree is.
func (w *Workspaces) plainWorktrees(ctx context.Context, r repo) ([]worktree, error) {
	files := w.files(ctx, r.user)
	if filepath.Base(r.user) != ".git" {
		return nil, gitfiles.ErrUseGit
	}
	settings, err := w.git.Settings(ctx, r.root)
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		switch s.Key {
		case "core.worktree":
			return nil, gitfiles.ErrUseGit
		case "core.bare", "extensions.worktreeconfig":
			if !strings.EqualFold(s.Value, "false") {
				return nil, gitfiles.ErrUseGit
			}
		}
	}
	main := worktree{path: filepath.Dir(r.user), git: r.user}
	if main.branch, _, err = files.Head(r.user); err != nil {
		return nil, err
	}
	list := []worktree{main}
	entries, err := os.ReadDir(filepath.Join(r.user, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		t := worktree{git: filepath.Join(r.user, "worktrees", e.Name())}
		b, err := gitfiles.ReadRegular(filepath.Join(t.git, "gitdir"), maxSmall)
		if gitfiles.Absent(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		link := strings.TrimSpace(string(b))
		if !filepath.IsAbs(link) {
			link = filepath.Join(t.git, link)
		}
		if filepath.Base(link) != ".git" {
			return nil, gitfiles.ErrUseGit
		}
		t.path = filepath.Dir(link)
		if t.branch, _, err = files.Head(t.git); err != nil {
			if !exists(filepath.Join(t.git, "gitdir")) {
				continue // it was removed since
			}
			return nil, err
		}
		if !exists(t.path) {
			t.git = ""
		}
		list = append(list, t)
	}
	return list, nil
}
