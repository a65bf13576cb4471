package resident

import (
	"os"

	"golang.org/x/sys/unix"
)

// ReleaseProgram gives the pages of the program itself back to the system, which
// keeps them in its cache of files. The next use of a page maps it again, with its
// neighbours, without reading the disk. The system maps 16 pages for each one that
// is used, so a program that has started has most of its file mapped.
func ReleaseProgram() error {
	file, err := os.Executable()
	if err != nil {
		return err
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return err
	}
	defer f.Close()
	all, err := program(f, file)
	if err != nil {
		return err
	}
	for _, m := range all {
		_, _, errno := unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED)
		if errno != 0 {
			return os.NewSyscallError("madvise", errno)
		}
	}
	return nil
}
