package gitfiles

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Checkout gives access to the files of a worktree and to its index.
type Checkout struct {
	repo  *Repo
	dir   string // of the files
	git   string // the git directory of the worktree
	index string
}

// Checkout returns access to a worktree whose files are in dir. The git directory
// is that of the worktree.
func (r *Repo) Checkout(dir, gitDir string) *Checkout {
	return &Checkout{r, dir, gitDir, filepath.Join(gitDir, "index")}
}

// WithIndex returns access to the same files with another index.
func (c *Checkout) WithIndex(file string) *Checkout {
	with := *c
	with.index = file
	return &with
}

// CheckIndex returns nil if the index is whole, has no conflicts and lists all files.
func (c *Checkout) CheckIndex() error {
	_, err := c.entries()
	return err
}

func (c *Checkout) entries() ([]indexEntry, error) {
	if c.repo.Off {
		return nil, ErrUseGit
	}
	x, err := readIndex(c.index)
	return x.files, err
}

// Dirty reports which of the paths differ from the old side of the changes, in the
// index or in the files.
func (c *Checkout) Dirty(changes []Change) (map[string]bool, error) {
	info, err := os.Lstat(c.index)
	if err != nil {
		return nil, err
	}
	files, err := c.entries()
	if err != nil {
		return nil, err
	}
	staged := map[string]indexEntry{}
	for _, f := range files {
		staged[f.path] = f
	}
	dirty := map[string]bool{}
	for _, ch := range changes {
		f, tracked := staged[ch.Path]
		switch {
		case !tracked && ch.OldMode == "":
		case !tracked || f.mode != ch.OldMode || f.id() != ch.Old:
			dirty[ch.Path] = true
		default:
			same, err := f.isUnchanged(c.dir, info)
			if err != nil {
				return nil, err
			}
			dirty[ch.Path] = !same
		}
	}
	return dirty, nil
}

// errUntracked ends a walk at the first path that is not tracked.
var errUntracked = errors.New("a path is not tracked")

// eachUntracked calls f with each path of the checkout that the index does not
// name: files, and directories without tracked files.
func (c *Checkout) eachUntracked(files []indexEntry, f func(name string) error) error {
	if runtime.GOOS != "linux" {
		return ErrUseGit // the file system may ignore the case of names
	}
	tracked, dirs := make(map[string]bool, len(files)), map[string]bool{".": true}
	for _, e := range files {
		if e.mode == ModeModule {
			return ErrUseGit
		}
		tracked[e.path] = true
		for d := path.Dir(e.path); !dirs[d]; d = path.Dir(d) {
			dirs[d] = true
		}
	}
	var walk func(dir string) error
	walk = func(dir string) error {
		entries, err := os.ReadDir(filepath.Join(c.dir, dir))
		if err != nil {
			return err
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			switch {
			case name == ".git" || !e.IsDir() && tracked[name]:
			case e.IsDir() && dirs[name]:
				err = walk(name)
			default:
				err = f(name)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return walk(".")
}

// Clean removes all that is not tracked, as git clean -ffdxq does. It removes git
// directories below the checkout too.
func (c *Checkout) Clean() error {
	files, err := c.entries()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return c.eachUntracked(files, root.RemoveAll)
}

// IsClean reports whether the checkout and its index have the files of a commit
// and no others, ignored files included. False means nothing: git must find out.
func (c *Checkout) IsClean(commit string) bool {
	info, err := os.Lstat(c.index)
	if err != nil {
		return false
	}
	files, err := c.entries()
	if err != nil {
		return false
	}
	at, err := c.repo.Commit(commit)
	if err != nil {
		return false
	}
	have, err := indexTree(files, 0, "", nil, hashTree)
	if err != nil || have != at.Tree {
		return false
	}
	for _, f := range files {
		if same, err := f.isUnchanged(c.dir, info); err != nil || !same {
			return false
		}
	}
	return c.eachUntracked(files, func(string) error { return errUntracked }) == nil
}

// Commit commits what is staged onto a branch of Coppice that is checked out, as
// git commit does, and returns the head of the branch. It calls by for the
// signature if there is something to commit, and it refuses to commit paths that
// excluded reports.
func (c *Checkout) Commit(branch, message string, by func() (Signature, error), excluded func(path string) bool) (head string, changed bool, err error) {
	ref := "refs/heads/" + branch
	on, head, err := c.repo.Head(c.git)
	if err != nil || on != ref || !isOwnRef(ref) || !c.repo.usesSHA1() {
		return "", false, errors.Join(err, ErrUseGit)
	}
	files, err := c.entries()
	if err != nil {
		return "", false, err
	}
	if slices.ContainsFunc(files, func(f indexEntry) bool { return f.mode == ModeModule || excluded(f.path) }) {
		return "", false, ErrUseGit
	}
	parent, err := c.repo.Commit(head)
	if err != nil {
		return "", false, err
	}
	tree, err := c.repo.writeIndexTree(files, parent.Tree)
	if err != nil || tree == parent.Tree {
		return head, false, err
	}
	who, err := by()
	if err != nil {
		return "", false, err
	}
	id, err := c.repo.WriteCommit(Commit{Tree: tree, Parents: []string{head}, Author: who, Committer: who, Message: message})
	if err != nil {
		return "", false, err
	}
	subject, _, _ := strings.Cut(strings.TrimLeft(message, "\n"), "\n")
	t, err := c.repo.BeginRefs(who, "commit: "+strings.Join(strings.Fields(subject), " "), RefUpdate{ref, head, id})
	if err != nil {
		return "", false, err
	}
	return id, true, t.Commit()
}
