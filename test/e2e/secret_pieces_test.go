//go:build linux

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestASecretInPiecesIsShownNowhere has an agent write a token in two pieces, with a
// pause in between, and a check write it too: neither the database nor a terminal
// that watches has it whole.
func TestASecretInPiecesIsShownNowhere(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	halves := []string{"ghp_" + strings.Repeat("aB3", 2), strings.Repeat("aB3", 10)}
	token := strings.Join(halves, "")
	w := newWorld(t, files{
		"coppice.yaml": `base: main
agent: {use: leak}
limits: {sessions: 1, memory: 100%}
agents: {leak: {protocol: command, command: [sh, leak.sh]}}
checks: ["printf 'check %s%s\n' ` + halves[0] + " " + halves[1] + `"]
`,
		"leak.sh": "printf 'begin " + halves[0] + "'\ncat " + gate + "\nprintf '" + halves[1] + " end\\n'\ncat " + gate + "\necho a > a.txt\n",
	})
	w.serve()
	key := w.new("Leak")
	open, err := os.OpenFile(gate, os.O_WRONLY, 0) // the agent is there
	if err != nil {
		t.Fatal(err)
	}
	p := w.person(100, 24, "attach", "--raw", key)
	p.Sees("begin " + halves[0])
	open.Close()
	p.Sees("[redacted] end")
	if open, err = os.OpenFile(gate, os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	}
	open.Close()
	w.landed(key)
	p.Leaves(0)
	if bytes.Contains(p.Raw, []byte(halves[1])) {
		t.Error("the terminal shows the rest of the token")
	}
	logs := w.cli("logs", key)
	if !strings.Contains(logs, "begin") || !strings.Contains(logs, "[redacted] end") {
		t.Errorf("the log is %q", logs)
	}
	for _, name := range []string{"coppice.db", "coppice.db-wal"} {
		b, err := os.ReadFile(filepath.Join(w.State, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(token)) {
			t.Errorf("%s has the token", name)
		}
	}
}
