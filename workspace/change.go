package workspace

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"coppice"
	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
	"coppice/workspace/repo"
)

// Change is what a commit changed since it left a base, by file.
type Change struct {
	Base  string // the last commit that both have
	Head  string
	Files []ChangedFile
}

// ChangedFile is a file that a change touches.
type ChangedFile struct {
	Path           string
	OldPath        string // before the change, if it was renamed
	Kind           string // added, changed, removed or renamed
	Old, New       string // the blobs before and after; empty if there is none
	Added, Removed int    // lines
	Binary         bool   // it has no lines: a binary file, or a submodule
	Size           int    // of the larger blob, in bytes
}

// Change lists the files that head changed since it left base. Each is a branch
// or a commit.
func (w *Workspaces) Change(ctx context.Context, dir, base, head string) (Change, error) {
	r, err := w.Use(ctx, dir)
	if err != nil {
		return Change{}, err
	}
	var c Change
	if c.Head, err = w.rev(ctx, r, head); err != nil {
		return c, err
	}
	from, err := w.rev(ctx, r, base)
	if err != nil {
		return c, err
	}
	if c.Base, err = w.Git.Run(ctx, r.Git, "merge-base", "--end-of-options", from, c.Head); err != nil {
		return c, err
	}
	out, err := w.Git.Do(ctx, git.Call{Dir: r.Root, Env: r.WithUserFiles(), Limit: maxDiff,
		Args: append(slices.Clone(diffArgs), "--raw", "--numstat", "-z", "--no-abbrev", "--end-of-options", c.Base, c.Head, "--")})
	if err != nil {
		return c, err
	}
	c.Files = changedFiles(out)
	return c, w.sizes(ctx, r, c.Files)
}

// rev returns the commit of a branch or of a commit's id.
func (w *Workspaces) rev(ctx context.Context, r repo.Repo, name string) (string, error) {
	if coppice.ValidHash(name) != nil {
		if err := coppice.ValidBranch(name); err != nil {
			return "", err
		}
	}
	return w.commitOf(ctx, r, name)
}

// changedFiles reads git's raw format, and after it the numbers of lines, both
// with -z.
func changedFiles(out string) []ChangedFile {
	fields := strings.Split(out, "\x00")
	next := func() (s string) {
		if len(fields) > 0 {
			s, fields = fields[0], fields[1:]
		}
		return s
	}
	var list []ChangedFile
	at := map[string]int{}
	for head := next(); head != ""; head = next() {
		if raw, ok := strings.CutPrefix(head, ":"); ok {
			f := rawFile(strings.Fields(raw), next)
			at[f.Path] = len(list)
			list = append(list, f)
			continue
		}
		added, rest, _ := strings.Cut(head, "\t")
		removed, path, _ := strings.Cut(rest, "\t")
		if path == "" { // a renamed file: the old path, and the new one
			next()
			path = next()
		}
		if i, known := at[path]; known {
			f := &list[i]
			f.Binary = f.Binary || added == "-"
			f.Added, _ = strconv.Atoi(added) // 0 for a binary file
			f.Removed, _ = strconv.Atoi(removed)
		}
	}
	return list
}

// rawFile reads one file of the raw format: modes, blobs and a letter, then its
// path, or the old path and the new one.
func rawFile(head []string, next func() string) (f ChangedFile) {
	f.Kind, f.Path = "changed", next()
	if len(head) != 5 {
		return f
	}
	if head[0] != "000000" {
		f.Old = head[2]
	}
	if head[1] != "000000" {
		f.New = head[3]
	}
	switch head[4][0] {
	case 'A':
		f.Kind = "added"
	case 'D':
		f.Kind = "removed"
	case 'R':
		f.Kind, f.OldPath = "renamed", f.Path
		f.Path = next()
	}
	f.Binary = head[0] == gitfiles.ModeModule || head[1] == gitfiles.ModeModule
	return f
}

// sizes sets the sizes of files that have lines.
func (w *Workspaces) sizes(ctx context.Context, r repo.Repo, files []ChangedFile) error {
	var ids []string
	var of []int
	for i, f := range files {
		for _, id := range []string{f.Old, f.New} {
			if id != "" && !f.Binary {
				ids, of = append(ids, id), append(of, i)
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	out, err := w.Git.Do(ctx, git.Call{Dir: r.Git, Args: []string{"cat-file", "--batch-check=%(objectsize)"}, Stdin: []byte(strings.Join(ids, "\n") + "\n")})
	if err != nil {
		return err
	}
	sizes := strings.Fields(out)
	if len(sizes) != len(of) {
		return fmt.Errorf("git does not know a blob of a change: %s", strings.TrimSpace(out))
	}
	for i, text := range sizes {
		size, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		files[of[i]].Size = max(files[of[i]].Size, size)
	}
	return nil
}

// Patch returns what changed in some files between two commits.
func (w *Workspaces) Patch(ctx context.Context, dir, from, to string, paths ...string) (string, error) {
	r, err := w.Use(ctx, dir)
	if err == nil {
		err = cmp.Or(coppice.ValidHash(from), coppice.ValidHash(to))
	}
	if err != nil {
		return "", err
	}
	return w.diff(ctx, git.Call{Dir: r.Root, Env: r.WithUserFiles()}, false, from+".."+to, paths...)
}

// File returns the blob of a file in a commit, and its content, which is cut
// after most bytes.
func (w *Workspaces) File(ctx context.Context, dir, commit, path string, most int) (blob, content string, err error) {
	if err := cmp.Or(coppice.ValidHash(commit), repo.ValidPath("path", path)); err != nil {
		return "", "", err
	}
	r, err := w.Use(ctx, dir)
	if err != nil {
		return "", "", err
	}
	out, err := w.Git.Do(ctx, git.Call{Dir: r.Git, Args: []string{"ls-tree", "-z", "--end-of-options", commit, ":(top,literal)" + path}})
	if err != nil {
		return "", "", err
	}
	f := strings.Fields(out)
	if len(f) < 3 || f[1] != "blob" {
		return "", "", coppice.Errorf(coppice.ENotFound, "there is no file %s in %s", coppice.Quote(path), commit).WithFix("choose a file of the change").WithField("path")
	}
	content, err = w.Blob(ctx, dir, f[2], most)
	return f[2], content, err
}

// Blob returns the content of a blob, cut after most bytes.
func (w *Workspaces) Blob(ctx context.Context, dir, id string, most int) (string, error) {
	r, err := w.Use(ctx, dir)
	if err == nil {
		err = coppice.ValidHash(id)
	}
	if err != nil {
		return "", err
	}
	return w.Git.Do(ctx, git.Call{Dir: r.Git, Args: []string{"cat-file", "blob", id}, Limit: most})
}
