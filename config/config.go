// Package config reads a project's coppice.yaml into a coppice.Policy, and the
// user's own config.yaml into a User.
//
// Reading is strict: an unknown key, a value of the wrong type or out of its
// range, and a path that leaves the repository are errors with file, line and
// column, the line itself, and a way out. What is left out keeps its default.
//
// A project's file is untrusted: it comes with the repository. Its size and depth are
// bounded, and YAML's anchors, aliases, merge keys and tags are not accepted.
package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"coppice"
)

const (
	// File is the name of the configuration at the root of a repository.
	File = "coppice.yaml"
	// MaxSize is how big it may be, in bytes.
	MaxSize = 1 << 20
)

// Source tells where a policy came from.
type Source struct {
	Path string         // the file, whether it is there or not
	Read bool           // false when there is none and all is default
	Set  map[string]int // the keys it sets, and on which line

	Revision string // names the file's content
}

// Load reads the coppice.yaml at the root of a repository. A missing one means
// the defaults.
func Load(dir string) (coppice.Policy, Source, error) {
	src := Source{Path: filepath.Join(dir, File)}
	b, err := Read(dir)
	src.Revision = revision(b)
	if errors.Is(err, fs.ErrNotExist) {
		p := coppice.DefaultPolicy()
		if _, err := os.Stat(dir); err != nil { // nothing can be beside it
			return p, src, nil
		}
		err = loadPrompts(dir, &p)
		return p, src, err
	}
	if err != nil {
		return coppice.Policy{}, src, err
	}
	d := newDecoder(File, b)
	p, err := d.policy()
	if err != nil {
		return coppice.Policy{}, src, err
	}
	if err := d.checkLinks(dir, p); err != nil {
		return coppice.Policy{}, src, err
	}
	src.Read, src.Set = true, d.set
	err = loadPrompts(dir, &p)
	return p, src, err
}

// Parse reads the text of a configuration; name is what errors call it.
func Parse(name string, b []byte) (coppice.Policy, error) {
	return newDecoder(name, b).policy()
}

// Read returns the text of a repository's coppice.yaml, or fs.ErrNotExist.
func Read(dir string) ([]byte, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fs.ErrNotExist // nothing can be in it
	}
	return readFile(dir, File, MaxSize)
}

// locate follows the symbolic links of a file of a repository to the file
// itself: its path below the real root. A link that leaves the repository is
// refused before anything is read. What is not there is fs.ErrNotExist.
func locate(dir, name string) (root, rel string, err error) {
	if root, err = filepath.EvalSymlinks(dir); err != nil {
		return "", "", unreadable(dir, err)
	}
	real, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		if to, out := leads(root, name); out {
			return "", "", coppice.Errorf(coppice.EInvalid, "%s is a symbolic link to %s, which is not there", name, coppice.Quote(to)).WithFix("remove it, or put a file where it leads")
		}
		return root, filepath.FromSlash(name), fs.ErrNotExist
	}
	if err != nil {
		return "", "", unreadable(name, err)
	}
	if rel, err = filepath.Rel(root, real); err != nil || !filepath.IsLocal(rel) {
		return "", "", coppice.Errorf(coppice.EInvalid, "%s is a symbolic link that leaves the repository", name).WithFix("make it a file of the repository, or a link to one")
	}
	return root, rel, nil
}

// readFile returns a file of a repository, up to one byte more than most. Only
// a regular file will do: a pipe or device in its place would never end.
func readFile(dir, name string, most int64) ([]byte, error) {
	at, rel, err := locate(dir, name)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(at) // whatever becomes of the path meanwhile, it stays inside
	if err != nil {
		return nil, unreadable(name, err)
	}
	defer root.Close() // read only: nothing to lose
	info, err := root.Stat(rel)
	if err != nil {
		return nil, unreadable(name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, coppice.Errorf(coppice.EInvalid, "%s is not a file", name).WithFix("make it a plain text file, or remove it")
	}
	f, err := root.Open(rel)
	if err != nil {
		return nil, unreadable(name, err)
	}
	defer f.Close() // likewise
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, unreadable(name, err)
	}
	return b, nil
}

func unreadable(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return coppice.Errorf(coppice.EInvalid, "%s cannot be read: %w", path, err).WithFix("make it readable for the user who runs coppice")
}

// checkLinks refuses copy and link paths that leave the repository through a
// symbolic link. What does not exist yet is judged by the part that does.
func (d *decoder) checkLinks(dir string, p coppice.Policy) error {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return unreadable(dir, err)
	}
	for _, list := range []struct {
		key   string
		paths []string
	}{{"workspace.copy", p.Workspace.Copy}, {"workspace.link", p.Workspace.Link}} {
		for i, path := range list.paths {
			if to, out := leads(root, path); out {
				return d.fail(d.elements[list.key][i], "%s leaves the repository: it leads to %s", coppice.Quote(path), to).
					WithFix("name a path whose target is in the repository")
			}
		}
	}
	return nil
}

// leads follows the links in a path below root and tells where it comes out
// when that is elsewhere.
func leads(root, path string) (string, bool) {
	for at := filepath.Join(root, path); len(at) > len(root); at = filepath.Dir(at) {
		to, err := filepath.EvalSymlinks(at)
		if err != nil {
			if target, lerr := os.Readlink(at); lerr == nil {
				return target, true // a link to nowhere could become one to anywhere
			}
			continue
		}
		out := to != root && !strings.HasPrefix(to, root+string(filepath.Separator))
		return to, out
	}
	return "", false
}
