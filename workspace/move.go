package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coppice"
	"coppice/workspace/git"
)

// Move moves the base branch from Old to New by compare-and-swap. Where the
// base is checked out and clean, that checkout moves with it; where it is
// dirty or in the middle of something, nothing moves and Blocked says why. With
// Push the remote moves first, so that a base that moved here is never ahead of
// a remote that refused it.
func (w *Workspaces) Move(ctx context.Context, spec coppice.MoveSpec) (coppice.MoveResult, error) {
	err := errors.Join(coppice.ValidBranch(spec.Base), coppice.ValidHash(spec.Old), coppice.ValidHash(spec.New), validRef(spec.Ref), validPaths("keep", spec.Keep))
	if spec.Remote == "" {
		spec.Remote = "origin"
	}
	if err = errors.Join(err, coppice.ValidName("remote", spec.Remote)); err != nil {
		return coppice.MoveResult{}, firstError(err)
	}
	r, err := w.find(ctx, spec.Repo)
	if err != nil {
		return coppice.MoveResult{}, err
	}
	res, err := w.move(ctx, r, spec)
	return res, told(err)
}

func (w *Workspaces) move(ctx context.Context, r repo, spec coppice.MoveSpec) (coppice.MoveResult, error) {
	// Movers of one base take turns; whoever changes it besides is met by the
	// compare-and-swap.
	unlock, err := w.lock(ctx, filepath.Join(r.dir, "move.lock"))
	if err != nil {
		return coppice.MoveResult{}, err
	}
	defer unlock()
	now, err := w.branch(ctx, r, spec.Base)
	if err != nil {
		return coppice.MoveResult{}, err
	}
	onTop := false
	if now == spec.Old && now != spec.New {
		if onTop, err = w.isAncestor(ctx, r, spec.Old, spec.New); err != nil {
			return coppice.MoveResult{Now: now}, err
		}
	}
	if !onTop { // it may be there already
		if done, err := w.isAncestor(ctx, r, spec.New, now); err != nil || done {
			if err == nil && now == spec.New {
				err = w.catchUp(ctx, r, spec)
			}
			if err != nil {
				return coppice.MoveResult{}, err
			}
			return coppice.MoveResult{Moved: true, Now: now}, w.dropRefs(ctx, r, spec.Ref)
		}
		if now != spec.Old {
			return coppice.MoveResult{Now: now}, nil
		}
		return coppice.MoveResult{Now: now, Blocked: fmt.Sprintf("the commit %.12s does not stand on %.12s", spec.New, spec.Old)}, nil
	}
	if spec.Push {
		// What would block the branch here must be known before the remote has
		// moved; advance looks again.
		if _, why, need, err := w.blocked(ctx, r, spec); err != nil || why != "" {
			return coppice.MoveResult{Now: now, Blocked: why, Need: need}, err
		}
		res, pushed, err := w.push(ctx, r, spec)
		if err != nil || !pushed {
			return res, err
		}
	}
	if err := w.step("pushed"); err != nil {
		return coppice.MoveResult{}, err
	}
	return w.advance(ctx, r, spec)
}

// dropRefs deletes those of the refs that are there.
func (w *Workspaces) dropRefs(ctx context.Context, r repo, names ...string) error {
	refs, err := w.refs(ctx, r, names...)
	if err != nil {
		return err
	}
	var lines []string
	for name, at := range refs {
		lines = append(lines, "delete "+name+" "+at)
	}
	return w.updateRefs(ctx, r, "done", lines...)
}

