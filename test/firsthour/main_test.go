//go:build firsthour && linux

package firsthour

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"coppice/test/harness"
)

var (
	transcript = flag.String("transcript", "", "write everything that was typed and shown to this file")
	program    string // the built coppice
)

// fetchedVar names the directory with the repositories, for the tests in their
// network namespace.
const fetchedVar = "COPPICE_FIRST_HOUR"

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if !harness.Isolated() {
		dir, err := os.MkdirTemp("", "coppice-first-hour-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		for _, r := range repositories {
			if err := r.fetch(dir); err != nil {
				fmt.Fprintf(os.Stderr, "%s cannot be fetched: %v\n", r.name, err)
				return 1
			}
		}
		if err := os.Setenv(fetchedVar, dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return harness.OnLoopback(func() int { return harness.RunWithProgram(m, &program) })
}
