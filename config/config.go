// Package config reads a project's coppice.yaml into a coppice.Policy, and the
// user's own config.yaml into a User.
//
// Reading is strict: an unknown key, a value of the wrong type or out of range,
// and a path that leaves the repository are errors with file, line and column,
// the line itself, and a fix. A key that is left out keeps its default.
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
	// MaxSize is the limit of its size, in bytes.
	MaxSize = 1 << 20
)

// Source says where a policy came from.
type Source struct {
	Path string         // the file, which might not exist
	Read bool           // false if the file does not exist
	Set  map[string]int // the keys it sets, with their lines

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
		if _, err := os.Stat(dir); err != nil { // the file cannot exist either
			return p, src, nil
		}
		err = loadFiles(dir, nil, &p)
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
	err = loadFiles(dir, d, &p)
	return p, src, err
}

// loadFiles reads the files next to coppice.yaml, which d has read.
func loadFiles(dir string, d *decoder, p *coppice.Policy) error {
	if err := loadPrompts(dir, p); err != nil {
		return err
	}
	if err := loadTrackers(dir, d, p); err != nil {
		return err
	}
	return loadContext(dir, p)
}

// Parse reads the text of a configuration. Errors use the name.
func Parse(name string, b []byte) (coppice.Policy, error) {
	return newDecoder(name, b).policy()
}

// Read returns the text of a repository's coppice.yaml, or fs.ErrNotExist.
func Read(dir string) ([]byte, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fs.ErrNotExist // nor can a file in it
	}
	return readFile(dir, File, MaxSize)
}

// locate follows the symbolic links of a file of a repository, and returns its
// path below the real root. It refuses a link that leaves the repository before
// anything is read. A missing file is fs.ErrNotExist.
func locate(dir, name string) (root, rel string, err error) {
	if root, err = filepath.EvalSymlinks(dir); err != nil {
		return "", "", unreadable(dir, err)
	}
	real, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		if to, out := leads(root, name); out {
			return "", "", coppice.Errorf(coppice.EInvalid, "%s is a symbolic link to %s, which does not exist", name, coppice.Quote(to)).WithFix("remove it, or create its target")
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

// readFile returns a file of a repository, up to one byte more than most. It
// accepts only regular files: a pipe or device might never end.
func readFile(dir, name string, most int64) ([]byte, error) {
	at, rel, err := locate(dir, name)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(at) // if the path changes now, reads still stay inside
	if err != nil {
		return nil, unreadable(name, err)
	}
	defer root.Close() // read only
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
	return coppice.Errorf(coppice.EInvalid, "%s cannot be read: %w", path, coppice.WithoutPath(err)).WithFix("make it readable for the user who runs coppice")
}

// checkLinks refuses copy and link paths that leave the repository through a
// symbolic link. For a path that does not exist yet, it checks the part that
// does.
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

// leads follows the links in a path below root. If the target is outside root,
// it returns the target and true.
func leads(root, path string) (string, bool) {
	for at := filepath.Join(root, path); len(at) > len(root); at = filepath.Dir(at) {
		to, err := filepath.EvalSymlinks(at)
		if err != nil {
			if target, lerr := os.Readlink(at); lerr == nil {
				return target, true // the missing target could later be created anywhere
			}
			continue
		}
		out := to != root && !strings.HasPrefix(to, root+string(filepath.Separator))
		return to, out
	}
	return "", false
}