// advance moves the branch, and the checkouts that stand on it. The ref that
// kept the commit until now goes in the same moment. When a checkout cannot
// follow after all, because somebody changed it in between, both go back.
func (w *Workspaces) advance(ctx context.Context, r repo, spec coppice.MoveSpec) (coppice.MoveResult, error) {
	base, from, to, ref := spec.Base, spec.Old, spec.New, spec.Ref
	trees, why, need, err := w.blocked(ctx, r, spec)
	if err != nil || why != "" {
		return coppice.MoveResult{Now: from, Blocked: why, Need: need}, err
	}
	own := "refs/heads/" + base
	do, undo := []string{"update " + own + " " + to + " " + from}, []string{"update " + own + " " + from + " " + to}
	if ref != "" {
		kept, err := w.refs(ctx, r, ref)
		if err != nil {
			return coppice.MoveResult{}, err
		}
		if at := kept[ref]; at != "" {
			do, undo = append(do, "delete "+ref+" "+at), append(undo, "update "+ref+" "+at)
		}
	}
	if err := w.updateRefs(ctx, r, "land", do...); err != nil {
		refs, rerr := w.refs(ctx, r, own)
		if rerr == nil && refs[own] != "" && refs[own] != from {
			return coppice.MoveResult{Now: refs[own], Moved: refs[own] == to}, nil // somebody was faster
		}
		return coppice.MoveResult{}, errors.Join(err, rerr)
	}
	if err := w.step("ref moved"); err != nil {
		return coppice.MoveResult{}, err
	}
	for i, t := range trees {
		if err := w.follow(ctx, t.path, from, to); err != nil {
			if i > 0 || ctx.Err() != nil {
				return coppice.MoveResult{}, err // the next try finishes it
			}
			if back := w.updateRefs(ctx, r, "land undone", undo...); back != nil {
				return coppice.MoveResult{}, errors.Join(err, back)
			}
			return coppice.MoveResult{Now: from, Blocked: fmt.Sprintf("the checkout %s changed while %s moved: %s", t.path, base, said(err))}, nil
		}
	}
	return coppice.MoveResult{Moved: true, Now: to}, nil
}

// follow moves a checkout's files and index. Git takes a file that was only
// touched for changed until the index is refreshed, so that is done before it
// is believed.
func (w *Workspaces) follow(ctx context.Context, tree, from, to string) error {
	args := []string{"read-tree", "-m", "-u", from, to}
	if _, err := w.git.Run(ctx, tree, args...); git.Exit(err) != 128 {
		return err
	}
	if _, err := w.git.Do(ctx, git.Call{Dir: tree, Args: []string{"update-index", "-q", "--refresh"}, OK: []int{1}}); err != nil {
		return err
	}
	_, err := w.git.Run(ctx, tree, args...)
	return err
}

// said returns git's own words, on one line.
func said(err error) string {
	var ge *git.Error
	if errors.As(err, &ge) {
		return strings.Join(strings.Fields(strings.TrimPrefix(ge.Stderr, "error: ")), " ")
	}
	return err.Error()
}

// checkouts lists the worktrees that have the branch checked out.
func (w *Workspaces) checkouts(ctx context.Context, r repo, base string) ([]worktree, error) {
	list, err := w.worktrees(ctx, r)
	return slices.DeleteFunc(list, func(t worktree) bool { return t.branch != "refs/heads/"+base || t.git == "" }), err
}

// progress names the operations git may be in the middle of, by the file that
// tells.
var progress = []struct{ file, what string }{
	{"MERGE_HEAD", "a merge"}, {"rebase-merge", "a rebase"}, {"rebase-apply", "a rebase"}, {"CHERRY_PICK_HEAD", "a cherry-pick"},
	{"REVERT_HEAD", "a revert"}, {"BISECT_LOG", "a bisect"}, {"index.lock", "another git command"},
}

// inProgress tells whether a checkout is in the middle of something.
func inProgress(admin string) bool {
	return slices.ContainsFunc(progress, func(p struct{ file, what string }) bool { return exists(filepath.Join(admin, p.file)) })
}

