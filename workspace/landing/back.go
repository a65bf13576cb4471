package landing

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"coppice"
	"coppice/workspace/gitfiles"
	"coppice/workspace/repo"
)

// A landing can be taken off its branch again. If only the branch has its commit,
// the branch moves back. Otherwise Merge creates a commit that reverts it: Head is
// then a commit on top of the landing with the tree from below it, so that the
// merge with the branch takes off exactly what the landing had added.

// moveBack moves the branch from Old back to New, a commit below it, with the same
// guarantees as Move. Nothing moves if something else has Old in its history.
func (ls *Landings) moveBack(ctx context.Context, spec coppice.MoveSpec) (coppice.MoveResult, error) {
	r, err := ls.Use(ctx, spec.Repo)
	if err != nil {
		return coppice.MoveResult{}, err
	}
	unlock, err := ls.Locks.Wait(ctx, moveLock(r))
	if err != nil {
		return coppice.MoveResult{}, err
	}
	defer unlock()
	res, free, err := ls.standingAbove(ctx, r, spec)
	if err == nil && free {
		res, err = ls.advance(ctx, r, spec, spec.Old)
	}
	return res, repo.Classify(err)
}

// standingAbove finds out where the branch is: at Old and free to move back to New,
// there already, or elsewhere. The caller holds the lock of moves.
func (ls *Landings) standingAbove(ctx context.Context, r repo.Repo, spec coppice.MoveSpec) (res coppice.MoveResult, free bool, err error) {
	if res, free, err = ls.settled(ctx, r, spec.Base); err != nil || !free {
		return res, false, err
	}
	if res.Now != spec.Old {
		res.Moved, err = ls.moved(ctx, r, &moveRecord{Old: spec.Old, New: spec.New}, res.Now)
		return res, false, err
	}
	below, err := ls.IsAncestor(ctx, r, spec.New, spec.Old)
	if err != nil {
		return res, false, err
	}
	if !below {
		res.Builds = "the history of the branch"
		return res, false, nil
	}
	if res.Builds, err = ls.buildsOn(ctx, r, spec.Base, spec.Old, spec.Ref); err != nil || res.Builds != "" {
		return res, false, err
	}
	return ls.confirmed(ctx, r, res)
}

// buildsOn names something besides the branch that has a commit in its history: a
// branch, a tag or a remote's branch of the person, the branch of a task, or its
// trash. It returns "" if there is nothing.
func (ls *Landings) buildsOn(ctx context.Context, r repo.Repo, base, commit, ref string) (string, error) {
	own := []string{"refs/heads/" + base, ref}
	for _, in := range []struct {
		at   repo.Location
		refs []string
	}{
		{r.Users(), repo.ShownRefs},
		{r.Own(), []string{"refs/heads/", repo.TrashRefs}},
	} {
		out, err := ls.Git.Run(ctx, in.at.Dir, append([]string{"for-each-ref", "--format=%(refname)", "--contains=" + commit}, in.refs...)...)
		if err != nil {
			return "", err
		}
		for _, name := range strings.Fields(out) {
			if !slices.Contains(own, name) {
				return refName(name), nil
			}
		}
	}
	branches, err := ls.BranchesOf(r)
	if err != nil {
		return "", err
	}
	for _, b := range branches {
		in := repo.Location{Git: filepath.Join(b.Dir, ".git"), Dir: b.Dir}
		name := "refs/heads/" + b.Name
		refs, err := ls.Refs(ctx, in, name)
		if err != nil || refs[name] == "" {
			continue // a workspace that is damaged, or has no commit, lands nothing
		}
		if has, err := ls.IsAncestorIn(ctx, in, commit, refs[name]); err == nil && has {
			return b.Name, nil
		}
	}
	return "", nil
}

// refName returns a ref as people write it.
func refName(ref string) string {
	for _, dir := range append([]string{"refs/coppice/"}, repo.ShownRefs...) {
		if name, ok := strings.CutPrefix(ref, dir); ok {
			return name
		}
	}
	return ref
}

// opposite returns a commit on top of the landing that is reverted, with the tree
// from below it. The same spec gives the same commit.
func (ls *Landings) opposite(ctx context.Context, r repo.Repo, spec coppice.MergeSpec) (string, error) {
	below, err := ls.describe(ctx, r, spec.Reverts)
	if err != nil {
		return "", err
	}
	who, err := ls.committer(ctx, r, spec)
	if err != nil {
		return "", err
	}
	return ls.CommitTree(ctx, r, gitfiles.Commit{
		Tree: below.Tree, Parents: []string{spec.Head}, Author: who, Committer: who, Message: ended(cmp.Or(spec.Message, "revert")),
	})
}
