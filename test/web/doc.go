// Package web drives the dashboard in a real browser: the real binary, real
// git, the scripted agent and Debian's Chromium. The steps are in the .mjs
// files; what only this side can do, such as restarting the server, they ask
// for on their standard output.
package web
