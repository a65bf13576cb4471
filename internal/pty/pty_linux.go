package pty

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// unlock lets the other side be opened and returns its path.
func unlock(ours *os.File) (name string, err error) {
	err = control(ours, func(fd int) error {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		n, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
		name = "/dev/pts/" + strconv.FormatUint(uint64(n), 10)
		return err
	})
	return name, err
}
