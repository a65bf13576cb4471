//go:build linux

package e2e

import (
	"slices"
	"testing"

	"coppice/test/harness"
)

// proc is a process of a world.
type proc = harness.Proc

// only returns the one process that f chooses.
func (w *world) only(what string, f func(proc) bool) proc {
	w.t.Helper()
	found := slices.DeleteFunc(w.Processes(), func(p proc) bool { return !f(p) })
	if len(found) != 1 {
		w.t.Fatalf("there are %d %s", len(found), what)
	}
	return found[0]
}

func (w *world) host() proc {
	w.t.Helper()
	return w.only("hosts", func(p proc) bool { _, ok := p.IsHost(); return ok })
}

func (w *world) agent() proc {
	w.t.Helper()
	return w.only("agents", proc.IsAgent)
}

// quiet checks that nothing of a session runs: neither host nor agent nor what
// an agent started. What the server has in hand itself may still run.
func (w *world) quiet(t *testing.T) {
	t.Helper()
	s := w.Server()
	for _, p := range w.Processes() {
		own := s != nil && (p.PID == s.Cmd.Process.Pid || p.Parent == s.Cmd.Process.Pid)
		_, host := p.IsHost()
		if host && p.Ends() {
			continue // its session was over before it was
		}
		if host || !own || p.Value("COPPICE_SESSION") != "" {
			t.Errorf("still running: %d %q", p.PID, p.Argv)
		}
	}
}
