// Command coppice runs many AI coding agents on a repository in parallel. Each
// one has its own workspace. Coppice checks the results and lands only what
// passes.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"coppice/agent/scripted"
	_ "coppice/cmd/coppice/early" // runs hosts
	"coppice/notify/child"
)

var version = "dev" // set when built

// fewestProcs is how many processors the runtime of the control process uses at
// least.
const fewestProcs = 4

func main() { os.Exit(run()) }

func run() int {
	// A scripted agent and a session's browser are started often and live long: they
	// take the shortest way and know nothing of commands. So does the process that
	// sends one notification. Package early has run already if this is a host.
	if len(os.Args) > 1 && os.Args[1] == "scripted" {
		return scripted.Main(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
	}
	if len(os.Args) > 1 && os.Args[1] == "browser" {
		return runBrowser(os.Args[2:])
	}
	if len(os.Args) > 1 && os.Args[1] == child.Command {
		return child.Main(os.Stdin, os.Stdout)
	}
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		// The control process keeps little memory and allocates much for short
		// times. With the default of 100, its collector would run all the time.
		debug.SetGCPercent(400)
		// A goroutine that waits for the disk blocks a processor of the runtime until
		// the runtime notices. On a machine with 2 cores, everything else would wait.
		runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), fewestProcs))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	m, err := newProgram()
	if err != nil {
		fmt.Fprintln(os.Stderr, "coppice:", err)
		return 1
	}
	return m.run(ctx, os.Args[1:])
}
