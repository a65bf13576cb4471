package features

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// exchange swaps two files in one step, and reports whether it could: some file
// systems cannot.
func exchange(dir *os.Root, a, b string) (bool, error) {
	d, err := dir.Open(".")
	if err != nil {
		return false, err
	}
	defer d.Close() // nothing was written
	err = unix.Renameat2(int(d.Fd()), a, int(d.Fd()), b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return false, nil
	}
	return err == nil, err
}

// own gives a file the owner of another file, if that is allowed.
func own(f *os.File, like fs.FileInfo) {
	if st, ok := like.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		_ = f.Chown(int(st.Uid), int(st.Gid)) // only root can
	}
}
