package pty

import (
	"bytes"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// unlock lets the other side be opened and returns its path.
func unlock(ours *os.File) (name string, err error) {
	err = control(ours, func(fd int) error {
		if err := unix.IoctlSetInt(fd, unix.TIOCPTYGRANT, 0); err != nil {
			return err
		}
		if err := unix.IoctlSetInt(fd, unix.TIOCPTYUNLK, 0); err != nil {
			return err
		}
		var path [128]byte // as large as the call writes
		if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCPTYGNAME, uintptr(unsafe.Pointer(&path[0]))); e != 0 {
			return e
		}
		name = string(bytes.TrimRight(path[:], "\x00"))
		return nil
	})
	return name, err
}
