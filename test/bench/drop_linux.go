package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// dropCached takes a file out of the page cache.
func dropCached(f *os.File) error { return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }
