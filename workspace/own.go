package workspace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"coppice/internal/atomicfile"
	"coppice/workspace/git"
	"coppice/workspace/gitconfig"
	"coppice/workspace/gitfiles"
)

// Coppice keeps its branches and refs out of the person's repository. For each
// repository there is a bare one beside the workspaces, Coppice's own. It has the
// branches of tasks, the commits that are about to land and the trash, and it
// borrows the person's objects through git's alternates. Each workspace is a
// repository that borrows from both. The person's repository gets what lands, and
// one ref that keeps git from pruning borrowed commits.

// ownName is the directory of Coppice's own repository, beside the workspaces.
const ownName = "repo.git"

// use returns the repository that dir is in, and creates Coppice's own repository
// if it is missing.
func (w *Workspaces) use(ctx context.Context, dir string) (repo, error) {
	r, err := w.find(ctx, dir)
	if err != nil {
		return r, err
	}
	if !exists(filepath.Join(r.git, "HEAD")) {
		if err := w.makeOwn(ctx, r); err != nil {
			return r, classify(fmt.Errorf("creating Coppice's own repository for %s: %w", r.root, err))
		}
	}
	if err := w.note(r); err != nil {
		return r, err
	}
	return r, errors.Join(copyChanged(filepath.Join(r.user, "shallow"), filepath.Join(r.git, "shallow")),
		copyChanged(filepath.Join(r.user, "info", "attributes"), filepath.Join(r.git, "info", "attributes")))
}

// source says which repository a directory of workspaces belongs to.
type source struct {
	Root string `json:"root"`
	User string `json:"user"`
}

func sourceFile(dir string) string { return filepath.Join(dir, "source.json") }

// note stores once which repository the directory belongs to.
func (w *Workspaces) note(r repo) error {
	w.mu.Lock()
	known := w.noted[r.dir] == r
	w.noted[r.dir] = r
	w.mu.Unlock()
	if known {
		return nil
	}
	return atomicfile.WriteJSON(sourceFile(r.dir), source{Root: r.root, User: r.user})
}

// of returns the repository that a directory of workspaces belongs to.
func (w *Workspaces) of(dir string) (repo, error) {
	w.mu.Lock()
	r, known := w.noted[dir]
	w.mu.Unlock()
	if known {
		return r, nil
	}
	b, err := os.ReadFile(sourceFile(dir))
	if err != nil {
		return repo{}, err
	}
	var s source
	if err := json.Unmarshal(b, &s); err != nil {
		return repo{}, err
	}
	return repo{root: s.Root, user: s.User, dir: dir, git: filepath.Join(dir, ownName)}, nil
}

// sameDevice reports whether two paths are on one file system.
func sameDevice(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	if err != nil {
		return false
	}
	s, ok := x.Sys().(*syscall.Stat_t)
	t, ok2 := y.Sys().(*syscall.Stat_t)
	return ok && ok2 && s.Dev == t.Dev
}

