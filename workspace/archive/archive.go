// Package archive keeps ignored files of removed workspaces: files that no git
// tree holds, and the objects of submodules.
package archive

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"coppice/internal/atomicfile"
)

// Names within an archive: files of the worktree, and objects of its
// submodules' repositories, which may hold commits that are nowhere else.
const inTree, inModules = "tree/", "modules/"

// Write packs files and whole directories of a worktree into an archive that only
// the user can read. It writes no archive if there is nothing to pack, and reports
// whether there was.
func Write(to, tree, modules string, files, dirs []string) (bool, error) {
	if len(files) == 0 && len(dirs) == 0 {
		return false, nil
	}
	return true, atomicfile.Replace(to, atomicfile.Options{}, func(f *os.File) error {
		zip := gzip.NewWriter(f)
		out := tar.NewWriter(zip)
		if err := packTree(out, tree, modules, files, dirs); err != nil {
			return err
		}
		return errors.Join(out.Close(), zip.Close())
	})
}

func packTree(out *tar.Writer, tree, modules string, files, dirs []string) error {
	root, err := os.OpenRoot(tree)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, p := range files {
		if err := pack(out, root, p, inTree+p); err != nil {
			return err
		}
	}
	for _, d := range dirs {
		if err := packDir(out, root, d, inTree+d, func(string) bool { return true }); err != nil {
			return err
		}
	}
	if _, err := os.Lstat(modules); err != nil || len(dirs) == 0 {
		return nil
	}
	sub, err := os.OpenRoot(modules)
	if err != nil {
		return err
	}
	defer sub.Close()
	objects := func(p string) bool { return strings.Contains("/"+p, "/objects/") || strings.Contains("/"+p, "/refs/") }
	return packDir(out, sub, ".", strings.TrimSuffix(inModules, "/"), objects)
}

func packDir(out *tar.Writer, root *os.Root, dir, as string, want func(string) bool) error {
	return fs.WalkDir(root.FS(), dir, func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // git names a nested repository whose directory is gone
		}
		if err != nil || d.IsDir() || !want(p) {
			return err
		}
		name := path.Join(as, strings.TrimPrefix(strings.TrimPrefix(p, dir), "/"))
		// The file that links a submodule to its repository names a place that
		// another workspace does not have.
		if path.Base(p) == ".git" && d.Type().IsRegular() {
			return nil
		}
		return pack(out, root, p, name)
	})
}

func pack(out *tar.Writer, root *os.Root, p, name string) error {
	st, err := root.Lstat(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	h := &tar.Header{Name: name, Mode: int64(st.Mode().Perm()), ModTime: st.ModTime(), Format: tar.FormatPAX}
	switch {
	case st.Mode().IsRegular():
		h.Typeflag, h.Size = tar.TypeReg, st.Size()
	case st.Mode()&fs.ModeSymlink != 0:
		h.Typeflag = tar.TypeSymlink
		if h.Linkname, err = root.Readlink(p); err != nil {
			return err
		}
	default:
		return nil // sockets and pipes hold nothing
	}
	if err := out.WriteHeader(h); err != nil || h.Size == 0 {
		return err
	}
	f, err := root.Open(p)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.CopyN(out, f, h.Size)
	return err
}

// Read unpacks an archive. It writes nothing outside of the two directories.
func Read(from, tree, modules string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("reading the archive %s: %w", from, err)
	}
	in := tar.NewReader(zip)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the archive %s: %w", from, err)
		}
		dir, name := tree, ""
		if n, ok := strings.CutPrefix(h.Name, inTree); ok {
			name = n
		} else if n, ok := strings.CutPrefix(h.Name, inModules); ok {
			dir, name = modules, n
		}
		if name == "" || !filepath.IsLocal(name) {
			continue
		}
		if err := unpack(dir, name, h, in); err != nil {
			return err
		}
	}
}

func unpack(dir, name string, h *tar.Header, in io.Reader) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	if err := root.RemoveAll(name); err != nil {
		return err
	}
	if h.Typeflag == tar.TypeSymlink {
		return root.Symlink(h.Linkname, name)
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, in)
	return errors.Join(err, f.Chmod(fs.FileMode(h.Mode).Perm()), f.Close())
}
