// Package lean gives memory back to the system that a process needed for a while
// only.
package lean

import "runtime/debug"

// Now gives back the heap that is free.
func Now() { debug.FreeOSMemory() }
