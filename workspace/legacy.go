package workspace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coppice/workspace/gitfiles"
)

// Earlier versions kept workspaces as worktrees of the person's repository, with
// branches, trash and candidates as refs there. Coppice moves them into its own
// repository: refs when it creates that repository, and each workspace when it is
// next used.

// importRefs copies the refs that an earlier version left, with their objects, into
// a repository that is being created.
func (w *Workspaces) importRefs(ctx context.Context, r repo, made string) (refs map[string]string, err error) {
	out, err := w.git.Run(ctx, r.root, "for-each-ref", "--format=%(refname) %(objectname)", "refs/coppice/", "refs/heads/coppice/")
	if err != nil {
		return nil, err
	}
	refs = map[string]string{}
	for line := range strings.Lines(out) {
		if name, id, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name != keepRef {
			refs[name] = id
		}
	}
	if len(refs) == 0 {
		return nil, nil
	}
	theirs, _, err := w.refsBelow(ctx, r.users(), shownRefs...)
	if err != nil {
		return nil, err
	}
	var revs, packed strings.Builder
	packed.WriteString("# pack-refs with: sorted \n")
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		revs.WriteString(refs[name] + "\n")
		fmt.Fprintf(&packed, "%s %s\n", refs[name], name)
	}
	for name, id := range theirs {
		if _, ours := refs[name]; !ours {
			revs.WriteString("^" + id + "\n")
		}
	}
	if err := w.copyObjects(ctx, r, r.root, made, revs.String()); err != nil {
		return nil, err
	}
	return refs, writeFiles(made, map[string]string{"packed-refs": packed.String()})
}

// dropImported removes the imported refs from the person's repository, except
// branches of workspaces that are still worktrees, and the worktrees that nobody
// uses.
func (w *Workspaces) dropImported(ctx context.Context, r repo, refs map[string]string) error {
	used := map[string]bool{}
	list, err := w.worktrees(ctx, r)
	if err != nil {
		return err
	}
	for _, t := range list {
		if filepath.Dir(t.path) != r.dir {
			used[t.branch] = true // the person has it checked out
			continue
		}
		if branch := w.branchAt(t.path); branch != "" {
			used["refs/heads/"+branch] = true
		} else if t.git != "" {
			if err := os.RemoveAll(t.git); err != nil {
				return err
			}
		}
	}
	var lines []string
	for name, id := range refs {
		if !used[name] {
			lines = append(lines, "delete "+name+" "+id)
		}
	}
	return w.updateRefs(ctx, r.users(), "moved to Coppice's own repository", lines...)
}

// convert turns a workspace that is a worktree of the person's repository into one
// with its own repository. It reports whether it was such a worktree.
func (w *Workspaces) convert(ctx context.Context, r repo, s slot) (bool, error) {
	path := s.path(r)
	b, err := gitfiles.ReadRegular(filepath.Join(path, ".git"), maxSmall)
	if err != nil {
		return false, nil
	}
	admin, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: ")
	if !ok || filepath.Dir(admin) != filepath.Join(r.user, "worktrees") || !exists(filepath.Join(admin, "HEAD")) {
		return false, nil
	}
	on, at, err := w.files(ctx, r.user).Resolve(admin, "HEAD")
	if err != nil || at == "" {
		return false, nil
	}
	if s.isDetached() {
		err = w.convertDetached(ctx, r, s, admin, at)
	} else {
		err = w.convertWork(ctx, r, s, admin, on, at)
	}
	return err == nil, err
}

// convertDetached converts a detached workspace: it is on no branch, its commit is
// that of a candidate, and its directory may be read-only.
func (w *Workspaces) convertDetached(ctx context.Context, r repo, s slot, admin, at string) error {
	path := s.path(r)
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := os.Chmod(path, info.Mode().Perm()|0o200); err != nil {
		return err
	}
	if err := w.takeIndex(ctx, r, s, admin, at); err != nil {
		return err
	}
	return errors.Join(os.Chmod(path, info.Mode().Perm()), dropAdmin(admin))
}

// takeIndex gives a workspace its own repository, with the worktree's index.
func (w *Workspaces) takeIndex(ctx context.Context, r repo, s slot, admin, at string) error {
	if err := copyIndex(filepath.Join(admin, "index"), s.savedIndex(r)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return w.renew(ctx, r, s, at)
}

// dropAdmin removes the records of a worktree from the person's repository.
func dropAdmin(admin string) error {
	if err := os.RemoveAll(admin); err != nil {
		return err
	}
	_ = os.Remove(filepath.Dir(admin)) // fails if there are others
	return nil
}

// convertWork converts the worktree of a task, with its branch.
func (w *Workspaces) convertWork(ctx context.Context, r repo, s slot, admin, on, at string) error {
	own := "refs/heads/" + s.Branch
	refs, err := w.refs(ctx, r.users(), own)
	if err != nil {
		return err
	}
	head := refs[own]
	if head == "" {
		head = at
	}
	if err := w.copyObjects(ctx, r, r.root, r.git, head+"\n"+at+"\n^"+s.Base+"\n"); err != nil {
		return err
	}
	if err := w.setRef(ctx, r, own, head); err != nil {
		return err
	}
	if err := w.takeIndex(ctx, r, s, admin, at); err != nil {
		return err
	}
	args := [][]string{{"update-ref", own, head}}
	if on == own {
		args = append(args, []string{"symbolic-ref", "HEAD", own})
	}
	for _, a := range args {
		if _, err := w.git.Run(ctx, s.path(r), a...); err != nil {
			return err
		}
	}
	if err := dropAdmin(admin); err != nil {
		return err
	}
	if refs[own] != "" {
		err = w.updateRefs(ctx, r.users(), "moved to Coppice's own repository", "option no-deref\ndelete "+own+" "+refs[own])
	}
	return err
}
