//go:build !linux

package e2e

// stopForge stops the forge of the tests. Only the tests on Linux have one.
func stopForge() {}
