package landing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"coppice"
	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
	"coppice/workspace/repo"
)

// The steps of a flow land on its branch in the person's repository, as they would
// land on any other branch.

// The entries in git's log of a flow's branch.
const flowStarted, flowDropped = "start of a flow", "end of a flow"

// FlowBranch creates the branch of a flow in the person's repository, at the tip of
// another branch or at a commit that the trash keeps. If the branch exists, it stays
// where it is. With Drop, FlowBranch removes the branch instead. If it has commits
// that no other branch has, an entry of the trash keeps them. A branch that the person
// has checked out stays, and the error says where.
func (ls *Landings) FlowBranch(ctx context.Context, spec coppice.BranchSpec) (coppice.BranchResult, error) {
	do := ls.createFlow
	err := validFlowBranch(spec.Branch)
	if spec.Drop {
		do, err = ls.dropFlow, cmp.Or(err, repo.ValidTrash(spec.Ref))
	} else {
		err = cmp.Or(err, coppice.ValidBranch(spec.From))
		if spec.Head != "" {
			err = cmp.Or(err, coppice.ValidHash(spec.Head))
		}
	}
	if err != nil {
		return coppice.BranchResult{}, err
	}
	return repo.In(ctx, ls.Repos, spec.Repo, func(r repo.Repo) (coppice.BranchResult, error) {
		unlock, err := ls.lockMoves(ctx, r)
		if err != nil {
			return coppice.BranchResult{}, err
		}
		defer unlock()
		ref := "refs/heads/" + spec.Branch
		refs, err := ls.Refs(ctx, r.Users(), ref)
		if err != nil {
			return coppice.BranchResult{}, err
		}
		return do(ctx, r, spec, refs[ref])
	})
}

// validFlowBranch checks that a branch is named after a task. So no other branch of
// the person can be removed.
func validFlowBranch(name string) error {
	key := name[strings.LastIndexByte(name, '/')+1:]
	if _, _, session, err := coppice.ParseKey(key); err != nil || session != 0 || name != coppice.TaskBranch(key) {
		return coppice.Errorf(coppice.EInvalid, "%s is not a valid name for the branch of a flow", coppice.Quote(name)).
			WithFix("use %s for the flow app-1", coppice.TaskBranch("app-1")).WithField("branch")
	}
	return nil
}

// createFlow creates the branch unless it is at a commit already. The caller holds the
// lock of moves.
func (ls *Landings) createFlow(ctx context.Context, r repo.Repo, spec coppice.BranchSpec, tip string) (coppice.BranchResult, error) {
	if tip != "" {
		return coppice.BranchResult{Tip: tip}, nil
	}
	start, err := ls.Branch(ctx, r, spec.From)
	if err != nil {
		return coppice.BranchResult{}, err
	}
	why := flowStarted
	if spec.Head != "" {
		if _, err := ls.Git.Run(ctx, r.Git, "cat-file", "-e", spec.Head+"^{commit}"); err != nil {
			if git.Exit(err) > 0 {
				err = coppice.Errorf(coppice.ENotFound, "the commit %.12s of the branch %s is gone", spec.Head, spec.Branch).
					WithFix("its trash was purged; create a new flow")
			}
			return coppice.BranchResult{}, err
		}
		if err := ls.copyOver(ctx, r, start, spec.Branch, spec.Head); err != nil {
			return coppice.BranchResult{}, err
		}
		start, why = spec.Head, broughtOver
	}
	return coppice.BranchResult{Tip: start}, ls.setBranch(ctx, r, spec.Branch, why, "", start)
}

// dropFlow removes the branch, which is at a commit. The caller holds the lock of
// moves.
func (ls *Landings) dropFlow(ctx context.Context, r repo.Repo, spec coppice.BranchSpec, tip string) (res coppice.BranchResult, err error) {
	// An earlier attempt may have written the entry.
	if res.Tip, err = ls.keptTip(ctx, r, spec.Ref); err != nil || tip == "" {
		res.Kept = res.Tip != ""
		return res, err
	}
	trees, why, err := ls.busy(ctx, r, spec.Branch)
	if err == nil && len(trees) > 0 {
		why = fmt.Sprintf("%s has %s checked out", trees[0].Path, spec.Branch)
	}
	if err == nil && why != "" {
		err = coppice.Errorf(coppice.EConflict, "the branch of a flow cannot be removed: %s", why).
			WithFix("switch that checkout to another branch with `git switch`, then retry")
	}
	if err != nil {
		return coppice.BranchResult{}, err
	}
	ctx = context.WithoutCancel(ctx)
	res.Kept = res.Tip != ""
	if res.Tip != tip {
		kept, err := ls.keepTip(ctx, r, spec, tip)
		if err != nil {
			return coppice.BranchResult{}, err
		}
		res.Tip, res.Kept = tip, res.Kept || kept
	}
	return res, ls.setBranch(ctx, r, spec.Branch, flowDropped, tip, "")
}

