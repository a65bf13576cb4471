package workspace

import (
	"cmp"
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
	"coppice/workspace/repo"
)

// A session that only reads gets a detached workspace from the same pool: it is at
// a commit and on no branch. Its key is that of the session. Its removal leaves no
// trash.

// maxReadOnly is how many files are made read-only. More take too long, and changes
// are found afterwards anyway.
const maxReadOnly = 20_000

// detachedSlot checks the spec of a detached workspace and returns its slot.
func detachedSlot(spec coppice.PrepareSpec) (slot, error) {
	if _, _, session, err := coppice.ParseKey(spec.Key); err != nil {
		return slot{}, err
	} else if session == 0 {
		return slot{}, coppice.Errorf(coppice.EInvalid, "%s is a task, not a session", coppice.Quote(spec.Key))
	}
	at := coppice.ValidHash(spec.From)
	if spec.From == "" {
		at = coppice.ValidBranch(spec.Base)
	}
	if err := cmp.Or(at, validPolicy(spec.Policy)); err != nil {
		return slot{}, err
	}
	return slot{Key: spec.Key, Base: spec.From}, nil
}

// prepareDetached creates or completes a detached workspace.
func (w *Workspaces) prepareDetached(ctx context.Context, spec coppice.PrepareSpec) (coppice.PrepareResult, error) {
	want, err := detachedSlot(spec)
	if err != nil {
		return coppice.PrepareResult{}, err
	}
	r, err := w.Use(ctx, spec.Repo)
	if err != nil {
		return coppice.PrepareResult{}, err
	}
	if spec.From == "" {
		if spec.From, err = w.Branch(ctx, r, spec.Base); err == nil {
			err = w.Keep(ctx, r, spec.From)
		}
		if err != nil {
			return coppice.PrepareResult{}, repo.Classify(err)
		}
		want.Base = spec.From
	} else if _, err := w.Git.Run(ctx, r.Git, "rev-parse", "--verify", "--quiet", "--end-of-options", spec.From+"^{commit}"); err != nil {
		if ctx.Err() != nil {
			return coppice.PrepareResult{}, err
		}
		return coppice.PrepareResult{}, coppice.Failf(coppice.ClassEnvironment, "the commit "+spec.From+" to check out is gone", "retry the task")
	}
	if spec.Policy.Serve.Set() {
		spec.Policy.Ports = max(spec.Policy.Ports, 1)
	}
	res, err := w.build(ctx, r, want, building{start: spec.From, policy: spec.Policy})
	return res, repo.Classify(err)
}

// isDetached reports whether the slot is a detached workspace.
func (s slot) isDetached() bool { return s.Key != "" && s.Branch == "" }

// task returns the key of the slot's task.
func (s slot) task() string {
	task, _, _ := strings.Cut(s.Key, ".")
	return task
}

// populateDetached checks the slot's commit out.
func (w *Workspaces) populateDetached(ctx context.Context, r repo.Repo, s slot) error {
	tree := s.path(r)
	if err := writable(tree); err != nil {
		return err
	}
	if err := w.vacate(ctx, r, s, s.Base); err != nil {
		return fmt.Errorf("checking out %s: %w", s.Base, err)
	}
	if err := w.Step("checked out"); err != nil {
		return err
	}
	return w.submodules(ctx, r, tree)
}

// settleDetached verifies the commit of the workspace, stores what the setup
// commands changed, and makes the files read-only, except for root, who ignores
// modes. Directories stay writable if an app is served, because it writes there.
func (w *Workspaces) settleDetached(ctx context.Context, r repo.Repo, s *slot, p coppice.WorkspacePolicy) (head string, err error) {
	path := s.path(r)
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

// seen returns a tree of the tracked files as they are now, or the commit itself if
// none changed.
func (w *Workspaces) seen(ctx context.Context, r repo.Repo, path, commit string) (string, error) {
	changed, err := w.changedSince(ctx, path, commit)
	if err != nil || len(changed) == 0 {
		return commit, err
	}
	if err := os.MkdirAll(r.Tmp(), 0o700); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(r.Tmp(), "seen-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	for _, args := range [][]string{{"read-tree", commit}, {"add", "--update", "--", "."}} {
		if _, err := w.Git.Do(ctx, git.Call{Dir: path, Env: env, Args: args}); err != nil {
			return "", err
		}
	}
	out, err := w.Git.Do(ctx, git.Call{Dir: path, Env: env, Args: []string{"write-tree"}})
	return strings.TrimSpace(out), err
}

// changedSince lists the tracked files that differ from a commit or tree.
func (w *Workspaces) changedSince(ctx context.Context, path, tree string) ([]string, error) {
	out, err := w.Git.Run(ctx, path, "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=untracked", tree, "--")
	if err != nil {
		return nil, fmt.Errorf("reading what changed: %w", err)
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

// Changed returns the commit of a detached workspace, and the tracked files that
// changed since. Changes by setup commands do not count. If the session damaged
// the git directory, that is the change.
func (w *Workspaces) Changed(ctx context.Context, path string) (commit string, files []string, err error) {
	r, s, err := w.byPath(path)
	if err != nil {
		return "", nil, err
	}
	if !s.isDetached() {
		return "", nil, coppice.Errorf(coppice.EInvalid, "%s is a workspace that is allowed to change", coppice.Quote(path))
	}
	unlock, err := w.Locks.Wait(ctx, s.slotLock(r))
	if err != nil {
		return "", nil, err
	}
	defer unlock()
	if what, err := w.damage(ctx, r, s); err != nil || what != "" {
		return s.Base, []string{".git"}, err
	}
	if err := w.UnlockStale(ctx, path); err != nil {
		return "", nil, err
	}
	files, err = w.changedSince(ctx, path, s.Seen)
	return s.Base, files, repo.Classify(err)
}

// removeDetached cleans a detached workspace and keeps it for the next task. It
// leaves no trash. It is not an error if there is no such workspace.
func (w *Workspaces) removeDetached(ctx context.Context, spec coppice.RemoveSpec) error {
	r, err := w.Use(ctx, spec.Repo)
	if err != nil {
		return err
	}
	s, ok, err := w.owned(r, spec.Key)
	if err != nil || !ok {
		return err
	}
	unlock, err := w.Locks.Wait(ctx, s.slotLock(r))
	if err != nil {
		return err
	}
	defer unlock()
	s, err = readSlot(s.metaFile(r))
	if errors.Is(err, fs.ErrNotExist) || (err == nil && (s.Key != spec.Key || s.State == slotIdle)) {
		return nil
	}
	if err != nil {
		return err
	}
	return repo.Classify(w.dropDetached(ctx, r, s))
}

// dropDetached removes a detached workspace. The caller holds the slot's lock.
func (w *Workspaces) dropDetached(ctx context.Context, r repo.Repo, s slot) error {
	s.State, s.Head = slotRemoving, s.Base
	if err := errors.Join(w.writeSlot(r, s), w.Step("removing")); err != nil {
		return err
	}
	_, err := w.finishRemove(ctx, r, s)
	return err
}

// readOnly makes the tracked files read-only, and their directories if dirs is set.
func (w *Workspaces) readOnly(ctx context.Context, tree string, dirs bool) error {
	tracked, err := w.tracked(ctx, tree)
	if err != nil {
		return err
	}
	if len(tracked) > maxReadOnly {
		w.Log.InfoContext(ctx, "too many files to make them read-only", "path", tree, "files", len(tracked))
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

// writable undoes readOnly.
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
		return nil // it was removed
	}
	return err
}
