package workspace

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"coppice"
	"coppice/workspace/git"
)

// push brings New to the remote. It is never forced. When the remote has
// commits the base has not, the base takes them over, and the landing begins
// again from there.
func (w *Workspaces) push(ctx context.Context, r repo, spec coppice.MoveSpec) (res coppice.MoveResult, pushed bool, err error) {
	res.Now = spec.Old
	remotes, err := w.git.Run(ctx, r.root, "remote")
	if err != nil {
		return res, false, err
	}
	if !hasLine(remotes, spec.Remote) {
		res.Blocked = fmt.Sprintf("there is no remote %[1]s to push to; add it with `git remote add %[1]s <address>`, or set land.push to false", spec.Remote)
		return res, false, nil
	}
	dst := "refs/heads/" + spec.Base
	out, _, err := w.git.Status(ctx, git.Call{Dir: r.root, Network: true, Config: []string{"remote." + spec.Remote + ".mirror=false"},
		Args: []string{"push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no", spec.Remote, spec.New + ":" + dst}})
	if err == nil {
		return res, true, nil
	}
	if ctx.Err() != nil {
		return res, false, err
	}
	if !refused(out, dst) {
		return res, false, unreachable(spec.Remote, err)
	}
	theirs, err := w.fetch(ctx, r, spec)
	if err != nil {
		return res, false, err
	}
	if theirs == spec.Old {
		// It stands where it should and yet refuses: a rule of the remote's.
		return coppice.MoveResult{Now: spec.Old, Blocked: fmt.Sprintf("%s refuses the push to %s: %s", spec.Remote, spec.Base, reason(out, dst))}, false, nil
	}
	if has, err := w.isAncestor(ctx, r, spec.New, theirs); err != nil || has {
		return res, has, err // somebody pushed ours and went on from it
	}
	if ahead, err := w.isAncestor(ctx, r, spec.Old, theirs); err != nil {
		return res, false, err
	} else if ahead {
		res, err := w.advance(ctx, r, coppice.MoveSpec{Base: spec.Base, Old: spec.Old, New: theirs, Keep: spec.Keep})
		res.Moved = false // not to New
		return res, false, err
	}
	if behind, err := w.isAncestor(ctx, r, theirs, spec.Old); err != nil {
		return res, false, err
	} else if behind {
		return coppice.MoveResult{Now: spec.Old, Blocked: fmt.Sprintf("%s refuses the push to %s: %s", spec.Remote, spec.Base, reason(out, dst))}, false, nil
	}
	res.Blocked = fmt.Sprintf("%s and %s/%s have gone different ways: merge or rebase %s by hand", spec.Base, spec.Remote, spec.Base, spec.Base)
	return res, false, nil
}

func hasLine(text, line string) bool {
	for l := range strings.Lines(text) {
		if strings.TrimSpace(l) == line {
			return true
		}
	}
	return false
}

// refused tells whether the remote was reached and turned the ref down.
func refused(porcelain, dst string) bool { return reason(porcelain, dst) != "" }

// reason returns the remote's words for turning the ref down, from a line such
// as "!\t<src>:<dst>\t[rejected] (fetch first)".
func reason(porcelain, dst string) string {
	for l := range strings.Lines(porcelain) {
		f := strings.Split(strings.TrimSpace(l), "\t")
		if len(f) == 3 && f[0] == "!" && strings.HasSuffix(f[1], ":"+dst) {
			return f[2]
		}
	}
	return ""
}

// fetch gets the remote's base under a ref of our own; the person's
// remote-tracking branches and FETCH_HEAD stay as they are.
func (w *Workspaces) fetch(ctx context.Context, r repo, spec coppice.MoveSpec) (string, error) {
	ref := "refs/coppice/remote/" + spec.Remote + "/" + spec.Base
	_, err := w.git.Do(ctx, git.Call{Dir: r.root, Network: true,
		Args: []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", "--no-recurse-submodules", "--no-auto-maintenance", spec.Remote, "+refs/heads/" + spec.Base + ":" + ref}})
	if err != nil {
		return "", errors.Join(context.Cause(ctx), unreachable(spec.Remote, err))
	}
	return w.git.Run(ctx, r.root, "rev-parse", "--verify", ref+"^{commit}")
}

func unreachable(remote string, err error) error {
	return coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("cannot reach the remote %s: %s", remote, said(err)),
		"make sure that `git push` works without a question")
}
