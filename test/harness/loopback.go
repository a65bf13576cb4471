package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// inNamespace is set in the environment of tests that have only loopback.
const inNamespace = "COPPICE_TEST_LOOPBACK_ONLY"

// Isolated reports whether this process has only loopback.
func Isolated() bool { return os.Getenv(inNamespace) != "" }

// OnLoopback runs the tests of this binary in a network namespace that has only
// loopback, so that nothing can leave the machine. It needs root on Linux; elsewhere
// the tests run without it. It returns their exit code.
func OnLoopback(run func() int) int {
	if runtime.GOOS == "linux" && os.Getuid() == 0 && !Isolated() && canUnshare() {
		return runIsolated()
	}
	return run()
}

func canUnshare() bool {
	return exec.Command("unshare", "--net", "sh", "-c", "ip link set lo up").Run() == nil
}

// runIsolated runs this test binary in a separate network namespace.
func runIsolated() int {
	args := append([]string{"--net", "sh", "-c", `ip link set lo up && exec "$@"`, "sh"}, os.Args...)
	cmd := exec.Command("unshare", args...)
	cmd.Env = append(os.Environ(), inNamespace+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var x *exec.ExitError
	switch {
	case errors.As(err, &x):
		return x.ExitCode()
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// AgentCLIs is where test/agents/install.sh puts the agent CLIs.
func AgentCLIs() string {
	if d := os.Getenv("COPPICE_TEST_CACHE"); d != "" {
		return d
	}
	d, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(d, "coppice-test", "agents")
}

// AgentCLI returns the path of an installed agent CLI. Where the CLIs must be
// there (CI, or COPPICE_REQUIRE_AGENTS=1) a missing one fails the test, elsewhere it
// is skipped.
func AgentCLI(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(AgentCLIs(), "node_modules", ".bin", name)
	if _, err := os.Stat(path); err != nil {
		text := fmt.Sprintf("%s is not installed in %s; run test/agents/install.sh", name, AgentCLIs())
		if os.Getenv("CI") == "true" || os.Getenv("COPPICE_REQUIRE_AGENTS") == "1" {
			t.Fatal(text)
		}
		t.Skip(text)
	}
	return path
}
