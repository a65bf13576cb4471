package landing

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"coppice"
	"coppice/workspace/repo"
)

// broughtOver is the entry in git's log of a branch that was brought over.
const broughtOver = "brought over"

// Bring copies a task's branch from Coppice's own repository into the person's, as
// a branch of the same name, and returns its commit. With a commit, the branch gets
// that one, whether Coppice has such a branch or not. It checks the objects as for a
// landing. An existing branch of that name moves only forward.
func (ls *Landings) Bring(ctx context.Context, dir, base, branch, commit string) (string, error) {
	if err := coppice.ValidBranch(branch); err != nil {
		return "", err
	}
	r, err := ls.Use(ctx, dir)
	if err != nil {
		return "", err
	}
	own := "refs/heads/" + branch
	if commit == "" {
		refs, err := ls.Refs(ctx, r.Own(), own)
		if err != nil {
			return "", err
		}
		commit = refs[own]
	} else if err := coppice.ValidHash(commit); err != nil {
		return "", err
	}
	if commit == "" {
		return "", coppice.Errorf(coppice.ENotFound, "there is no branch %s: its task landed, or has not started", coppice.Quote(branch)).
			WithFix("restore the workspace with `coppice restore` first")
	}
	from, err := ls.Branch(ctx, r, base)
	if err != nil {
		return "", err
	}
	unlock, err := ls.lockMoves(ctx, r)
	if err != nil {
		return "", err
	}
	defer unlock()
	if err := ls.copyOver(ctx, r, from, branch, commit); err != nil {
		return "", repo.Classify(err)
	}
	ctx = context.WithoutCancel(ctx)
	theirs, err := ls.Refs(ctx, r.Users(), own)
	if err != nil {
		return "", err
	}
	at := theirs[own]
	if at != "" {
		if ahead, err := ls.IsAncestor(ctx, r, at, commit); err != nil {
			return "", err
		} else if !ahead {
			return "", coppice.Errorf(coppice.EConflict, "your repository has another branch %s", coppice.Quote(branch)).
				WithFix("rename it with `git branch -m %s other`", branch)
		}
	}
	if err := ls.noteBrought(ctx, r, branch, commit); err != nil {
		return "", repo.Classify(err)
	}
	if at == commit {
		return commit, dropGathered(r, commit)
	}
	if err := ls.setBranch(ctx, r, branch, broughtOver, at, commit); err != nil {
		return "", repo.Classify(err)
	}
	return commit, nil
}

// copyOver copies what a commit has on top of the base into the person's repository.
// It checks the objects as for a landing.
func (ls *Landings) copyOver(ctx context.Context, r repo.Repo, base, branch, commit string) error {
	wrong, err := ls.gather(ctx, r, base, commit)
	if err != nil {
		return err
	}
	if wrong != "" {
		return coppice.Errorf(coppice.EConflict, "git refuses the commits of %s: %s", branch, wrong).WithFix("check them in the task's workspace")
	}
	return ls.adopt(context.WithoutCancel(ctx), r, base, commit)
}

// broughtRefs have the names of brought branches that are not below coppice/, each
// as one escaped word, so that no name is the directory of another.
const broughtRefs = "refs/coppice/brought/"

// noteBrought records that a branch of the person's repository comes from a task, if
// its name does not say so. It drops the records of branches that no longer exist.
func (ls *Landings) noteBrought(ctx context.Context, r repo.Repo, branch, commit string) error {
	if strings.HasPrefix(branch, "coppice/") {
		return nil
	}
	noted, err := ls.Brought(ctx, r)
	if err != nil {
		return err
	}
	there, err := ls.heads(ctx, r, slices.Collect(maps.Keys(noted)))
	if err != nil {
		return err
	}
	var gone []string
	for name := range noted {
		if there["refs/heads/"+name] == "" {
			gone = append(gone, broughtRefs+url.PathEscape(name))
		}
	}
	if len(gone) > 0 {
		if err := ls.DropRefs(ctx, r, gone...); err != nil {
			return err
		}
	}
	return ls.SetRef(ctx, r, broughtRefs+url.PathEscape(branch), commit)
}

// heads returns the commits of those branches that the person's repository has.
func (ls *Landings) heads(ctx context.Context, r repo.Repo, names []string) (map[string]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	refs := make([]string, len(names))
	for i, n := range names {
		refs[i] = "refs/heads/" + n
	}
	return ls.Refs(ctx, r.Users(), refs...)
}

// broughtName returns the branch of a record.
func broughtName(ref string) string {
	name, err := url.PathUnescape(strings.TrimPrefix(ref, broughtRefs))
	if err != nil || coppice.ValidBranch(name) != nil {
		return "" // Coppice did not write it
	}
	return name
}

// Brought returns the branches of the person's repository that were copied from
// tasks and whose names do not say so, each with the commit that was copied.
func (ls *Landings) Brought(ctx context.Context, r repo.Repo) (map[string]string, error) {
	found := map[string]string{}
	if !repo.Exists(r.Git) {
		return found, nil
	}
	noted, _, err := ls.RefsBelow(ctx, r.Own(), broughtRefs)
	for ref, commit := range noted {
		if name := broughtName(ref); name != "" {
			found[name] = commit
		}
	}
	return found, err
}

// FreeBranch returns an error if a new branch of that name would conflict with a
// branch of the person's repository, or with one of a task.
func (ls *Landings) FreeBranch(ctx context.Context, dir, name string) error {
	if err := coppice.ValidBranch(name); err != nil {
		return err
	}
	r, err := ls.Use(ctx, dir)
	if err != nil {
		return err
	}
	for _, at := range []repo.Location{r.Users(), r.Own()} {
		refs, symbolic, err := ls.RefsBelow(ctx, at, "refs/heads/")
		if err != nil {
			return repo.Classify(err)
		}
		for _, ref := range append(slices.Sorted(maps.Keys(refs)), slices.Sorted(maps.Keys(symbolic))...) {
			if other := strings.TrimPrefix(ref, "refs/heads/"); coppice.BranchesConflict(other, name) {
				cause := fmt.Sprintf("there is a branch %s already", coppice.Quote(name))
				if other != name {
					cause = fmt.Sprintf("the branch %s does not fit beside %s", coppice.Quote(name), coppice.Quote(other))
				}
				return coppice.Errorf(coppice.EConflict, "%s", cause).WithFix("choose another name").WithField("branch")
			}
		}
	}
	return nil
}

// Published checks that a task's branch in Coppice's own repository is at a commit.
// Save copies it there, so on this machine nothing else is necessary.
func (ls *Landings) Published(ctx context.Context, dir, branch, head string) error {
	r, err := ls.Use(ctx, dir)
	if err != nil {
		return err
	}
	ref := "refs/heads/" + branch
	refs, err := ls.Refs(ctx, r.Own(), ref)
	if err != nil {
		return err
	}
	if refs[ref] != head {
		return coppice.Errorf(coppice.EUnavailable, "the commit %s of branch %s is not in Coppice's repository for %s", head, branch, dir).
			WithFix("retry the task; its workspace has the commit")
	}
	return nil
}
