package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// Worktrees come and go with every rush of tasks, so git's notes of them are
// written and removed here where they are plain.

// notePlainly makes git know a detached worktree without files at path, which
// must not exist, as git worktree add does. It is odd where git must do it. The
// file that git finds the worktree by is the last one, so a crash leaves either
// a worktree or what git clears away by itself.
func notePlainly(common, path, commit string) (err error) {
	if !plainRefs(common) || !plainObjects(common) || filepath.Base(common) != ".git" || exists(path) {
		return errOdd
	}
	conf, err := readRegular(filepath.Join(common, "config"), 1<<20)
	if conf = bytes.ToLower(conf); err != nil || bytes.Contains(conf, []byte("worktreeconfig")) || bytes.Contains(conf, []byte("relative")) {
		return errOdd
	}
	if _, err := readCommit(common, commit); err != nil {
		return err
	}
	link := filepath.Join(path, ".git")
	all := filepath.Join(common, "worktrees")
	if noted(all, link) {
		return errOdd // a crash left it
	}
	if err := errors.Join(os.MkdirAll(all, 0o777), os.MkdirAll(filepath.Dir(path), 0o700), os.Mkdir(path, 0o777)); err != nil {
		return err
	}
	admin := filepath.Join(all, filepath.Base(path))
	for n := 1; ; n++ {
		if unfinished(admin) {
			_ = os.RemoveAll(admin) // then its name is free
		}
		if err = os.Mkdir(admin, 0o777); !errors.Is(err, fs.ErrExist) || n == 1000 {
			break
		}
		admin = filepath.Join(all, filepath.Base(path)+strconv.Itoa(n))
	}
	if err != nil {
		return errors.Join(err, os.Remove(path))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(path), os.RemoveAll(admin))
		}
	}()
	if err := os.WriteFile(link, fmt.Appendf(nil, "gitdir: %s\n", admin), 0o666); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(admin, "commondir"), []byte("../..\n"), 0o666); err != nil {
		return err
	}
	// Nobody knows of these files yet, so nobody has to be locked out.
	if err := writeNew(filepath.Join(admin, "HEAD"), commit+"\n"); err != nil {
		return err
	}
	if err := writeNew(filepath.Join(admin, "gitdir.new"), link+"\n"); err != nil {
		return err
	}
	return os.Rename(filepath.Join(admin, "gitdir.new"), filepath.Join(admin, "gitdir"))
}

// unfinished tells whether a crash left git's directory of a worktree before the
// worktree was known. Git itself writes the file that tells of it sooner.
func unfinished(admin string) bool {
	return exists(filepath.Join(admin, "commondir")) && !exists(filepath.Join(admin, "gitdir")) && !exists(filepath.Join(admin, "locked"))
}

// writeNew writes a file that is not there yet to the disk.
func writeNew(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// noted tells whether git knows a worktree with that link already.
func noted(all, link string) bool {
	entries, _ := os.ReadDir(all)
	for _, e := range entries {
		b, err := readRegular(filepath.Join(all, e.Name(), "gitdir"), maxLoose)
		if err == nil && string(bytes.TrimSpace(b)) == link {
			return true
		}
	}
	return false
}

// dropPlainly removes a worktree and git's notes of it, as git worktree remove
// does. It is odd where git must do it.
func dropPlainly(common, path string) error {
	admin, err := adminDir(path)
	if err != nil || filepath.Dir(admin) != filepath.Join(common, "worktrees") {
		return errOdd
	}
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	err = os.RemoveAll(admin)
	_ = os.Remove(filepath.Dir(admin)) // the last one; others are in the way
	return err
}
