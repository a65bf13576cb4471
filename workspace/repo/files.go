package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/internal/atomicfile"
	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
)

// Changes lists the paths that differ between two commits or trees of the
// repository with this git directory.
func (rs *Repos) Changes(ctx context.Context, gitDir, from, to string) ([]gitfiles.Change, error) {
	if list, err := rs.Files(ctx, gitDir).Diff(from, to); err == nil {
		return list, nil
	}
	out, err := rs.Git.Do(ctx, git.Call{Dir: gitDir, Args: []string{"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--end-of-options", from, to}})
	if err != nil {
		return nil, err
	}
	return RawDiff(out), nil
}

// RawDiff reads git's raw format with -z.
func RawDiff(out string) []gitfiles.Change {
	f := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	var list []gitfiles.Change
	for i := 0; i+1 < len(f); i += 2 {
		h := strings.Fields(strings.TrimPrefix(f[i], ":"))
		if len(h) != 5 {
			continue
		}
		c := gitfiles.Change{Path: f[i+1]}
		if h[0] != "000000" {
			c.OldMode, c.Old = h[0], h[2]
		}
		if h[1] != "000000" {
			c.NewMode, c.New = h[1], h[3]
		}
		list = append(list, c)
	}
	return list
}

// ChangedFiles returns the files that differ from the index that the environment
// names, and refreshes the stat data in that index.
func (rs *Repos) ChangedFiles(ctx context.Context, dir string, env []string) (map[string]bool, error) {
	env = append(env, "GIT_OPTIONAL_LOCKS=1")
	if _, err := rs.Git.Do(ctx, git.Call{Dir: dir, Env: env, Args: []string{"update-index", "-q", "--refresh"}, OK: []int{1}}); err != nil {
		return nil, err
	}
	out, err := rs.Git.Do(ctx, git.Call{Dir: dir, Env: env, Args: []string{"diff-files", "--name-only", "-z", "--ignore-submodules=dirty"}})
	changed := map[string]bool{}
	AddPaths(changed, out)
	return changed, err
}

// AddPaths adds paths of git's output with -z.
func AddPaths(set map[string]bool, out string) {
	for p := range strings.SplitSeq(out, "\x00") {
		if p != "" {
			set[p] = true
		}
	}
}

// RemoveWhole removes a path with everything below it, also directories that an
// agent made read-only.
func RemoveWhole(path string) error {
	err := os.RemoveAll(path)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700) // the second RemoveAll reports what cannot be changed
			if err != nil {
				return fs.SkipDir
			}
		}
		return nil
	})
	return os.RemoveAll(path)
}

// WriteFiles writes files below a directory; a name that ends in a slash is a
// directory.
func WriteFiles(dir string, files map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				return err
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(files[name]), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// SyncDir writes a directory's entries to the disk.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// CopyChanged makes a file the same as another one, which may be missing.
func CopyChanged(from, to string) error {
	want, err := gitfiles.ReadRegular(from, 256<<20)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err != nil {
		return err
	}
	if have, err := os.ReadFile(to); err == nil && bytes.Equal(have, want) {
		return nil
	}
	return atomicfile.Write(to, want, 0o644)
}

// ValidPath checks a path of the policy: relative, within the repository, and
// not git's own.
func ValidPath(field, p string) error {
	bad := p == "" || p == "." || !filepath.IsLocal(p) || strings.ContainsAny(p, "\x00\n\r") || path.Clean(p) != strings.TrimSuffix(p, "/")
	for part := range strings.SplitSeq(p, "/") {
		bad = bad || strings.EqualFold(part, ".git") || part == ".."
	}
	if bad {
		return coppice.Errorf(coppice.EInvalid, "%s is not a path within the repository", coppice.Quote(p)).
			WithFix("write it relative to the repository's root, as in .env or web/node_modules").WithField(field)
	}
	return nil
}

// ValidPaths checks paths of the policy as ValidPath does.
func ValidPaths(field string, paths []string) error {
	for _, p := range paths {
		if err := ValidPath(field, p); err != nil {
			return err
		}
	}
	return nil
}

// CopyIndex copies an index with its time. Git compares it with the times of files to
// find those that changed at the moment in which the index was written.
func CopyIndex(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	st, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, st.ModTime(), st.ModTime())
}

// Exists reports whether there is something at a path, also a link to nothing.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Listed returns up to five names and the number of others.
func Listed(names []string) string {
	more := ""
	if len(names) > 5 {
		more = fmt.Sprintf(" and %d more", len(names)-5)
		names = names[:5]
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = coppice.Quote(n)
	}
	return strings.Join(quoted, ", ") + more
}

// Within reports whether p is one of the paths or below one.
func Within(p string, paths []string) bool {
	for _, e := range paths {
		e = strings.TrimSuffix(e, "/")
		if p == e || strings.HasPrefix(p, e+"/") {
			return true
		}
	}
	return false
}

// TempIndex copies the index of a worktree, with its stat data and its time. If
// there is no index, there is no copy either: git starts with an empty index.
func TempIndex(r Repo, admin string) (string, error) {
	if err := os.MkdirAll(r.Tmp(), 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(r.Tmp(), "index-*")
	if err != nil {
		return "", err
	}
	f.Close()
	err = CopyIndex(filepath.Join(admin, "index"), f.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return f.Name(), os.Remove(f.Name()) // git takes an empty file for a damaged index
	}
	return f.Name(), err
}

// SweepDir removes old files whose names start with prefix.
func SweepDir(dir, prefix string, old time.Time) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if st, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), prefix) && st.ModTime().Before(old) {
			_ = RemoveWhole(filepath.Join(dir, e.Name()))
		}
	}
}
