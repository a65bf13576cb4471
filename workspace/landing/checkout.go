package landing

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
	"coppice/workspace/repo"
)

// A checkout of the person follows the base in steps that can be undone, and that
// a crash can interrupt anywhere. First the new files and the new index are written
// into a separate directory, the stage. Then Coppice moves each old file from the
// checkout into the stage and the new one into its place, and the index last. So
// each path is in its old or in its new state, and the stage shows which: a new
// file in it was not placed, and an old file in it was displaced. Coppice never
// replaces a file of the person by a rename.

// following is a checkout that moves to a commit.
type following struct {
	Path  string `json:"path"`  // of the checkout
	Git   string `json:"git"`   // its git directory
	Stage string `json:"stage"` // the directory of the new and the old files
	// Absent are paths that the move changes and a sparse checkout does not have.
	Absent []string `json:"absent,omitempty"`

	seen map[string]fs.FileInfo // the files before git read them
}

func (f following) new(p string) string  { return filepath.Join(f.Stage, "new", filepath.FromSlash(p)) }
func (f following) old(p string) string  { return filepath.Join(f.Stage, "old", filepath.FromSlash(p)) }
func (f following) file(p string) string { return filepath.Join(f.Path, filepath.FromSlash(p)) }
func (f following) index() string        { return filepath.Join(f.Git, "index") }
func (f following) lock() string         { return filepath.Join(f.Git, "index.lock") }
func (f following) newIndex() string     { return filepath.Join(f.Stage, "index.new") }
func (f following) oldIndex() string     { return filepath.Join(f.Stage, "index.old") }
func (f following) putIndex() string     { return filepath.Join(f.Stage, "index.put") }

