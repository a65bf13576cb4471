package host

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
)

// The environment with its secrets reaches the agent, whatever its size, and no file.
func TestSecrets(t *testing.T) {
	t.Parallel()
	b := setup(t, "talk", "echo")
	long := strings.Repeat("long-secret-", 8<<10) // more than fits in a pipe
	b.spec.Env["OWN"] = "of-the-environment"
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
		if strings.Contains(string(text), "value-of-a") || strings.Contains(string(text), "long-secret-") || strings.Contains(string(text), "of-the-environment") {
			t.Errorf("%s has it", path)
		}
		return err
	})
	if err != nil || seen < 3 {
		t.Errorf("%d files, %v", seen, err)
	}
	text, err := json.Marshal(b.spec)
	if err != nil || strings.Contains(string(text), "value-of-a") {
		t.Errorf("%s %v", text, err)
	}
}

// A server of an earlier release writes the spec and the prompt into files, and the
// secrets, or an empty line, into the pipe.
func TestEarlierServer(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{"\n": "PATH=", `{"COPPICE_SECRET_A":"x"}` + "\n": "COPPICE_SECRET_A="} {
		b := setup(t, "once", "env")
		if err := os.Mkdir(b.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		todo, err := json.Marshal(b.spec)
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{promptFile: nil, specFile: todo} {
			if err := writeFile(filepath.Join(b.dir, name), data); err != nil {
				t.Fatal(err)
			}
		}
		ready, theirs, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer ready.Close()
		orders, ours, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer ours.Close()
		cmd := exec.Command(b.l.Argv[0], append(b.l.Argv[1:], b.dir)...)
		cmd.Env, cmd.ExtraFiles = append(b.l.Env, readyVar+"=3", goVar+"=4"), []*os.File{theirs, orders}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		theirs.Close()
		orders.Close()
		if _, err := ours.WriteString(line); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(ready).ReadBytes('\n'); err != nil {
			t.Fatal(err)
		}
		b.ended()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		if out := string(b.output(coppice.OutputStdout)); !strings.Contains(out, want) {
			t.Errorf("environment: %s", out)
		}
	}
}
