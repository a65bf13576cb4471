package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"coppice/workspace/git"
)

// Refs are read from the files that git keeps them in: a process of git for
// each look costs more than all the rest of a task. Git replaces these files by
// renaming, so a read is always whole. Only git writes them. Whatever is not
// written the plain way, another kind of ref store above all, is left to git.

// errOdd says that the files alone do not tell.
var errOdd = errors.New("the refs are not in plain files")

// The bounds of what is read: a file of one ref, and that of the packed ones.
const maxLoose, maxPacked = 4 << 10, 256 << 20

// plainRefs tells whether the repository keeps its refs in files.
func plainRefs(common string) bool {
	conf, err := readRegular(filepath.Join(common, "config"), 1<<20)
	return err == nil && !bytes.Contains(bytes.ToLower(conf), []byte("refstorage")) && !exists(filepath.Join(common, "reftable"))
}

// readRegular reads a file, but no link, pipe or the like: an agent can put one
// where git has a file.
func readRegular(name string, most int64) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		return nil, syscall.EISDIR
	}
	if !st.Mode().IsRegular() || st.Size() > most {
		return nil, errOdd
	}
	// One byte more than it has tells its end without a second look.
	b := make([]byte, min(st.Size(), most)+1)
	n := 0
	for n < len(b) {
		m, err := f.Read(b[n:])
		if n += m; errors.Is(err, io.EOF) {
			return b[:n], nil
		}
		if err != nil {
			return nil, err
		}
	}
	// It grows: whoever writes it does not do so as git does.
	return nil, errOdd
}

// absent tells whether an error says that there is no file of that name; a
// directory may stand there, or a file where its directory would be.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENOTDIR)
}

// resolve follows HEAD of a git directory, or a ref, to the ref it leads to and
// the commit there. The ref is empty when HEAD is detached, the commit when
// the ref does not exist.
func resolve(dir, common, name string) (ref, id string, err error) {
	for range 5 { // as deep as git goes
		at := filepath.Join(common, filepath.FromSlash(name))
		switch {
		case name == "HEAD":
			at = filepath.Join(dir, name)
		case !plainName(name):
			return "", "", errOdd
		default:
			ref = name
		}
		b, err := readRegular(at, maxLoose)
		if absent(err) && name != "HEAD" {
			id, err := packed(common, name)
			return ref, id, err
		}
		if err != nil {
			return "", "", fmt.Errorf("%w: %w", errOdd, err)
		}
		line, ended := strings.CutSuffix(string(b), "\n")
		if ended && plainID(line) && spelled(common, ref) {
			return ref, line, nil
		}
		next, symbolic := strings.CutPrefix(line, "ref: ")
		if !ended || !symbolic {
			return "", "", errOdd
		}
		name = next
	}
	return "", "", errOdd
}

// plainID tells whether s is an object's id; that of no object is not one.
func plainID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == "" && strings.Trim(s, "0") != ""
}

// plainName tells whether a ref is one that all worktrees share, and its name a
// path that stays where refs are.
func plainName(name string) bool {
	for _, own := range []string{"refs/bisect/", "refs/worktree/", "refs/rewritten/"} {
		if strings.HasPrefix(name, own) {
			return false
		}
	}
	if !strings.HasPrefix(name, "refs/") || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == 0x7f || c == '\\' }) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}

// spelled tells whether a ref's file has exactly that name: some file systems
// find it by another case as well, and git lists it by its own.
func spelled(common, ref string) bool {
	if !foldsCase || ref == "" {
		return true
	}
	dir := common
	for part := range strings.SplitSeq(ref, "/") {
		f, err := os.Open(dir)
		if err != nil {
			return false
		}
		names, err := f.Readdirnames(-1)
		f.Close()
		if err != nil || !slices.Contains(names, part) {
			return false
		}
		dir = filepath.Join(dir, part)
	}
	return true
}

// packed returns the commit of a ref that has no file of its own.
func packed(common, name string) (string, error) {
	b, err := readRegular(filepath.Join(common, "packed-refs"), maxPacked)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", errOdd, err)
	}
	i := bytes.Index(b, []byte(" "+name+"\n"))
	if i < 0 {
		return "", nil
	}
	id := string(b[bytes.LastIndexByte(b[:i], '\n')+1 : i])
	if !plainID(id) {
		return "", errOdd
	}
	return id, nil
}

