package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A workspace is a repository of its own. Its git directory is made from nothing
// each time the workspace changes hands, so a task inherits nothing that an
// earlier one did to git. This table says where each part comes from; what is not
// in it does not exist in a new workspace.
//
//	HEAD                     the commit it begins from, detached
//	config                   workspaceConfig
//	index                    the one that Coppice's own git wrote at its last checkout in that directory
//	objects                  empty; it borrows from Coppice's own repository and the person's
//	packed-refs, symbolic    the person's branches, tags and remote-tracking branches
//	shallow                  as in the person's repository
//	info/exclude, attributes as in the person's repository
//	info/sparse-checkout     as in the person's checkout
//	hooks                    none; core.hooksPath names the person's

// savedIndex is Coppice's own copy of the index of a workspace. The index in the
// workspace is the agent's to change.
func (r repo) savedIndex(s slot) string { return filepath.Join(r.dir, s.Name+".index") }

// gitDir returns the git directory of a workspace, which must be a directory.
func gitDir(path string) (string, error) {
	dir := filepath.Join(path, ".git")
	st, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if !st.IsDir() {
		return "", errors.New("its .git is not a directory")
	}
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return "", err
	}
	return dir, nil
}

// renew gives a workspace a new git directory at a commit. The files stay as they
// are. What the former git directory had is lost: whatever was worth keeping is
// in Coppice's own repository by then.
func (w *Workspaces) renew(ctx context.Context, r repo, s slot, commit string) error {
	path := r.path(s)
	if st, err := os.Lstat(path); err == nil && !st.IsDir() {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	if err := errors.Join(os.MkdirAll(path, 0o755), os.MkdirAll(r.tmp(), 0o700)); err != nil {
		return err
	}
	made, err := os.MkdirTemp(r.tmp(), "git-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(made)
	if err := w.fillGitDir(ctx, r, s, made, commit); err != nil {
		return err
	}
	if err := os.Chmod(made, 0o755); err != nil {
		return err
	}
	at := filepath.Join(path, ".git")
	old := made + ".old"
	switch err := os.Rename(at, old); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	}
	if err := os.Rename(made, at); err != nil {
		return err
	}
	return removeWhole(old)
}

func (w *Workspaces) fillGitDir(ctx context.Context, r repo, s slot, dir, commit string) error {
	config, sparse, err := w.workspaceConfig(ctx, r)
	if err != nil {
		return err
	}
	refs, symbolic, err := w.usersRefs(ctx, r)
	if err != nil {
		return err
	}
	delete(refs, "refs/heads/"+s.Branch)
	files := map[string]string{
		"HEAD":                    commit + "\n",
		"config":                  config,
		"objects/info/alternates": alternate(filepath.Join(r.git, "objects")) + alternate(filepath.Join(r.user, "objects")),
		"objects/pack/":           "",
		"refs/heads/":             "",
		"refs/tags/":              "",
		"info/":                   "",
	}
	if len(refs) > 0 {
		var b strings.Builder
		b.WriteString("# pack-refs with: sorted \n")
		for _, name := range slices.Sorted(maps.Keys(refs)) {
			fmt.Fprintf(&b, "%s %s\n", refs[name], name)
		}
		files["packed-refs"] = b.String()
	}
	for name, to := range symbolic {
		files[name] = "ref: " + to + "\n"
	}
	if err := writeFiles(dir, files); err != nil {
		return err
	}
	if err := copyInfo(r, dir); err != nil {
		return err
	}
	if sparse {
		data, err := os.ReadFile(filepath.Join(r.user, "info", "sparse-checkout"))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "info", "sparse-checkout"), data, 0o644)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := copyChanged(filepath.Join(r.git, "shallow"), filepath.Join(dir, "shallow")); err != nil {
		return err
	}
	err = copyIndex(r.savedIndex(s), filepath.Join(dir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err
}

// saveIndex remembers the index that Coppice's own git has just written.
func (w *Workspaces) saveIndex(r repo, s slot) error {
	tmp := r.savedIndex(s) + ".new"
	if err := copyIndex(filepath.Join(r.path(s), ".git", "index"), tmp); err != nil {
		return err
	}
	return os.Rename(tmp, r.savedIndex(s))
}

// copyIndex copies an index with its time: git compares that with the times of
// files to find those that changed in the moment in which the index was written.
func copyIndex(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	st, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, st.ModTime(), st.ModTime())
}

// usersRefs returns the person's branches, tags and remote-tracking branches with
// their objects, and those that lead to others.
func (w *Workspaces) usersRefs(ctx context.Context, r repo) (refs, symbolic map[string]string, err error) {
	if refs, symbolic, err := plainUsersRefs(r.user); err == nil {
		return refs, symbolic, nil
	}
	out, err := w.git.Run(ctx, r.root, append([]string{"for-each-ref", "--format=%(objectname) %(refname) %(symref)"}, shown...)...)
	if err != nil {
		return nil, nil, err
	}
	refs, symbolic = map[string]string{}, map[string]string{}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		switch len(f) {
		case 2:
			refs[f[1]] = f[0]
		case 3:
			symbolic[f[1]] = f[2]
		}
	}
	return refs, symbolic, nil
}

// shown are the refs of the person's that workspaces have too.
var shown = []string{"refs/heads/", "refs/tags/", "refs/remotes/"}

func plainUsersRefs(common string) (refs, symbolic map[string]string, err error) {
	if !plainRefs(common) {
		return nil, nil, errOdd
	}
	loose, symbolic := map[string]string{}, map[string]string{}
	for _, top := range shown {
		err := filepath.WalkDir(filepath.Join(common, filepath.FromSlash(top)), func(p string, d fs.DirEntry, err error) error {
			if absent(err) {
				return nil
			}
			if err != nil || d.IsDir() || strings.HasSuffix(p, ".lock") {
				return err
			}
			name, err := filepath.Rel(common, p)
			if err != nil {
				return err
			}
			b, err := readRegular(p, maxLoose)
			if absent(err) {
				return nil // it was removed or packed in this moment
			}
			if name = filepath.ToSlash(name); err != nil || !plainName(name) {
				return errors.Join(err, errOdd)
			}
			line := strings.TrimSuffix(string(b), "\n")
			if to, ok := strings.CutPrefix(line, "ref: "); ok && plainName(to) {
				symbolic[name] = to
			} else if plainID(line) {
				loose[name] = line
			} else {
				return errOdd
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	// Files come first and packed refs second: a ref that is packed in between
	// is then found twice instead of never.
	refs = map[string]string{}
	b, err := readRegular(filepath.Join(common, "packed-refs"), maxPacked)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	for line := range bytes.Lines(b) {
		id, name, ok := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		if ok && plainID(id) && slices.ContainsFunc(shown, func(top string) bool { return strings.HasPrefix(name, top) }) {
			refs[name] = id
		}
	}
	maps.Copy(refs, loose)
	return refs, symbolic, nil
}
