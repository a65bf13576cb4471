package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coppice"
	"coppice/workspace/git"
)

// Repo is a repository as Inspect finds it.
type Repo struct {
	Root          string // of the checkout
	GitDir        string // that all its worktrees share
	Base          string // branch
	BaseCommit    string
	DefaultBranch string // the default of the remote, or else the base
}

// repo is a repository as the methods use it.
type repo struct {
	root string // of the person's checkout
	user string // the person's git directory, which all worktrees share
	git  string // Coppice's own repository for it: see own.go
	dir  string // where it and the workspaces are
}

func (r repo) lockFile() string { return filepath.Join(r.dir, "lock") }
func (r repo) tmp() string      { return filepath.Join(r.dir, "tmp") }

// at is a git directory, and the directory in which git is run for it.
type at struct{ git, dir string }

func (r repo) own() at   { return at{r.git, r.git} }
func (r repo) users() at { return at{r.user, r.root} }

// Inspect finds the repository that dir is in and the commit of its base
// branch; an empty base means the branch that is checked out. It changes nothing.
func (w *Workspaces) Inspect(ctx context.Context, dir, base string) (Repo, error) {
	r, err := w.find(ctx, dir)
	if err != nil {
		return Repo{}, err
	}
	head, _ := w.git.Run(ctx, r.root, "symbolic-ref", "--quiet", "--short", "HEAD")
	if err := w.hasCommit(ctx, r); err != nil {
		return Repo{}, err
	}
	if base == "" {
		if head == "" {
			return Repo{}, coppice.Errorf(coppice.EInvalid, "%s is not on a branch (its HEAD is detached)", r.root).
				WithFix("check out the branch that work should land on, or name it with --base")
		}
		base = head
	}
	if err := coppice.ValidBranch(base); err != nil {
		return Repo{}, err
	}
	commit, err := w.branch(ctx, r, base)
	if err != nil {
		return Repo{}, err
	}
	out := Repo{Root: r.root, GitDir: r.user, Base: base, BaseCommit: commit, DefaultBranch: base}
	if d, err := w.git.Run(ctx, r.root, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"); err == nil {
		out.DefaultBranch = strings.TrimPrefix(d, "origin/")
	}
	return out, nil
}

// find returns the repository that dir is in. It changes nothing.
func (w *Workspaces) find(ctx context.Context, dir string) (repo, error) {
	r, known := w.known(dir)
	if known {
		if _, err := os.Stat(filepath.Join(r.user, "HEAD")); err == nil {
			return r, nil
		}
	}
	real, err := filepath.EvalSymlinks(dir)
	if dir == "" || err != nil {
		return repo{}, coppice.Errorf(coppice.ENotFound, "there is no directory %s", coppice.Quote(dir)).WithFix("name the directory of a git repository")
	}
	if err := coppice.ValidPath(real); err != nil {
		return repo{}, err // git would print it as several lines
	}
	if st, err := os.Stat(real); err == nil && !st.IsDir() {
		return repo{}, coppice.Errorf(coppice.EInvalid, "%s is not a directory", coppice.Quote(dir)).WithFix("name the directory of a git repository")
	}
	if real == w.dir || strings.HasPrefix(real, w.dir+"/") {
		return repo{}, coppice.Errorf(coppice.EInvalid, "%s is a workspace of Coppice", coppice.Quote(dir)).
			WithFix("use the repository's own checkout")
	}
	out, err := w.git.Run(ctx, real, "rev-parse", "--path-format=absolute", "--is-bare-repository", "--is-inside-git-dir", "--git-common-dir")
	if err != nil {
		return repo{}, notFound(dir, err)
	}
	lines := strings.Split(out, "\n")
	if len(lines) != 3 {
		return repo{}, coppice.Errorf(coppice.EInvalid, "the git directory of %s has a line break in its path", coppice.Quote(dir)).WithFix("move the repository to another directory")
	}
	if lines[0] == "true" {
		return repo{}, coppice.Errorf(coppice.EInvalid, "%s is a bare repository: it has no files to work on", coppice.Quote(dir)).
			WithFix("clone it with `git clone %s` and use the clone", real)
	}
	if lines[1] == "true" {
		return repo{}, coppice.Errorf(coppice.EInvalid, "%s is inside a git directory", coppice.Quote(dir)).WithFix("use the directory of the checkout")
	}
	top, err := w.git.Run(ctx, real, "rev-parse", "--path-format=absolute", "--show-toplevel")
	if err != nil {
		return repo{}, err
	}
	sum := sha256.Sum256([]byte(lines[2]))
	r = repo{root: top, user: lines[2], dir: filepath.Join(w.dir, hex.EncodeToString(sum[:8]))}
	r.git = filepath.Join(r.dir, ownName)
	w.mu.Lock()
	w.repos[dir] = r
	w.mu.Unlock()
	return r, nil
}

