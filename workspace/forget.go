package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"coppice"
	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
)

// The refs that Coppice makes in a person's repository, by what their names
// begin with.
var madeRefs = []string{"refs/coppice/", "refs/heads/coppice/"}

// Forget removes everything that Coppice keeps of the repository that dir is in:
// its workspaces, the project's own repository, its trash, and in the person's
// repository Coppice's refs and what git knows of the workspaces. What landed,
// the checkout and its files stay as they are. So does a branch of Coppice's
// that the person has checked out.
//
// It may be called when the repository itself is gone, and again after a crash.
// Nobody may use the workspaces meanwhile.
func (w *Workspaces) Forget(ctx context.Context, dir string) error {
	home := w.Home(ctx, dir)
	if filepath.Dir(home) != w.dir {
		return coppice.Errorf(coppice.EInternal, "%s is not below %s", home, w.dir)
	}
	lock := filepath.Join(home, "lock")
	unlock, err := w.locks.Wait(ctx, lock)
	if err != nil {
		return err
	}
	defer unlock()
	w.settleMove(ctx, home)
	// The person's repository comes first: while the directories are there, a
	// crash leaves everything to be found again.
	if r, err := w.find(ctx, dir); err == nil {
		if err := w.forgetNotes(ctx, r.root, home); err != nil {
			return told(fmt.Errorf("forgetting the workspaces of %s: %w", r.root, err))
		}
		if err := w.forgetRefs(ctx, r.root); err != nil {
			return told(fmt.Errorf("removing the refs of Coppice from %s: %w", r.root, err))
		}
	}
	if err := w.step("refs forgotten"); err != nil {
		return err
	}
	archives, err := w.archives(home)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(home)
	if err != nil {
		return err
	}
	paths := archives
	for _, e := range entries {
		if path := filepath.Join(home, e.Name()); path != lock {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := removeWhole(path); err != nil {
			return told(fmt.Errorf("removing %s: %w", path, err))
		}
	}
	w.mu.Lock()
	delete(w.repos, dir)
	delete(w.noted, home)
	w.mu.Unlock()
	return removeWhole(home)
}

// Remains is what Forget would remove.
type Remains struct {
	Dir      string   // of the workspaces and the project's own repository; empty when there is none
	Archives []string // in the trash
	Refs     []string // of Coppice in the person's repository
}

// Remains tells what Coppice keeps of the repository that dir is in.
func (w *Workspaces) Remains(ctx context.Context, dir string) (left Remains, err error) {
	home := w.Home(ctx, dir)
	if exists(home) {
		left.Dir = home
	}
	if left.Archives, err = w.archives(home); err != nil {
		return left, err
	}
	if r, err := w.find(ctx, dir); err == nil {
		out, err := w.git.Run(ctx, r.root, append([]string{"for-each-ref", "--format=%(refname)"}, madeRefs...)...)
		if err != nil {
			return left, err
		}
		left.Refs = strings.Fields(out)
	}
	return left, nil
}

// forgetNotes removes git's notes of worktrees below home. Git's own command
// refuses a worktree that an agent has damaged.
func (w *Workspaces) forgetNotes(ctx context.Context, root, home string) error {
	common, err := w.git.Run(ctx, root, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return err
	}
	all := filepath.Join(common, "worktrees")
	entries, err := os.ReadDir(all)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		admin := filepath.Join(all, e.Name())
		b, err := gitfiles.ReadRegular(filepath.Join(admin, "gitdir"), maxSmall)
		if err != nil || !strings.HasPrefix(string(b), home+"/") {
			continue
		}
		if err := removeWhole(admin); err != nil {
			return err
		}
	}
	_ = os.Remove(all) // when these were the last; others are in the way
	return nil
}

// forgetRefs removes the refs of Coppice, except branches that the person has
// checked out.
func (w *Workspaces) forgetRefs(ctx context.Context, root string) error {
	out, err := w.git.Run(ctx, root, append([]string{"for-each-ref", "--format=%(refname)"}, madeRefs...)...)
	if err != nil {
		return err
	}
	trees, err := w.git.Run(ctx, root, "worktree", "list", "--porcelain")
	if err != nil {
		return err
	}
	held := map[string]bool{}
	for line := range strings.Lines(trees) {
		if ref, ok := strings.CutPrefix(strings.TrimSpace(line), "branch "); ok {
			held[ref] = true
		}
	}
	var change strings.Builder
	for _, ref := range strings.Fields(out) {
		if !held[ref] {
			fmt.Fprintf(&change, "delete %s\n", ref)
		}
	}
	if change.Len() == 0 {
		return nil
	}
	// Whatever stops the server, git is not killed while it writes there.
	_, err = w.git.Do(context.WithoutCancel(ctx), git.Call{Dir: root, Args: []string{"update-ref", "--no-deref", "--stdin"}, Stdin: []byte(change.String())})
	return err
}

// removeWhole removes a path with everything below it, also directories that an
// agent has made read-only.
func removeWhole(path string) error {
	err := os.RemoveAll(path)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700) // what cannot be changed shows below
			if err != nil {
				return fs.SkipDir
			}
		}
		return nil
	})
	return os.RemoveAll(path)
}
