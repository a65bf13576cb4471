package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coppice"
	"coppice/internal/glob"
	"coppice/workspace/archive"
	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
	"coppice/workspace/repo"
)

// Refs of Coppice: the trash, and the candidates of a task below its key.
const trashRefs, landingRefs = repo.TrashRefs, "refs/coppice/landing/"

// Remove moves a workspace to the trash: its commits and uncommitted state to a ref,
// and the ignored files that the policy names to an archive. Then it cleans the
// workspace and keeps it for the next task.
//
// The ref's commit has the files. Its first parent is the branch's head. Its second
// parent is the index, whose parents are the commit of HEAD and the heads of branches
// that the agent created; it is left out if there are none, and the workspace was clean
// and on its branch. A detached workspace leaves no trash.
func (w *Workspaces) Remove(ctx context.Context, spec coppice.RemoveSpec) (coppice.RemoveResult, error) {
	if _, _, session, err := coppice.ParseKey(spec.Key); err == nil && session != 0 {
		return coppice.RemoveResult{}, w.removeDetached(ctx, spec)
	}
	if err := cmp.Or(validKey(spec.Key), coppice.ValidBranch(spec.Branch)); err != nil {
		return coppice.RemoveResult{}, err
	}
	return repo.In(ctx, w.Repos, spec.Repo, func(r repo.Repo) (coppice.RemoveResult, error) { return w.remove(ctx, r, spec) })
}

func (w *Workspaces) remove(ctx context.Context, r repo.Repo, spec coppice.RemoveSpec) (coppice.RemoveResult, error) {
	s, ok, err := w.owned(r, spec.Key)
	if err != nil {
		return coppice.RemoveResult{}, err
	}
	if !ok {
		return w.removed(ctx, r, spec)
	}
	unlock, err := w.Locks.Wait(ctx, s.slotLock(r))
	if err != nil {
		return coppice.RemoveResult{}, err
	}
	defer unlock()
	s, err = readSlot(s.metaFile(r))
	if errors.Is(err, os.ErrNotExist) || (err == nil && (s.Key != spec.Key || s.State == slotIdle)) {
		return w.removed(ctx, r, spec)
	}
	if err != nil {
		return coppice.RemoveResult{}, err
	}
	if s.State != slotRemoving {
		if s, err = w.discard(ctx, r, s, spec.Policy); err != nil {
			return coppice.RemoveResult{}, err
		}
	}
	return w.finishRemove(ctx, r, s)
}

// discard writes the trash and takes the slot to removing. It stores the name of the
// ref first, so that a second attempt after a crash writes the same one.
func (w *Workspaces) discard(ctx context.Context, r repo.Repo, s slot, p coppice.TrashPolicy) (slot, error) {
	if s.Ref == "" {
		n, err := w.lastTrash(ctx, r, s.Key)
		if err != nil {
			return s, err
		}
		s.Ref = fmt.Sprintf("%s%s-%d", trashRefs, s.Key, n+1)
		if err := w.writeSlot(r, s); err != nil {
			return s, err
		}
	}
	if err := w.Step("trash named"); err != nil {
		return s, err
	}
	head, err := w.ownHead(ctx, r, s)
	if err != nil {
		return s, err
	}
	commit := ""
	if s.State == slotMaking {
		s.Head = head
		commit, err = w.trashCommit(ctx, r, s, head, snapshot{files: head + "^{tree}"})
	} else {
		commit, err = w.empty(ctx, r, &s, head, p)
	}
	if err != nil {
		return s, err
	}
	if err := w.SetRef(ctx, r, s.Ref, commit); err != nil {
		return s, err
	}
	if err := w.Step("trash written"); err != nil {
		return s, err
	}
	s.State = slotRemoving
	return s, errors.Join(w.writeSlot(r, s), w.Step("removing"))
}

// ownHead returns the head of a task's branch in Coppice's own repository.
func (w *Workspaces) ownHead(ctx context.Context, r repo.Repo, s slot) (string, error) {
	own := "refs/heads/" + s.Branch
	refs, err := w.Refs(ctx, r.Own(), own)
	if id := refs[own]; id != "" {
		return id, nil
	}
	return s.Base, err
}

