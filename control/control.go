// Package control does the work of the control process that is not deciding: it
// shows what tasks changed and what uses disk, reads and changes settings,
// opens terminals and removes projects. The packages below it follow checkouts,
// find agents, and judge how hard tasks are.
//
// It is between the API, whose types it uses, and the engine, which it asks for
// every change.
package control
