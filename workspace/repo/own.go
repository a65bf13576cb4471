package repo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"coppice/internal/atomicfile"
	"coppice/workspace/git"
	"coppice/workspace/gitconfig"
)

// Coppice keeps its branches and refs out of the person's repository. For each
// repository there is a bare one beside the workspaces, Coppice's own. It has the
// branches of tasks, the commits that are about to land and the trash, and it
// borrows the person's objects through git's alternates. Each workspace is a
// repository that borrows from both. The person's repository gets what lands, and
// one ref that keeps git from pruning borrowed commits.

// OwnName is the directory of Coppice's own repository, beside the workspaces.
const OwnName = "repo.git"

// Use returns the repository that dir is in, and creates Coppice's own repository
// if it is missing.
func (rs *Repos) Use(ctx context.Context, dir string) (Repo, error) {
	r, err := rs.Find(ctx, dir)
	if err != nil {
		return r, err
	}
	if !Exists(filepath.Join(r.Git, "HEAD")) {
		if err := rs.makeOwn(ctx, r); err != nil {
			return r, Classify(fmt.Errorf("creating Coppice's own repository for %s: %w", r.Root, err))
		}
	}
	if err := rs.note(r); err != nil {
		return r, err
	}
	return r, errors.Join(CopyChanged(filepath.Join(r.User, "shallow"), filepath.Join(r.Git, "shallow")),
		CopyChanged(filepath.Join(r.User, "info", "attributes"), filepath.Join(r.Git, "info", "attributes")))
}

// In runs f with the repository of a directory, and classifies its error.
func In[T any](ctx context.Context, rs *Repos, dir string, f func(Repo) (T, error)) (T, error) {
	r, err := rs.Use(ctx, dir)
	if err != nil {
		var none T
		return none, err
	}
	out, err := f(r)
	return out, Classify(err)
}

// source says which repository a directory of workspaces belongs to.
type source struct {
	Root string `json:"root"`
	User string `json:"user"`
}

func sourceFile(dir string) string { return filepath.Join(dir, "source.json") }

// note stores once which repository the directory belongs to.
func (rs *Repos) note(r Repo) error {
	rs.mu.Lock()
	known := rs.noted[r.Dir] == r
	if rs.noted == nil {
		rs.noted = map[string]Repo{}
	}
	rs.noted[r.Dir] = r
	rs.mu.Unlock()
	if known {
		return nil
	}
	return atomicfile.WriteJSON(sourceFile(r.Dir), source{Root: r.Root, User: r.User})
}

// Of returns the repository that a directory of workspaces belongs to.
func (rs *Repos) Of(dir string) (Repo, error) {
	rs.mu.Lock()
	r, known := rs.noted[dir]
	rs.mu.Unlock()
	if known {
		return r, nil
	}
	b, err := os.ReadFile(sourceFile(dir))
	if err != nil {
		return Repo{}, err
	}
	var s source
	if err := json.Unmarshal(b, &s); err != nil {
		return Repo{}, err
	}
	return Repo{Root: s.Root, User: s.User, Dir: dir, Git: filepath.Join(dir, OwnName)}, nil
}