// blocked returns the checkouts that have to move with the base, and says why
// it must not move now; empty when it may. Need is what a person can do about it.
func (w *Workspaces) blocked(ctx context.Context, r repo, spec coppice.MoveSpec) (trees []worktree, why string, need *coppice.Need, err error) {
	base := spec.Base
	list, err := w.worktrees(ctx, r)
	if err != nil {
		return nil, "", nil, err
	}
	for _, t := range list {
		if t.git == "" {
			continue
		}
		if t.branch != "refs/heads/"+base {
			if what := busyWith(t.git, base); what != "" {
				return nil, fmt.Sprintf("%s is in the middle of %s of %s", t.path, what, base), nil, nil
			}
			continue
		}
		for _, p := range progress {
			if exists(filepath.Join(t.git, p.file)) {
				return nil, fmt.Sprintf("%s has %s checked out and is in the middle of %s", t.path, base, p.what), nil, nil
			}
		}
		if why, need, err := w.dirty(ctx, r, t, spec); err != nil || why != "" {
			return nil, why, need, err
		}
		trees = append(trees, t)
	}
	return trees, "", nil, nil
}

// busyWith names the operation that took a worktree off the base and will put
// it back there.
func busyWith(dir, base string) string {
	for _, f := range []struct{ file, name, what string }{
		{"rebase-merge/head-name", "refs/heads/" + base, "a rebase"},
		{"rebase-apply/head-name", "refs/heads/" + base, "a rebase"},
		{"BISECT_START", base, "a bisect"},
	} {
		file := filepath.Join(dir, f.file)
		if !exists(file) { // as always, and cheaper to find out than by opening it
			continue
		}
		if b, err := os.ReadFile(file); err == nil && strings.TrimSpace(string(b)) == f.name {
			return f.what
		}
	}
	return ""
}

// dirty says what keeps a checkout from moving along. Changes in files that are
// kept do not, unless the move would touch them: then git refuses below.
func (w *Workspaces) dirty(ctx context.Context, r repo, t worktree, spec coppice.MoveSpec) (string, *coppice.Need, error) {
	base, from, to := spec.Base, spec.Old, spec.New
	keep := resolved(t.path, spec.Keep)
	if changed, err := keptChanges(r.git, t, from, keep); err == nil && nothingInTheWay(r.git, t.path, from, to, changed) {
		return "", nil, nil
	}
	// Both looks are at a copy of the index, so that nothing of the person's is
	// written. The first one may lock the copy: that lets it refresh the stat
	// data there, which the second one goes by.
	index, err := tempIndex(repo{dir: w.dir}, t.git)
	if err != nil {
		return "", nil, err
	}
	defer os.Remove(index)
	env := []string{"GIT_INDEX_FILE=" + index, "GIT_OPTIONAL_LOCKS=1"}
	out, err := w.git.Do(ctx, git.Call{Dir: t.path, Env: env, Args: []string{"status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=dirty", "--no-renames"}})
	if err != nil {
		return "", nil, err
	}
	var names []string
	plain := true // they are changed and no more: neither staged nor in conflict
	for e := range strings.SplitSeq(out, "\x00") {
		if len(e) > 3 {
			names = append(names, e[3:])
			plain = plain && strings.HasPrefix(e, " M ")
		}
	}
	changed := slices.Clone(names)
	names = slices.DeleteFunc(names, func(n string) bool { return slices.Contains(keep, n) })
	if len(names) > 0 {
		why := fmt.Sprintf("%s has %s checked out with uncommitted changes in %s: commit or stash them", t.path, base, listed(names))
		return why, &coppice.Need{Kind: coppice.NeedCheckout, Text: why, Fix: "commit or stash the changes; the landing then continues by itself", Paths: names}, nil
	}
	if plain && nothingInTheWay(r.git, t.path, from, to, changed) {
		return "", nil, nil
	}
	// A dry run finds untracked files in the way, and kept ones that would change.
	_, err = w.git.Do(ctx, git.Call{Dir: t.path, Env: env, Args: []string{"read-tree", "--dry-run", "-m", "-u", from, to}})
	if err == nil || git.Exit(err) != 128 {
		return "", nil, err
	}
	return fmt.Sprintf("%s has %s checked out and cannot follow: %s", t.path, base, said(err)), nil, nil
}

