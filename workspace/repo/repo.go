package repo

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

// Info is a repository as Inspect finds it.
type Info struct {
	Root          string // of the checkout
	GitDir        string // that all its worktrees share
	Base          string // branch
	BaseCommit    string
	DefaultBranch string // the default of the remote, or else the base
}

// Repo is a repository as the methods use it.
type Repo struct {
	Root string // of the person's checkout
	User string // the person's git directory, which all worktrees share
	Git  string // Coppice's own repository for it: see own.go
	Dir  string // where it and the workspaces are
}

// LockFile is locked while slots of the repository change hands.
func (r Repo) LockFile() string { return filepath.Join(r.Dir, "lock") }

// Tmp is a directory for temporary files, on the file system of the workspaces.
func (r Repo) Tmp() string { return filepath.Join(r.Dir, "tmp") }

// Location is a git directory, and the directory in which git is run for it.
type Location struct{ Git, Dir string }

// Own returns where Coppice's own repository is.
func (r Repo) Own() Location { return Location{r.Git, r.Git} }

// Users returns where the person's repository is.
func (r Repo) Users() Location { return Location{r.User, r.Root} }

// Inspect finds the repository that dir is in and the commit of its base
// branch; an empty base means the branch that is checked out. It changes nothing.
func (rs *Repos) Inspect(ctx context.Context, dir, base string) (Info, error) {
	r, err := rs.Find(ctx, dir)
	if err != nil {
		return Info{}, err
	}
	head, _ := rs.Git.Run(ctx, r.Root, "symbolic-ref", "--quiet", "--short", "HEAD")
	if err := rs.hasCommit(ctx, r); err != nil {
		return Info{}, err
	}
	if base == "" {
		if head == "" {
			return Info{}, coppice.Errorf(coppice.EInvalid, "%s is not on a branch (its HEAD is detached)", r.Root).
				WithFix("check out the branch that work should land on, or name it with --base")
		}
		base = head
	}
	if err := coppice.ValidBranch(base); err != nil {
		return Info{}, err
	}
	commit, err := rs.Branch(ctx, r, base)
	if err != nil {
		return Info{}, err
	}
	out := Info{Root: r.Root, GitDir: r.User, Base: base, BaseCommit: commit, DefaultBranch: base}
	if d, err := rs.Git.Run(ctx, r.Root, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"); err == nil {
		out.DefaultBranch = strings.TrimPrefix(d, "origin/")
	}
	return out, nil
}

// Find returns the repository that dir is in. It changes nothing.
func (rs *Repos) Find(ctx context.Context, dir string) (Repo, error) {
	r, known := rs.Known(dir)
	if known {
		if _, err := os.Stat(filepath.Join(r.User, "HEAD")); err == nil {
			return r, nil
		}
	}
	real, err := filepath.EvalSymlinks(dir)
	if dir == "" || err != nil {
		return Repo{}, coppice.Errorf(coppice.ENotFound, "there is no directory %s", coppice.Quote(dir)).WithFix("name the directory of a git repository")
	}
	if err := coppice.ValidPath(real); err != nil {
		return Repo{}, err // git would print it as several lines
	}
	if st, err := os.Stat(real); err == nil && !st.IsDir() {
		return Repo{}, coppice.Errorf(coppice.EInvalid, "%s is not a directory", coppice.Quote(dir)).WithFix("name the directory of a git repository")
	}
	if real == rs.Dir || strings.HasPrefix(real, rs.Dir+"/") {
		return Repo{}, coppice.Errorf(coppice.EInvalid, "%s is a workspace of Coppice", coppice.Quote(dir)).
			WithFix("use the repository's own checkout")
	}
	out, err := rs.Git.Run(ctx, real, "rev-parse", "--path-format=absolute", "--is-bare-repository", "--is-inside-git-dir", "--git-common-dir")
	if err != nil {
		return Repo{}, notFound(dir, err)
	}
	lines := strings.Split(out, "\n")
	if len(lines) != 3 {
		return Repo{}, coppice.Errorf(coppice.EInvalid, "the git directory of %s has a line break in its path", coppice.Quote(dir)).WithFix("move the repository to another directory")
	}
	if lines[0] == "true" {
		return Repo{}, coppice.Errorf(coppice.EInvalid, "%s is a bare repository: it has no files to work on", coppice.Quote(dir)).
			WithFix("clone it with `git clone %s` and use the clone", real)
	}
	if lines[1] == "true" {
		return Repo{}, coppice.Errorf(coppice.EInvalid, "%s is inside a git directory", coppice.Quote(dir)).WithFix("use the directory of the checkout")
	}
	top, err := rs.Git.Run(ctx, real, "rev-parse", "--path-format=absolute", "--show-toplevel")
	if err != nil {
		return Repo{}, err
	}
	sum := sha256.Sum256([]byte(lines[2]))
	r = Repo{Root: top, User: lines[2], Dir: filepath.Join(rs.Dir, hex.EncodeToString(sum[:8]))}
	r.Git = filepath.Join(r.Dir, OwnName)
	rs.mu.Lock()
	if rs.found == nil {
		rs.found = map[string]Repo{}
	}
	rs.found[dir] = r
	rs.mu.Unlock()
	return r, nil
}

