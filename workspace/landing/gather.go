package landing

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"coppice/internal/atomicfile"
	"coppice/workspace/git"
	"coppice/workspace/gitfiles"
	"coppice/workspace/repo"
)

// takeOver returns where the objects of a commit that will land are gathered and
// checked, before the person's repository gets them.
func takeOver(r repo.Repo, commit string) string { return filepath.Join(r.Dir, "landing", commit) }

// maxLoose is how many objects of a landing become separate files, as when git
// receives them. More become one pack.
const maxLoose = 100

// gather collects all objects that are reachable from a commit and not from its
// base, and checks them as git does with receive.fsckObjects: they are complete,
// well-formed, and have legal names and modes. It returns what is wrong, or "". It collects
// nothing if gitfiles finds that the objects are legal.
func (ls *Landings) gather(ctx context.Context, r repo.Repo, base, commit string) (wrong string, err error) {
	dir := takeOver(r, commit)
	if repo.Exists(dir) {
		return "", nil
	}
	if _, err := ls.Files(ctx, r.Git).Added(base, commit); err == nil {
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
	_, err = ls.Git.Do(ctx, git.Call{Dir: r.Git, Args: []string{"pack-objects", "--quiet", "--revs", "--thin", "--stdout", "--delta-base-offset"}, Stdin: []byte(commit + "\n^" + base + "\n"), Writer: out})
	if git.Exit(err) > 0 && !repo.DiskFull(err) {
		return repo.Message(err), nil
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
	// Git only warns about modes that it never writes, and crashes when an index has one.
	strict := "--strict=badFilemode=error"
	args := []string{"unpack-objects", "-q", strict}
	if n := int(head[8])<<24 | int(head[9])<<16 | int(head[10])<<8 | int(head[11]); n > maxLoose {
		args = []string{"index-pack", "--stdin", "--fix-thin", strict}
	}
	_, err = ls.Git.Do(ctx, git.Call{Dir: r.Git, Reader: out, Args: args, Config: []string{"core.fsync=committed"},
		Env: []string{"GIT_OBJECT_DIRECTORY=" + objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + filepath.Join(r.User, "objects")}})
	if git.Exit(err) > 0 && !repo.DiskFull(err) {
		return repo.Message(err), nil
	}
	if err != nil {
		return "", err
	}
	if err := os.Remove(pack); err != nil {
		return "", err
	}
	if err := os.Rename(made, dir); err != nil && !repo.Exists(dir) {
		return "", err
	}
	return "", nil
}

// adopt copies the checked objects of a commit into the person's repository.
func (ls *Landings) adopt(ctx context.Context, r repo.Repo, base, commit string) error {
	from := filepath.Join(takeOver(r, commit), "objects")
	mode, err := ls.Shared(ctx, r)
	if err != nil {
		return err
	}
	if !repo.Exists(from) {
		ids, err := ls.Files(ctx, r.Git).Added(base, commit)
		if err != nil {
			return fmt.Errorf("the checked objects of %s are gone", commit)
		}
		own := filepath.Join(r.Git, "objects")
		for _, id := range ids {
			if err := adoptFile(own, filepath.Join(r.User, "objects"), filepath.Join(own, id[:2], id[2:]), mode); err != nil {
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
		return adoptFile(from, filepath.Join(r.User, "objects"), p, mode)
	})
	for _, p := range last {
		if err == nil {
			err = adoptFile(from, filepath.Join(r.User, "objects"), p, mode)
		}
	}
	return err
}

func adoptFile(from, objects, file string, mode repo.SharedMode) error {
	rel, err := filepath.Rel(from, file)
	if err != nil {
		return err
	}
	to := filepath.Join(objects, rel)
	if repo.Exists(to) {
		return nil
	}
	if err := mode.Mkdir(filepath.Dir(to)); err != nil {
		return err
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	return atomicfile.Replace(to, atomicfile.Options{Mode: mode.File(0o444), Temp: gitfiles.ObjectTemp}, func(f *os.File) error {
		_, err := io.Copy(f, in)
		return err
	})
}

// dropGathered removes what was gathered for a commit.
func dropGathered(r repo.Repo, commit string) error {
	if commit == "" {
		return nil
	}
	return os.RemoveAll(takeOver(r, commit))
}
