//go:build linux

package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// RunWithProgram builds the program, stores its path and runs the tests. It
// returns their exit code.
func RunWithProgram(m *testing.M, path *string, buildFlags ...string) int {
	dir, err := os.MkdirTemp("", "coppice-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	*path = filepath.Join(dir, "coppice")
	if err := Build(*path, buildFlags...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
