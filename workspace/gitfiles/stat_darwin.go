package gitfiles

import (
	"syscall"
	"time"
)

// changeTime returns when the inode of a file last changed.
func changeTime(st *syscall.Stat_t) time.Time { return time.Unix(st.Ctimespec.Unix()) }
