package workspace

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

// publish copies the objects of a workspace into Coppice's own repository, where
// they can be merged and survive the workspace. It compares each object with its
// id: an agent can write files there, and an object with wrong content would affect
// other tasks.
func (w *Workspaces) publish(ctx context.Context, r repo, gitDir string) error {
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
			if err := publishObject(filepath.Join(objects, d.Name(), f.Name()), filepath.Join(r.git, "objects"), d.Name(), f.Name()); err != nil && !errors.Is(err, gitfiles.ErrUseGit) {
				return err
			}
		}
	}
	packs, err := filepath.Glob(filepath.Join(objects, "pack", "*.pack"))
	if err != nil {
		return err
	}
	for _, p := range packs {
		if err := w.publishPack(ctx, r, p); err != nil {
			return err
		}
	}
	return nil
}

// publishObject copies one object. For a damaged one the error is ErrUseGit.
func publishObject(from, objects, dir, name string) error {
	to := filepath.Join(objects, dir, name)
	if exists(to) {
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
func (w *Workspaces) publishPack(ctx context.Context, r repo, file string) error {
	if exists(filepath.Join(r.git, "objects", "pack", filepath.Base(file))) {
		return nil
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = w.git.Do(ctx, git.Call{Dir: r.git, Reader: in, Args: []string{"index-pack", "--stdin", "--fix-thin"}})
	if git.Exit(err) > 0 && !diskFull(err) {
		w.log.WarnContext(ctx, "a pack of a workspace is damaged", "pack", file, "error", err)
		return nil
	}
	return err
}

// complete makes sure that Coppice's own repository has all objects that head has
// and base does not have. Some may be only in the person's repository, which could
// prune them. It returns what is missing, or "".
func (w *Workspaces) complete(ctx context.Context, r repo, head, base string) (missing string, err error) {
	if head == base {
		return "", nil
	}
	if w.files(ctx, r.git).HasAll(head, base) == nil {
		return "", nil
	}
	err = w.copyObjects(ctx, r, r.git, r.git, head+"\n^"+base+"\n")
	if git.Exit(err) > 0 && !diskFull(err) {
		return said(err), nil
	}
	return "", err
}

// copyObjects copies objects from one repository into another, by revisions in the
// syntax of git rev-list.
func (w *Workspaces) copyObjects(ctx context.Context, r repo, from, to, revs string) error {
	if err := os.MkdirAll(r.tmp(), 0o700); err != nil {
		return err
	}
	pack, err := os.CreateTemp(r.tmp(), "pack-*")
	if err != nil {
		return err
	}
	defer os.Remove(pack.Name())
	defer pack.Close()
	c := git.Call{Dir: from, Args: []string{"pack-objects", "--quiet", "--revs", "--stdout"}, Stdin: []byte(revs), Writer: pack}
	if _, err := w.git.Do(ctx, c); err != nil {
		return err
	}
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = w.git.Do(ctx, git.Call{Dir: to, Reader: pack, Args: []string{"index-pack", "--stdin"}})
	return err
}

// takeOver returns where the objects of a commit that will land are gathered and
// checked, before the person's repository gets them.
func takeOver(r repo, commit string) string { return filepath.Join(r.dir, "landing", commit) }

// maxLoose is how many objects of a landing become separate files, as when git
// receives them. More become one pack.
const maxLoose = 100

// gather collects all objects that are reachable from a commit and not from its
// base, and checks them as git does with receive.fsckObjects: they are complete,
// well-formed, and have legal names. It returns what is wrong, or "". It collects
// nothing if gitfiles finds that the objects are legal.
func (w *Workspaces) gather(ctx context.Context, r repo, base, commit string) (wrong string, err error) {
	dir := takeOver(r, commit)
	if exists(dir) {
		return "", nil
	}
	if _, err := w.files(ctx, r.git).Added(base, commit); err == nil {
		return "", nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return "", err
	}
	made, err := os.MkdirTemp(filepath.Dir(dir), "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(made)
	pack := filepath.Join(made, "landing.pack")
	out, err := os.Create(pack)
	if err != nil {
		return "", err
	}
	defer out.Close()
	_, err = w.git.Do(ctx, git.Call{Dir: r.git, Args: []string{"pack-objects", "--quiet", "--revs", "--thin", "--stdout", "--delta-base-offset"}, Stdin: []byte(commit + "\n^" + base + "\n"), Writer: out})
	if git.Exit(err) > 0 && !diskFull(err) {
		return said(err), nil
	}
	if err != nil {
		return "", err
	}
	var head [12]byte
	if _, err := out.ReadAt(head[:], 0); err != nil {
		return "", fmt.Errorf("reading the pack of a landing: %w", err)
	}
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	objects := filepath.Join(made, "objects")
	if err := os.MkdirAll(filepath.Join(objects, "pack"), 0o700); err != nil {
		return "", err
	}
	args := []string{"unpack-objects", "-q", "--strict"}
	if n := int(head[8])<<24 | int(head[9])<<16 | int(head[10])<<8 | int(head[11]); n > maxLoose {
		args = []string{"index-pack", "--stdin", "--fix-thin", "--strict"}
	}
	_, err = w.git.Do(ctx, git.Call{Dir: r.git, Reader: out, Args: args, Config: []string{"core.fsync=committed"},
		Env: []string{"GIT_OBJECT_DIRECTORY=" + objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + filepath.Join(r.user, "objects")}})
	if git.Exit(err) > 0 && !diskFull(err) {
		return said(err), nil
	}
	if err != nil {
		return "", err
	}
	if err := os.Remove(pack); err != nil {
		return "", err
	}
	if err := os.Rename(made, dir); err != nil && !exists(dir) {
		return "", err
	}
	return "", nil
}

// adopt copies the checked objects of a commit into the person's repository.
func (w *Workspaces) adopt(ctx context.Context, r repo, base, commit string) error {
	from := filepath.Join(takeOver(r, commit), "objects")
	mode, err := w.shared(ctx, r)
	if err != nil {
		return err
	}
	if !exists(from) {
		ids, err := w.files(ctx, r.git).Added(base, commit)
		if err != nil {
			return fmt.Errorf("the checked objects of %s are gone", commit)
		}
		own := filepath.Join(r.git, "objects")
		for _, id := range ids {
			if err := adoptFile(own, filepath.Join(r.user, "objects"), filepath.Join(own, id[:2], id[2:]), mode); err != nil {
				return err
			}
		}
		return nil
	}
	var last []string // git uses a pack as soon as it has an index, so the index comes after the pack
	err = filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.HasSuffix(p, ".idx") {
			last = append(last, p)
			return nil
		}
		return adoptFile(from, filepath.Join(r.user, "objects"), p, mode)
	})
	for _, p := range last {
		if err == nil {
			err = adoptFile(from, filepath.Join(r.user, "objects"), p, mode)
		}
	}
	return err
}

func adoptFile(from, objects, file string, mode sharedMode) error {
	rel, err := filepath.Rel(from, file)
	if err != nil {
		return err
	}
	to := filepath.Join(objects, rel)
	if exists(to) {
		return nil
	}
	if err := mode.mkdir(filepath.Dir(to)); err != nil {
		return err
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	return atomicfile.Replace(to, atomicfile.Options{Mode: mode.file(0o444), Temp: gitfiles.ObjectTemp}, func(f *os.File) error {
		_, err := io.Copy(f, in)
		return err
	})
}

// sharedMode is what core.sharedRepository adds to the permissions of files in the
// person's repository.
type sharedMode fs.FileMode

// shared reads core.sharedRepository.
func (w *Workspaces) shared(ctx context.Context, r repo) (sharedMode, error) {
	settings, err := w.git.Settings(ctx, r.root)
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
		var mode sharedMode
		if _, err := fmt.Sscanf(bits, "%o", &mode); err == nil {
			return mode &^ 0o111, nil
		}
	}
	return 0, nil
}

// file adds the mode to the permissions of a file.
func (m sharedMode) file(mode fs.FileMode) fs.FileMode {
	if mode&0o200 == 0 {
		m &^= 0o222 // objects are read-only
	}
	return mode | fs.FileMode(m)
}

// mkdir creates a directory in which all can write who share the repository.
func (m sharedMode) mkdir(dir string) error {
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

// dropGathered removes what was gathered for a commit.
func dropGathered(r repo, commit string) error {
	return os.RemoveAll(takeOver(r, commit))
}
