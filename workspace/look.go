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

// A session that only looks gets a worktree of its own from the same pool, at a
// commit and on no branch. Its key is the session's. It keeps nothing: when it
// goes, there is no trash.

// mostReadOnly bounds how many files are made read-only: beyond that it takes
// longer than it is worth, and what changed is told afterwards all the same.
const mostReadOnly = 20_000

// lookSlot checks the spec of a detached worktree and returns its slot.
func lookSlot(spec coppice.PrepareSpec) (slot, error) {
	if _, _, session, err := coppice.ParseKey(spec.Key); err != nil {
		return slot{}, err
	} else if session == 0 {
		return slot{}, coppice.Errorf(coppice.EInvalid, "%s is a task, not a session", coppice.Quote(spec.Key))
	}
	at := coppice.ValidHash(spec.From)
	if spec.From == "" {
		at = coppice.ValidBranch(spec.Base)
	}
	if err := errors.Join(at, validPolicy(spec.Policy)); err != nil {
		return slot{}, firstError(err)
	}
	return slot{Key: spec.Key, Base: spec.From}, nil
}

// prepareLook makes the worktree of a session that only looks, or completes a
// half-made one.
func (w *Workspaces) prepareLook(ctx context.Context, spec coppice.PrepareSpec) (coppice.PrepareResult, error) {
	want, err := lookSlot(spec)
	if err != nil {
		return coppice.PrepareResult{}, err
	}
	r, err := w.use(ctx, spec.Repo)
	if err != nil {
		return coppice.PrepareResult{}, err
	}
	if spec.From == "" {
		if spec.From, err = w.branch(ctx, r, spec.Base); err == nil {
			err = w.keep(ctx, r, spec.From)
		}
		if err != nil {
			return coppice.PrepareResult{}, told(err)
		}
		want.Base = spec.From
	} else if _, err := w.git.Run(ctx, r.git, "rev-parse", "--verify", "--quiet", "--end-of-options", spec.From+"^{commit}"); err != nil {
		if ctx.Err() != nil {
			return coppice.PrepareResult{}, err
		}
		return coppice.PrepareResult{}, coppice.Failf(coppice.ClassEnvironment, "the commit "+spec.From+" to look at is gone", "retry the task")
	}
	if spec.Policy.Serve.Set() {
		spec.Policy.Ports = max(spec.Policy.Ports, 1)
	}
	res, err := w.build(ctx, r, want, building{start: spec.From, policy: spec.Policy})
	return res, told(err)
}

// looks tells whether the slot is of a session that only looks.
func (s slot) looks() bool { return s.Key != "" && s.Branch == "" }

// task is the key of the task that the slot's commands work for.
func (s slot) task() string {
	task, _, _ := strings.Cut(s.Key, ".")
	return task
}

// populateLook checks the slot's commit out.
func (w *Workspaces) populateLook(ctx context.Context, r repo, s slot) error {
	tree := r.path(s)
	if err := writable(tree); err != nil {
		return err
	}
	if err := w.vacate(ctx, r, s, s.Base); err != nil {
		return fmt.Errorf("checking out %s: %w", s.Base, err)
	}
	if err := w.step("checked out"); err != nil {
		return err
	}
	return w.submodules(ctx, r, tree)
}

// settleLook verifies that the worktree is where it should be, remembers what
// the setup commands changed, and makes the files read-only. To root modes mean
// nothing. An app that is served writes beside its files, so directories stay
// as they are then.
func (w *Workspaces) settleLook(ctx context.Context, r repo, s *slot, p coppice.WorkspacePolicy) (head string, err error) {
	path := r.path(*s)
	if head, err = w.headOf(ctx, path); err != nil {
		return "", err
	}
	if head != s.Base {
		return "", coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("the workspace %s is not at %s after the checkout", path, s.Base),
			"make sure that no setup command changes branches or commits")
	}
	if s.Seen, err = w.seen(ctx, r, path, s.Base); err != nil {
		return "", err
	}
	if os.Geteuid() != 0 {
		err = w.readOnly(ctx, path, !p.Serve.Set())
	}
	return head, err
}

// seen returns a tree of the tracked files as they are: the commit itself when
// none was changed since.
func (w *Workspaces) seen(ctx context.Context, r repo, path, commit string) (string, error) {
	changed, err := w.changedSince(ctx, path, commit)
	if err != nil || len(changed) == 0 {
		return commit, err
	}
	if err := os.MkdirAll(r.tmp(), 0o700); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(r.tmp(), "seen-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	for _, args := range [][]string{{"read-tree", commit}, {"add", "--update", "--", "."}} {
		if _, err := w.git.Do(ctx, git.Call{Dir: path, Env: env, Args: args}); err != nil {
			return "", err
		}
	}
	out, err := w.git.Do(ctx, git.Call{Dir: path, Env: env, Args: []string{"write-tree"}})
	return strings.TrimSpace(out), err
}