// empty writes the files of a workspace to the trash. It repairs a damaged one first.
func (w *Workspaces) empty(ctx context.Context, r repo.Repo, s *slot, head string, p coppice.TrashPolicy) (string, error) {
	what, err := w.damage(ctx, r, *s)
	if err != nil {
		return "", err
	}
	if what != "" {
		if head, err = w.repair(ctx, r, *s, what); err != nil {
			return "", err
		}
	}
	path := s.path(r)
	dir := filepath.Join(path, ".git")
	if err := w.UnlockStale(ctx, path); err != nil {
		return "", err
	}
	snap, at, err := w.snapSlot(ctx, r, s, head)
	if git.Exit(err) > 0 && !repo.DiskFull(err) { // a tree of its HEAD is missing, for example
		if head, err = w.repair(ctx, r, *s, repo.Message(err)); err == nil {
			snap, at, err = w.snapSlot(ctx, r, s, head)
		}
	}
	if err != nil {
		return "", err
	}
	if err := w.Publish(ctx, r, dir); err != nil {
		return "", err
	}
	for _, id := range []string{s.Head, at} {
		if id == head {
			continue // it was complete when it was saved
		}
		if missing, err := w.Complete(ctx, r, id, s.Base); err != nil {
			return "", err
		} else if missing != "" {
			w.Log.WarnContext(ctx, "a workspace's history is incomplete; its last saved commit is kept", "path", path, "missing", missing)
			s.Head, at, snap.index = head, head, ""
		}
	}
	strays, err := w.strays(ctx, r, *s)
	if ctx.Err() != nil {
		return "", ctx.Err()
	} else if err != nil { // an agent can write anything into its repository
		w.Log.WarnContext(ctx, "the branches of a workspace cannot be read, and are not kept", "path", path, "error", err)
	}
	snap.strays = withOwnCommits(strays)
	files := slices.DeleteFunc(snap.ignored, func(f string) bool { return !glob.Matches(f, p.Keep) })
	file := w.archiveFile(r, s.Ref)
	some, err := archive.Write(file, path, filepath.Join(dir, "modules"), files, snap.nested)
	if err != nil {
		return "", err
	}
	if some {
		s.Archive = file
	}
	if snap.clean && at == s.Head {
		if len(snap.strays) == 0 {
			snap.index = "" // it is the same as the head
		}
		s.Exact = len(snap.ignored) == 0 && !repo.Exists(filepath.Join(path, ".gitmodules"))
	}
	return w.trashCommit(ctx, r, *s, at, snap)
}

// snapSlot takes a snapshot of a workspace, and sets the head of the slot. At is the
// commit of its HEAD, or head if there is none.
func (w *Workspaces) snapSlot(ctx context.Context, r repo.Repo, s *slot, head string) (snap snapshot, at string, err error) {
	path, own := s.path(r), "refs/heads/"+s.Branch
	refs, err := w.Refs(ctx, s.inside(r), own)
	if err != nil {
		return snap, "", err
	}
	if at, err = w.headOf(ctx, path); err != nil {
		at = head
	}
	s.Head = cmp.Or(refs[own], at)
	snap, err = w.snap(ctx, r, path, filepath.Join(path, ".git"), at, func(f string) bool { return isLink(r, path, f) })
	return snap, at, err
}

// archiveFile returns where the ignored files of a trash ref are kept.
func (w *Workspaces) archiveFile(r repo.Repo, ref string) string {
	return filepath.Join(w.trash, filepath.Base(r.Dir)+"-"+strings.TrimPrefix(ref, trashRefs)+".tar.gz")
}

// isLink reports whether the path is a link by Coppice to the person's checkout.
func isLink(r repo.Repo, tree, path string) bool {
	target, err := os.Readlink(filepath.Join(tree, path))
	return err == nil && target == filepath.Join(r.Root, path)
}

func (w *Workspaces) trashCommit(ctx context.Context, r repo.Repo, s slot, at string, snap snapshot) (string, error) {
	by := repo.OwnSignature(w.Now())
	trash := gitfiles.Commit{Tree: snap.files, Parents: []string{s.Head}, Author: by, Committer: by}
	trash.Message = fmt.Sprintf("trash of %s\n\nBranch: %s\nBase: %s\n", s.Key, s.Branch, s.Base)
	if snap.index != "" {
		commit := gitfiles.Commit{Tree: snap.index, Parents: []string{at}, Author: by, Committer: by, Message: "index of " + s.Key + "\n"}
		addStrays(&commit, snap.strays)
		index, err := w.CommitTree(ctx, r, commit)
		if err != nil {
			return "", err
		}
		trash.Parents = append(trash.Parents, index)
	}
	return w.CommitTree(ctx, r, trash)
}

