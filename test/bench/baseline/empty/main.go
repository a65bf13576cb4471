// Command empty does nothing, with everything linked into it that a host of
// Coppice has: what starting a process of our size costs.
package main

import (
	_ "coppice/cmd/coppice/cli"
	_ "coppice/cmd/coppice/server"
)

func main() {}
