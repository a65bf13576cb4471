package repo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coppice"
	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
)

// MaxSmall limits a small file of git, such as the file of one ref.
const MaxSmall = 4 << 10

// Files gives direct access to the files of a repository, by its git directory.
// Only objects of Coppice's own repository are synced: those of a workspace are
// copied when it is saved.
func (rs *Repos) Files(ctx context.Context, gitDir string) *gitfiles.Repo {
	return gitfiles.Open(gitDir, gitfiles.Config{Off: rs.NoGitFiles, Sync: filepath.Base(gitDir) == OwnName, Cache: &rs.Objects, Read: func(kind string, ids []string) ([][]byte, error) {
		out, err := rs.Git.Do(ctx, git.Call{Dir: gitDir, Args: []string{"cat-file", "--batch"}, Stdin: []byte(strings.Join(ids, "\n") + "\n")})
		if err != nil {
			return nil, err
		}
		var all [][]byte
		for in := bufio.NewReader(strings.NewReader(out)); len(all) < len(ids); {
			data, err := ReadObject(in)
			if err != nil {
				break // one of them is missing: the caller that needs it finds out
			}
			all = append(all, data)
		}
		return all, nil
	}})
}

// Refs returns the commits of the refs of those exact names.
func (rs *Repos) Refs(ctx context.Context, r Location, names ...string) (map[string]string, error) {
	if found, err := rs.Files(ctx, r.Git).Refs(names...); err == nil {
		return found, nil
	}
	out, err := rs.Git.Run(ctx, r.Dir, append([]string{"for-each-ref", "--format=%(refname) %(objectname)"}, names...)...)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for line := range strings.Lines(out) {
		name, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		if slices.Contains(names, name) {
			found[name] = id
		}
	}
	return found, nil
}

// RefsBelow lists the refs below a directory such as refs/heads/, by name: those
// with their objects, and symbolic refs with the ref that they name.
func (rs *Repos) RefsBelow(ctx context.Context, r Location, dirs ...string) (refs, symbolic map[string]string, err error) {
	if refs, symbolic, err := rs.Files(ctx, r.Git).List(dirs...); err == nil {
		return refs, symbolic, nil
	}
	out, err := rs.Git.Run(ctx, r.Dir, append([]string{"for-each-ref", "--format=%(objectname) %(refname) %(symref)"}, dirs...)...)
	if err != nil {
		return nil, nil, err
	}
	refs, symbolic = map[string]string{}, map[string]string{}
	for line := range strings.Lines(out) {
		switch f := strings.Fields(line); len(f) {
		case 2:
			refs[f[1]] = f[0]
		case 3:
			symbolic[f[1]] = f[2]
		}
	}
	return refs, symbolic, nil
}

// Head returns the branch a workspace is on, as a full ref and empty when it is
// detached, and its commit, empty when there is none yet.
func (rs *Repos) Head(ctx context.Context, path string) (on, id string, err error) {
	if dir, err := GitDir(path); err == nil {
		if on, id, err := rs.Files(ctx, dir).Head(dir); err == nil {
			return on, id, nil
		}
	}
	on, err = rs.Git.Run(ctx, path, "symbolic-ref", "--quiet", "HEAD")
	if err != nil && git.Exit(err) != 1 {
		return "", "", err
	}
	id, err = rs.Git.Run(ctx, path, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if git.Exit(err) == 1 {
		return on, "", nil
	}
	return on, id, err
}

// SetRef points a ref of Coppice's own repository at a commit.
func (rs *Repos) SetRef(ctx context.Context, r Repo, name, commit string) error {
	files := rs.Files(ctx, r.Git)
	if _, err := files.Commit(commit); err == nil && files.SetRef(name, commit) == nil {
		return nil
	}
	_, err := rs.Git.Run(ctx, r.Git, "update-ref", "--no-deref", name, commit)
	return err
}

// DropRef deletes a ref of Coppice's own repository. If git must do that, DropRef
// returns the line for UpdateRefs.
func (rs *Repos) DropRef(ctx context.Context, r Repo, name, commit string) (line string) {
	switch err := rs.Files(ctx, r.Git).DeleteRef(name, commit); {
	case err == nil:
		return ""
	case errors.Is(err, gitfiles.ErrPacked):
		return "option no-deref\ndelete " + name
	}
	return "option no-deref\ndelete " + name + " " + commit
}

// UpdateRefs changes refs in one transaction, by lines of git update-ref.
func (rs *Repos) UpdateRefs(ctx context.Context, r Location, why string, lines ...string) error {
	if lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" }); len(lines) == 0 {
		return nil
	}
	_, err := rs.Git.Do(ctx, git.Call{Dir: r.Dir, Stdin: []byte(strings.Join(lines, "\n") + "\n"), Args: []string{"update-ref", "-m", "coppice: " + why, "--stdin"}})
	return err
}

// DropRefs deletes those of the refs that exist in Coppice's own repository.
func (rs *Repos) DropRefs(ctx context.Context, r Repo, names ...string) error {
	refs, err := rs.Refs(ctx, r.Own(), names...)
	if err != nil {
		return err
	}
	var lines []string
	for name, at := range refs {
		lines = append(lines, rs.DropRef(ctx, r, name, at))
	}
	return rs.UpdateRefs(ctx, r.Own(), "done", lines...)
}

// GitDir returns the git directory of a workspace, which must be a directory.
func GitDir(path string) (string, error) {
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

// ShownRefs are the refs of the person that workspaces have too.
var ShownRefs = []string{"refs/heads/", "refs/tags/", "refs/remotes/"}

// TrashRefs is the directory of the trash in Coppice's own repository.
const TrashRefs = "refs/coppice/trash/"

// ValidTrash checks the name of an entry of the trash.
func ValidTrash(ref string) error {
	if name, ok := strings.CutPrefix(ref, TrashRefs); !ok || coppice.ValidBranch(name) != nil {
		return coppice.Errorf(coppice.EInvalid, "%s is not a ref of the trash", coppice.Quote(ref))
	}
	return nil
}

// ReadObject reads one object from the output of git cat-file --batch.
func ReadObject(in *bufio.Reader) ([]byte, error) {
	var id, kind string
	var size int
	if _, err := fmt.Fscanf(in, "%s %s %d\n", &id, &kind, &size); err != nil {
		return nil, fmt.Errorf("an object of the trash is missing: %w", err)
	}
	b := make([]byte, size+1) // with the line break that ends it
	_, err := io.ReadFull(in, b)
	return b[:size], err
}
