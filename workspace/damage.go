package workspace

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coppice"
	"coppice/internal/atomicfile"
	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
	"coppice/workspace/repo"
)

// An agent can damage its workspace: it can delete it, separate it from git, or
// break git's files. Then only its task fails. Coppice repairs the workspace with
// what can be saved, and the next session is informed.

// damage returns why git does not work in a workspace, or "". It restores settings
// that an agent changed if they are not the cause.
func (w *Workspaces) damage(ctx context.Context, r repo.Repo, s slot) (string, error) {
	path := s.path(r)
	switch st, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return "the workspace's directory was deleted", nil
	case err != nil:
		return "", err
	case !st.IsDir():
		return "the workspace's directory was replaced by something else", nil
	}
	dir := filepath.Join(path, ".git")
	switch st, err := os.Lstat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return "the .git directory of the workspace was deleted", nil
	case err != nil:
		return "", err
	case !st.IsDir():
		if old, err := w.convert(ctx, r, s); err != nil || old {
			return "", err
		}
		return "the .git directory of the workspace was replaced by a file or a link", nil
	}
	for _, name := range []string{"objects", "refs"} {
		if st, err := os.Lstat(filepath.Join(dir, name)); err != nil || !st.IsDir() {
			return fmt.Sprintf("the directory .git/%s of the workspace was deleted or replaced", name), nil
		}
	}
	for _, name := range []string{"commondir", "objects/info/http-alternates"} {
		if repo.Exists(filepath.Join(dir, filepath.FromSlash(name))) {
			return fmt.Sprintf("the file .git/%s, which leads git elsewhere, was created in the workspace", name), nil
		}
	}
	if what, err := w.configDamage(ctx, r, dir); err != nil || what != "" {
		return what, err
	}
	borrowed := repo.Alternate(filepath.Join(r.Git, "objects")) + repo.Alternate(filepath.Join(r.User, "objects"))
	if b, err := gitfiles.ReadRegular(filepath.Join(dir, "objects", "info", "alternates"), repo.MaxSmall); err != nil || string(b) != borrowed {
		return "the file .git/objects/info/alternates of the workspace was changed: git no longer finds the repository's objects", nil
	}
	return w.indexDamage(ctx, path)
}

// harmful reports whether a setting changes where or how a repository is stored.
func harmful(key string) bool {
	section, _, _ := strings.Cut(key, ".")
	switch key {
	case "core.bare", "core.worktree", "core.repositoryformatversion":
		return true
	}
	return section == "extensions" && key != "extensions.worktreeconfig"
}

// configDamage compares the configuration of a workspace with the expected one.
func (w *Workspaces) configDamage(ctx context.Context, r repo.Repo, dir string) (string, error) {
	want, _, err := w.WorkspaceConfig(ctx, r)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "config")
	have, err := gitfiles.ReadRegular(file, 1<<20)
	if err != nil {
		return "the file .git/config of the workspace was deleted or replaced", nil
	}
	if string(have) == want {
		return "", nil
	}
	now, err := w.listConfig(ctx, file)
	if git.Exit(err) > 0 {
		return "the file .git/config of the workspace is broken: " + repo.Message(err), nil
	}
	if err != nil {
		return "", err
	}
	tmp, err := os.CreateTemp(r.Tmp(), "config-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.WriteString(want)
	if err = errors.Join(err, tmp.Close()); err != nil {
		return "", err
	}
	should, err := w.listConfig(ctx, tmp.Name())
	if err != nil {
		return "", err
	}
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if harmful(key) && should[key] != now[key] {
			return fmt.Sprintf("the setting %s was changed to %s in .git/config of the workspace", key, coppice.Quote(now[key])), nil
		}
	}
	for _, key := range slices.Sorted(maps.Keys(should)) {
		if _, ok := now[key]; harmful(key) && !ok && should[key] != "false" {
			return fmt.Sprintf("the setting %s was removed from .git/config of the workspace", key), nil
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "config.worktree")); err != nil {
		return "", err
	}
	return "", atomicfile.Write(file, []byte(want), 0o644)
}

// listConfig reads the settings of one file.
func (w *Workspaces) listConfig(ctx context.Context, file string) (map[string]string, error) {
	out, err := w.Git.Do(ctx, git.Call{Dir: w.Dir, Args: []string{"config", "--file", file, "--no-includes", "--null", "--list"}})
	if err != nil {
		return nil, err
	}
	set := map[string]string{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		set[key] = value
	}
	return set, nil
}

