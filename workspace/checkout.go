package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coppice"
	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
	"coppice/workspace/repo"
)

// A session can work in the person's own checkout. Coppice only reads there: it
// stores the files before and after the session in its own repository, to show what
// changed.

// checkoutRefs have the newest state of the checkout for each such session.
const checkoutRefs = "refs/coppice/checkout/"

// Limits of what is stored of a checkout.
const (
	maxCheckouts    = 50       // sessions whose states are kept
	maxCheckoutFile = 16 << 20 // bytes of a file; a larger one is left out
)

// SnapCheckout stores the files of the person's checkout as a commit of Coppice's own
// repository: those that git tracks, and those that it does not ignore. It changes
// nothing in the checkout, its index and its repository. It returns the commit, with
// what changed since an earlier one if since is not empty. Without a session, the
// commit is not kept.
func (w *Workspaces) SnapCheckout(ctx context.Context, dir, session, since string) (commit, stat string, err error) {
	if session != "" {
		if _, _, n, err := coppice.ParseKey(session); err != nil || n == 0 {
			return "", "", coppice.Errorf(coppice.EInvalid, "%s is not a session", coppice.Quote(session))
		}
	}
	r, err := w.Use(ctx, dir)
	if err != nil {
		return "", "", err
	}
	tree, head, err := w.checkoutTree(ctx, r)
	if err != nil {
		return "", "", repo.Classify(fmt.Errorf("reading the files of %s: %w", r.Root, err))
	}
	by := repo.OwnSignature(w.Now())
	c := gitfiles.Commit{Tree: tree, Author: by, Committer: by, Message: "checkout at " + session + "\n"}
	for _, parent := range []string{since, head} {
		if parent != "" && !slices.Contains(c.Parents, parent) {
			c.Parents = append(c.Parents, parent)
		}
	}
	if commit, err = w.CommitTree(ctx, r, c); err != nil || session == "" {
		return commit, "", repo.Classify(err)
	}
	if err := w.SetRef(ctx, r, checkoutRefs+session, commit); err != nil {
		return "", "", repo.Classify(err)
	}
	if since == "" {
		return commit, "", repo.Classify(w.dropCheckouts(ctx, r, checkoutRefs+session))
	}
	stat, err = w.Stat(ctx, r.Git, since, commit)
	return commit, stat, repo.Classify(err)
}

// DiffCheckout returns what changed from one state of the checkout to another.
func (w *Workspaces) DiffCheckout(ctx context.Context, dir, from, to string) (string, error) {
	for _, id := range []string{from, to} {
		if err := coppice.ValidHash(id); err != nil {
			return "", err
		}
	}
	r, err := w.Use(ctx, dir)
	if err != nil {
		return "", err
	}
	if _, err := w.Git.Run(ctx, r.Git, "cat-file", "-e", from+"^{commit}"); err != nil {
		return "", coppice.Errorf(coppice.ENotFound, "what this session changed in the checkout is no longer stored").WithFix("see `git status` and `git log` in %s", r.Root)
	}
	return w.diff(ctx, git.Call{Dir: r.Git}, false, from+".."+to)
}

// checkoutTree writes the files of the checkout to a tree, through a copy of the
// index, and returns it with the checkout's commit, which is empty if there is none.
func (w *Workspaces) checkoutTree(ctx context.Context, r repo.Repo) (tree, head string, err error) {
	admin, err := w.Git.Run(ctx, r.Root, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return "", "", err
	}
	if _, head, err = w.Head(ctx, r.Root); err != nil {
		return "", "", err
	}
	index, err := repo.TempIndex(r, admin)
	if err != nil {
		return "", "", err
	}
	defer os.Remove(index)
	// Objects are written to Coppice's own repository, which borrows the person's.
	call := git.Call{Dir: r.Root, Guard: r.Root, Env: []string{"GIT_INDEX_FILE=" + index, "GIT_OBJECT_DIRECTORY=" + filepath.Join(r.Git, "objects"), "GIT_OPTIONAL_LOCKS=0"}}
	do := func(stdin string, args ...string) (string, error) {
		c := call
		if c.Args = args; stdin != "" {
			c.Stdin = []byte(stdin)
		}
		return w.Git.Do(ctx, c)
	}
	status, err := do("", "status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignore-submodules=all", "--no-renames")
	if err != nil {
		return "", "", err
	}
	paths, _ := changes(status)
	root, err := os.OpenRoot(r.Root)
	if err != nil {
		return "", "", err
	}
	defer root.Close()
	large := func(p string) bool {
		st, err := root.Lstat(p)
		return err == nil && st.Size() > maxCheckoutFile
	}
	info, err := w.indexInfo(ctx, call, root, paths, large)
	if err != nil {
		return "", "", err
	}
	if info != "" {
		if _, err := do(info, "update-index", "-z", "--replace", "--index-info"); err != nil {
			return "", "", err
		}
	}
	out, err := do("", "write-tree")
	return strings.TrimSpace(out), head, err
}

// dropCheckouts drops the states of the oldest sessions, but never newest, the
// one that was just stored: the dates of commits have whole seconds.
func (w *Workspaces) dropCheckouts(ctx context.Context, r repo.Repo, newest string) error {
	out, err := w.Git.Run(ctx, r.Git, "for-each-ref", "--sort=-committerdate", "--format=%(refname)", checkoutRefs)
	if err != nil {
		return err
	}
	refs := slices.DeleteFunc(strings.Fields(out), func(ref string) bool { return ref == newest })
	if len(refs) >= maxCheckouts {
		return w.DropRefs(ctx, r, refs[maxCheckouts-1:]...)
	}
	return nil
}
