package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"coppice"
	"coppice/workspace/gitconfig"
	"coppice/workspace/repo"
)

// PullPush moves the branch of a pull request on the remote from Old to New, or
// deletes it if New is empty. It never overwrites what somebody else pushed: the
// remote compares the branch with Old. Commits of others that New contains are not
// lost, so they do not count.
func (ls *Landings) PullPush(ctx context.Context, spec coppice.PullPushSpec) (coppice.PullPushResult, error) {
	if spec.Remote == "" {
		spec.Remote = "origin"
	}
	err := cmp.Or(coppice.ValidBranch(spec.Branch), coppice.ValidName("remote", spec.Remote))
	for _, hash := range []string{spec.Old, spec.New, spec.Keep} {
		if hash != "" {
			err = cmp.Or(err, coppice.ValidHash(hash))
		}
	}
	if err != nil {
		return coppice.PullPushResult{}, err
	}
	return repo.In(ctx, ls.Repos, spec.Repo, func(r repo.Repo) (coppice.PullPushResult, error) { return ls.pullPush(ctx, r, spec) })
}

func (ls *Landings) pullPush(ctx context.Context, r repo.Repo, spec coppice.PullPushSpec) (res coppice.PullPushResult, err error) {
	n, err := ls.network(ctx, r)
	if err != nil {
		return res, err
	}
	defer n.close()
	if !n.remotes[spec.Remote] {
		return res, noRemote(spec.Remote)
	}
	talk, cancel := stopCtx(ctx)
	defer cancel()
	dst := "refs/heads/" + spec.Branch
	if ls.drops(ctx, r, spec) {
		switch theirs, err := ls.remoteBranch(talk, n, spec.Remote, dst); {
		case err != nil:
			return res, err
		case theirs == spec.Old:
			res.Theirs = spec.Keep
			return res, nil
		}
	}
	for expected := spec.Old; ; {
		out, _, err := ls.Git.Status(talk, n.call("push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no",
			"--force-with-lease="+dst+":"+expected, spec.Remote, spec.New+":"+dst))
		switch {
		case err == nil:
			res.Pushed = true
			return res, ls.Step("pull-pushed")
		case talk.Err() != nil:
			return res, err
		case !refused(out, dst) && spec.New != "":
			return res, unreachable(spec.Remote, err)
		}
		theirs, lookErr := ls.remoteBranch(talk, n, spec.Remote, dst)
		switch {
		case lookErr != nil:
			return res, lookErr
		case theirs == spec.New: // an earlier attempt pushed or deleted it, or the forge did
			res.Pushed = true
			return res, nil
		case theirs == expected: // nobody else changed it: the remote has a rule
			res.Blocked = fmt.Sprintf("%s refuses the push to %s: %s", spec.Remote, spec.Branch, reason(out, dst))
			return res, nil
		case spec.New == "": // there is more work on it than what was merged
			res.Theirs = theirs
			return res, nil
		}
		if has, err := ls.IsAncestor(ctx, r, theirs, spec.New); theirs == "" && spec.Old != "" || err == nil && has && theirs != "" {
			expected, res.Kept = theirs, theirs // the forge deleted it, or New contains it
			continue
		}
		res.Theirs = theirs
		return res, nil
	}
}

// drops reports whether the move from Old to New removes the commit of somebody else
// that has to stay. A move whose commits are not known here might.
func (ls *Landings) drops(ctx context.Context, r repo.Repo, spec coppice.PullPushSpec) bool {
	if spec.Keep == "" || spec.Old == "" || spec.New == "" {
		return false
	}
	if has, err := ls.IsAncestor(ctx, r, spec.Keep, spec.New); err == nil && has {
		return false
	}
	had, err := ls.IsAncestor(ctx, r, spec.Keep, spec.Old)
	return err != nil || had
}

// remoteBranch returns the commit of a branch of a remote; "" if it does not exist.
func (ls *Landings) remoteBranch(ctx context.Context, n *network, remote, ref string) (string, error) {
	out, err := ls.Git.Do(ctx, n.call("ls-remote", "--heads", remote, ref))
	if err != nil {
		return "", errors.Join(context.Cause(ctx), unreachable(remote, err))
	}
	hash, _, _ := strings.Cut(out, "\t")
	return strings.TrimSpace(hash), nil
}

func noRemote(name string) error {
	return coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("there is no remote %s", name), fmt.Sprintf("add it with `git remote add %s <address>`, or set land.remote", name))
}

// Fetch fetches a branch of a remote into Coppice's own repository, and returns its
// commit.
func (ls *Landings) Fetch(ctx context.Context, path, remote, branch string) (string, error) {
	spec := coppice.MoveSpec{Base: branch, Remote: cmp.Or(remote, "origin")}
	if err := cmp.Or(coppice.ValidBranch(branch), coppice.ValidName("remote", spec.Remote)); err != nil {
		return "", err
	}
	return repo.In(ctx, ls.Repos, path, func(r repo.Repo) (string, error) {
		n, err := ls.network(ctx, r)
		if err != nil {
			return "", err
		}
		defer n.close()
		if !n.remotes[spec.Remote] {
			return "", noRemote(spec.Remote)
		}
		return ls.fetch(ctx, r, n, spec)
	})
}

// Remote returns the address of a remote of the person's repository, without
// credentials.
func (ls *Landings) Remote(ctx context.Context, path, name string) (string, error) {
	settings, err := ls.Git.Settings(ctx, path)
	if err != nil {
		return "", err
	}
	address := ""
	for _, s := range settings {
		if s.Key == "remote."+cmp.Or(name, "origin")+".url" {
			address = s.Value
		}
	}
	if address == "" {
		return "", noRemote(cmp.Or(name, "origin"))
	}
	return gitconfig.WithoutCredentials(address), nil
}

// followRemote moves the branch to New, which somebody put on the branch of the
// remote, if New is on top of where the branch is.
func (ls *Landings) followRemote(ctx context.Context, r repo.Repo, spec coppice.MoveSpec) (coppice.MoveResult, error) {
	n, err := ls.network(ctx, r)
	if err != nil {
		return coppice.MoveResult{}, err
	}
	defer n.close()
	if !n.remotes[spec.Remote] {
		return coppice.MoveResult{}, noRemote(spec.Remote)
	}
	talk, cancel := stopCtx(ctx)
	defer cancel()
	theirs, err := ls.fetch(talk, r, n, spec)
	if err != nil {
		return coppice.MoveResult{}, err
	}
	has, err := ls.IsAncestor(ctx, r, spec.New, theirs)
	if err != nil || !has {
		return coppice.MoveResult{Blocked: fmt.Sprintf("%s/%s does not have the commit %.12s", spec.Remote, spec.Base, spec.New)}, err
	}
	now, err := ls.Branch(ctx, r, spec.Base)
	if err != nil {
		return coppice.MoveResult{}, err
	}
	if contains, err := ls.IsAncestor(ctx, r, spec.New, now); err != nil || contains {
		return coppice.MoveResult{Moved: contains, Now: now}, err
	}
	if behind, err := ls.IsAncestor(ctx, r, now, spec.New); err != nil || !behind {
		text := fmt.Sprintf("%s and %s/%s have diverged: merge or rebase %s by hand", spec.Base, spec.Remote, spec.Base, spec.Base)
		return coppice.MoveResult{Now: now, Blocked: text}, err
	}
	spec.Old = now
	return ls.move(ctx, r, spec)
}
