// Package agents drives the real agent CLIs against a scripted model on
// loopback, through the same profiles, launches and drivers the product uses.
//
// Run install.sh first. As root the tests run in a network namespace that has
// only loopback, so that nothing can leave the machine. With -record
// they write what the agents did into the protocols' testdata, scrubbed of
// everything that differs from run to run.
package agents

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

var record = flag.Bool("record", false, "write transcripts into the protocols' testdata")

const inNamespace = "COPPICE_TEST_LOOPBACK_ONLY"

func TestMain(m *testing.M) {
	flag.Parse()
	if runtime.GOOS == "linux" && os.Getuid() == 0 && os.Getenv(inNamespace) == "" && canUnshare() {
		os.Exit(again())
	}
	code := m.Run()
	if code == 0 {
		whole := flag.Lookup("test.run").Value.String() == "" || os.Getenv("COPPICE_AGENTS_TABLE") == "whole"
		if err := checkTable(whole); err != nil {
			fmt.Fprintln(os.Stderr, "FAIL:", err)
			code = 1
		}
	}
	os.Exit(code)
}

func canUnshare() bool {
	return exec.Command("unshare", "--net", "sh", "-c", "ip link set lo up").Run() == nil
}

// again runs this test binary in a separate network namespace.
func again() int {
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

// cache is where install.sh puts the CLIs.
func cache() string {
	if d := os.Getenv("COPPICE_TEST_CACHE"); d != "" {
		return d
	}
	d, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(d, "coppice-test", "agents")
}

// program returns the path of an installed CLI. Where the CLIs must be there
// (CI, or COPPICE_REQUIRE_AGENTS=1) a missing one fails the test, elsewhere it
// is skipped.
func program(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(cache(), "node_modules", ".bin", name)
	if _, err := os.Stat(path); err != nil {
		text := fmt.Sprintf("%s is not installed in %s; run test/agents/install.sh", name, cache())
		if os.Getenv("CI") == "true" || os.Getenv("COPPICE_REQUIRE_AGENTS") == "1" {
			t.Fatal(text)
		}
		t.Skip(text)
	}
	return path
}
