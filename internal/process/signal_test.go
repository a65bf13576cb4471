package process

import (
	"os"
	"os/exec"
	"testing"
)

// A program obeys a signal that its parent ignores if the parent catches it.
func TestCatchIgnored(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"=ignores")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(out), "HUP signal: hangup\nTERM <nil>\n"; got != want {
		t.Errorf("shells ended with %q, want %q", got, want)
	}
}
