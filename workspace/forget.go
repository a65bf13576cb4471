package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coppice"
	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
	"coppice/workspace/repo"
)

// madeRefs are the prefixes of the refs that Coppice creates in a person's
// repository.
var madeRefs = []string{"refs/coppice/", "refs/heads/coppice/"}

// Forget removes everything that Coppice keeps about the repository in dir: its
// workspaces, Coppice's own repository, the trash, and in the person's repository
// Coppice's refs and git's records of the workspaces. Commits that landed, the
// checkout and its files stay as they are. So does a branch of Coppice that the
// person has checked out.
//
// It works also if the repository itself is gone, and again after a crash. Nobody
// can use the workspaces at the same time.
func (w *Workspaces) Forget(ctx context.Context, dir string) error {
	home := w.Home(ctx, dir)
	if filepath.Dir(home) != w.Dir {
		return coppice.Errorf(coppice.EInternal, "%s is not below %s", home, w.Dir)
	}
	lock := filepath.Join(home, "lock")
	unlock, err := w.Locks.Wait(ctx, lock)
	if err != nil {
		return err
	}
	defer unlock()
	w.SettleMove(ctx, home)
	// The person's repository comes first: as long as the directories exist, a
	// crash loses nothing.
	if r, err := w.Find(ctx, dir); err == nil {
		if err := w.forgetNotes(ctx, r.Root, home); err != nil {
			return repo.Classify(fmt.Errorf("forgetting the workspaces of %s: %w", r.Root, err))
		}
		if err := w.forgetRefs(ctx, r); err != nil {
			return repo.Classify(fmt.Errorf("removing the refs of Coppice from %s: %w", r.Root, err))
		}
	}
	if err := w.Step("refs forgotten"); err != nil {
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
		if err := repo.RemoveWhole(path); err != nil {
			return repo.Classify(fmt.Errorf("removing %s: %w", path, err))
		}
	}
	w.Drop(dir, home)
	return repo.RemoveWhole(home)
}

// Remains lists what Forget would remove.
type Remains struct {
	Dir      string   // of the workspaces and Coppice's own repository; empty if there is none
	Archives []string // in the trash
	Refs     []string // of Coppice in the person's repository
}

// Remains returns what Coppice keeps about the repository in dir.
func (w *Workspaces) Remains(ctx context.Context, dir string) (left Remains, err error) {
	home := w.Home(ctx, dir)
	if repo.Exists(home) {
		left.Dir = home
	}
	if left.Archives, err = w.archives(home); err != nil {
		return left, err
	}
	if r, err := w.Find(ctx, dir); err == nil {
		if left.Refs, err = w.made(ctx, r); err != nil {
			return left, err
		}
	}
	return left, nil
}

// made lists the refs that Coppice created in the person's repository. A branch
// that a person named, and that has moved since Coppice copied it, is theirs.
func (w *Workspaces) made(ctx context.Context, r repo.Repo) ([]string, error) {
	out, err := w.Git.Run(ctx, r.Root, append([]string{"for-each-ref", "--format=%(refname)"}, madeRefs...)...)
	if err != nil {
		return nil, err
	}
	list := strings.Fields(out)
	brought, err := w.Brought(ctx, r)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(brought)) {
		ref := "refs/heads/" + name
		refs, err := w.Refs(ctx, r.Users(), ref)
		if err != nil {
			return nil, err
		}
		if refs[ref] == brought[name] {
			list = append(list, ref)
		}
	}
	return list, nil
}

// forgetNotes removes git's records of worktrees below home. Git's own command
// refuses a worktree that an agent damaged.
func (w *Workspaces) forgetNotes(ctx context.Context, root, home string) error {
	common, err := w.Git.Run(ctx, root, "rev-parse", "--path-format=absolute", "--git-common-dir")
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
		b, err := gitfiles.ReadRegular(filepath.Join(admin, "gitdir"), repo.MaxSmall)
		if err != nil || !strings.HasPrefix(string(b), home+"/") {
			continue
		}
		if err := repo.RemoveWhole(admin); err != nil {
			return err
		}
	}
	_ = os.Remove(all) // fails if there are others
	return nil
}

// forgetRefs removes the refs of Coppice, except branches that the person has
// checked out.
func (w *Workspaces) forgetRefs(ctx context.Context, r repo.Repo) error {
	refs, err := w.made(ctx, r)
	if err != nil {
		return err
	}
	trees, err := w.Git.Run(ctx, r.Root, "worktree", "list", "--porcelain")
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
	for _, ref := range refs {
		if !held[ref] {
			fmt.Fprintf(&change, "delete %s\n", ref)
		}
	}
	if change.Len() == 0 {
		return nil
	}
	// A stop of the server does not kill git while it writes there.
	_, err = w.Git.Do(context.WithoutCancel(ctx), git.Call{Dir: r.Root, Args: []string{"update-ref", "--no-deref", "--stdin"}, Stdin: []byte(change.String())})
	return err
}
