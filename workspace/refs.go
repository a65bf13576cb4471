package workspace

import (
	"bufio"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
)

// maxSmall limits a small file of git, such as the file of one ref.
const maxSmall = 4 << 10

// files gives direct access to the files of a repository, by its git directory.
// Only objects of Coppice's own repository are synced: those of a workspace are
// copied when it is saved.
func (w *Workspaces) files(ctx context.Context, gitDir string) *gitfiles.Repo {
	return gitfiles.Open(gitDir, gitfiles.Config{Off: w.noGitFiles, Sync: filepath.Base(gitDir) == ownName, Read: func(kind string, ids []string) ([][]byte, error) {
		out, err := w.git.Do(ctx, git.Call{Dir: gitDir, Args: []string{"cat-file", "--batch"}, Stdin: []byte(strings.Join(ids, "\n") + "\n")})
		if err != nil {
			return nil, err
		}
		var all [][]byte
		for in := bufio.NewReader(strings.NewReader(out)); len(all) < len(ids); {
			data, err := readObject(in)
			if err != nil {
				break // one of them is missing: the caller that needs it finds out
			}
			all = append(all, data)
		}
		return all, nil
	}})
}

// refs returns the commits of the refs of those exact names.
func (w *Workspaces) refs(ctx context.Context, r at, names ...string) (map[string]string, error) {
	if found, err := w.files(ctx, r.git).Refs(names...); err == nil {
		return found, nil
	}
	out, err := w.git.Run(ctx, r.dir, append([]string{"for-each-ref", "--format=%(refname) %(objectname)"}, names...)...)
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

// refsBelow lists the refs below a directory such as refs/heads/, by name: those
// with their objects, and symbolic refs with the ref that they name.
func (w *Workspaces) refsBelow(ctx context.Context, r at, dirs ...string) (refs, symbolic map[string]string, err error) {
	if refs, symbolic, err := w.files(ctx, r.git).List(dirs...); err == nil {
		return refs, symbolic, nil
	}
	out, err := w.git.Run(ctx, r.dir, append([]string{"for-each-ref", "--format=%(objectname) %(refname) %(symref)"}, dirs...)...)
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

// head returns the branch a workspace is on, as a full ref and empty when it is
// detached, and its commit, empty when there is none yet.
func (w *Workspaces) head(ctx context.Context, path string) (on, id string, err error) {
	if dir, err := gitDir(path); err == nil {
		if on, id, err := w.files(ctx, dir).Head(dir); err == nil {
			return on, id, nil
		}
	}
	on, err = w.git.Run(ctx, path, "symbolic-ref", "--quiet", "HEAD")
	if err != nil && git.Exit(err) != 1 {
		return "", "", err
	}
	id, err = w.git.Run(ctx, path, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if git.Exit(err) == 1 {
		return on, "", nil
	}
	return on, id, err
}

// setRef points a ref of Coppice's own repository at a commit.
func (w *Workspaces) setRef(ctx context.Context, r repo, name, commit string) error {
	files := w.files(ctx, r.git)
	if _, err := files.Commit(commit); err == nil && files.SetRef(name, commit) == nil {
		return nil
	}
	_, err := w.git.Run(ctx, r.git, "update-ref", "--no-deref", name, commit)
	return err
}

// dropRef deletes a ref of Coppice's own repository. If git must do that, dropRef
// returns the line for updateRefs.
func (w *Workspaces) dropRef(ctx context.Context, r repo, name, commit string) (line string) {
	switch err := w.files(ctx, r.git).DeleteRef(name, commit); {
	case err == nil:
		return ""
	case errors.Is(err, gitfiles.ErrPacked):
		return "option no-deref\ndelete " + name
	}
	return "option no-deref\ndelete " + name + " " + commit
}

// updateRefs changes refs in one transaction, by lines of git update-ref.
func (w *Workspaces) updateRefs(ctx context.Context, r at, why string, lines ...string) error {
	if lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" }); len(lines) == 0 {
		return nil
	}
	_, err := w.git.Do(ctx, git.Call{Dir: r.dir, Stdin: []byte(strings.Join(lines, "\n") + "\n"), Args: []string{"update-ref", "-m", "coppice: " + why, "--stdin"}})
	return err
}
