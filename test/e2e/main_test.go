//go:build linux

package e2e

import (
	"flag"
	"os"
	"testing"
	"time"

	"coppice/test/harness"
)

var (
	seed       = flag.Uint64("seed", 0, "seed of the chaos test; 0 picks one")
	chaosFor   = flag.Duration("chaos", 30*time.Second, "how long the chaos test kills")
	buildFlags []string
	program    string // the built coppice
)

func TestMain(m *testing.M) {
	if code, ok := play(os.Args); ok {
		os.Exit(code)
	}
	flag.Parse()
	code := harness.RunWithProgram(m, &program, buildFlags...) // built as the tests were
	stopForge()
	os.Exit(code)
}
