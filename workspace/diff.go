package workspace

import (
	"context"
	"os"
	"slices"
	"strings"

	"coppice"
	"coppice/workspace/git"
	"coppice/workspace/repo"
)

// Diff returns what head changed since it left base, or with stat only how much.
func (w *Workspaces) Diff(ctx context.Context, dir, base, head string, stat bool) (string, error) {
	for _, rev := range []string{base, head} {
		if coppice.ValidHash(rev) != nil {
			if err := coppice.ValidBranch(rev); err != nil {
				return "", err
			}
		}
	}
	r, err := w.Use(ctx, dir)
	if err != nil {
		return "", err
	}
	from, err := w.commitOf(ctx, r, base)
	if err != nil {
		return "", err
	}
	to, err := w.commitOf(ctx, r, head)
	if err != nil {
		return "", err
	}
	return w.diff(ctx, git.Call{Dir: r.Root, Env: r.WithUserFiles()}, stat, from+"..."+to)
}

// DiffWorkspace returns what a workspace changed since it left base, uncommitted
// and untracked files included. The agent's index stays as it is.
func (w *Workspaces) DiffWorkspace(ctx context.Context, path, base string, stat bool) (string, error) {
	if coppice.ValidHash(base) != nil {
		if err := coppice.ValidBranch(base); err != nil {
			return "", err
		}
	}
	r, s, err := w.byPath(path)
	if err != nil {
		return "", err
	}
	dir, err := repo.GitDir(s.path(r))
	if err != nil {
		return "", damaged(err.Error(), "wait for its session to end; then the workspace is repaired")
	}
	if base, err = w.commitOf(ctx, r, base); err != nil {
		return "", err
	}
	index, err := repo.TempIndex(r, dir)
	if err != nil {
		return "", err
	}
	defer os.Remove(index)
	exclude, err := excludeFile(r, w.excludeRules(ctx, r, s.Given))
	if err != nil {
		return "", err
	}
	defer os.Remove(exclude)
	// An agent may run there, and may have changed the settings.
	c := git.Call{Dir: path, Guard: path, Env: []string{"GIT_INDEX_FILE=" + index}, Config: []string{"core.excludesFile=" + exclude, "advice.addEmbeddedRepo=false"}}
	add := c
	add.Args = []string{"add", "--intent-to-add", "--", "."}
	if _, err := w.Git.Do(ctx, add); err != nil {
		return "", err
	}
	from, err := w.Git.Run(ctx, path, "merge-base", "--end-of-options", base, "HEAD")
	if err != nil {
		return "", err
	}
	return w.diff(ctx, c, stat, from)
}

// commitOf returns the commit of a branch, or the commit itself.
func (w *Workspaces) commitOf(ctx context.Context, r repo.Repo, rev string) (string, error) {
	if coppice.ValidHash(rev) == nil {
		return rev, nil
	}
	return w.anyBranch(ctx, r, rev)
}

// maxDiff is the maximum length of a diff.
const maxDiff = 16 << 20

// diffArgs are the arguments of every diff. A program of the repository never
// runs, and a renamed file is one change.
var diffArgs = []string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames"}

func (w *Workspaces) diff(ctx context.Context, c git.Call, stat bool, rev string, paths ...string) (string, error) {
	how := "--patch"
	if stat {
		how = "--stat"
	}
	c.Args = append(slices.Clone(diffArgs), how, "--end-of-options", rev, "--")
	for _, p := range paths {
		c.Args = append(c.Args, ":(top,literal)"+p)
	}
	c.Limit = maxDiff
	out, err := w.Git.Do(ctx, c)
	if err == nil && len(out) == maxDiff {
		out += "\n[... the rest is left out ...]\n"
	}
	return strings.ToValidUTF8(out, "\uFFFD"), err
}
