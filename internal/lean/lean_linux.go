package lean

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// unmapProgram drops the mapped pages of the program's code and constants. They
// cannot be written to, so the file has them all. Where that cannot be done,
// nothing changes.
func unmapProgram() {
	exe, err := os.Executable()
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(maps)) {
		if from, size, ok := constant(line, exe); ok {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, size, unix.MADV_DONTNEED)
		}
	}
}
