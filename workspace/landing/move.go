package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"coppice"
	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
	"coppice/workspace/repo"
)

// Move moves the base branch from Old to New by compare-and-swap. A checkout of the
// base follows, as with git merge --ff-only: changes of the person in other files
// stay. If the person changed a file that the move changes too, or a checkout is in
// the middle of an operation, nothing moves and Blocked says why.
//
// After a crash, Coppice can complete or undo everything that Move writes to the
// person's repository: see moveRecord. As soon as Move writes, the end of ctx does
// not stop it.
func (ls *Landings) Move(ctx context.Context, spec coppice.MoveSpec) (coppice.MoveResult, error) {
	err := validMove(&spec)
	if spec.Ref != "" || !spec.Follow { // a base that follows its remote has no candidate
		err = cmp.Or(err, validRef(spec.Ref))
	}
	if err != nil {
		return coppice.MoveResult{}, err
	}
	if spec.Back {
		return ls.moveBack(ctx, spec)
	}
	r, err := ls.Use(ctx, spec.Repo)
	if err != nil {
		return coppice.MoveResult{}, err
	}
	if spec.Follow {
		res, err := ls.followRemote(ctx, r, spec)
		return res, repo.Classify(err)
	}
	if spec.Push {
		p, err := ls.push(ctx, r, spec)
		if err != nil || !p.Pushed {
			return coppice.MoveResult{Now: p.Now, Blocked: p.Blocked, Need: p.Need}, repo.Classify(err)
		}
		spec.Pushed = true
	}
	res, err := ls.move(ctx, r, spec)
	return res, repo.Classify(err)
}

// validMove checks what a push and a move have in common.
func validMove(spec *coppice.MoveSpec) error {
	if spec.Remote == "" {
		spec.Remote = "origin"
	}
	return cmp.Or(coppice.ValidBranch(spec.Base), coppice.ValidHash(spec.Old), coppice.ValidHash(spec.New), coppice.ValidName("remote", spec.Remote))
}

func (ls *Landings) move(ctx context.Context, r repo.Repo, spec coppice.MoveSpec) (coppice.MoveResult, error) {
	// Moves of one base take turns. The compare-and-swap finds changes by others.
	unlock, err := ls.Locks.Wait(ctx, moveLock(r))
	if err != nil {
		return coppice.MoveResult{}, err
	}
	defer unlock()
	res, free, err := ls.standing(ctx, r, spec)
	if err == nil && free {
		res, err = ls.advance(ctx, r, spec, spec.Old)
	} else if err == nil && res.Moved {
		err = dropGathered(r, spec.New)
	}
	if err == nil && res.Moved && spec.Ref != "" {
		err = ls.DropRefs(ctx, r, spec.Ref)
	}
	return res, err
}

// standing finds out where the base is: at Old and free to move to New, at New or
// beyond it, or elsewhere. The caller holds the lock of moves.
func (ls *Landings) standing(ctx context.Context, r repo.Repo, spec coppice.MoveSpec) (res coppice.MoveResult, free bool, err error) {
	if res, free, err = ls.settled(ctx, r, spec.Base); err != nil || !free {
		return res, false, err
	}
	onTop := false
	if res.Now == spec.Old && res.Now != spec.New {
		if onTop, err = ls.IsAncestor(ctx, r, spec.Old, spec.New); err != nil {
			return res, false, err
		}
	}
	if !onTop { // it may have moved already
		if res.Moved, err = ls.IsAncestor(ctx, r, spec.New, res.Now); err == nil && !res.Moved && res.Now == spec.Old {
			res.Blocked = fmt.Sprintf("the commit %.12s is not on top of %.12s", spec.New, spec.Old)
		}
		return res, false, err
	}
	return ls.confirmed(ctx, r, res)
}

// settled completes or undoes an interrupted move, and returns where the base is
// then. It reports false if files of the person block that.
func (ls *Landings) settled(ctx context.Context, r repo.Repo, base string) (res coppice.MoveResult, ok bool, err error) {
	if err := ls.recoverMove(context.WithoutCancel(ctx), r); err != nil {
		if stuck := (*errStuck)(nil); errors.As(err, &stuck) {
			return coppice.MoveResult{Blocked: err.Error(), Need: &coppice.Need{
				Kind: coppice.NeedCheckout, Text: err.Error(), Paths: stuck.yours, Fix: "move these files away; the landing then continues automatically",
			}}, false, nil
		}
		return res, false, err
	}
	res.Now, err = ls.Branch(ctx, r, base)
	return res, err == nil, err
}

