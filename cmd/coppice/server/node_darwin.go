package server

import (
	"syscall"

	"coppice"
	"coppice/engine"
)

// thisNode returns the state of this machine. macOS has no cheap equivalent of
// Linux's memory in use, so the memory limit is not enforced there. doctor says
// so.
func thisNode(state string) coppice.Node {
	n := coppice.Node{Name: engine.PoolLocal}
	var fs syscall.Statfs_t
	if syscall.Statfs(state, &fs) == nil {
		n.DiskFree = max(fs.Bavail*uint64(fs.Bsize), 1) // 0 means unknown
	}
	return n
}
