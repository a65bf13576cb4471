// Package config reads a project's coppice.yaml into a coppice.Policy.
//
// Reading is strict: an unknown key, a value of the wrong type or out of its
// range, and a path that leaves the repository are errors with file, line and
// column, the line itself, and a way out. What is left out keeps its default.
//
// The file is untrusted: it comes with the repository. Its size and depth are
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
	"coppice/engine"
)

const (
	// File is the name of the configuration at the root of a repository.
	File = engine.PolicyFile
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
	b, err := read(src.Path)
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

// read returns the file's bytes. Only a regular file will do: a pipe or device
// in its place would never end.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return nil, unreadable(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, coppice.Errorf(coppice.EInvalid, "%s is not a file", path).WithFix("make it a plain text file, or remove it")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close() // read only: nothing to lose
	b, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, unreadable(path, err)
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
