package git

import (
	"syscall"
	"time"
)

// settled is how long a configuration file must have been left alone before
// what was read of it is remembered: longer than the clock of the file system
// is coarse, so that a change never goes unseen. HFS+ counts whole seconds.
const settled = 2 * time.Second

// changed is when a file's inode last changed, which no program can set back.
func changed(st *syscall.Stat_t) time.Time { return time.Unix(st.Ctimespec.Unix()) }
