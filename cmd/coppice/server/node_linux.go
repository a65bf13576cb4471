package server

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"coppice"
	"coppice/engine"
)

// thisNode returns the state of this machine. Memory that the kernel can
// reclaim counts as free.
func thisNode(state string) coppice.Node {
	n := coppice.Node{Name: engine.PoolLocal}
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return n
	}
	total, free := meminfo(b, "MemTotal:"), meminfo(b, "MemAvailable:")
	if total > 0 && free <= total {
		n.MemoryTotal, n.MemoryUsed = total, total-free
	}
	var fs syscall.Statfs_t
	if syscall.Statfs(state, &fs) == nil {
		n.DiskFree = max(fs.Bavail*uint64(fs.Bsize), 1) // 0 means unknown
	}
	return n
}

func meminfo(b []byte, name string) uint64 {
	_, rest, ok := bytes.Cut(b, []byte(name))
	if !ok {
		return 0
	}
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kb, err := strconv.ParseUint(string(fields[0]), 10, 64)
	if err != nil {
		return 0
	}
	return kb << 10
}
