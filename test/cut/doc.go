// Package cut records the file operations of a program and replays the first N
// of them. The result is the state that the program and its children leave
// behind when all of them are killed at that moment.
//
// A program runs once under strace. Parse turns the trace into operations on
// one directory tree, Take remembers the tree as it was before, and Replay
// applies a prefix of the operations to it. A recording is only believed when
// all of its operations together make exactly the tree that the program made.
package cut
