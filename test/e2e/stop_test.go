//go:build linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// slowGit has the server's git wait at a gate before it writes the checkout.
func (w *world) slowGit(gate string) {
	w.t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		w.t.Fatal(err)
	}
	dir := filepath.Join(w.Root, "slow")
	text := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in\n\"read-tree -m -u \"*) cat %s >/dev/null ;;\nesac\nexec %s \"$@\"\n", gate, real)
	w.write(dir, files{"git": text})
	if err := os.Chmod(filepath.Join(dir, "git"), 0o755); err != nil {
		w.t.Fatal(err)
	}
	w.Extra = append(w.Extra, "PATH="+dir+":"+os.Getenv("PATH"), "COPPICE_GIT_FILES=off") // git moves the checkout
}

// prints reads what the server prints until a line contains the text.
func (s *server) prints(t *testing.T, text string) string {
	t.Helper()
	for {
		line, err := s.Out.ReadString('\n')
		if err != nil {
			t.Fatalf("the server did not print %q: %v", text, err)
		}
		if strings.Contains(line, text) {
			return line
		}
	}
}

// However often a person says stop while git writes their checkout, the server
// waits for git. The landing is whole, and the task is done after a restart.
func TestAStopWaitsForALanding(t *testing.T) {
	t.Parallel()
	for _, first := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(first.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, files{".coppice/scripted.yaml": oneFile})
			gate, _ := w.Gate("gate")
			w.slowGit(gate)
			s := w.serve()
			key := w.new("Land while it stops")
			f, err := os.OpenFile(gate, os.O_WRONLY, 0) // git waits at the gate
			if err != nil {
				t.Fatal(err)
			}
			signal := func(sig syscall.Signal) {
				t.Helper()
				if err := s.Cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
			}
			signal(first)
			s.prints(t, "waiting for git to finish the landing of "+key)
			signal(syscall.SIGINT)
			s.prints(t, "does not interrupt git")
			signal(syscall.SIGINT)
			s.prints(t, "waiting for git to finish the landing of "+key)
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			<-s.Done
			if code := s.Cmd.ProcessState.ExitCode(); code != 0 {
				t.Errorf("the server ended with %d", code)
			}
			w.wantOnBase("landed.txt", "landed")
			if got := w.git("status", "--porcelain"); got != "" {
				t.Errorf("the checkout is not clean:\n%s", got)
			}
			if locks, err := filepath.Glob(filepath.Join(w.repo, ".git", "*.lock")); err != nil || len(locks) > 0 {
				t.Errorf("locks are left: %v, %v", locks, err)
			}
			if err := os.Remove(gate); err != nil {
				t.Fatal(err)
			}
			w.write(filepath.Dir(gate), files{filepath.Base(gate): ""})
			w.serve()
			if d := w.landed(key)[0]; len(d.Landings) != 1 || d.Landings[0].Steps != 2 {
				t.Errorf("landings %+v", d.Landings)
			}
		})
	}
}
