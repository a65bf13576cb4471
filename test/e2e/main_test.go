//go:build linux

package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
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
	os.Exit(run(m))
}

// run builds the program once, as the tests themselves were built.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "coppice-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "coppice")
	args := append([]string{"build"}, buildFlags...)
	cmd := exec.Command("go", append(args, "-o", program, "coppice/cmd/coppice")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n%s", cmd, err, out)
		return 1
	}
	return m.Run()
}
