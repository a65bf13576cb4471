// Package control is what the control process does for people besides deciding:
// it shows what tasks changed and what uses disk, reads and changes settings,
// opens terminals and removes projects. The packages below it follow checkouts,
// look for agents, and judge how hard tasks are.
//
// It stands between the API, whose types it speaks, and the engine, which it asks
// for every change.
package control