// known returns the repository that find returned for dir before.
func (w *Workspaces) known(dir string) (repo, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, known := w.repos[dir]
	return r, known
}

// drop forgets the repository in dir, whose workspaces were in home.
func (w *Workspaces) drop(dir, home string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.repos, dir)
	delete(w.noted, home)
}

func notFound(dir string, err error) error {
	var ge *git.Error
	if errors.As(err, &ge) && ge.Exit == 128 {
		if strings.Contains(ge.Stderr, "dubious ownership") {
			return coppice.Errorf(coppice.EForbidden, "%s belongs to another user, so git refuses it", coppice.Quote(dir)).
				WithFix("run Coppice as its owner, or change the directory's owner")
		}
		return coppice.Errorf(coppice.EInvalid, "%s is not in a git repository", coppice.Quote(dir)).
			WithFix("run `git init` there, commit something, and try again")
	}
	return err
}

func (w *Workspaces) hasCommit(ctx context.Context, r repo) error {
	out, err := w.git.Run(ctx, r.root, "for-each-ref", "--count=1", "--format=%(objectname)", "refs/heads/", "refs/remotes/")
	if err != nil {
		return err
	}
	if out == "" {
		if _, err := w.git.Run(ctx, r.root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
			return coppice.Errorf(coppice.EInvalid, "the repository %s has no commit yet", r.root).
				WithFix("commit something first: `git commit --allow-empty -m start`")
		}
	}
	return nil
}

// branch returns the commit of a branch of the person, which must exist.
func (w *Workspaces) branch(ctx context.Context, r repo, name string) (string, error) {
	refs, err := w.refs(ctx, r.users(), "refs/heads/"+name)
	if err != nil {
		return "", err
	}
	if c := refs["refs/heads/"+name]; c != "" {
		return c, nil
	}
	near, err := w.near(ctx, r, name)
	if err != nil {
		return "", err
	}
	cause := "there is no branch " + coppice.Quote(name)
	if len(near) > 0 {
		cause += "; near it are " + strings.Join(near, ", ")
	}
	return "", coppice.Errorf(coppice.ENotFound, "%s", cause).WithFix("create it with `git branch %s`, or name another", name).WithField("base")
}

// near returns up to three branches with similar names, the most similar first.
func (w *Workspaces) near(ctx context.Context, r repo, name string) ([]string, error) {
	out, err := w.git.Run(ctx, r.root, "for-each-ref", "--count=2000", "--sort=-committerdate", "--format=%(refname:lstrip=2)", "refs/heads/")
	if err != nil || out == "" {
		return nil, err
	}
	all := slices.DeleteFunc(strings.Split(out, "\n"), func(b string) bool { return strings.HasPrefix(b, "coppice/") })
	slices.SortStableFunc(all, func(a, b string) int { return distance(a, name) - distance(b, name) })
	return all[:min(3, len(all))], nil
}

// distance counts the letters to change, add or remove to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := last
			if a[i] != b[j] {
				cost++
			}
			last = row[j+1]
			row[j+1] = min(cost, row[j]+1, last+1)
		}
	}
	return row[len(b)]
}

// isAncestor reports whether a commit is in the history of another. Coppice's own
// repository has both.
func (w *Workspaces) isAncestor(ctx context.Context, r repo, a, b string) (bool, error) {
	return w.isAncestorIn(ctx, r.own(), a, b)
}

func (w *Workspaces) isAncestorIn(ctx context.Context, in at, a, b string) (bool, error) {
	if a == b || w.files(ctx, in.git).IsAncestor(a, b) {
		return true, nil
	}
	_, exit, err := w.git.Status(ctx, git.Call{Dir: in.dir, Args: []string{"merge-base", "--is-ancestor", a, b}, OK: []int{1}})
	return err == nil && exit == 0, err
}

// Root returns the root of the checkout that dir is in.
func (w *Workspaces) Root(ctx context.Context, dir string) (string, error) {
	r, err := w.find(ctx, dir)
	return r.root, err
}
