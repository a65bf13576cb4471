package sqlite

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// What ioprio_set knows: one thread, and the class that gets the disk when nobody
// else wants it.
const (
	ioThread = 1
	ioIdle   = 3 << 13
)

// lowestPriority gives the calling goroutine a thread of its own that runs and
// reads when no other wants to. The thread ends with the goroutine. A system that
// refuses does the work with the usual priority.
func lowestPriority() {
	runtime.LockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 19)
	_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, ioThread, 0, ioIdle)
}
