package coppice

// The values of the key locks: what a lock of a file means for sessions that do
// not hold it.
const (
	LocksAdvisory = "advisory" // agents see locks, and nothing is refused; the default
	LocksEnforce  = "enforce"  // edits of files that other sessions hold are refused
	LocksRequired = "required" // edits of files that the session does not hold are refused
)

// LockModes lists them.
var LockModes = []string{LocksAdvisory, LocksEnforce, LocksRequired}

// EnforcesLocks reports whether edits are refused in a mode.
func EnforcesLocks(mode string) bool { return mode == LocksEnforce || mode == LocksRequired }
