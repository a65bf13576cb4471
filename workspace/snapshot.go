package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"coppice"
	"coppice/workspace/git"
	"coppice/workspace/repo"
)

// snapshot is the uncommitted state of a worktree as git objects.
type snapshot struct {
	files  string   // tree of the files as they are, untracked ones included
	index  string   // tree of the index; empty while it has conflicts
	nested []string // repositories in the worktree, which no tree can contain

	ignored []string // files, and directories in which all files are ignored
	clean   bool     // nothing differs from HEAD

	strays []coppice.StrayBranch // with commits that nothing else has
}

// snap writes the state of a worktree to trees, through a separate index. It takes
// file contents byte for byte, without filters, so that a restore gives the same
// bytes. A clean worktree has the tree of at, its HEAD.
func (w *Workspaces) snap(ctx context.Context, r repo.Repo, path, admin, at string, skip func(string) bool) (snapshot, error) {
	var snap snapshot
	_, head, err := w.Head(ctx, path)
	if err != nil {
		return snap, err
	}
	same := snapshot{files: at + "^{tree}", index: at + "^{tree}", clean: true}
	if head == at && w.Files(ctx, admin).Checkout(path, admin).IsClean(at) {
		return same, nil
	}
	index, err := repo.TempIndex(r, admin)
	if err != nil {
		return snap, err
	}
	defer os.Remove(index)
	env := []string{"GIT_INDEX_FILE=" + index}
	if !repo.Exists(filepath.Join(admin, "index")) {
		if _, err := w.Git.Do(ctx, git.Call{Dir: path, Env: env, Args: []string{"read-tree", "HEAD"}}); err != nil {
			return snap, err
		}
	}
	out, err := w.Git.Do(ctx, git.Call{Dir: path, Env: env,
		Args: []string{"status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignore-submodules=none", "--no-renames", "--ignored=traditional"}})
	if err != nil {
		return snap, err
	}
	snap.clean = head == at // without a commit there is nothing to compare
	for e := range strings.SplitSeq(out, "\x00") {
		if p, ok := strings.CutPrefix(e, "! "); ok {
			snap.ignored = append(snap.ignored, p)
		} else if e != "" {
			snap.clean = false
		}
	}
	if snap.clean {
		same.ignored = snap.ignored
		return same, nil
	}
	if out, err := w.Git.Do(ctx, git.Call{Dir: path, Env: env, Args: []string{"write-tree"}}); err == nil {
		snap.index = strings.TrimSpace(out)
	}
	changed, nested := changes(out)
	for _, n := range nested {
		snap.nested = append(snap.nested, strings.TrimSuffix(n, "/"))
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return snap, err
	}
	defer root.Close()
	info, err := w.indexInfo(ctx, git.Call{Dir: path}, root, changed, skip)
	if err != nil {
		return snap, err
	}
	if info != "" {
		c := git.Call{Dir: path, Env: env, Stdin: []byte(info), Args: []string{"update-index", "-z", "--replace", "--index-info"}}
		if _, err := w.Git.Do(ctx, c); err != nil {
			return snap, err
		}
	}
	files, err := w.Git.Do(ctx, git.Call{Dir: path, Env: env, Args: []string{"write-tree"}})
	snap.files = strings.TrimSpace(files)
	return snap, err
}

// changes reads git status: the paths whose files differ from the index, and the
// nested repositories that differ.
func changes(status string) (paths, nested []string) {
	for e := range strings.SplitSeq(status, "\x00") {
		switch {
		case strings.HasPrefix(e, "? "):
			if strings.HasSuffix(e, "/") {
				nested = append(nested, e[2:])
			} else {
				paths = append(paths, e[2:])
			}
		case strings.HasPrefix(e, "1 "):
			f := strings.SplitN(e, " ", 9)
			switch {
			case len(f) < 9 || f[1][1] == '.':
			case f[2][0] == 'S':
				nested = append(nested, f[8])
			default:
				paths = append(paths, f[8])
			}
		case strings.HasPrefix(e, "u "):
			if f := strings.SplitN(e, " ", 11); len(f) == 11 {
				paths = append(paths, f[10])
			}
		}
	}
	return paths, nested
}

// indexInfo writes the blobs of the paths and returns the lines that add them to an
// index. Lines that remove entries come first. Git runs as in call.
func (w *Workspaces) indexInfo(ctx context.Context, call git.Call, root *os.Root, paths []string, skip func(string) bool) (string, error) {
	var drop, add strings.Builder
	var plain []string // regular files whose names fit on a line
	modes := map[string]string{}
	for _, p := range paths {
		if skip(p) {
			continue
		}
		fmt.Fprintf(&drop, "0 %040d\t%s\x00", 0, p)
		st, err := root.Lstat(p)
		if err != nil {
			continue // gone, or behind a link that leads out
		}
		mode := "100644"
		if st.Mode()&0o100 != 0 {
			mode = "100755"
		}
		switch {
		case st.Mode().IsRegular() && !strings.ContainsAny(p, "\n\"\\") && !strings.HasPrefix(p, " "):
			plain = append(plain, p)
			modes[p] = mode
		case st.Mode().IsRegular():
			b, err := root.ReadFile(p)
			if err != nil {
				return "", err
			}
			if err := w.addBlob(ctx, call, &add, mode, p, b); err != nil {
				return "", err
			}
		case st.Mode()&fs.ModeSymlink != 0:
			target, err := root.Readlink(p)
			if err != nil {
				return "", err
			}
			if err := w.addBlob(ctx, call, &add, "120000", p, []byte(target)); err != nil {
				return "", err
			}
		}
	}
	if len(plain) > 0 {
		call.Args, call.Stdin = []string{"hash-object", "-w", "--no-filters", "--stdin-paths"}, []byte(strings.Join(plain, "\n")+"\n")
		out, err := w.Git.Do(ctx, call)
		if err != nil {
			return "", err
		}
		ids := strings.Fields(out)
		if len(ids) != len(plain) {
			return "", fmt.Errorf("git hashed %d of %d files", len(ids), len(plain))
		}
		for i, p := range plain {
			fmt.Fprintf(&add, "%s %s 0\t%s\x00", modes[p], ids[i], p)
		}
	}
	return drop.String() + add.String(), nil
}

func (w *Workspaces) addBlob(ctx context.Context, call git.Call, to *strings.Builder, mode, path string, content []byte) error {
	call.Args, call.Stdin = []string{"hash-object", "-w", "--no-filters", "--stdin"}, content
	id, err := w.Git.Do(ctx, call)
	if err == nil {
		fmt.Fprintf(to, "%s %s 0\t%s\x00", mode, strings.TrimSpace(id), path)
	}
	return err
}
