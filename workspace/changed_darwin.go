package workspace

import (
	"syscall"
	"time"
)

// changedAt is when a file's inode was last changed.
func changedAt(st *syscall.Stat_t) time.Time { return time.Unix(st.Ctimespec.Unix()) }