// trashGap is how many numbers of a key's trash can be missing before a newer one.
// The oldest expires first.
const trashGap = 16

// lastTrash returns the number of the key's newest trash, or 0. It reads only names
// that the key can have, because a project can have many thousands.
func (w *Workspaces) lastTrash(ctx context.Context, r repo.Repo, key string) (int, error) {
	for last, from := 0, 1; ; {
		names := make([]string, trashGap)
		for i := range names {
			names[i] = fmt.Sprintf("%s%s-%d", trashRefs, key, from+i)
		}
		refs, err := w.Refs(ctx, r.Own(), names...)
		if err != nil || len(refs) == 0 {
			return last, err
		}
		for i, name := range names {
			if refs[name] != "" {
				last = from + i
			}
		}
		from = last + 1
	}
}

// removed returns the result for a key without a workspace: its newest trash, or only
// the branch if it never had any.
func (w *Workspaces) removed(ctx context.Context, r repo.Repo, spec coppice.RemoveSpec) (coppice.RemoveResult, error) {
	n, err := w.lastTrash(ctx, r, spec.Key)
	if err != nil {
		return coppice.RemoveResult{}, err
	}
	own := "refs/heads/" + spec.Branch
	refs, err := w.Refs(ctx, r.Own(), own)
	if err != nil {
		return coppice.RemoveResult{}, err
	}
	if head := refs[own]; head != "" {
		s := slot{Key: spec.Key, Branch: spec.Branch, Base: head, Head: head, Ref: fmt.Sprintf("%s%s-%d", trashRefs, spec.Key, n+1)}
		commit, err := w.trashCommit(ctx, r, s, head, snapshot{files: head + "^{tree}"})
		if err != nil {
			return coppice.RemoveResult{}, err
		}
		if err := w.SetRef(ctx, r, s.Ref, commit); err != nil {
			return coppice.RemoveResult{}, err
		}
		return coppice.RemoveResult{Head: head, Ref: s.Ref}, w.dropBranch(ctx, r, s)
	}
	// The branch is gone. A landing that was refused late may have left refs.
	if err := w.dropBranch(ctx, r, slot{Key: spec.Key, Branch: spec.Branch}); err != nil {
		return coppice.RemoveResult{}, err
	}
	if n == 0 {
		return coppice.RemoveResult{}, nil
	}
	ref := fmt.Sprintf("%s%s-%d", trashRefs, spec.Key, n)
	head, err := w.Git.Run(ctx, r.Git, "rev-parse", "--verify", "--quiet", ref+"^1")
	res := coppice.RemoveResult{Head: head, Ref: ref, Strays: w.keptStrays(ctx, r, ref)}
	if file := w.archiveFile(r, ref); repo.Exists(file) {
		res.Archive = file
	}
	return res, err
}

// dropBranch deletes the task's branch, whose commits are in the trash, and the refs
// of its landings.
func (w *Workspaces) dropBranch(ctx context.Context, r repo.Repo, s slot) error {
	own := "refs/heads/" + s.Branch
	refs, err := w.Refs(ctx, r.Own(), own)
	if err != nil {
		return err
	}
	landings, symbolic, err := w.RefsBelow(ctx, r.Own(), landingRefs+s.Key+"/")
	if err != nil {
		return err
	}
	var lines []string
	for name, at := range landings {
		if w.DropRef(ctx, r, name, at) != "" {
			symbolic[name] = at
		}
	}
	for name := range symbolic {
		lines = append(lines, "option no-deref\ndelete "+name)
	}
	if at := refs[own]; at != "" {
		lines = append(lines, w.DropRef(ctx, r, own, at))
	}
	return w.UpdateRefs(ctx, r.Own(), "remove", lines...)
}

