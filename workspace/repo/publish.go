package repo

import (
	"compress/zlib"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"coppice"
	"coppice/internal/atomicfile"
	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
)

// Publish copies the objects of a workspace into Coppice's own repository, where
// they can be merged and survive the workspace. It compares each object with its
// id: an agent can write files there, and an object with wrong content would affect
// other tasks.
func (rs *Repos) Publish(ctx context.Context, r Repo, gitDir string) error {
	objects := filepath.Join(gitDir, "objects")
	dirs, err := os.ReadDir(objects)
	if gitfiles.Absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, d := range dirs {
		if !d.IsDir() || len(d.Name()) != 2 {
			continue
		}
		files, err := os.ReadDir(filepath.Join(objects, d.Name()))
		if err != nil {
			return err
		}
		for _, f := range files {
			if coppice.ValidHash(d.Name()+f.Name()) != nil {
				continue // a temporary file
			}
			if err := publishObject(filepath.Join(objects, d.Name(), f.Name()), filepath.Join(r.Git, "objects"), d.Name(), f.Name()); err != nil && !errors.Is(err, gitfiles.ErrUseGit) {
				return err
			}
		}
	}
	packs, err := filepath.Glob(filepath.Join(objects, "pack", "*.pack"))
	if err != nil {
		return err
	}
	for _, p := range packs {
		if err := rs.publishPack(ctx, r, p); err != nil {
			return err
		}
	}
	return nil
}

// publishObject copies one object. For a damaged one the error is ErrUseGit.
func publishObject(from, objects, dir, name string) error {
	to := filepath.Join(objects, dir, name)
	if Exists(to) {
		return nil
	}
	if st, err := os.Lstat(from); err != nil || !st.Mode().IsRegular() {
		return gitfiles.ErrUseGit
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return atomicfile.Replace(to, atomicfile.Options{Mode: 0o444, Temp: gitfiles.ObjectTemp}, func(f *os.File) error {
		if _, err := io.Copy(f, in); err != nil {
			return err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if !named(f, dir+name) {
			return gitfiles.ErrUseGit
		}
		return nil
	})
}

// named reports whether the content of a loose object matches its id.
func named(packed io.Reader, id string) bool {
	var sum hash.Hash = sha1.New()
	if len(id) == 2*sha256.Size {
		sum = sha256.New()
	}
	z, err := zlib.NewReader(packed)
	if err != nil {
		return false
	}
	if _, err := io.Copy(sum, z); err != nil {
		return false
	}
	return hex.EncodeToString(sum.Sum(nil)) == id
}

// publishPack copies a pack that an agent's git made. It skips a damaged one;
// complete finds what is missing then.
func (rs *Repos) publishPack(ctx context.Context, r Repo, file string) error {
	if Exists(filepath.Join(r.Git, "objects", "pack", filepath.Base(file))) {
		return nil
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = rs.Git.Do(ctx, git.Call{Dir: r.Git, Reader: in, Args: []string{"index-pack", "--stdin", "--fix-thin"}})
	if git.Exit(err) > 0 && !DiskFull(err) {
		rs.Log.WarnContext(ctx, "a pack of a workspace is damaged", "pack", file, "error", err)
		return nil
	}
	return err
}

// Complete makes sure that Coppice's own repository has all objects that head has
// and base does not have. Some may be only in the person's repository, which could
// prune them. It returns what is missing, or "".
func (rs *Repos) Complete(ctx context.Context, r Repo, head, base string) (missing string, err error) {
	if head == base {
		return "", nil
	}
	if rs.Files(ctx, r.Git).HasAll(head, base) == nil {
		return "", nil
	}
	err = rs.CopyObjects(ctx, r, r.Git, r.Git, head+"\n^"+base+"\n")
	if git.Exit(err) > 0 && !DiskFull(err) {
		return Message(err), nil
	}
	return "", err
}

// CopyObjects copies objects from one repository into another, by revisions in the
// syntax of git rev-list.
func (rs *Repos) CopyObjects(ctx context.Context, r Repo, from, to, revs string) error {
	if err := os.MkdirAll(r.Tmp(), 0o700); err != nil {
		return err
	}
	pack, err := os.CreateTemp(r.Tmp(), "pack-*")
	if err != nil {
		return err
	}
	defer os.Remove(pack.Name())
	defer pack.Close()
	c := git.Call{Dir: from, Args: []string{"pack-objects", "--quiet", "--revs", "--stdout"}, Stdin: []byte(revs), Writer: pack}
	if _, err := rs.Git.Do(ctx, c); err != nil {
		return err
	}
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = rs.Git.Do(ctx, git.Call{Dir: to, Reader: pack, Args: []string{"index-pack", "--stdin"}})
	return err
}

// SharedMode is what core.sharedRepository adds to the permissions of files in the
// person's repository.
type SharedMode fs.FileMode

// Shared reads core.sharedRepository.
func (rs *Repos) Shared(ctx context.Context, r Repo) (SharedMode, error) {
	settings, err := rs.Git.Settings(ctx, r.Root)
	if err != nil {
		return 0, err
	}
	value := ""
	for _, s := range settings {
		if s.Key == "core.sharedrepository" {
			value = strings.ToLower(s.Value)
		}
	}
	switch value {
	case "group", "true", "yes", "on", "1":
		return 0o660, nil
	case "all", "world", "everybody", "2":
		return 0o664, nil
	}
	if bits, ok := strings.CutPrefix(value, "0"); ok && len(bits) == 3 {
		var mode SharedMode
		if _, err := fmt.Sscanf(bits, "%o", &mode); err == nil {
			return mode &^ 0o111, nil
		}
	}
	return 0, nil
}

// File adds the mode to the permissions of a file.
func (m SharedMode) File(mode fs.FileMode) fs.FileMode {
	if mode&0o200 == 0 {
		m &^= 0o222 // objects are read-only
	}
	return mode | fs.FileMode(m)
}

// Mkdir creates a directory in which all can write who share the repository.
func (m SharedMode) Mkdir(dir string) error {
	err := os.Mkdir(dir, 0o777)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil || m == 0 {
		return err
	}
	st, err := os.Stat(dir)
	if err != nil {
		return err
	}
	bits := fs.FileMode(m)
	return os.Chmod(dir, st.Mode().Perm()|bits|bits>>2&0o111|fs.ModeSetgid)
}
