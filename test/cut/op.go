//go:build linux

package cut

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Kind says what an operation does.
type Kind string

// The kinds of operations. Sync changes nothing; it matters to the order of
// writes only.
const (
	Create   Kind = "create"
	Write    Kind = "write"
	Copy     Kind = "copy"
	Truncate Kind = "truncate"
	Rename   Kind = "rename"
	Link     Kind = "link"
	Symlink  Kind = "symlink"
	Unlink   Kind = "unlink"
	Rmdir    Kind = "rmdir"
	Mkdir    Kind = "mkdir"
	Chmod    Kind = "chmod"
	Times    Kind = "times"
	Sync     Kind = "sync"
)

// atEnd is the offset of a write that appends.
const atEnd = -1

// Op is one operation. Its paths are relative to the root of the tree.
type Op struct {
	Kind  Kind
	Path  string
	To    string // rename, link: the new name; symlink: the target; copy: the file that is written
	Data  []byte // write
	At    int64  // write, copy: the offset, or atEnd; truncate: the size
	From  int64  // copy: the offset in the source
	Size  int64  // copy: how much, or atEnd for the rest
	Mode  uint32 // create, mkdir, chmod
	Flags int    // create: O_EXCL and O_TRUNC; rename: those of renameat2
	Times []unix.Timespec
	PID   int
}

// String describes the operation in a few words.
func (o Op) String() string {
	switch o.Kind {
	case Write:
		return fmt.Sprintf("write %d bytes to %s", len(o.Data), o.Path)
	case Rename, Link, Copy:
		return fmt.Sprintf("%s %s to %s", o.Kind, o.Path, o.To)
	case Symlink:
		return fmt.Sprintf("symlink %s -> %s", o.Path, o.To)
	}
	return string(o.Kind) + " " + o.Path
}

// apply does the operation below root and reports whether it changed anything.
func (o Op) apply(root string) (changed bool, err error) {
	path, to := filepath.Join(root, o.Path), filepath.Join(root, o.To)
	switch o.Kind {
	case Create:
		st, err := os.Stat(path)
		f, oerr := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|o.Flags, os.FileMode(o.Mode))
		if oerr != nil {
			return false, oerr
		}
		return err != nil || o.Flags&os.O_TRUNC != 0 && st.Size() > 0, f.Close()
	case Write:
		return len(o.Data) > 0, writeAt(path, o.Data, o.At)
	case Copy:
		return true, o.copy(path, to)
	case Truncate:
		st, err := os.Stat(path)
		return err != nil || st.Size() != o.At, os.Truncate(path, o.At)
	case Rename:
		return true, unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, to, uint(o.Flags))
	case Link:
		return true, os.Link(path, to)
	case Symlink:
		return true, os.Symlink(o.To, path)
	case Unlink:
		return true, unix.Unlink(path)
	case Rmdir:
		return true, unix.Rmdir(path)
	case Mkdir:
		return true, os.Mkdir(path, os.FileMode(o.Mode))
	case Chmod:
		st, err := os.Stat(path)
		return err != nil || uint32(st.Mode().Perm()) != o.Mode&0o777, unix.Chmod(path, o.Mode)
	case Times:
		return false, unix.UtimesNanoAt(unix.AT_FDCWD, path, o.Times, o.Flags)
	case Sync:
		return false, nil
	}
	return false, fmt.Errorf("the operation %q is unknown", o.Kind)
}

// writeAt writes without the permission bits in the way: the file may have been
// open before it became read-only.
func writeAt(path string, data []byte, at int64) error {
	f, err := openAnyway(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if at == atEnd {
		if at, err = f.Seek(0, io.SeekEnd); err != nil {
			return err
		}
	}
	_, err = f.WriteAt(data, at)
	return err
}

func openAnyway(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if !os.IsPermission(err) {
		return f, err
	}
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, err
	}
	f, err = os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	return f, os.Chmod(path, st.Mode().Perm())
}

func (o Op) copy(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	data = data[min(o.From, int64(len(data))):]
	if o.Size != atEnd {
		data = data[:min(o.Size, int64(len(data)))]
	}
	return writeAt(to, data, o.At)
}
