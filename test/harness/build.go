//go:build linux

package harness

import (
	"fmt"
	"os"
	"os/exec"
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
	args := append([]string{"build"}, buildFlags...)
	cmd := exec.Command("go", append(args, "-o", *path, "coppice/cmd/coppice")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n%s", cmd, err, out)
		return 1
	}
	return m.Run()
}
