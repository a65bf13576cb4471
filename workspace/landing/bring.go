package landing

import (
	"context"

	"coppice"
	"coppice/workspace/repo"
)

// broughtOver is the entry in git's log of a branch that was brought over.
const broughtOver = "brought over"

// Bring copies a task's branch from Coppice's own repository into the person's, as
// a branch of the same name, and returns its commit. It checks the objects as for a
// landing. An existing branch of that name moves only forward.
func (ls *Landings) Bring(ctx context.Context, dir, base, branch string) (string, error) {
	if err := coppice.ValidBranch(branch); err != nil {
		return "", err
	}
	r, err := ls.Use(ctx, dir)
	if err != nil {
		return "", err
	}
	own := "refs/heads/" + branch
	refs, err := ls.Refs(ctx, r.Own(), own)
	if err != nil {
		return "", err
	}
	commit := refs[own]
	if commit == "" {
		return "", coppice.Errorf(coppice.ENotFound, "there is no branch %s: its task landed, or has not started", coppice.Quote(branch)).
			WithFix("restore the workspace with `coppice restore` first")
	}
	from, err := ls.Branch(ctx, r, base)
	if err != nil {
		return "", err
	}
	unlock, err := ls.Locks.Wait(ctx, moveLock(r))
	if err != nil {
		return "", err
	}
	defer unlock()
	if err := ls.recoverMove(context.WithoutCancel(ctx), r); err != nil {
		return "", err
	}
	wrong, err := ls.gather(ctx, r, from, commit)
	if err != nil {
		return "", repo.Classify(err)
	}
	if wrong != "" {
		return "", coppice.Errorf(coppice.EConflict, "git refuses the commits of %s: %s", branch, wrong).WithFix("check them in the task's workspace")
	}
	ctx = context.WithoutCancel(ctx)
	if err := ls.adopt(ctx, r, from, commit); err != nil {
		return "", repo.Classify(err)
	}
	theirs, err := ls.Refs(ctx, r.Users(), own)
	if err != nil {
		return "", err
	}
	line := "create " + own + " " + commit
	if at := theirs[own]; at != "" {
		if ahead, err := ls.IsAncestor(ctx, r, at, commit); err != nil {
			return "", err
		} else if !ahead {
			return "", coppice.Errorf(coppice.EConflict, "your repository has another branch %s", coppice.Quote(branch)).
				WithFix("rename it with `git branch -m %s other`", branch)
		}
		line = "update " + own + " " + commit + " " + at
	}
	if err := ls.UpdateRefs(ctx, r.Users(), broughtOver, line); err != nil {
		return "", repo.Classify(err)
	}
	return commit, dropGathered(r, commit)
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