// refs returns the commits of the refs of those exact names.
func (w *Workspaces) refs(ctx context.Context, r at, names ...string) (map[string]string, error) {
	found := map[string]string{}
	plain := plainRefs(r.git)
	for _, name := range names {
		if !plain {
			break
		}
		_, id, err := resolve(r.git, r.git, name)
		if plain = err == nil; id != "" {
			found[name] = id
		}
	}
	if plain {
		return found, nil
	}
	out, err := w.git.Run(ctx, r.dir, append([]string{"for-each-ref", "--format=%(refname) %(objectname)"}, names...)...)
	if err != nil {
		return nil, err
	}
	clear(found)
	for line := range strings.Lines(out) {
		name, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		if slices.Contains(names, name) {
			found[name] = id
		}
	}
	return found, nil
}

// refsBelow lists the names of the refs that begin with a prefix, which has at
// least one directory in it.
func (w *Workspaces) refsBelow(ctx context.Context, r at, prefix string) ([]string, error) {
	if names, err := filesBelow(r.git, prefix); err == nil {
		return names, nil
	}
	out, err := w.git.Run(ctx, r.dir, "for-each-ref", "--format=%(refname)", prefix[:strings.LastIndexByte(prefix, '/')+1])
	return slices.DeleteFunc(strings.Fields(out), func(n string) bool { return !strings.HasPrefix(n, prefix) }), err
}

func filesBelow(common, prefix string) ([]string, error) {
	if !plainRefs(common) {
		return nil, errOdd
	}
	found := map[string]bool{} // false for files that lead nowhere, which hide packed refs
	// The files come first: a ref that is packed in between is then found twice
	// instead of never.
	top := filepath.Join(common, filepath.FromSlash(prefix[:strings.LastIndexByte(prefix, '/')+1]))
	err := filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if absent(err) {
			return nil
		}
		if err != nil || d.IsDir() || strings.HasSuffix(p, ".lock") {
			return err
		}
		name, err := filepath.Rel(common, p)
		if err != nil {
			return err
		}
		if name = filepath.ToSlash(name); !strings.HasPrefix(name, prefix) {
			return nil // a ref where the directory would be
		}
		_, id, err := resolve(common, common, name)
		found[name] = id != ""
		return err
	})
	if err != nil {
		return nil, err
	}
	b, err := readRegular(filepath.Join(common, "packed-refs"), maxPacked)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for rest := b; ; {
		i := bytes.Index(rest, []byte(" "+prefix))
		if i < 0 {
			break
		}
		line, after, _ := bytes.Cut(rest[i+1:], []byte("\n"))
		if _, hidden := found[string(line)]; !hidden {
			found[string(line)] = true
		}
		rest = after
	}
	maps.DeleteFunc(found, func(_ string, there bool) bool { return !there })
	return slices.Sorted(maps.Keys(found)), nil
}

// head returns the branch a workspace is on, as a full ref and empty when it is
// detached, and its commit, empty when there is none yet.
func (w *Workspaces) head(ctx context.Context, path string) (on, id string, err error) {
	if dir, err := gitDir(path); err == nil && plainRefs(dir) {
		if on, id, err := resolve(dir, dir, "HEAD"); err == nil {
			return on, id, nil
		}
	}
	on, err = w.git.Run(ctx, path, "symbolic-ref", "--quiet", "HEAD")
	if err != nil && git.Exit(err) != 1 {
		return "", "", err
	}
	id, err = w.git.Run(ctx, path, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if git.Exit(err) == 1 {
		return on, "", nil
	}
	return on, id, err
}

// setRef points a ref of Coppice's own repository at a commit.
func (w *Workspaces) setRef(ctx context.Context, r repo, name, commit string) error {
	if writeRef(r.git, name, commit) == nil {
		return nil
	}
	_, err := w.git.Run(ctx, r.git, "update-ref", "--no-deref", name, commit)
	return err
}

// updateRefs changes refs in one transaction, by lines of git update-ref.
func (w *Workspaces) updateRefs(ctx context.Context, r at, why string, lines ...string) error {
	if len(lines) == 0 {
		return nil
	}
	_, err := w.git.Do(ctx, git.Call{Dir: r.dir, Stdin: []byte(strings.Join(lines, "\n") + "\n"), Args: []string{"update-ref", "-m", "coppice: " + why, "--stdin"}})
	return err
}

// foldsCase tells whether file systems of this platform commonly take names
// that differ only in case for the same.
const foldsCase = runtime.GOOS == "darwin" || runtime.GOOS == "windows"
