// Package e2e drives the real program as a person would: `coppice serve` as a
// child process with a separate state and home, the command line, the API
// client, real git repositories, real hosts and the scripted agent. Its tests
// follow the event log or the end of a process; their deadlines are there to
// end a test that hangs, never to make one pass.
//
// Processes are found in /proc and killed there, so the tests are for Linux.
package e2e
