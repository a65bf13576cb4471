// Package firsthour is the first hour of a new user: the demo, init, doctor, a task
// that lands, a fix round, a question, a red base and an undo. It runs on real
// repositories, with the real agent CLIs on a scripted model, and types every command
// at a terminal. Each step has to give what the documentation promises.
//
// `make first-hour` runs all of it and prints the time of each step. Packages are
// fetched before the tests start. After that, as root on Linux, only loopback is
// left.
package firsthour
