package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"coppice"
	"coppice/workspace/git"
	"coppice/workspace/gitconfig"
	"coppice/workspace/repo"
)

// populate checks the slot's branch out. If Coppice's own repository does not have
// the branch, populate creates it at start; branched reports whether it existed.
// Populate removes everything else in the directory, so it is called only for slots
// that nobody uses yet.
func (w *Workspaces) populate(ctx context.Context, r repo.Repo, s slot, start string) (branched bool, err error) {
	tree, own := s.path(r), "refs/heads/"+s.Branch
	refs, err := w.Refs(ctx, r.Own(), own)
	if err != nil {
		return false, err
	}
	if branched = refs[own] != ""; branched {
		start = refs[own]
	}
	fresh, err := w.checkOut(ctx, r, s, s.Branch, start)
	if err != nil {
		return branched, fmt.Errorf("checking out: %w", err)
	}
	if !branched {
		if err := w.SetRef(ctx, r, own, start); err != nil {
			return branched, err
		}
	}
	if err := w.Step("checked out"); err != nil {
		return branched, err
	}
	if !fresh && !s.Clean {
		if err := w.clean(ctx, r, s); err != nil {
			return branched, err
		}
	}
	return branched, w.submodules(ctx, r, tree)
}

// checkOut gives a workspace a new git directory and checks a commit out, on a branch
// or detached. It reports whether the workspace had no files before. Files that are
// not tracked stay.
func (w *Workspaces) checkOut(ctx context.Context, r repo.Repo, s slot, branch, commit string) (fresh bool, err error) {
	if err := w.renew(ctx, r, s, branch, commit); err != nil {
		return false, err
	}
	path, dir := s.path(r), s.inside(r).Git
	if fresh, err = isFresh(path); err != nil {
		return false, err
	}
	if !w.Git.WritesPlainFiles(ctx, r.Root) || w.Files(ctx, dir).Checkout(path, dir).Reset(commit) != nil {
		if _, err := w.Git.Run(ctx, path, "checkout", "--force", "--quiet", "--"); err != nil {
			return fresh, err
		}
	}
	return fresh, w.saveIndex(r, s)
}

// isFresh reports whether a workspace has only its git directory.
func isFresh(tree string) (bool, error) {
	entries, err := os.ReadDir(tree)
	return len(entries) == 1, err
}

// clean removes everything that is not tracked, ignored files included, so that
// nothing of one task affects the next.
func (w *Workspaces) clean(ctx context.Context, r repo.Repo, s slot) error {
	tree := s.path(r)
	if w.Files(ctx, s.inside(r).Git).Checkout(tree, s.inside(r).Git).Clean() == nil {
		return nil
	}
	_, err := w.Git.Run(ctx, tree, "clean", "-ffdxq")
	if err == nil {
		return nil
	}
	// Directories without permissions are a common leftover of package caches.
	_ = filepath.WalkDir(tree, func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			if st, err := d.Info(); err == nil && st.Mode().Perm()&0o700 != 0o700 {
				_ = os.Chmod(p, st.Mode().Perm()|0o700)
			}
		}
		return nil
	})
	_, err = w.Git.Run(ctx, tree, "clean", "-ffdxq")
	return err
}

// submodules checks the submodules out. It passes their addresses to git for one
// call, because `submodule init` would write them into the workspace's
// configuration. Addresses on this machine are used only if the repository itself
// comes from one.
func (w *Workspaces) submodules(ctx context.Context, r repo.Repo, tree string) error {
	if st, err := os.Lstat(filepath.Join(tree, ".gitmodules")); err != nil || !st.Mode().IsRegular() {
		return nil
	}
	out, err := w.Git.Do(ctx, git.Call{Dir: tree, OK: []int{1},
		Args: []string{"config", "--file", ".gitmodules", "--no-includes", "--null", "--get-regexp", `^submodule\..*\.url$`}})
	if err != nil {
		return coppice.Failf(coppice.ClassEnvironment, "cannot read .gitmodules: "+err.Error(), "fix .gitmodules on the base branch")
	}
	own, err := w.Git.Settings(ctx, tree)
	if err != nil {
		return err
	}
	set := map[string]string{}
	for _, s := range own {
		set[s.Key] = s.Value
	}
	origin := set["remote.origin.url"]
	if origin == "" {
		origin = r.Root
	}
	config := []string{"protocol.file.allow=never"}
	if local(origin) {
		config[0] = "protocol.file.allow=always"
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		key, url, ok := strings.Cut(entry, "\n")
		if !ok || strings.Contains(key, "=") {
			continue
		}
		if set[key] != "" {
			url = set[key]
		} else if strings.HasPrefix(url, "./") || strings.HasPrefix(url, "../") {
			url = relative(origin, url)
		}
		config = append(config, key+"="+url, strings.TrimSuffix(key, ".url")+".active=true")
	}
	if len(config) == 1 {
		return nil
	}
	user, err := w.Git.Settings(ctx, r.Root)
	if err != nil {
		return err
	}
	confirmed, known := w.Confirmed(r.Dir)
	config = append(config, gitconfig.Access(gitconfig.Counting(user, confirmed, known))...)
	_, err = w.Git.Do(ctx, git.Call{Dir: tree, Config: config, Network: true, Args: []string{"submodule", "--quiet", "update", "--init", "--recursive", "--checkout", "--force"}})
	if err != nil && ctx.Err() == nil {
		return coppice.Failf(coppice.ClassEnvironment, "cannot get the submodules: "+err.Error(), "make sure that `git submodule update --init` works in a fresh clone")
	}
	return err
}

// local reports whether a repository's address is a path on this machine.
func local(url string) bool {
	if strings.HasPrefix(url, "file://") {
		return true
	}
	slash, colon := strings.IndexByte(url, '/'), strings.IndexByte(url, ':')
	return colon < 0 || (slash >= 0 && slash < colon)
}

// relative resolves a submodule's address that is relative to its repository's.
func relative(origin, url string) string {
	if i := strings.Index(origin, "://"); i >= 0 {
		return origin[:i+3] + path.Join(origin[i+3:], url)
	}
	if host, p, ok := strings.Cut(origin, ":"); ok && !local(origin) {
		return host + ":" + path.Join(p, url)
	}
	return path.Join(origin, url)
}