// confirmed reports whether no git setting waits for a person's confirmation. If
// one does, it blocks the move.
func (ls *Landings) confirmed(ctx context.Context, r repo.Repo, res coppice.MoveResult) (coppice.MoveResult, bool, error) {
	need, err := ls.Unconfirmed(ctx, r)
	if err != nil || need == nil {
		return res, err == nil, err
	}
	res.Blocked, res.Need = need.Text, need
	return res, false, nil
}

func moveLock(r repo.Repo) string { return filepath.Join(r.Dir, "move.lock") }

// plan is what a move will do, or why it cannot.
type plan struct {
	trees   []following
	changes []gitfiles.Change
	blocked coppice.MoveResult // when its Blocked is set
}

// plan finds the checkouts that have to follow, and files that block them.
func (ls *Landings) plan(ctx context.Context, r repo.Repo, spec coppice.MoveSpec) (p plan, err error) {
	p.blocked.Now = spec.Old
	trees, why, err := ls.busy(ctx, r, spec.Base)
	if err != nil || why != "" {
		p.blocked.Blocked = why
		return p, err
	}
	if p.changes, err = ls.Changes(ctx, r.Git, spec.Old, spec.New); err != nil {
		return p, err
	}
	for _, t := range trees {
		f := following{Path: t.Path, Git: t.Git, Stage: stageDir(t)}
		f.look(p.changes)
		paths, err := ls.inTheWay(ctx, t, spec.Old, p.changes)
		if err != nil {
			return p, err
		}
		if len(paths) > 0 && ls.isThere(ctx, t, spec.New, p.changes) {
			continue // it never left New, or is there already
		}
		if len(paths) > 0 {
			p.blocked = blockedBy(r, t.Path, spec, paths)
			return p, nil
		}
		p.trees = append(p.trees, f)
	}
	return p, nil
}

// isThere reports whether a checkout is at the target of a move already: its index
// and its files, as far as the move changes them.
func (ls *Landings) isThere(ctx context.Context, t repo.Worktree, to string, changes []gitfiles.Change) bool {
	there := make([]gitfiles.Change, len(changes))
	for i, c := range changes {
		there[i] = gitfiles.Change{Path: c.Path, OldMode: c.NewMode, Old: c.New}
	}
	dirty, err := ls.dirtyPaths(ctx, t, to, there)
	return err == nil && !slices.ContainsFunc(there, func(c gitfiles.Change) bool { return dirty[c.Path] })
}

// blockedBy says that files of a checkout block a move.
func blockedBy(r repo.Repo, checkout string, spec coppice.MoveSpec, paths []string) coppice.MoveResult {
	text := fmt.Sprintf("%s has %s checked out, with changes of yours in files that the next landing changes too: %s", checkout, spec.Base, repo.Listed(paths))
	rel := paths
	if checkout != r.Root {
		rel = make([]string, len(paths))
		for i, p := range paths {
			rel[i] = filepath.Join(checkout, filepath.FromSlash(p))
		}
	}
	return coppice.MoveResult{Now: spec.Old, Blocked: text, Need: &coppice.Need{
		Kind: coppice.NeedCheckout, Text: text, Paths: rel,
		Fix: "commit, stash, move or undo your changes in these files; the landing then continues automatically",
	}}
}

const stageName = "coppice-landing"

// stageDir returns where the files for a checkout are staged: on its file system,
// and not among its files if possible.
func stageDir(t repo.Worktree) string {
	if sameDevice(t.Path, t.Git) {
		return filepath.Join(t.Git, stageName)
	}
	return filepath.Join(t.Path, "."+stageName)
}

