package workspace

import (
	"context"

	"coppice"
)

// broughtOver is the entry in git's log of a branch that was brought over.
const broughtOver = "brought over"

// Bring copies a task's branch from Coppice's own repository into the person's, as
// a branch of the same name, and returns its commit. It checks the objects as for a
// landing. An existing branch of that name moves only forward.
func (w *Workspaces) Bring(ctx context.Context, dir, base, branch string) (string, error) {
	if err := coppice.ValidBranch(branch); err != nil {
		return "", err
	}
	r, err := w.use(ctx, dir)
	if err != nil {
		return "", err
	}
	own := "refs/heads/" + branch
	refs, err := w.refs(ctx, r.own(), own)
	if err != nil {
		return "", err
	}
	commit := refs[own]
	if commit == "" {
		return "", coppice.Errorf(coppice.ENotFound, "there is no branch %s: its task landed, or has not started", coppice.Quote(branch)).
			WithFix("restore the workspace with `coppice restore` first")
	}
	from, err := w.branch(ctx, r, base)
	if err != nil {
		return "", err
	}
	unlock, err := w.locks.Wait(ctx, moveLock(r))
	if err != nil {
		return "", err
	}
	defer unlock()
	if err := w.recoverMove(context.WithoutCancel(ctx), r); err != nil {
		return "", err
	}
	wrong, err := w.gather(ctx, r, from, commit)
	if err != nil {
		return "", classify(err)
	}
	if wrong != "" {
		return "", coppice.Errorf(coppice.EConflict, "git refuses the commits of %s: %s", branch, wrong).WithFix("check them in the task's workspace")
	}
	ctx = context.WithoutCancel(ctx)
	if err := w.adopt(ctx, r, from, commit); err != nil {
		return "", classify(err)
	}
	theirs, err := w.refs(ctx, r.users(), own)
	if err != nil {
		return "", err
	}
	line := "create " + own + " " + commit
	if at := theirs[own]; at != "" {
		if ahead, err := w.isAncestor(ctx, r, at, commit); err != nil {
			return "", err
		} else if !ahead {
			return "", coppice.Errorf(coppice.EConflict, "your repository has another branch %s", coppice.Quote(branch)).
				WithFix("rename it with `git branch -m %s other`", branch)
		}
		line = "update " + own + " " + commit + " " + at
	}
	if err := w.updateRefs(ctx, r.users(), broughtOver, line); err != nil {
		return "", classify(err)
	}
	return commit, dropGathered(r, commit)
}

// Published checks that a task's branch in Coppice's own repository is at a commit.
// Save copies it there, so on this machine nothing else is necessary.
func (w *Workspaces) Published(ctx context.Context, dir, branch, head string) error {
	r, err := w.use(ctx, dir)
	if err != nil {
		return err
	}
	ref := "refs/heads/" + branch
	refs, err := w.refs(ctx, r.own(), ref)
	if err != nil {
		return err
	}
	if refs[ref] != head {
		return coppice.Errorf(coppice.EUnavailable, "the commit %s of branch %s is not in Coppice's repository for %s", head, branch, dir).
			WithFix("retry the task; its workspace has the commit")
	}
	return nil
}
