//go:build !linux

package sqlite

// lowestPriority does nothing: this system has no priority for a single thread.
func lowestPriority() {}
