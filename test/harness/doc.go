// Package harness is a person's machine for tests that run the real program: a
// separate home and state, git repositories, `coppice serve` as a child
// process, and the processes that it leaves.
//
// Processes are found in /proc and killed there, so it is for Linux.
package harness
