package repo

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coppice/workspace/gitfiles"
)

// Worktree is one of the person's checkouts.
type Worktree struct {
	Path   string
	Branch string // the full ref; empty if HEAD is detached
	Git    string // its git directory; empty if the worktree is gone
}

// Worktrees lists the repository's worktrees.
func (rs *Repos) Worktrees(ctx context.Context, r Repo) ([]Worktree, error) {
	if list, err := rs.plainWorktrees(ctx, r); err == nil {
		return list, nil
	}
	out, err := rs.Git.Run(ctx, r.Root, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	var list []Worktree
	for f := range strings.SplitSeq(out, "\x00") {
		if p, ok := strings.CutPrefix(f, "worktree "); ok {
			list = append(list, Worktree{Path: p})
		}
		if b, ok := strings.CutPrefix(f, "branch "); ok && len(list) > 0 {
			list[len(list)-1].Branch = b
		}
	}
	for i, t := range list {
		if !Exists(t.Path) {
			continue
		}
		if list[i].Git, err = rs.Git.Run(ctx, t.Path, "rev-parse", "--absolute-git-dir"); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// plainWorktrees reads the list from git's files. It leaves repositories to git whose
// settings decide what a worktree is.
func (rs *Repos) plainWorktrees(ctx context.Context, r Repo) ([]Worktree, error) {
	files := rs.Files(ctx, r.User)
	if filepath.Base(r.User) != ".git" {
		return nil, gitfiles.ErrUseGit
	}
	settings, err := rs.Git.Settings(ctx, r.Root)
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
	main := Worktree{Path: filepath.Dir(r.User), Git: r.User}
	if main.Branch, _, err = files.Head(r.User); err != nil {
		return nil, err
	}
	list := []Worktree{main}
	entries, err := os.ReadDir(filepath.Join(r.User, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		t := Worktree{Git: filepath.Join(r.User, "worktrees", e.Name())}
		b, err := gitfiles.ReadRegular(filepath.Join(t.Git, "gitdir"), MaxSmall)
		if gitfiles.Absent(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		link := strings.TrimSpace(string(b))
		if !filepath.IsAbs(link) {
			link = filepath.Join(t.Git, link)
		}
		if filepath.Base(link) != ".git" {
			return nil, gitfiles.ErrUseGit
		}
		t.Path = filepath.Dir(link)
		if t.Branch, _, err = files.Head(t.Git); err != nil {
			if !Exists(filepath.Join(t.Git, "gitdir")) {
				continue // it was removed since
			}
			return nil, err
		}
		if !Exists(t.Path) {
			t.Git = ""
		}
		list = append(list, t)
	}
	return list, nil
}

// Operation is something that git can be in the middle of. The file exists during
// the operation.
type Operation struct{ File, What string }

// Operations lists what git can be in the middle of.
var Operations = []Operation{
	{"MERGE_HEAD", "a merge"}, {"rebase-merge", "a rebase"}, {"rebase-apply", "a rebase"}, {"CHERRY_PICK_HEAD", "a cherry-pick"},
	{"REVERT_HEAD", "a revert"}, {"BISECT_LOG", "a bisect"}, {"index.lock", "another git command"},
}

// InProgress reports whether a checkout is in the middle of an operation.
func InProgress(dir string) bool {
	return slices.ContainsFunc(Operations, func(p Operation) bool { return Exists(filepath.Join(dir, p.File)) })
}
