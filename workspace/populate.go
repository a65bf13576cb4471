package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"coppice"
	"coppice/workspace/git"
)

// populate checks the slot's branch out, and makes it at start when it is
// missing; it tells whether it was there. Whatever was in the directory before
// is gone afterwards, so it is called only for slots that belong to nobody yet.
func (w *Workspaces) populate(ctx context.Context, r repo, s slot, start string) (branched bool, err error) {
	tree := r.path(s)
	if err := w.scrub(ctx, r, tree); err != nil {
		return false, err
	}
	fresh, err := isFresh(tree)
	if err != nil {
		return false, err
	}
	// Most branches are new, so that is tried before asking.
	_, err = w.git.Run(ctx, tree, "checkout", "--force", "--quiet", "--no-track", "-b", s.Branch, start, "--")
	if err != nil {
		refs, rerr := w.refs(ctx, r, "refs/heads/"+s.Branch)
		if branched = refs["refs/heads/"+s.Branch] != ""; branched {
			_, err = w.git.Run(ctx, tree, "checkout", "--force", "--quiet", s.Branch, "--")
		} else {
			err = errors.Join(err, rerr)
		}
	}
	if err != nil {
		if where := w.elsewhere(ctx, r, s.Branch, tree); where != "" {
			return branched, coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("the branch %s is checked out in %s", s.Branch, where),
				"check out another branch there")
		}
		return branched, fmt.Errorf("checking out: %w", err)
	}
	if err := w.step("checked out"); err != nil {
		return branched, err
	}
	if !fresh && !s.Clean {
		if err := w.clean(ctx, tree); err != nil {
			return branched, err
		}
	}
	return branched, w.submodules(ctx, r, tree)
}

// isFresh tells whether a worktree has nothing but its link to git.
func isFresh(tree string) (bool, error) {
	entries, err := os.ReadDir(tree)
	return len(entries) == 1, err
}

// scrub makes git's own directory of a worktree as good as new: no operation
// in progress, no lock of a killed process, no configuration of its own but
// for the sparse patterns of the person's checkout.
func (w *Workspaces) scrub(ctx context.Context, r repo, tree string) error {
	admin, err := adminDir(tree)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(admin)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch e.Name() {
		case "HEAD", "commondir", "gitdir", "index", "logs":
		default:
			if err := os.RemoveAll(filepath.Join(admin, e.Name())); err != nil {
				return err
			}
		}
	}
	return w.sparse(ctx, r, admin)
}

// sparse gives the worktree the sparse patterns of the person's checkout.
func (w *Workspaces) sparse(ctx context.Context, r repo, admin string) error {
	main, err := os.ReadFile(filepath.Join(r.git, "info", "sparse-checkout"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	list, err := w.git.Settings(ctx, r.root)
	if err != nil {
		return err
	}
	set := map[string]string{}
	for _, s := range list {
		if s.Scope == "local" || s.Scope == "worktree" {
			set[s.Key] = s.Value
		}
	}
	if !isTrue(set["core.sparsecheckout"]) {
		return nil
	}
	if err := os.MkdirAll(filepath.Join(admin, "info"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(admin, "info", "sparse-checkout"), main, 0o644); err != nil {
		return err
	}
	if !isTrue(set["extensions.worktreeconfig"]) {
		return nil // then the setting is the shared one
	}
	conf := fmt.Sprintf("[core]\n\tsparseCheckout = true\n\tsparseCheckoutCone = %t\n", isTrue(set["core.sparsecheckoutcone"]))
	return os.WriteFile(filepath.Join(admin, "config.worktree"), []byte(conf), 0o644)
}

func isTrue(s string) bool {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

// elsewhere names the other worktree that has the branch checked out.
func (w *Workspaces) elsewhere(ctx context.Context, r repo, branch, tree string) string {
	list, err := w.worktrees(ctx, r)
	if err != nil {
		return ""
	}
	for _, t := range list {
		if t.branch == "refs/heads/"+branch && t.path != tree {
			return t.path
		}
	}
	return ""
}

// clean removes everything that is not tracked, ignored files included: what
// one task leaves must not change what the next one sees.
func (w *Workspaces) clean(ctx context.Context, tree string) error {
	_, err := w.git.Run(ctx, tree, "clean", "-ffdxq")
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
	_, err = w.git.Run(ctx, tree, "clean", "-ffdxq")
	return err
}

// submodules checks the submodules out. Their addresses are passed to git for
// this one call, because `submodule init` would write into the person's
// configuration. Addresses on this machine are followed only when the
// repository itself comes from one.
func (w *Workspaces) submodules(ctx context.Context, r repo, tree string) error {
	if st, err := os.Lstat(filepath.Join(tree, ".gitmodules")); err != nil || !st.Mode().IsRegular() {
		return nil
	}
	out, err := w.git.Do(ctx, git.Call{Dir: tree, OK: []int{1},
		Args: []string{"config", "--file", ".gitmodules", "--no-includes", "--null", "--get-regexp", `^submodule\..*\.url$`}})
	if err != nil {
		return coppice.Failf(coppice.ClassEnvironment, "cannot read .gitmodules: "+err.Error(), "mend .gitmodules on the base branch")
	}
	own, err := w.git.Settings(ctx, r.root)
	if err != nil {
		return err
	}
	set := map[string]string{}
	for _, s := range own {
		set[s.Key] = s.Value
	}
	origin := set["remote.origin.url"]
	if origin == "" {
		origin = r.root
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
	_, err = w.git.Do(ctx, git.Call{Dir: tree, Config: config, Network: true, Args: []string{"submodule", "--quiet", "update", "--init", "--recursive", "--checkout", "--force"}})
	if err != nil && ctx.Err() == nil {
		return coppice.Failf(coppice.ClassEnvironment, "cannot get the submodules: "+err.Error(), "make sure that `git submodule update --init` works in a fresh clone")
	}
	return err
}

// local tells whether a repository's address is a path on this machine.
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