// nothingInTheWay tells whether no file stands where the move makes one, and the
// move touches none of those that are changed, as far as can be told without git.
func nothingInTheWay(common, checkout, from, to string, changed []string) bool {
	a, err := readCommit(common, from)
	if err != nil {
		return false
	}
	b, err := readCommit(common, to)
	if err != nil || !sameAt(common, a.tree, b.tree, changed) {
		return false
	}
	free := true
	err = newEntries(common, a.tree, b.tree, "", func(path string, _ entry) {
		_, err := os.Lstat(filepath.Join(checkout, filepath.FromSlash(path)))
		free = free && errors.Is(err, fs.ErrNotExist)
	})
	return err == nil && free
}

// freshIndex copies the index of a checkout and refreshes the copy.
func (w *Workspaces) freshIndex(ctx context.Context, t worktree) (string, error) {
	index, err := tempIndex(repo{dir: w.dir}, t.git)
	if err != nil {
		return "", err
	}
	_, err = w.git.Do(ctx, git.Call{Dir: t.path, Env: []string{"GIT_INDEX_FILE=" + index}, Args: []string{"update-index", "-q", "--refresh"}, OK: []int{1}})
	return index, err
}

// catchUp finishes a move that crashed after the branch moved: a checkout that
// still equals the old commit, or is on its way to the new one, is brought
// there. Any other state is the person's and left alone.
func (w *Workspaces) catchUp(ctx context.Context, r repo, spec coppice.MoveSpec) error {
	trees, err := w.checkouts(ctx, r, spec.Base)
	if err != nil {
		return err
	}
	for _, t := range trees {
		index, err := w.freshIndex(ctx, t)
		if err != nil {
			return err
		}
		err = w.catchUpTree(ctx, t.path, index, spec)
		os.Remove(index)
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *Workspaces) catchUpTree(ctx context.Context, tree, index string, spec coppice.MoveSpec) error {
	spec.Keep = resolved(tree, spec.Keep)
	env := []string{"GIT_INDEX_FILE=" + index}
	staged := []string{"diff-index", "--cached", "--quiet", spec.Old, "--"}
	for i, k := range spec.Keep {
		if i == 0 {
			staged = append(staged, ":(top)")
		}
		staged = append(staged, ":(top,exclude,literal)"+k)
	}
	_, exit, err := w.git.Status(ctx, git.Call{Dir: tree, Env: env, OK: []int{1}, Args: staged})
	if err != nil || exit == 1 {
		return err // the index is not the old one: it followed, or it is the person's
	}
	_, exit, err = w.git.Status(ctx, git.Call{Dir: tree, Env: env, OK: []int{1}, Args: []string{"diff-files", "--quiet", "--ignore-submodules=dirty"}})
	if err != nil {
		return err
	}
	if exit == 0 {
		return w.follow(ctx, tree, spec.Old, spec.New)
	}
	// Some files changed: they may be those that a killed checkout wrote already.
	out, err := w.git.Do(ctx, git.Call{Dir: tree, Env: env, Args: []string{"diff-files", "--name-only", "-z", "--ignore-submodules=dirty"}})
	if err != nil {
		return err
	}
	names := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	kept := len(names)
	names = slices.DeleteFunc(names, func(n string) bool { return slices.Contains(spec.Keep, n) })
	if kept -= len(names); len(names) == 0 {
		return w.follow(ctx, tree, spec.Old, spec.New)
	}
	same, err := w.git.Do(ctx, git.Call{Dir: tree, Env: append(env, "GIT_LITERAL_PATHSPECS=1"), Args: append([]string{"diff", "--name-only", "-z", spec.New, "--"}, names...)})
	if err != nil || same != "" {
		return err
	}
	if kept == 0 {
		_, err = w.git.Run(ctx, tree, "read-tree", "--reset", "-u", spec.New)
		return err
	}
	// A kept file must not be written over. Once the index knows the new files
	// too, the checkout follows as any other does.
	c := git.Call{Dir: tree, Args: []string{"update-index", "--add", "--remove", "-z", "--stdin"}, Stdin: []byte(strings.Join(names, "\x00"))}
	if _, err := w.git.Do(ctx, c); err != nil {
		return err
	}
	return w.follow(ctx, tree, spec.Old, spec.New)
}