// Known returns the repository that Find returned for dir before.
func (rs *Repos) Known(dir string) (Repo, bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r, known := rs.found[dir]
	return r, known
}

// Drop forgets the repository in dir, whose workspaces were in home.
func (rs *Repos) Drop(dir, home string) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	delete(rs.found, dir)
	delete(rs.noted, home)
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

func (rs *Repos) hasCommit(ctx context.Context, r Repo) error {
	out, err := rs.Git.Run(ctx, r.Root, "for-each-ref", "--count=1", "--format=%(objectname)", "refs/heads/", "refs/remotes/")
	if err != nil {
		return err
	}
	if out == "" {
		if _, err := rs.Git.Run(ctx, r.Root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
			return coppice.Errorf(coppice.EInvalid, "the repository %s has no commit yet", r.Root).
				WithFix("commit something first: `git commit --allow-empty -m start`")
		}
	}
	return nil
}

// Branch returns the commit of a branch of the person, which must exist.
func (rs *Repos) Branch(ctx context.Context, r Repo, name string) (string, error) {
	refs, err := rs.Refs(ctx, r.Users(), "refs/heads/"+name)
	if err != nil {
		return "", err
	}
	if c := refs["refs/heads/"+name]; c != "" {
		return c, nil
	}
	near, err := rs.near(ctx, r, name)
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
func (rs *Repos) near(ctx context.Context, r Repo, name string) ([]string, error) {
	out, err := rs.Git.Run(ctx, r.Root, "for-each-ref", "--count=2000", "--sort=-committerdate", "--format=%(refname:lstrip=2)", "refs/heads/")
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

// IsAncestor reports whether a commit is in the history of another. Coppice's own
// repository has both.
func (rs *Repos) IsAncestor(ctx context.Context, r Repo, a, b string) (bool, error) {
	return rs.IsAncestorIn(ctx, r.Own(), a, b)
}

// IsAncestorIn reports whether a commit is in the history of another, in a
// repository that has both.
func (rs *Repos) IsAncestorIn(ctx context.Context, in Location, a, b string) (bool, error) {
	if a == b || rs.Files(ctx, in.Git).IsAncestor(a, b) {
		return true, nil
	}
	_, exit, err := rs.Git.Status(ctx, git.Call{Dir: in.Dir, Args: []string{"merge-base", "--is-ancestor", a, b}, OK: []int{1}})
	return err == nil && exit == 0, err
}

// Root returns the root of the checkout that dir is in.
func (rs *Repos) Root(ctx context.Context, dir string) (string, error) {
	r, err := rs.Find(ctx, dir)
	return r.Root, err
}