// advance moves the branch, which is at the commit now, and its checkouts from Old
// to New. If a checkout cannot follow because the person changed it at this moment,
// nothing moves.
func (ls *Landings) advance(ctx context.Context, r repo.Repo, spec coppice.MoveSpec, now string) (coppice.MoveResult, error) {
	plan, err := ls.plan(ctx, r, spec)
	if err != nil || plan.blocked.Blocked != "" {
		return plan.blocked, err
	}
	wrong, err := ls.gather(ctx, r, spec.Old, spec.New)
	if err != nil {
		return coppice.MoveResult{}, err
	}
	if wrong != "" {
		return coppice.MoveResult{Now: spec.Old, Blocked: "git refuses the commit that would land: " + wrong}, nil
	}
	refs, err := ls.refUpdates(ctx, r, spec, now)
	if err != nil {
		return coppice.MoveResult{}, err
	}
	if err := context.Cause(ctx); err != nil {
		return coppice.MoveResult{}, err
	}
	ctx = context.WithoutCancel(ctx) // from here on the move is completed
	m := &moveRecord{Base: spec.Base, Old: spec.Old, New: spec.New, Trees: plan.trees, Changes: plan.changes}
	for _, u := range refs {
		m.Refs = append(m.Refs, u.Name)
	}
	if err := ls.writeRecord(r, m); err != nil {
		return coppice.MoveResult{}, err
	}
	res, err := ls.carryOut(ctx, r, spec, m, refs)
	if err != nil {
		return coppice.MoveResult{}, err // the record stays, and the next attempt starts with it
	}
	if err := ls.closeRecord(r, m); err != nil {
		return coppice.MoveResult{}, err
	}
	if res.Moved {
		ls.landed(ctx, r, spec.Base, spec.Old, spec.New)
	}
	return res, nil
}

// refUpdates returns which refs of the person's repository change: the base, the ref
// that keeps commits if it is at the old base, and the remote-tracking branch
// after a push.
func (ls *Landings) refUpdates(ctx context.Context, r repo.Repo, spec coppice.MoveSpec, now string) ([]gitfiles.RefUpdate, error) {
	list := []gitfiles.RefUpdate{{Name: "refs/heads/" + spec.Base, Old: now, New: spec.New}}
	tracking := "refs/remotes/" + spec.Remote + "/" + spec.Base
	at, err := ls.Refs(ctx, r.Users(), repo.KeepRef, tracking)
	if err != nil {
		return nil, err
	}
	if at[repo.KeepRef] == spec.Old {
		list = append(list, gitfiles.RefUpdate{Name: repo.KeepRef, Old: spec.Old, New: spec.New})
	}
	if spec.Pushed && at[tracking] != "" {
		list = append(list, gitfiles.RefUpdate{Name: tracking, Old: at[tracking], New: spec.New})
	}
	return list, nil
}

// refChange is a prepared change of refs. The locks of the refs are held.
type refChange interface {
	Commit() error
	Abort() error
}

// begin prepares a change of refs in the person's repository.
func (ls *Landings) begin(ctx context.Context, r repo.Repo, back bool, updates []gitfiles.RefUpdate) (refChange, error) {
	why := ownMove + "land"
	if back {
		why = ownMove + "revert"
	}
	who, err := ls.Signature(ctx, r, coppice.Identity{})
	if err != nil {
		return nil, err
	}
	if filepath.Join(r.Root, ".git") == r.User { // otherwise another HEAD may have to be locked
		if t, err := ls.Files(ctx, r.User).BeginRefs(who, why, updates...); err == nil {
			return t, nil
		}
	}
	var lines []string
	for _, u := range updates {
		lines = append(lines, "update "+u.Name+" "+u.New+" "+u.Old)
	}
	who.Date = "" // git uses its own clock
	return ls.Git.Begin(ctx, r.Root, why, repo.SignatureEnv(who, who), lines...)
}

// carryOut does what the record says. After an error, the record says how to
// continue. A result means that the checkouts are where the branch is.
func (ls *Landings) carryOut(ctx context.Context, r repo.Repo, spec coppice.MoveSpec, m *moveRecord, refs []gitfiles.RefUpdate) (coppice.MoveResult, error) {
	if err := errors.Join(ls.adopt(ctx, r, spec.Old, spec.New), ls.Step("adopted")); err != nil {
		return coppice.MoveResult{}, err
	}
	for i := range m.Trees {
		f := &m.Trees[i]
		held, err := ls.lockIndex(*f)
		if err != nil {
			return coppice.MoveResult{}, err
		}
		if held != "" {
			ls.unlockTrees(m.Trees[:i])
			return coppice.MoveResult{Now: spec.Old, Blocked: held}, nil
		}
		if err := ls.stage(ctx, r, *f, m); err != nil {
			ls.unlockTrees(m.Trees[:i+1])
			if git.Exit(err) == 128 && !repo.DiskFull(err) {
				return coppice.MoveResult{Now: spec.Old, Blocked: fmt.Sprintf("%s has %s checked out and cannot follow: %s", f.Path, spec.Base, repo.Message(err))}, nil
			}
			return coppice.MoveResult{}, err
		}
		f.Absent = f.absent(m.Changes)
	}
	defer ls.unlockTrees(m.Trees)
	if m.Staged = true; len(m.Trees) > 0 {
		if err := ls.writeRecord(r, m); err != nil {
			return coppice.MoveResult{}, err
		}
	}
	if err := ls.Step("staged"); err != nil {
		return coppice.MoveResult{}, err
	}
	t, err := ls.begin(ctx, r, spec.Back, refs)
	if err != nil {
		now, rerr := ls.Branch(ctx, r, spec.Base)
		if rerr == nil && now != spec.Old {
			return coppice.MoveResult{Now: now, Moved: now == spec.New}, nil // somebody was faster
		}
		return coppice.MoveResult{}, errors.Join(err, rerr)
	}
	return ls.swap(ctx, r, spec, m, t)
}

