//go:build !linux

package resident

// ReleaseProgram does nothing: only Linux counts the pages of a program for each
// process.
func ReleaseProgram() error { return nil }
