package server

import (
	"syscall"

	"coppice"
	"coppice/engine"
)

// thisNode tells how this machine fares. macOS has no cheap figure for memory in
// use that would mean the same, so the memory ceiling is not enforced there;
// doctor says so.
func thisNode(state string) coppice.Node {
	n := coppice.Node{Name: engine.PoolLocal}
	var fs syscall.Statfs_t
	if syscall.Statfs(state, &fs) == nil {
		n.DiskFree = fs.Bavail * uint64(fs.Bsize)
	}
	return n
}