// swap places the files in the checkouts and commits the change of the branch.
func (ls *Landings) swap(ctx context.Context, r repo.Repo, spec coppice.MoveSpec, m *moveRecord, t refChange) (coppice.MoveResult, error) {
	for i, f := range m.Trees {
		changes := f.present(m.Changes)
		err := ls.place(f, changes, func(string) bool { return false })
		if err == nil {
			err = ls.putIn(ctx, f, changes)
		}
		if err == nil {
			continue
		}
		for _, g := range m.Trees[:i+1] {
			if stuck, back := ls.undoTree(ctx, g, g.present(m.Changes)); back != nil || len(stuck) > 0 {
				return coppice.MoveResult{}, errors.Join(err, back, t.Abort())
			}
		}
		if changed := (errChanged{}); errors.As(err, &changed) {
			return blockedBy(r, f.Path, spec, []string{changed.path}), t.Abort()
		}
		return coppice.MoveResult{}, errors.Join(err, t.Abort())
	}
	if err := ls.Step("placed"); err != nil {
		return coppice.MoveResult{}, errors.Join(err, t.Abort())
	}
	if err := t.Commit(); err != nil {
		return coppice.MoveResult{}, err
	}
	return coppice.MoveResult{Moved: true, Now: spec.New}, ls.Step("ref moved")
}

// unlockTrees releases the locks of checkouts that this process holds. A git command of
// the person can hold a lock that was released, or that this process did not get.
func (ls *Landings) unlockTrees(trees []following) {
	for _, f := range trees {
		if gitfiles.HoldsLock(f.lock()) {
			_ = os.Remove(f.lock())
		}
	}
}

// busy returns the checkouts that have to move with the base, and why the base must
// not move now, or "".
func (ls *Landings) busy(ctx context.Context, r repo.Repo, base string) (trees []repo.Worktree, why string, err error) {
	list, err := ls.Worktrees(ctx, r)
	if err != nil {
		return nil, "", err
	}
	for _, t := range list {
		if t.Git == "" {
			continue
		}
		if t.Branch != "refs/heads/"+base {
			if what := busyWith(t.Git, base); what != "" {
				return nil, fmt.Sprintf("%s is in the middle of %s of %s", t.Path, what, base), nil
			}
			continue
		}
		for _, p := range repo.Operations {
			file := filepath.Join(t.Git, p.File)
			if !repo.Exists(file) || p.File == "index.lock" && gitfiles.IsAbandoned(file) {
				continue
			}
			if p.File == "index.lock" {
				return nil, fmt.Sprintf("%s has %s checked out and another git command runs there: %s", t.Path, base, lockHolder(file, t.Path)), nil
			}
			return nil, fmt.Sprintf("%s has %s checked out and is in the middle of %s", t.Path, base, p.What), nil
		}
		trees = append(trees, t)
	}
	return trees, "", nil
}

// busyWith names the operation that took a worktree off the base and will return it
// to the base.
func busyWith(dir, base string) string {
	for _, f := range []struct{ file, name, what string }{
		{"rebase-merge/head-name", "refs/heads/" + base, "a rebase"},
		{"rebase-apply/head-name", "refs/heads/" + base, "a rebase"},
		{"BISECT_START", base, "a bisect"},
	} {
		file := filepath.Join(dir, f.file)
		if !repo.Exists(file) { // the usual case, and cheaper than opening it
			continue
		}
		if b, err := os.ReadFile(file); err == nil && strings.TrimSpace(string(b)) == f.name {
			return f.what
		}
	}
	return ""
}

// sameDevice reports whether two paths are on one file system.
func sameDevice(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	if err != nil {
		return false
	}
	s, ok := x.Sys().(*syscall.Stat_t)
	t, ok2 := y.Sys().(*syscall.Stat_t)
	return ok && ok2 && s.Dev == t.Dev
}