// keptTip returns the tip of the branch that an entry of the trash keeps, or "".
func (ls *Landings) keptTip(ctx context.Context, r repo.Repo, ref string) (string, error) {
	refs, err := ls.Refs(ctx, r.Own(), ref)
	if err != nil || refs[ref] == "" {
		return "", err
	}
	c, err := ls.describe(ctx, r, refs[ref])
	if err != nil || len(c.Parents) == 0 {
		return "", err
	}
	return c.Parents[0], nil
}

// keepTip keeps the commits of a branch that no other branch of the person has, in the
// form in which the trash keeps the commits of a workspace. It reports whether there
// are any. Coppice's own repository gets the objects, because git prunes them in the
// person's.
func (ls *Landings) keepTip(ctx context.Context, r repo.Repo, spec coppice.BranchSpec, tip string) (bool, error) {
	own, below, err := ls.ownCommits(ctx, r, spec.Branch, tip)
	if err != nil || !own {
		return false, err
	}
	revs := tip + "\n"
	for _, id := range below {
		if err := ls.Keep(ctx, r, id); err != nil {
			return false, err
		}
		revs += "^" + id + "\n"
	}
	if err := ls.CopyObjects(ctx, r, r.Git, r.Git, revs); err != nil {
		return false, err
	}
	c, err := ls.describe(ctx, r, tip)
	if err != nil {
		return false, err
	}
	by := repo.OwnSignature(ls.Now())
	message := fmt.Sprintf("trash of the branch %s\n\nBranch: %s\n", spec.Branch, spec.Branch)
	trash, err := ls.CommitTree(ctx, r, gitfiles.Commit{Tree: c.Tree, Parents: []string{tip}, Author: by, Committer: by, Message: message})
	if err == nil {
		err = ls.SetRef(ctx, r, spec.Ref, trash)
	}
	if err == nil {
		err = ls.Step("flow kept")
	}
	return err == nil, err
}

// ownCommits reports whether a branch has commits that no other branch of the person
// has. Below are the commits of other branches on which they build.
func (ls *Landings) ownCommits(ctx context.Context, r repo.Repo, branch, tip string) (own bool, below []string, err error) {
	heads, _, err := ls.RefsBelow(ctx, r.Users(), "refs/heads/")
	if err != nil {
		return false, nil, err
	}
	revs := tip + "\n"
	for ref, id := range heads {
		if ref != "refs/heads/"+branch {
			revs += "^" + id + "\n"
		}
	}
	out, err := ls.Git.Do(ctx, git.Call{Dir: r.Root, Args: []string{"rev-list", "--boundary", "--stdin"}, Stdin: []byte(revs)})
	for _, line := range strings.Fields(out) {
		if id, ok := strings.CutPrefix(line, "-"); ok {
			below = append(below, id)
		} else {
			own = true
		}
	}
	slices.Sort(below)
	return own, below, err
}

// setBranch creates, moves or removes a branch of the person by compare-and-swap, and
// no checkout follows. An empty old commit means that the branch must not exist, and an
// empty new commit removes it. After a crash, the record says which locks git may have
// left. The caller holds the lock of moves.
func (ls *Landings) setBranch(ctx context.Context, r repo.Repo, branch, why, old, new string) error {
	who, err := ls.Signature(ctx, r, coppice.Identity{})
	if err != nil {
		return err
	}
	who.Date = "" // git uses its own clock
	ref := "refs/heads/" + branch
	m := &moveRecord{Base: branch, Old: old, New: new, Refs: []string{ref}}
	if err := ls.writeRecord(r, m); err != nil {
		return err
	}
	line := fmt.Sprintf("update %s %s %s", ref, new, cmp.Or(old, strings.Repeat("0", len(new))))
	if new == "" {
		line = fmt.Sprintf("delete %s %s", ref, old)
	}
	t, err := ls.Git.Begin(context.WithoutCancel(ctx), r.Root, ownMove+why, repo.SignatureEnv(who, who), "option no-deref\n"+line)
	if git.Exit(err) > 0 && !repo.DiskFull(err) { // git refused it, and changed nothing
		refused := coppice.Errorf(coppice.EConflict, "git cannot change the branch %s: %s", branch, repo.Message(err)).
			WithFix("fix what git reports, then retry")
		return cmp.Or(ls.closeRecord(r, m), error(refused))
	}
	if err == nil {
		err = t.Commit()
	}
	if err == nil {
		err = ls.Step("branch set")
	}
	if err != nil {
		return err // the record stays, and the next attempt starts with it
	}
	return ls.closeRecord(r, m)
}
