package setup

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// limits reads the limits of this machine. The disk is the one that dir is on.
func limits(dir string) (Limits, error) {
	var disk unix.Statfs_t
	if err := unix.Statfs(dir, &disk); err != nil {
		return Limits{}, fmt.Errorf("disk of %s: %w", dir, err)
	}
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return Limits{}, fmt.Errorf("open files: %w", err)
	}
	memory, err := totalMemory()
	if err != nil {
		return Limits{}, fmt.Errorf("memory: %w", err)
	}
	l := Limits{DiskFree: disk.Bavail * uint64(disk.Bsize), Memory: memory, OpenFiles: files.Max}
	l.FileSystem, l.Note = fileSystem(dir)
	return l, nil
}
