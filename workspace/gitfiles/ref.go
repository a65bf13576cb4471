package gitfiles

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Resolve follows HEAD of a git directory, or a ref, to the last ref and its
// object. The ref is empty if HEAD is detached, and the id if the ref does not
// exist. Resolve also works in a damaged repository and when direct access is off.
// It does not look which format the refs have.
func (r *Repo) Resolve(gitDir, name string) (ref, id string, err error) {
	for range 5 { // as git does
		file := r.path(name)
		switch {
		case name == "HEAD":
			file = filepath.Join(gitDir, name)
		case !isRefName(name):
			return "", "", ErrUseGit
		default:
			ref = name
		}
		b, err := ReadRegular(file, maxRef)
		if Absent(err) && name != "HEAD" {
			id, err := r.packed(name)
			return ref, id, err
		}
		if err != nil {
			return "", "", fmt.Errorf("%w: %w", ErrUseGit, err)
		}
		line, ended := strings.CutSuffix(string(b), "\n")
		if ended && isID(line) && r.hasExactName(ref) {
			return ref, line, nil
		}
		next, symbolic := strings.CutPrefix(line, "ref: ")
		if !ended || !symbolic {
			return "", "", ErrUseGit
		}
		name = next
	}
	return "", "", ErrUseGit
}

// Head resolves HEAD of a git directory, which is that of a worktree.
func (r *Repo) Head(gitDir string) (ref, id string, err error) {
	if !r.hasRefFiles() {
		return "", "", ErrUseGit
	}
	return r.Resolve(gitDir, "HEAD")
}

// Refs returns the objects of those of the refs that exist.
func (r *Repo) Refs(names ...string) (map[string]string, error) {
	if !r.hasRefFiles() {
		return nil, ErrUseGit
	}
	found := map[string]string{}
	for _, name := range names {
		_, id, err := r.Resolve(r.dir, name)
		if err != nil {
			return nil, err
		}
		if id != "" {
			found[name] = id
		}
	}
	return found, nil
}

// List returns the refs below directories such as refs/heads/, by name: those with
// their objects, and symbolic refs with the ref that they name.
func (r *Repo) List(dirs ...string) (refs, symbolic map[string]string, err error) {
	if !r.hasRefFiles() {
		return nil, nil, ErrUseGit
	}
	// Files are read before packed refs. A ref that git packs in between is then
	// found twice, and not missed.
	loose, symbolic := map[string]string{}, map[string]string{}
	for _, dir := range dirs {
		if err := r.readLooseRefs(dir, loose, symbolic); err != nil {
			return nil, nil, err
		}
	}
	refs = map[string]string{}
	b, err := ReadRegular(r.path("packed-refs"), maxPacked)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	for line := range bytes.Lines(b) {
		id, name, ok := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
		below := func(dir string) bool { return bytes.HasPrefix(name, []byte(dir)) }
		if ok && slices.ContainsFunc(dirs, below) && isID(string(id)) && symbolic[string(name)] == "" {
			refs[string(name)] = string(id)
		}
	}
	maps.Copy(refs, loose)
	return refs, symbolic, nil
}

func (r *Repo) readLooseRefs(dir string, loose, symbolic map[string]string) error {
	return filepath.WalkDir(r.path(dir), func(p string, d fs.DirEntry, err error) error {
		if Absent(err) {
			return nil
		}
		if err != nil || d.IsDir() || strings.HasSuffix(p, ".lock") {
			return err
		}
		b, err := ReadRegular(p, maxRef)
		if Absent(err) {
			return nil // git removed or packed it since
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(r.dir, p)
		if err != nil {
			return err
		}
		if name = filepath.ToSlash(name); !strings.HasPrefix(name, dir) {
			return nil // a ref in place of the directory
		}
		line, ended := strings.CutSuffix(string(b), "\n")
		to, isSymbolic := strings.CutPrefix(line, "ref: ")
		switch {
		case !ended || !isRefName(name):
			return ErrUseGit
		case isSymbolic && isRefName(to):
			symbolic[name] = to
		case isID(line):
			loose[name] = line
		default:
			return ErrUseGit
		}
		return nil
	})
}

// isRefName reports whether a ref is one that all worktrees share, and whether its
// name is a path below refs.
func isRefName(name string) bool {
	for _, perWorktree := range []string{"refs/bisect/", "refs/worktree/", "refs/rewritten/"} {
		if strings.HasPrefix(name, perWorktree) {
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

// foldsCase reports whether file systems of this platform usually ignore the case
// of names.
const foldsCase = runtime.GOOS == "darwin" || runtime.GOOS == "windows"

// hasExactName reports whether the file of a ref has the case of the ref's name.
// Git lists a ref by the name of its file.
func (r *Repo) hasExactName(ref string) bool {
	if !foldsCase || ref == "" {
		return true
	}
	dir := r.dir
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

// packed returns the object of a ref in the file packed-refs, or "".
func (r *Repo) packed(name string) (string, error) {
	b, err := ReadRegular(r.path("packed-refs"), maxPacked)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUseGit, err)
	}
	i := bytes.Index(b, []byte(" "+name+"\n"))
	if i < 0 {
		return "", nil
	}
	id := string(b[bytes.LastIndexByte(b[:i], '\n')+1 : i])
	if !isID(id) {
		return "", ErrUseGit
	}
	return id, nil
}