// finishRemove frees a slot whose trash is written.
func (w *Workspaces) finishRemove(ctx context.Context, r repo.Repo, s slot) (coppice.RemoveResult, error) {
	res := coppice.RemoveResult{Head: s.Head, Ref: s.Ref, Archive: s.Archive, Strays: w.keptStrays(ctx, r, s.Ref)}
	path := s.path(r)
	if s.isDetached() {
		if err := writable(path); err != nil {
			return res, err
		}
	}
	if !s.Exact { // otherwise it has exactly the files of a commit
		err := w.vacate(ctx, r, s, s.Head)
		if err != nil && s.Base != "" {
			err = w.vacate(ctx, r, s, s.Base) // an agent can commit files that git refuses to check out
		}
		if err != nil {
			return res, err
		}
	}
	if err := w.Step("vacated"); err != nil {
		return res, err
	}
	if !s.isDetached() {
		if err := errors.Join(w.dropBranch(ctx, r, s), w.Step("branch dropped")); err != nil {
			return res, err
		}
	}
	if err := w.ports.Free(ctx, portOwner(r, s.Key)); err != nil {
		return res, err
	}
	// The saved index of an exact one does not have the files that its branch added.
	s.Clean = !s.Exact
	return res, w.release(r, s)
}

// vacate makes a workspace clean and detached, with the files of a commit.
func (w *Workspaces) vacate(ctx context.Context, r repo.Repo, s slot, commit string) error {
	path := s.path(r)
	if repo.Exists(filepath.Join(path, ".gitmodules")) {
		if err := w.dropSubmodules(ctx, path); err != nil {
			return err
		}
	}
	if fresh, err := w.checkOut(ctx, r, s, "", commit); err != nil || fresh {
		return err
	}
	return w.clean(ctx, r, s)
}

// dropSubmodules removes the files of submodules. Their repositories are in the git
// directory, which is replaced.
func (w *Workspaces) dropSubmodules(ctx context.Context, path string) error {
	out, err := w.Git.Run(ctx, path, "ls-files", "--stage", "-z")
	if err != nil {
		return nil // a damaged workspace: its git directory is created again, and all untracked files are removed
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	for e := range strings.SplitSeq(out, "\x00") {
		if _, p, ok := strings.Cut(e, "\t"); ok && strings.HasPrefix(e, "160000 ") {
			if err := root.RemoveAll(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// release makes the slot idle. TrimIdle removes it if there are too many.
func (w *Workspaces) release(r repo.Repo, s slot) error {
	return w.writeSlot(r, slot{Name: s.Name, State: slotIdle, Made: s.Made, Clean: s.Clean})
}

// TrimIdle removes workspaces that no task needs, if enough of a repository are idle:
// as many as are in use now, because other tasks will follow, and a minimum. It is
// called when the server is idle. So tasks find the workspaces of tasks that ended
// just before, however many, and no task waits until files are removed.
func (w *Workspaces) TrimIdle(ctx context.Context) error {
	locks, err := filepath.Glob(filepath.Join(w.Dir, "*", "lock"))
	for _, l := range locks {
		r := repo.Repo{Dir: filepath.Dir(l)}
		for more := true; more && err == nil; {
			more, err = w.trimOne(ctx, r)
		}
	}
	return err
}

// trimOne removes one idle workspace of a repository, if there are too many. Others
// can claim workspaces before the next one is removed.
func (w *Workspaces) trimOne(ctx context.Context, r repo.Repo) (removed bool, err error) {
	unlock, err := w.Locks.Wait(ctx, r.LockFile())
	if err != nil {
		return false, err
	}
	defer unlock()
	list, err := w.slots(r)
	if err != nil {
		return false, err
	}
	var idle []slot
	busy := 0
	for _, s := range list {
		switch {
		case strings.HasPrefix(s.Name, checkPrefix):
		case s.State == slotIdle:
			idle = append(idle, s)
		default:
			busy++
		}
	}
	if len(idle) <= max(w.idle, busy) {
		return false, nil
	}
	return true, w.unregister(r, idle[len(idle)-1])
}

// unregister removes an empty workspace. The caller holds the repository's lock, so
// nobody claims it.
func (w *Workspaces) unregister(r repo.Repo, s slot) error {
	if err := repo.RemoveWhole(s.path(r)); err != nil {
		return err
	}
	if err := os.Remove(s.savedIndex(r)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	w.forget(s.metaFile(r))
	return os.Remove(s.metaFile(r))
}
