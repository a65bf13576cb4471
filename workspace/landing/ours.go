package landing

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coppice/workspace/git"
	"coppice/workspace/repo"
)

// settleOurs resolves conflicts in files that candidates must not change: the
// base's version wins.
func (m *merged) settleOurs(ours []string) {
	if len(ours) == 0 || !m.conflicted {
		return
	}
	m.files = slices.DeleteFunc(m.files, func(p string) bool { return slices.Contains(ours, p) })
	m.conflicted = len(m.files) > 0
}

// resolved adds the targets of symbolic links to a list of files, if they are in the
// checkout.
func resolved(tree string, names []string) []string {
	all := slices.Clone(names)
	for _, n := range names {
		to, err := filepath.EvalSymlinks(filepath.Join(tree, filepath.FromSlash(n)))
		if err != nil {
			continue // it is missing, or its target is
		}
		rel, err := filepath.Rel(tree, to)
		if rel = filepath.ToSlash(rel); err == nil && filepath.IsLocal(rel) && !slices.Contains(all, rel) {
			all = append(all, rel)
		}
	}
	return all
}

// withOurs returns a tree in which these files are as in the base.
func (ls *Landings) withOurs(ctx context.Context, r repo.Repo, base, tree string, ours []string) (string, error) {
	if len(ours) == 0 {
		return tree, nil
	}
	changes, err := ls.Changes(ctx, r.Git, tree, base)
	if err != nil {
		return "", err
	}
	var info strings.Builder
	for _, c := range changes {
		if !repo.Within(c.Path, ours) {
			continue
		}
		if c.NewMode == "" { // the base does not have it
			c.NewMode, c.New = "0", strings.Repeat("0", len(c.Old))
		}
		fmt.Fprintf(&info, "%s %s\t%s\x00", c.NewMode, c.New, c.Path)
	}
	return ls.editTree(ctx, r, tree, info.String())
}

// editTree changes entries of a tree, in the format of git update-index.
func (ls *Landings) editTree(ctx context.Context, r repo.Repo, tree, info string) (string, error) {
	if info == "" {
		return tree, nil
	}
	index, err := repo.TempIndex(r, r.Tmp()) // there is no index, so it starts empty
	if err != nil {
		return "", err
	}
	defer os.Remove(index)
	env := []string{"GIT_INDEX_FILE=" + index}
	if _, err := ls.Git.Do(ctx, git.Call{Dir: r.Git, Env: env, Args: []string{"read-tree", tree}}); err != nil {
		return "", err
	}
	if _, err := ls.Git.Do(ctx, git.Call{Dir: r.Git, Env: env, Stdin: []byte(info), Args: []string{"update-index", "-z", "--index-info"}}); err != nil {
		return "", err
	}
	got, err := ls.Git.Do(ctx, git.Call{Dir: r.Git, Env: env, Args: []string{"write-tree"}})
	return strings.TrimSpace(got), err
}