// changedSince lists the tracked files that differ from a commit or tree.
func (w *Workspaces) changedSince(ctx context.Context, path, tree string) ([]string, error) {
	out, err := w.git.Run(ctx, path, "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=untracked", tree, "--")
	if err != nil {
		return nil, fmt.Errorf("looking what changed: %w", err)
	}
	var files []string
	for f := range strings.SplitSeq(out, "\x00") {
		if f != "" {
			files = append(files, f)
		}
	}
	slices.Sort(files)
	return files, nil
}

// Changed tells, of the worktree of a session that only looks, the commit it
// was made at and the tracked files that changed since. What setup commands
// changed does not count. A session that cut the worktree's link to git changed
// that.
func (w *Workspaces) Changed(ctx context.Context, path string) (commit string, files []string, err error) {
	r, s, err := w.byPath(path)
	if err != nil {
		return "", nil, err
	}
	if !s.looks() {
		return "", nil, coppice.Errorf(coppice.EInvalid, "%s is a workspace that may change", coppice.Quote(path))
	}
	unlock, err := w.locks.Wait(ctx, r.slotLock(s))
	if err != nil {
		return "", nil, err
	}
	defer unlock()
	if what, err := w.damage(ctx, r, s); err != nil || what != "" {
		return s.Base, []string{".git"}, err
	}
	if err := w.unlockStale(ctx, path); err != nil {
		return "", nil, err
	}
	files, err = w.changedSince(ctx, path, s.Seen)
	return s.Base, files, told(err)
}

// removeLook cleans the worktree of a session that only looked and keeps it
// for the next task. Nothing of it goes to the trash. One that is not there is
// no error.
func (w *Workspaces) removeLook(ctx context.Context, spec coppice.RemoveSpec) error {
	r, err := w.use(ctx, spec.Repo)
	if err != nil {
		return err
	}
	s, ok, err := w.owned(r, spec.Key)
	if err != nil || !ok {
		return err
	}
	unlock, err := w.locks.Wait(ctx, r.slotLock(s))
	if err != nil {
		return err
	}
	defer unlock()
	s, err = readSlot(r.metaFile(s))
	if errors.Is(err, fs.ErrNotExist) || (err == nil && (s.Key != spec.Key || s.State == slotIdle)) {
		return nil
	}
	if err != nil {
		return err
	}
	return told(w.dropLook(ctx, r, s))
}

// dropLook takes a slot to removing and recycles it. It is called under the
// slot's lock.
func (w *Workspaces) dropLook(ctx context.Context, r repo, s slot) error {
	s.State, s.Head = slotRemoving, s.Base
	if err := errors.Join(w.writeSlot(r, s), w.step("removing")); err != nil {
		return err
	}
	_, err := w.finishRemove(ctx, r, s)
	return err
}

// readOnly takes the permission to write from the tracked files, and from the
// directories that hold any when dirs is set.
func (w *Workspaces) readOnly(ctx context.Context, tree string, dirs bool) error {
	tracked, err := w.tracked(ctx, tree)
	if err != nil {
		return err
	}
	if len(tracked) > mostReadOnly {
		w.log.InfoContext(ctx, "too many files to make them read-only", "path", tree, "files", len(tracked))
		return nil
	}
	root, err := os.OpenRoot(tree)
	if err != nil {
		return err
	}
	defer root.Close()
	names := []string{"."}
	for name := range tracked {
		names = append(names, name)
	}
	for _, name := range names {
		st, err := root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a sparse checkout leaves files out
		}
		if err != nil {
			return err
		}
		if st.Mode().IsRegular() || dirs && st.IsDir() {
			if err := root.Chmod(name, st.Mode().Perm()&^0o222); err != nil {
				return err
			}
		}
	}
	return nil
}

// writable gives back what readOnly took.
func writable(tree string) error {
	err := filepath.WalkDir(tree, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		st, err := d.Info()
		if err == nil && (d.IsDir() || st.Mode().IsRegular()) && st.Mode().Perm()&0o200 == 0 {
			err = os.Chmod(p, st.Mode().Perm()|0o200)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing there, or gone while we looked
	}
	return err
}