// makeOwn creates the repository under another name first, so that it is complete or
// missing.
func (rs *Repos) makeOwn(ctx context.Context, r Repo) error {
	unlock, err := rs.Locks.Wait(ctx, r.LockFile())
	if err != nil {
		return err
	}
	defer unlock()
	if Exists(filepath.Join(r.Git, "HEAD")) {
		return nil
	}
	settings, err := rs.Git.Settings(ctx, r.Root)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(r.Tmp(), 0o700); err != nil {
		return err
	}
	made, err := os.MkdirTemp(r.Tmp(), "own-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(made)
	err = WriteFiles(made, map[string]string{
		"HEAD":                    "ref: refs/heads/coppice/none\n", // a bare repository must name a branch; this one never exists
		"config":                  gitconfig.Render(append(gitconfig.ForFile(gitconfig.Needed(settings)), gitconfig.Set("core.bare", "true"), gitconfig.Set("gc.auto", "0"), gitconfig.Set("core.fsync", "committed"))),
		"objects/info/alternates": Alternate(filepath.Join(r.User, "objects")),
		"refs/heads/":             "",
		"objects/pack/":           "",
		"info/":                   "",
	})
	if err != nil {
		return err
	}
	old, err := rs.importRefs(ctx, r, made)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(r.Git); err != nil { // without a HEAD it never had anything
		return err
	}
	if err := errors.Join(os.Rename(made, r.Git), SyncDir(r.Dir)); err != nil || old == nil {
		return err
	}
	return rs.dropImported(ctx, r, old)
}

// WithUserFiles returns the variables with which git uses Coppice's own
// repository and the person's files: attributes are read from these.
func (r Repo) WithUserFiles() []string {
	return []string{"GIT_DIR=" + r.Git, "GIT_WORK_TREE=" + r.Root}
}

// Alternate returns the line that names an object directory to borrow from.
func Alternate(objects string) string {
	if strings.HasPrefix(objects, `"`) || strings.HasPrefix(objects, "#") {
		objects = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(objects) + `"`
	}
	return objects + "\n"
}

// WorkspaceConfig returns the configuration of a workspace's repository, and
// whether its checkout is sparse.
func (rs *Repos) WorkspaceConfig(ctx context.Context, r Repo) (config string, sparse bool, err error) {
	settings, err := rs.Git.Settings(ctx, r.Root)
	if err != nil {
		return "", false, err
	}
	confirmed, known := rs.Confirmed(r.Dir)
	config, sparse = gitconfig.ForWorkspace(r.User, settings, confirmed, known)
	return config, sparse, nil
}

// KeepRef is Coppice's only ref in the person's repository. It keeps the commits
// from which workspaces started, also if the base moves elsewhere.
const KeepRef = "refs/coppice/keep"

// Keep keeps the person's git from pruning a commit from which a workspace starts.
// The ref is at the commit itself, or at a commit of Coppice that has it and the
// earlier ones as parents.
func (rs *Repos) Keep(ctx context.Context, r Repo, commit string) error {
	refs, err := rs.Refs(ctx, r.Users(), KeepRef)
	if err != nil || refs[KeepRef] == commit {
		return err
	}
	unlock, err := rs.Locks.Wait(ctx, filepath.Join(r.Dir, "keep.lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if refs, err = rs.Refs(ctx, r.Users(), KeepRef); err != nil {
		return err
	}
	was, to := refs[KeepRef], commit
	if was != "" {
		if has, err := rs.IsAncestor(ctx, r, commit, was); err != nil || has {
			return err
		}
		if over, err := rs.IsAncestor(ctx, r, was, commit); err != nil {
			return err
		} else if !over {
			if to, err = rs.keepBoth(ctx, r, commit, was); err != nil {
				return err
			}
		}
	}
	files := rs.Files(ctx, r.User)
	if _, err := files.Refs(KeepRef); err == nil {
		mode, err := rs.Shared(ctx, r)
		if err != nil {
			return err
		}
		if err := mode.Mkdir(filepath.Dir(filepath.Join(r.User, filepath.FromSlash(KeepRef)))); err != nil {
			return err
		}
		if files.SetRef(KeepRef, to) == nil {
			return nil
		}
	}
	return rs.UpdateRefs(ctx, r.Users(), "keep", "update "+KeepRef+" "+to)
}

// keepBoth writes a commit with two parents and an empty tree into the person's
// repository.
func (rs *Repos) keepBoth(ctx context.Context, r Repo, a, b string) (string, error) {
	tree, err := rs.Git.Do(ctx, git.Call{Dir: r.Root, Args: []string{"hash-object", "-w", "-t", "tree", "--stdin"}, Stdin: []byte{}})
	if err != nil {
		return "", err
	}
	by := OwnSignature(time.Unix(0, 0))
	out, err := rs.Git.Do(ctx, git.Call{Dir: r.Root, Env: SignatureEnv(by, by), Stdin: []byte("Commits that workspaces of Coppice began from\n"),
		Args: []string{"commit-tree", "-p", a, "-p", b, "-F", "-", strings.TrimSpace(tree)}})
	return strings.TrimSpace(out), err
}

// IsOwn reports whether a commit is missing in the person's repository. Then only
// Coppice's own has it.
func (rs *Repos) IsOwn(ctx context.Context, r Repo, commit string) (bool, error) {
	_, exit, err := rs.Git.Status(ctx, git.Call{Dir: r.Root, Args: []string{"cat-file", "-e", commit + "^{commit}"}, OK: []int{1, 128}})
	return err == nil && exit != 0, err
}

// CollectGarbage lets git clean up Coppice's own repository if necessary. Objects that
// no ref has reached for a day are removed.
func (rs *Repos) CollectGarbage(ctx context.Context, r Repo) {
	_, err := rs.Git.Do(ctx, git.Call{Dir: r.Git, Config: []string{"gc.auto=6700", "gc.autoDetach=false", "gc.pruneExpire=1.day.ago", "gc.reflogExpire=now"},
		Args: []string{"gc", "--auto", "--quiet"}})
	if err != nil && ctx.Err() == nil {
		rs.Log.WarnContext(ctx, "cleaning up Coppice's own repository failed", "repository", r.Git, "error", err)
	}
}