// indexDamage lets git check an index that gitfiles cannot read.
func (w *Workspaces) indexDamage(ctx context.Context, path string) (string, error) {
	file := filepath.Join(path, ".git", "index")
	if err := w.Files(ctx, filepath.Join(path, ".git")).Checkout(path, filepath.Join(path, ".git")).CheckIndex(); err == nil || errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if st, err := os.Lstat(file); err == nil && !st.Mode().IsRegular() {
		return "the file .git/index of the workspace was replaced by something else", nil
	}
	if !summed(file) {
		return "the file .git/index of the workspace is damaged: its checksum is wrong", nil
	}
	_, err := w.Git.Do(ctx, git.Call{Dir: path, Args: []string{"ls-files", "--stage", "-z"}, Limit: 1})
	if git.Exit(err) > 0 {
		return "the file .git/index of the workspace is damaged: " + repo.Message(err), nil
	}
	return "", err
}

// summed reports whether a file ends in its checksum, by either hash, or in zeros.
func summed(file string) bool {
	b, err := os.ReadFile(file)
	if err != nil || len(b) < sha256.Size {
		return false
	}
	body, sum := b[:len(b)-sha1.Size], b[len(b)-sha1.Size:]
	if one := sha1.Sum(body); bytes.Equal(one[:], sum) || bytes.Equal(sum, make([]byte, sha1.Size)) {
		return true
	}
	two := sha256.Sum256(b[:len(b)-sha256.Size])
	return bytes.Equal(two[:], b[len(b)-sha256.Size:])
}

// repair creates the git directory of a damaged workspace again, on its branch, and
// returns the head of the branch. Existing files stay as they are. If there are
// none, it checks the branch out again. It keeps commits of the agent that were not
// saved yet, if they are complete.
func (w *Workspaces) repair(ctx context.Context, r repo.Repo, s slot, what string) (string, error) {
	path := s.path(r)
	w.Log.WarnContext(ctx, "repairing a workspace", "path", path, "damage", what)
	head, err := w.salvage(ctx, r, s)
	if err != nil {
		return "", err
	}
	files := 0
	if entries, err := os.ReadDir(path); err == nil {
		for _, e := range entries {
			if e.Name() != ".git" {
				files++
			}
		}
	}
	if files == 0 {
		if _, err := w.checkOut(ctx, r, s, s.Branch, head); err != nil {
			return "", fmt.Errorf("repairing %s: %w", path, err)
		}
		return head, w.submodules(ctx, r, path)
	}
	for {
		if err := w.renew(ctx, r, s, s.Branch, head); err != nil {
			return "", err
		}
		_, err := w.Git.Run(ctx, path, "read-tree", "--reset", head)
		if err == nil {
			return head, nil
		}
		if s.Base == "" || head == s.Base {
			return "", fmt.Errorf("repairing %s: %w", path, err)
		}
		head = s.Base // an agent can commit a tree that git cannot read
		if err := w.SetRef(ctx, r, "refs/heads/"+s.Branch, head); err != nil {
			return "", err
		}
	}
}

// salvage saves the readable objects of a damaged git directory, and returns the
// newest head of the task's branch whose history is complete.
func (w *Workspaces) salvage(ctx context.Context, r repo.Repo, s slot) (string, error) {
	head, err := w.ownHead(ctx, r, s)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(s.path(r), ".git")
	if st, err := os.Lstat(dir); err != nil || !st.IsDir() {
		return head, nil
	}
	if err := w.Publish(ctx, r, dir); err != nil {
		return "", err
	}
	_, id, err := w.Files(ctx, dir).Resolve(dir, "refs/heads/"+s.Branch)
	if err != nil || id == "" || id == head {
		return head, nil
	}
	if missing, err := w.Complete(ctx, r, id, s.Base); err != nil {
		return "", err
	} else if missing != "" {
		return head, nil
	}
	if ahead, err := w.IsAncestor(ctx, r, head, id); err != nil || !ahead {
		return head, err
	}
	return id, w.SetRef(ctx, r, "refs/heads/"+s.Branch, id)
}

// repaired says what an agent can do after a repair.
const repaired = "the workspace was repaired and its branch is at the last complete commit: check the files, and repeat the work that is missing"

// damaged returns the failure of a session that damaged its workspace.
func damaged(what, fix string) error {
	return coppice.Failf(coppice.ClassImplementation, "the workspace was damaged: "+what, fix)
}

// hints are fixes for errors of git when it stages a workspace, by git's message.
var hints = []struct{ words, fix string }{
	{"does not have a commit checked out", "that directory is a separate git repository: remove its .git directory, or the whole directory"},
	{"invalid path", "remove or rename that file: git does not allow its name"},
	{"unable to index file", "remove or rename the file that git cannot read"},
	{"Permission denied", "give yourself permission to read it, or remove it"},
	{"is beyond a symbolic link", "remove that path from git, or replace the symbolic link"},
}

// unstageable turns an error of git when it stages a workspace into the failure of
// the session.
func unstageable(err error) error {
	if git.Exit(err) <= 0 || repo.DiskFull(err) {
		return err
	}
	text := repo.Message(err)
	fix := "undo what keeps git from working in the workspace"
	for _, h := range hints {
		if strings.Contains(text, h.words) {
			fix = h.fix
			break
		}
	}
	return damaged("git cannot commit its files: "+text, fix)
}
