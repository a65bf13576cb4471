package setup

import "golang.org/x/sys/unix"

func totalMemory() (uint64, error) { return unix.SysctlUint64("hw.memsize") }

// fileSystem names the file system of a directory.
func fileSystem(dir string) (name, note string) {
	var stat unix.Statfs_t
	if unix.Statfs(dir, &stat) != nil {
		return "", ""
	}
	return unix.ByteSliceToString(stat.Fstypename[:]), ""
}
