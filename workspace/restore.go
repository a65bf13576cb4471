package workspace

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"coppice"
	"coppice/workspace/archive"
	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
	"coppice/workspace/landing"
	"coppice/workspace/repo"
)

// Restore restores a workspace from the trash: its branch, its uncommitted changes
// and the archived files. The trash stays until it is purged.
func (w *Workspaces) Restore(ctx context.Context, spec coppice.RestoreSpec) (coppice.PrepareResult, error) {
	var none coppice.PrepareResult
	if err := cmp.Or(validKey(spec.Key), coppice.ValidBranch(spec.Branch), coppice.ValidHash(spec.Head), repo.ValidTrash(spec.Ref), w.validArchive(spec.Archive), validPolicy(spec.Policy)); err != nil {
		return none, err
	}
	r, err := w.Use(ctx, spec.Repo)
	if err != nil {
		return none, err
	}
	own := "refs/heads/" + spec.Branch
	refs, err := w.Refs(ctx, r.Own(), spec.Ref, own)
	if err != nil {
		return none, err
	}
	trash := refs[spec.Ref]
	if trash == "" {
		return none, coppice.Errorf(coppice.ENotFound, "the trash of %s is gone", spec.Key).WithFix("it was purged; start the task again with `coppice retry %s`", spec.Key)
	}
	_, held, err := w.owned(r, spec.Key)
	if err != nil {
		return none, err
	}
	if at := refs[own]; at != "" && at != spec.Head && !held {
		return none, coppice.Errorf(coppice.EConflict, "there is another branch %s now", spec.Branch).WithFix("rename it with `git branch -m %s other`", spec.Branch)
	}
	want := slot{Key: spec.Key, Branch: spec.Branch, Base: spec.Head}
	if text, err := w.Git.Run(ctx, r.Git, "cat-file", "commit", trash); err == nil {
		for line := range strings.Lines(text) {
			if b, ok := strings.CutPrefix(strings.TrimSpace(line), "Base: "); ok && coppice.ValidHash(b) == nil {
				want.Base = b
			}
		}
	}
	fill := func(ctx context.Context, path string) error {
		if err := w.fill(ctx, path, trash, spec); err != nil {
			return err
		}
		return w.restoreStrays(ctx, path, w.keptStrays(ctx, r, spec.Ref))
	}
	res, err := w.build(ctx, r, want, building{start: spec.Head, policy: spec.Policy, fill: fill})
	return res, repo.Classify(err)
}

func (w *Workspaces) validArchive(file string) error {
	if file != "" && (filepath.Dir(file) != w.trash || !strings.HasSuffix(file, ".tar.gz")) {
		return coppice.Errorf(coppice.EInvalid, "%s is not an archive of the trash", coppice.Quote(file))
	}
	return nil
}

// fill writes the uncommitted state into a new checkout of the branch.
func (w *Workspaces) fill(ctx context.Context, tree, trash string, spec coppice.RestoreSpec) error {
	changes, err := w.Changes(ctx, filepath.Join(tree, ".git"), spec.Head, trash)
	if err != nil {
		return err
	}
	if err := w.apply(ctx, tree, changes); err != nil {
		return err
	}
	if err := w.Step("filled"); err != nil {
		return err
	}
	if index, err := w.Git.Run(ctx, tree, "rev-parse", "--verify", "--quiet", trash+"^2^{tree}"); err == nil {
		if _, err := w.Git.Run(ctx, tree, "read-tree", "--reset", index); err != nil {
			return err
		}
	}
	if _, err := w.Git.Do(ctx, git.Call{Dir: tree, Args: []string{"update-index", "-q", "--refresh"}, OK: []int{1}}); err != nil {
		return err
	}
	if spec.Archive == "" {
		return nil
	}
	err = archive.Read(spec.Archive, tree, filepath.Join(tree, ".git", "modules"))
	if errors.Is(err, fs.ErrNotExist) && !repo.Exists(spec.Archive) {
		return coppice.Errorf(coppice.ENotFound, "the archive %s is gone", spec.Archive).WithFix("restore the file, or create a new task")
	}
	return err
}

// apply writes the changed files byte for byte.
func (w *Workspaces) apply(ctx context.Context, tree string, list []gitfiles.Change) error {
	root, err := os.OpenRoot(tree)
	if err != nil {
		return err
	}
	defer root.Close()
	var ids strings.Builder
	for _, c := range slices.Backward(list) {
		if c.NewMode == gitfiles.ModeModule {
			continue
		}
		// A file may be where the directory will be. The list has that file too.
		if err := root.RemoveAll(c.Path); err != nil && !errors.Is(err, syscall.ENOTDIR) {
			return err
		}
		for dir := path.Dir(c.Path); dir != "."; dir = path.Dir(dir) {
			if root.Remove(dir) != nil {
				break // not empty
			}
		}
	}
	write := slices.DeleteFunc(list, func(c gitfiles.Change) bool { return c.NewMode == "" || c.NewMode == gitfiles.ModeModule })
	if len(write) == 0 {
		return nil
	}
	for _, c := range write {
		ids.WriteString(c.New + "\n")
	}
	out, err := w.Git.Do(ctx, git.Call{Dir: tree, Args: []string{"cat-file", "--batch"}, Stdin: []byte(ids.String())})
	if err != nil {
		return err
	}
	in := bufio.NewReader(strings.NewReader(out))
	for _, c := range write {
		b, err := repo.ReadObject(in)
		if err != nil {
			return err
		}
		if err := writeEntry(root, c, b); err != nil {
			return err
		}
	}
	return nil
}

func writeEntry(root *os.Root, c gitfiles.Change, content []byte) error {
	if err := root.MkdirAll(path.Dir(c.Path), 0o755); err != nil {
		return err
	}
	if c.NewMode == gitfiles.ModeLink {
		return root.Symlink(string(content), c.Path)
	}
	perm := fs.FileMode(0o644)
	if c.NewMode == "100755" {
		perm = 0o755
	}
	return root.WriteFile(c.Path, content, perm)
}

// Purge removes trash permanently.
func (w *Workspaces) Purge(ctx context.Context, spec coppice.PurgeSpec) error {
	if err := cmp.Or(repo.ValidTrash(spec.Ref), w.validArchive(spec.Archive)); err != nil {
		return err
	}
	r, err := w.Use(ctx, spec.Repo)
	if err != nil {
		return err
	}
	if spec.Archive != "" {
		if err := os.Remove(spec.Archive); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := w.DropRefs(ctx, r, spec.Ref); err != nil {
		return err
	}
	if w.purged.Add(1)%landing.PackAfter == 0 {
		w.CollectGarbage(ctx, r)
	}
	return nil
}
