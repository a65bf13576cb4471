// Package agents drives the real agent CLIs against a scripted model on
// loopback, through the same profiles, launches and drivers the product uses.
//
// Run install.sh first. As root the tests run in a network namespace that has
// only loopback, so that nothing can leave the machine. With -record
// they write what the agents did into the protocols' testdata, scrubbed of
// everything that differs from run to run.
package agents

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"coppice/test/harness"
)

var record = flag.Bool("record", false, "write transcripts into the protocols' testdata")

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(harness.OnLoopback(func() int { return run(m) }))
}

func run(m *testing.M) int {
	code := m.Run()
	if code == 0 {
		whole := flag.Lookup("test.run").Value.String() == "" || os.Getenv("COPPICE_AGENTS_TABLE") == "whole"
		if err := checkTable(whole); err != nil {
			fmt.Fprintln(os.Stderr, "FAIL:", err)
			code = 1
		}
	}
	return code
}

// cache is where install.sh puts the CLIs.
func cache() string { return harness.AgentCLIs() }

// program returns the path of an installed CLI.
func program(t *testing.T, name string) string {
	t.Helper()
	return harness.AgentCLI(t, name)
}
