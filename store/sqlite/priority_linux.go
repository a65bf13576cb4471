package sqlite

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Arguments of ioprio_set: one thread, and the class that uses the disk only when
// it is idle.
const (
	ioThread = 1
	ioIdle   = 3 << 13
)

// lowestPriority gives the calling goroutine a separate thread with the lowest
// priority for CPU and disk. The thread ends with the goroutine. If the system
// refuses, the thread has the usual priority.
func lowestPriority() {
	runtime.LockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 19)
	_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, ioThread, 0, ioIdle)
}