// inTheWay lists the files that keep a checkout from following: those that both the
// move and the person changed, and untracked ones where the move creates a file.
func (ls *Landings) inTheWay(ctx context.Context, t repo.Worktree, from string, changes []gitfiles.Change) ([]string, error) {
	dirty, err := ls.dirtyPaths(ctx, t, from, changes)
	if err != nil {
		return nil, err
	}
	gone := map[string]bool{}
	for _, c := range changes {
		if c.OldMode != "" && c.OldMode != gitfiles.ModeModule {
			gone[c.Path] = true
		}
	}
	var found []string
	add := func(p string) {
		if !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	for _, c := range changes {
		if dirty[c.Path] {
			add(c.Path)
			continue
		}
		for dir := path.Dir(c.Path); dir != "."; dir = path.Dir(dir) {
			if dirty[dir] {
				add(dir)
			}
			if st, err := os.Lstat(filepath.Join(t.Path, filepath.FromSlash(dir))); err == nil && !st.IsDir() && !gone[dir] && c.NewMode != "" {
				add(dir)
			}
		}
		if c.OldMode != "" || c.NewMode == gitfiles.ModeModule {
			continue
		}
		st, err := os.Lstat(filepath.Join(t.Path, filepath.FromSlash(c.Path)))
		switch {
		case err != nil:
		case !st.IsDir():
			add(c.Path)
		default:
			if p := untracked(t.Path, c.Path, gone); p != "" {
				add(p)
			}
		}
	}
	slices.Sort(found)
	return found, nil
}

// untracked returns a file below a directory that the move does not remove.
func untracked(root, dir string, gone map[string]bool) string {
	found := ""
	_ = filepath.WalkDir(filepath.Join(root, filepath.FromSlash(dir)), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if rel = filepath.ToSlash(rel); err != nil || !gone[rel] {
			found = rel
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// dirtyPaths returns the paths in which a checkout, its files or its index, differs
// from a commit. It looks at least at the paths of the changes, whose old side is
// that commit.
func (ls *Landings) dirtyPaths(ctx context.Context, t repo.Worktree, commit string, changes []gitfiles.Change) (map[string]bool, error) {
	if dirty, err := ls.Files(ctx, t.Git).Checkout(t.Path, t.Git).Dirty(changes); err == nil {
		return dirty, nil
	}
	// Git uses a copy of the index, so it writes nothing of the user's.
	index, err := repo.TempIndex(repo.Repo{Dir: ls.Dir}, t.Git)
	if err != nil {
		return nil, err
	}
	defer os.Remove(index)
	env := []string{"GIT_INDEX_FILE=" + index}
	dirty, err := ls.ChangedFiles(ctx, t.Path, env)
	if err != nil {
		return nil, err
	}
	out, err := ls.Git.Do(ctx, git.Call{Dir: t.Path, Env: env, Args: []string{"diff-index", "--cached", "--name-only", "-z", "--no-renames", "--ignore-submodules=dirty", commit, "--"}})
	repo.AddPaths(dirty, out)
	return dirty, err
}

// stage writes the new files and the new index of a checkout into the stage. The
// checkout stays as it is.
func (ls *Landings) stage(ctx context.Context, r repo.Repo, f following, m *moveRecord) error {
	if err := f.emptyStage(); err != nil {
		return err
	}
	to := filepath.Join(f.Stage, "new")
	if ls.Git.WritesPlainFiles(ctx, f.Path) {
		if ls.Files(ctx, r.User).Checkout(to, f.Git).WithIndex(f.newIndex()).Stage(m.Changes) == nil {
			return nil
		}
		if err := f.emptyStage(); err != nil {
			return err
		}
	}
	env := []string{"GIT_DIR=" + f.Git, "GIT_WORK_TREE=" + to, "GIT_INDEX_FILE=" + f.newIndex()}
	_, err := ls.Git.Do(ctx, git.Call{Dir: to, Guard: f.Path, Env: env, Args: []string{"read-tree", "-m", "-u", m.Old, m.New}})
	return err
}

// emptyStage creates a stage with only the old index, which the new one starts from.
func (f following) emptyStage() error {
	if err := errors.Join(os.RemoveAll(f.Stage), os.MkdirAll(filepath.Join(f.Stage, "new"), 0o700), os.MkdirAll(filepath.Join(f.Stage, "old"), 0o700)); err != nil {
		return err
	}
	for _, to := range []string{f.oldIndex(), f.newIndex()} {
		if err := repo.CopyIndex(f.index(), to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// absent lists the paths that the move creates and git did not stage.
func (f following) absent(changes []gitfiles.Change) []string {
	var list []string
	for _, c := range changes {
		if c.NewMode != "" && !repo.Exists(f.new(c.Path)) {
			list = append(list, c.Path)
		}
	}
	return list
}

// look stores the state of the files that the move changes.
func (f *following) look(changes []gitfiles.Change) {
	f.seen = map[string]fs.FileInfo{}
	for _, c := range changes {
		if st, err := os.Lstat(f.file(c.Path)); err == nil {
			f.seen[c.Path] = st
		}
	}
}

// errChanged says that the person changed a file while the checkout followed.
type errChanged struct{ path string }

func (e errChanged) Error() string { return e.path + " changed at this moment" }

// place moves the staged files into a checkout, and the old ones out of it. It
// continues where an earlier call stopped. Paths that skip reports are the
// person's and stay as they are.
func (ls *Landings) place(f following, changes []gitfiles.Change, skip func(p string) bool) error {
	for _, c := range slices.Backward(changes) { // deeper paths first
		if c.OldMode == "" || c.OldMode == gitfiles.ModeModule || skip(c.Path) || repo.Exists(f.old(c.Path)) {
			continue
		}
		if c.NewMode != "" && !repo.Exists(f.new(c.Path)) && c.NewMode != gitfiles.ModeModule {
			continue // placed before, or not in a sparse checkout
		}
		if !repo.Exists(f.file(c.Path)) {
			continue // not in a sparse checkout
		}
		if err := ls.displace(f, c.Path); err != nil {
			return err
		}
	}
	for _, c := range changes {
		if c.NewMode == "" || skip(c.Path) || !repo.Exists(f.new(c.Path)) {
			continue
		}
		if err := ls.Step("placing"); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(f.file(c.Path)), 0o777); err != nil {
			return errChanged{c.Path}
		}
		if c.NewMode == gitfiles.ModeModule {
			if err := os.Mkdir(f.file(c.Path), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
				return errChanged{c.Path}
			}
			continue
		}
		if err := renameNew(f.new(c.Path), f.file(c.Path)); err != nil {
			if errors.Is(err, fs.ErrExist) {
				return errChanged{c.Path}
			}
			return err
		}
	}
	return nil
}

// displace moves a file out of a checkout, and removes directories that are empty
// then.
func (ls *Landings) displace(f following, p string) error {
	if err := errors.Join(os.MkdirAll(filepath.Dir(f.old(p)), 0o700), ls.Step("displacing")); err != nil {
		return err
	}
	if err := os.Rename(f.file(p), f.old(p)); err != nil {
		return err
	}
	if was := f.seen[p]; was != nil {
		if st, err := os.Lstat(f.old(p)); err != nil || !os.SameFile(st, was) || st.Size() != was.Size() || !st.ModTime().Equal(was.ModTime()) {
			return errChanged{p}
		}
	}
	gitfiles.RemoveEmpty(filepath.Dir(f.file(p)), f.Path)
	return nil
}

// unplace undoes place: it moves the staged files out of the checkout, and the
// displaced ones back into it. Paths that skip reports have become the person's
// and stay as they are.
func (ls *Landings) unplace(f following, changes []gitfiles.Change, skip func(p string) bool) error {
	for _, c := range slices.Backward(changes) {
		if c.NewMode == "" || c.NewMode == gitfiles.ModeModule || repo.Exists(f.new(c.Path)) || skip(c.Path) || !repo.Exists(f.file(c.Path)) {
			continue
		}
		if c.OldMode != "" && !repo.Exists(f.old(c.Path)) {
			continue // it was never moved
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(f.new(c.Path)), 0o700), ls.Step("taking back")); err != nil {
			return err
		}
		if err := os.Rename(f.file(c.Path), f.new(c.Path)); err != nil {
			return err
		}
		gitfiles.RemoveEmpty(filepath.Dir(f.file(c.Path)), f.Path)
	}
	for _, c := range changes {
		if c.OldMode == "" || !repo.Exists(f.old(c.Path)) {
			continue
		}
		removeEmpty(f.file(c.Path)) // a directory for new files
		if repo.Exists(f.file(c.Path)) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(f.file(c.Path)), 0o777); err != nil {
			continue // the person has a file there
		}
		if err := ls.Step("putting back"); err != nil {
			return err
		}
		if err := renameNew(f.old(c.Path), f.file(c.Path)); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// removeEmpty removes a directory if there is no file in it.
func removeEmpty(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() {
			removeEmpty(filepath.Join(dir, e.Name()))
		}
	}
	if st, err := os.Lstat(dir); err == nil && st.IsDir() {
		_ = os.Remove(dir)
	}
}

// putIn replaces the index of a checkout by the staged one, after it updated the
// stat data in the staged one.
func (ls *Landings) putIn(ctx context.Context, f following, changes []gitfiles.Change) error {
	if !repo.Exists(f.newIndex()) {
		return nil // done before
	}
	if err := ls.freshen(ctx, f, changes); err != nil {
		return err
	}
	if st, err := os.Stat(f.index()); err == nil {
		if err := os.Chmod(f.newIndex(), st.Mode().Perm()); err != nil {
			return err
		}
	}
	in, err := os.Open(f.newIndex())
	if err != nil {
		return err
	}
	if err := errors.Join(in.Sync(), in.Close()); err != nil {
		return err
	}
	_ = os.Remove(f.putIndex())
	if err := os.Link(f.newIndex(), f.putIndex()); err != nil {
		if err := repo.CopyIndex(f.newIndex(), f.putIndex()); err != nil {
			return err
		}
	}
	if err := ls.Step("index"); err != nil {
		return err
	}
	return os.Rename(f.newIndex(), f.index())
}

// takeOut restores the old index, unless the person's git has written another one
// since.
func (ls *Landings) takeOut(f following) error {
	if repo.Exists(f.newIndex()) || !repo.Exists(f.putIndex()) || !repo.Exists(f.oldIndex()) {
		return nil
	}
	now, err := os.ReadFile(f.index())
	if err != nil {
		return err
	}
	put, err := os.ReadFile(f.putIndex())
	if err != nil || string(now) != string(put) {
		return err
	}
	back := filepath.Join(f.Stage, "index.back")
	if err := repo.CopyIndex(f.oldIndex(), back); err != nil {
		return err
	}
	return os.Rename(back, f.index())
}

// freshen updates the stat data of the placed files in the staged index, because
// renaming a file changes some of it.
func (ls *Landings) freshen(ctx context.Context, f following, changes []gitfiles.Change) error {
	names := map[string]bool{}
	for _, c := range changes {
		if c.NewMode != "" && c.NewMode != gitfiles.ModeModule {
			names[c.Path] = true
		}
	}
	if len(names) == 0 || ls.Files(ctx, f.Git).Checkout(f.Path, f.Git).WithIndex(f.newIndex()).Restat(names) == nil {
		return nil
	}
	_ = os.Remove(f.newIndex() + ".lock") // of an attempt that was interrupted
	env := []string{"GIT_DIR=" + f.Git, "GIT_WORK_TREE=" + f.Path, "GIT_INDEX_FILE=" + f.newIndex()}
	_, err := ls.Git.Do(ctx, git.Call{Dir: f.Path, Env: env, Args: []string{"update-index", "-q", "--refresh"}, OK: []int{1}})
	return err
}

// changedUnder returns the files of a checkout that differ from an index.
func (ls *Landings) changedUnder(ctx context.Context, f following, index string) (map[string]bool, error) {
	if !repo.Exists(index) {
		return map[string]bool{}, nil
	}
	tmp := index + ".look"
	_ = os.Remove(tmp + ".lock") // of an attempt that was interrupted
	if err := repo.CopyIndex(index, tmp); err != nil {
		return nil, err
	}
	defer os.Remove(tmp)
	return ls.ChangedFiles(ctx, f.Path, []string{"GIT_DIR=" + f.Git, "GIT_WORK_TREE=" + f.Path, "GIT_INDEX_FILE=" + tmp})
}
