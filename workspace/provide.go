package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"coppice"
	"coppice/workspace/git"
	"coppice/workspace/repo"
)

// includeFile lists ignored files of the checkout that are copied into each
// workspace, in the syntax of .gitignore.
const includeFile = ".worktreeinclude"

func validPolicy(p coppice.WorkspacePolicy) error {
	if p.Kind != "" && p.Kind != "worktree" {
		return coppice.Errorf(coppice.EInvalid, "%s is not a kind of workspace", coppice.Quote(p.Kind)).WithFix("use worktree").WithField("workspace.kind")
	}
	for _, c := range p.Copy {
		if err := repo.ValidPath("workspace.copy", c); err != nil {
			return err
		}
	}
	for _, l := range p.Link {
		if err := repo.ValidPath("workspace.link", l); err != nil {
			return err
		}
	}
	return nil
}

// provide copies and links the files of the policy and of .worktreeinclude into a
// workspace and returns their paths. It does not replace tracked files. Both sides
// are opened as roots, so no symbolic link leads out of them.
func (w *Workspaces) provide(ctx context.Context, r repo.Repo, tree string, p coppice.WorkspacePolicy) ([]string, error) {
	copies, err := w.copies(ctx, r, p)
	if err != nil {
		return nil, err
	}
	if len(copies) == 0 && len(p.Link) == 0 && !p.Docker.Set() {
		return nil, nil
	}
	from, err := os.OpenRoot(r.Root)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	to, err := os.OpenRoot(tree)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	tracked, err := w.tracked(ctx, tree)
	if err != nil {
		return nil, err
	}
	var given []string
	for _, c := range copies {
		if tracked[c] {
			continue
		}
		if err := copyFile(from, to, c); err != nil {
			return nil, coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("cannot copy %s into the workspace: %v", c, err), "check workspace.copy and "+includeFile)
		}
		given = append(given, c)
	}
	for _, l := range p.Link {
		l = strings.TrimSuffix(l, "/")
		if _, err := from.Lstat(l); err != nil || tracked[l] {
			continue
		}
		if err := link(to, l, filepath.Join(r.Root, l)); err != nil {
			return nil, coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("cannot link %s into the workspace: %v", l, err), "check workspace.link")
		}
		given = append(given, l)
	}
	if p.Docker.Set() && !tracked[runFile] {
		if err := w.dockerize(r, tree, to, p); err != nil {
			return nil, err
		}
		given = append(given, runFile)
	}
	return given, nil
}

// tracked returns every path of the index and every directory above one.
func (w *Workspaces) tracked(ctx context.Context, tree string) (map[string]bool, error) {
	out, err := w.Git.Run(ctx, tree, "ls-files", "-z", "--cached")
	if err != nil {
		return nil, err
	}
	set := map[string]bool{}
	for p := range strings.SplitSeq(out, "\x00") {
		for ; p != "" && p != "." && !set[p]; p = path.Dir(p) {
			set[p] = true
		}
	}
	return set, nil
}

// copies lists the files to copy, each once.
func (w *Workspaces) copies(ctx context.Context, r repo.Repo, p coppice.WorkspacePolicy) ([]string, error) {
	if err := validPolicy(p); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(r.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var files []string
	for _, pattern := range p.Copy {
		matches, err := fs.Glob(root.FS(), strings.TrimSuffix(pattern, "/"))
		if err != nil {
			return nil, coppice.Errorf(coppice.EInvalid, "%s is not a valid pattern", coppice.Quote(pattern)).WithField("workspace.copy")
		}
		for _, m := range matches {
			err := fs.WalkDir(root.FS(), m, func(p string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				files = append(files, p)
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	included, err := w.included(ctx, r)
	if err != nil {
		return nil, err
	}
	files = append(files, included...)
	slices.Sort(files)
	return slices.Compact(files), nil
}

// included lists the checkout's ignored files that .worktreeinclude names.
func (w *Workspaces) included(ctx context.Context, r repo.Repo) ([]string, error) {
	file := filepath.Join(r.Root, includeFile)
	if st, err := os.Lstat(file); err != nil || !st.Mode().IsRegular() {
		return nil, nil
	}
	list := func(rule string) ([]string, error) {
		out, err := w.Git.Do(ctx, git.Call{Dir: r.Root, Args: []string{"ls-files", "-z", "--others", "--ignored", rule}})
		return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"), err
	}
	wanted, err := list("--exclude-from=" + file)
	if err != nil {
		return nil, err
	}
	ignored, err := list("--exclude-standard")
	if err != nil {
		return nil, err
	}
	set := map[string]bool{}
	for _, p := range ignored {
		set[p] = true
	}
	return slices.DeleteFunc(wanted, func(p string) bool { return !set[p] || repo.ValidPath("", p) != nil }), nil
}

// copyFile copies one file or symbolic link, the link as it is.
func copyFile(from, to *os.Root, name string) error {
	st, err := from.Lstat(name)
	if err != nil {
		return err
	}
	if dir := path.Dir(name); dir != "." {
		if err := to.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := to.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch {
	case st.Mode()&fs.ModeSymlink != 0:
		target, err := from.Readlink(name)
		if err != nil {
			return err
		}
		return to.Symlink(target, name)
	case !st.Mode().IsRegular():
		return errors.New("it is neither a file nor a symbolic link")
	}
	in, err := from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := to.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, st.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

func link(to *os.Root, name, target string) error {
	if got, err := to.Readlink(name); err == nil && got == target {
		return nil
	}
	if dir := path.Dir(name); dir != "." {
		if err := to.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return to.Symlink(target, name)
}

// setup runs the policy's setup commands.
func (w *Workspaces) setup(ctx context.Context, r repo.Repo, tree string, p coppice.WorkspacePolicy, env []string) error {
	if len(p.Setup) > 0 {
		if err := w.reachable(ctx, r, tree, p, env); err != nil {
			return err
		}
	}
	for _, c := range p.Setup {
		log, exit, err := shell(observe(ctx, c, true), tree, w.CommandEnv(p.PassEnv, env), Command(p, c), 0)
		if err != nil {
			return err
		}
		if exit != 0 {
			if len(log) > 8<<10 {
				log = "[...]" + strings.ToValidUTF8(log[len(log)-8<<10:], "")
			}
			return coppice.Failf(coppice.ClassEnvironment, fmt.Sprintf("the setup command %s exited with %d:\n%s", coppice.Quote(c), exit, log),
				"make it work in a fresh checkout, or change workspace.setup")
		}
	}
	return nil
}