// makeOwn creates the repository under another name first, so that it is complete or
// missing.
func (w *Workspaces) makeOwn(ctx context.Context, r repo) error {
	unlock, err := w.locks.Wait(ctx, r.lockFile())
	if err != nil {
		return err
	}
	defer unlock()
	if exists(filepath.Join(r.git, "HEAD")) {
		return nil
	}
	settings, err := w.git.Settings(ctx, r.root)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(r.tmp(), 0o700); err != nil {
		return err
	}
	made, err := os.MkdirTemp(r.tmp(), "own-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(made)
	err = writeFiles(made, map[string]string{
		"HEAD":                    "ref: refs/heads/coppice/none\n", // a bare repository must name a branch; this one never exists
		"config":                  gitconfig.Render(append(gitconfig.Needed(settings), gitconfig.Set("core.bare", "true"), gitconfig.Set("gc.auto", "0"), gitconfig.Set("core.fsync", "committed"))),
		"objects/info/alternates": alternate(filepath.Join(r.user, "objects")),
		"refs/heads/":             "",
		"objects/pack/":           "",
		"info/":                   "",
	})
	if err != nil {
		return err
	}
	old, err := w.importRefs(ctx, r, made)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(r.git); err != nil { // without a HEAD it never had anything
		return err
	}
	if err := errors.Join(os.Rename(made, r.git), syncDir(r.dir)); err != nil || old == nil {
		return err
	}
	return w.dropImported(ctx, r, old)
}

// withUserFiles returns the variables with which git uses Coppice's own
// repository and the person's files: attributes are read from these.
func (r repo) withUserFiles() []string {
	return []string{"GIT_DIR=" + r.git, "GIT_WORK_TREE=" + r.root}
}

// writeFiles writes files below a directory; a name that ends in a slash is a
// directory.
func writeFiles(dir string, files map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				return err
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(files[name]), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// syncDir writes a directory's entries to the disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// alternate returns the line that names an object directory to borrow from.
func alternate(objects string) string {
	if strings.HasPrefix(objects, `"`) || strings.HasPrefix(objects, "#") {
		objects = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(objects) + `"`
	}
	return objects + "\n"
}

// copyChanged makes a file the same as another one, which may be missing.
func copyChanged(from, to string) error {
	want, err := gitfiles.ReadRegular(from, 256<<20)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err != nil {
		return err
	}
	if have, err := os.ReadFile(to); err == nil && bytes.Equal(have, want) {
		return nil
	}
	return atomicfile.Write(to, want, 0o644)
}

// workspaceConfig returns the configuration of a workspace's repository, and
// whether its checkout is sparse.
func (w *Workspaces) workspaceConfig(ctx context.Context, r repo) (config string, sparse bool, err error) {
	settings, err := w.git.Settings(ctx, r.root)
	if err != nil {
		return "", false, err
	}
	confirmed, known := w.confirmed(r.dir)
	config, sparse = gitconfig.ForWorkspace(r.user, settings, confirmed, known)
	return config, sparse, nil
}

// keepRef is Coppice's only ref in the person's repository. It keeps the commits
// from which workspaces started, also if the base moves elsewhere.
const keepRef = "refs/coppice/keep"

// keep keeps the person's git from pruning a commit from which a workspace starts.
// The ref is at the commit itself, or at a commit of Coppice that has it and the
// earlier ones as parents.
func (w *Workspaces) keep(ctx context.Context, r repo, commit string) error {
	refs, err := w.refs(ctx, r.users(), keepRef)
	if err != nil || refs[keepRef] == commit {
		return err
	}
	unlock, err := w.locks.Wait(ctx, filepath.Join(r.dir, "keep.lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if refs, err = w.refs(ctx, r.users(), keepRef); err != nil {
		return err
	}
	was, to := refs[keepRef], commit
	if was != "" {
		if has, err := w.isAncestor(ctx, r, commit, was); err != nil || has {
			return err
		}
		if over, err := w.isAncestor(ctx, r, was, commit); err != nil {
			return err
		} else if !over {
			if to, err = w.keepBoth(ctx, r, commit, was); err != nil {
				return err
			}
		}
	}
	files := w.files(ctx, r.user)
	if _, err := files.Refs(keepRef); err == nil {
		mode, err := w.shared(ctx, r)
		if err != nil {
			return err
		}
		if err := mode.mkdir(filepath.Dir(filepath.Join(r.user, filepath.FromSlash(keepRef)))); err != nil {
			return err
		}
		if files.SetRef(keepRef, to) == nil {
			return nil
		}
	}
	return w.updateRefs(ctx, r.users(), "keep", "update "+keepRef+" "+to)
}

// keepBoth writes a commit with two parents and an empty tree into the person's
// repository.
func (w *Workspaces) keepBoth(ctx context.Context, r repo, a, b string) (string, error) {
	tree, err := w.git.Do(ctx, git.Call{Dir: r.root, Args: []string{"hash-object", "-w", "-t", "tree", "--stdin"}, Stdin: []byte{}})
	if err != nil {
		return "", err
	}
	by := ownSignature(time.Unix(0, 0))
	out, err := w.git.Do(ctx, git.Call{Dir: r.root, Env: signatureEnv(by, by), Stdin: []byte("Commits that workspaces of Coppice began from\n"),
		Args: []string{"commit-tree", "-p", a, "-p", b, "-F", "-", strings.TrimSpace(tree)}})
	return strings.TrimSpace(out), err
}

// isOwn reports whether a commit is missing in the person's repository. Then only
// Coppice's own has it.
func (w *Workspaces) isOwn(ctx context.Context, r repo, commit string) (bool, error) {
	_, exit, err := w.git.Status(ctx, git.Call{Dir: r.root, Args: []string{"cat-file", "-e", commit + "^{commit}"}, OK: []int{1, 128}})
	return err == nil && exit != 0, err
}
