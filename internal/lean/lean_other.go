//go:build !linux

package lean

// unmapProgram does nothing: the system drops such pages by itself.
func unmapProgram() {}
