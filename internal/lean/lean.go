// Package lean gives memory back to the system that a process needed for a while
// only.
package lean

import "runtime/debug"

// Now gives back the heap that is free, and the pages of the program that are
// mapped. What is needed again is mapped again from the page cache, on first use.
func Now() {
	debug.FreeOSMemory()
	unmapProgram()
}
