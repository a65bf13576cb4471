package host

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
)

// Secrets reach the agent's environment, whatever their size, and no file.
func TestSecrets(t *testing.T) {
	t.Parallel()
	b := setup(t, "talk", "echo")
	long := strings.Repeat("long-secret-", 8<<10) // more than fits in a pipe
	b.spec.Secrets = map[string]string{"COPPICE_SECRET_A": "value-of-a \"$x\"\nsecond line", "COPPICE_SECRET_B": long}
	st := b.run()
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", st.AgentPID))
	if err != nil || !strings.Contains(string(env), "COPPICE_SECRET_A=value-of-a \"$x\"\nsecond line\x00") || !strings.Contains(string(env), "COPPICE_SECRET_B="+long+"\x00") {
		t.Errorf("the agent's environment has not all of them (%v)", err)
	}
	for _, name := range []string{"environ", "cmdline"} {
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", st.PID, name)); err != nil || strings.Contains(string(text), "value-of-a") {
			t.Errorf("the host's own %s has it (%v)", name, err)
		}
	}
	seen := 0
	err = filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		seen++
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "value-of-a") || strings.Contains(string(text), "long-secret-") {
			t.Errorf("%s has it", path)
		}
		return err
	})
	if err != nil || seen < 4 {
		t.Errorf("%d files, %v", seen, err)
	}
	text, err := json.Marshal(b.spec)
	if err != nil || strings.Contains(string(text), "value-of-a") {
		t.Errorf("%s %v", text, err)
	}
}

// A server of an earlier release releases a host with an empty line.
func TestEarlierServer(t *testing.T) {
	t.Parallel()
	b := setup(t, "once", "env")
	a := b.launch()
	todo, err := json.Marshal(b.spec)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{promptFile: nil, specFile: todo} {
		if err := writeFile(filepath.Join(b.dir, name), data); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.release.Write([]byte{'\n'}); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(a.ready).ReadBytes('\n'); err != nil {
		t.Fatal(err)
	}
	a.Drop()
	b.ended()
	if out := string(b.output(coppice.OutputStdout)); !strings.Contains(out, "PATH=") {
		t.Errorf("environment: %s", out)
	}
}
