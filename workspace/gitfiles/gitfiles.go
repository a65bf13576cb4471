// Package gitfiles reads and writes the files of a git repository without a git
// process: refs, loose objects, trees, the index and the files of a checkout. A
// process costs milliseconds, and a task needs dozens of such steps.
//
// The package handles the common cases only. In all others a method returns
// ErrUseGit and the caller runs git instead. The method has changed nothing then,
// except files that git writes again. So each method has an equivalent in git, and
// Config.Off makes all of them return ErrUseGit.
// The package does not read packs, SHA-256 objects, reftables, index version 4,
// split or sparse indexes, attributes or filters.
//
// An agent can write to the repositories. So every object is compared with its
// id, files that are not regular are refused, and all sizes are limited.
package gitfiles

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrUseGit means that git must do the step.
var ErrUseGit = errors.New("gitfiles: git must do this")

// Config says how a repository is accessed.
type Config struct {
	Off  bool // direct access is turned off: methods return ErrUseGit
	Sync bool // objects are synced to the disk

	// Cache has objects that were read before. It can be nil.
	Cache *Cache

	// Read returns objects of a kind that are in packs, in the order of the ids.
	// If it is nil, packed objects are left to git.
	Read func(kind string, ids []string) ([][]byte, error)
}

// Repo gives access to the files of one repository. It is safe for concurrent
// use.
type Repo struct {
	dir string // the git directory that all worktrees share
	Config
}

// Open returns access to the repository with this git directory. It must be the
// directory that all worktrees of the repository share.
func Open(dir string, c Config) *Repo { return &Repo{dir, c} }

func (r *Repo) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

// Limits of the files that this package reads.
const (
	maxObject = 8 << 20
	maxConfig = 1 << 20
	maxRef    = 4 << 10
	maxPacked = 256 << 20
	maxIndex  = 1 << 20  // git is faster with larger ones
	maxRestat = 64 << 20 // an index whose stat data is changed
)

// config returns the repository's configuration file in lower case. It is enough
// for finding out that a setting is missing.
func (r *Repo) config() ([]byte, error) {
	if r.Off {
		return nil, ErrUseGit
	}
	text, err := ReadRegular(r.path("config"), maxConfig)
	return bytes.ToLower(text), err
}

// usesSHA1 reports whether the repository names its objects by SHA-1.
func (r *Repo) usesSHA1() bool {
	conf, err := r.config()
	return err == nil && !bytes.Contains(conf, []byte("objectformat"))
}

// hasRefFiles reports whether the repository keeps its refs in files.
func (r *Repo) hasRefFiles() bool {
	conf, err := r.config()
	return err == nil && !bytes.Contains(conf, []byte("refstorage")) && !exists(r.path("reftable"))
}

// ReadRegular reads a regular file of at most max bytes. For links, pipes and
// larger files the error is ErrUseGit: an agent can put them where git has a file.
//
// It does not use os.File: a task reads some hundred files, and an os.File also asks
// whether its file can be polled.
func ReadRegular(name string, max int64) ([]byte, error) {
	fd, err := retryEINTR(func() (int, error) {
		return syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	switch kind := st.Mode & syscall.S_IFMT; {
	case kind == syscall.S_IFDIR:
		return nil, syscall.EISDIR
	case kind != syscall.S_IFREG || st.Size > max:
		return nil, ErrUseGit
	}
	// With one byte more than the size, a read that does not fill the buffer has found
	// the end, if it has the size.
	b := make([]byte, st.Size+1)
	n := 0
	for n < len(b) {
		m, err := retryEINTR(func() (int, error) { return syscall.Read(fd, b[n:]) })
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: name, Err: err}
		}
		if n += m; m == 0 || int64(n) == st.Size {
			return b[:n], nil
		}
	}
	return nil, ErrUseGit // the file grows: git replaces files and does not append
}

// retryEINTR calls a function again when a signal interrupted it.
func retryEINTR(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}

// Absent reports whether an error means that there is no file of that name. There
// may be a directory, or a file where the parent directory would be.
func Absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENOTDIR)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// isID reports whether s is the id of an object. The id of zeros is not.
func isID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == "" && strings.Trim(s, "0") != ""
}
