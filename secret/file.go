package secret

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"coppice"
	"coppice/internal/atomicfile"
	"coppice/internal/environ"
)

// Dir is the directory, below the user's configuration, with one file for each
// secret that was stored without a keyring.
const Dir = "secrets"

// StoredFile returns the source of a secret that WriteFile stored.
func StoredFile(name string) Source { return Source{File: Dir + "/" + name} }

// UserDir returns the directory of the user's configuration: coppice below
// XDG_CONFIG_HOME, or below ~/.config.
func UserDir(env []string) (string, error) {
	if dir := environ.Get(env, "XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "coppice"), nil
	}
	home := environ.Get(env, "HOME")
	if !filepath.IsAbs(home) {
		return "", coppice.Errorf(coppice.EUnavailable, "there is no place for the user's configuration: neither HOME nor XDG_CONFIG_HOME is set").
			WithFix("set HOME")
	}
	return filepath.Join(home, ".config", "coppice"), nil
}

// Path returns the path of a file source.
func Path(dir string, env []string, file string) (string, error) {
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		home := environ.Get(env, "HOME")
		if !filepath.IsAbs(home) {
			return "", coppice.Errorf(coppice.EUnavailable, "HOME is not set, so %s leads nowhere", file).WithFix("set HOME, or write the path without ~")
		}
		return filepath.Join(home, rest), nil
	}
	if filepath.IsAbs(file) {
		return file, nil
	}
	return filepath.Join(dir, file), nil
}

// ReadPrivate reads a file that only its owner, who runs this process, can read
// and write. It refuses symbolic links, and whatever is not a regular file. The
// checks are made on the open file, so the file cannot be exchanged after them.
// A missing file is fs.ErrNotExist in the error's chain.
func ReadPrivate(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, coppice.Errorf(coppice.ENotFound, "%s does not exist: %w", path, fs.ErrNotExist).WithFix("create it with mode 0600, or name another source")
	case errors.Is(err, syscall.ELOOP):
		return nil, coppice.Errorf(coppice.EForbidden, "%s is a symbolic link", path).WithFix("name the file itself")
	case err != nil:
		return nil, unreadable(path, err)
	}
	defer f.Close() // read only: nothing to lose
	info, err := f.Stat()
	if err != nil {
		return nil, unreadable(path, err)
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return nil, coppice.Errorf(coppice.EForbidden, "%s is not a regular file", path).WithFix("name a file")
	case !known || int(owner.Uid) != os.Getuid():
		return nil, coppice.Errorf(coppice.EForbidden, "%s belongs to another user", path).WithFix("make your own copy with mode 0600")
	case info.Mode().Perm()&0o077 != 0:
		return nil, coppice.Errorf(coppice.EForbidden, "other users have access to %s (mode %04o)", path, info.Mode().Perm()).WithFix("chmod 600 %s", path)
	}
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, unreadable(path, err)
	}
	if int64(len(b)) > most {
		return nil, coppice.Errorf(coppice.ETooLarge, "%s is larger than %d bytes", path, most).WithFix("keep only what is needed in it")
	}
	return b, nil
}

func unreadable(path string, err error) error {
	return coppice.Errorf(coppice.EForbidden, "%s cannot be read: %w", path, coppice.WithoutPath(err)).WithFix("make it readable for the user who runs Coppice")
}

// WriteFile stores a value in a separate file below the user's configuration,
// for its owner only.
func WriteFile(dir, name, value string) error {
	if err := ValidName(name); err != nil {
		return err
	}
	dir = filepath.Join(dir, Dir)
	err := PrivateDir(dir)
	if err == nil {
		err = atomicfile.Write(filepath.Join(dir, name), []byte(value+"\n"), 0o600)
	}
	if err != nil {
		return coppice.Errorf(coppice.EUnavailable, "the secret %s cannot be stored in %s: %w", name, dir, err).
			WithFix("make the directory writable for the user who runs Coppice, and check that the disk is not full")
	}
	return nil
}

// RemoveFile removes what WriteFile stored. A missing file is not an error.
func RemoveFile(dir, name string) error {
	if err := ValidName(name); err != nil {
		return err
	}
	err := os.Remove(filepath.Join(dir, Dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the secret %s: %w", name, err)
	}
	return nil
}

// PrivateDir creates a directory, and its parents, for its owner only.
func PrivateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700)
}
