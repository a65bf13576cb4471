//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

func reverted(d api.TaskDetail) bool {
	return d.Outcome == coppice.OutcomeCancelled && d.Reverted != nil
}

// landedAgain reports whether a task that was cancelled has landed.
func landedAgain(d api.TaskDetail) bool { return d.Outcome == coppice.OutcomeDone && d.Landed != "" }

// A landing that nothing builds on is taken off the base, and the checkout
// follows. What landed before others is reverted by a commit that was checked.
func TestUndoOfALanding(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{
		"coppice.yaml": policy + "checks: [test ! -f red]\n",
		".coppice/scripted.yaml": `cases:
  - {match: First, steps: [{write: {path: first.txt, content: "first\n"}}]}
  - {match: Second, steps: [{write: {path: second.txt, content: "second\n"}}]}
  - {match: Third, steps: [{write: {path: third.txt, content: "third\n"}}]}
`})
	w.serve()
	start := w.git("rev-parse", "main")
	first := w.new("First")
	w.landed(first)
	if r := w.try(w.repo, "", "undo"); r.code != 2 || !strings.Contains(r.err, "--yes") || !strings.Contains(r.out, first) {
		t.Errorf("without a confirmation: %+v", r)
	}
	w.cli("undo", "--yes")
	d := w.await(first, "its landing taken off", reverted)
	if at := w.git("rev-parse", "main"); at != start || d.Landed != "" || d.Reverted.BackTo != start {
		t.Errorf("main is at %s, was at %s: %+v", at, start, d.Reverted)
	}
	if _, err := os.Stat(filepath.Join(w.repo, "first.txt")); err == nil {
		t.Error("the checkout did not follow")
	}
	if status := w.git("status", "--porcelain"); strings.Contains(status, "first.txt") {
		t.Errorf("the checkout is left changed: %s", status)
	}

	second := w.new("Second")
	w.landed(second)
	third := w.new("Third")
	w.landed(third)
	w.cli("revert", second)
	d = w.await(second, "its landing reverted", reverted)
	if d.Reverted.As == "" || w.git("log", "-1", "--format=%s", "main") != `Revert "Second"` {
		t.Errorf("reverted %+v", d.Reverted)
	}
	w.wantOnBase("third.txt", "third")
	if files := w.git("ls-tree", "--name-only", "main"); strings.Contains(files, "second.txt") {
		t.Errorf("main has %s", files)
	}
	if out := w.cli("show", second); !strings.Contains(out, "reverted") {
		t.Errorf("show says\n%s", out)
	}
	w.cli("retry", second) // its work lands again
	w.await(second, "its second landing", landedAgain)
	w.wantOnBase("second.txt", "second")
}

// A stopped task comes back as it was: its workspace, and its conversation.
func TestUndoOfAStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - session: 1
    steps:
      - write: {path: half.txt, content: "half\n"}
      - hang: true
  - steps:
      - run: test -f half.txt
      - write: {path: rest.txt, content: "rest\n"}
`})
	w.serve()
	key := w.new("Half")
	w.said(key+".1", "hanging")
	w.cli("stop", key)
	w.await(key, "its workspace in the trash", func(d api.TaskDetail) bool {
		return d.Outcome == coppice.OutcomeCancelled && d.Workspace != nil && !d.Workspace.RemovedAt.IsZero()
	})
	if out := w.cli("trash", "list"); !strings.Contains(out, key) {
		t.Errorf("the trash is\n%s", out)
	}
	if out := w.cli("undo", key); strings.Contains(out, "coppice-0") {
		t.Errorf("it names a folder: %s", out)
	}
	d := w.await(key, "its landing", landedAgain)
	if d.Round != 0 {
		t.Errorf("it is in round %d", d.Round)
	}
	w.wantOnBase("half.txt", "half")
	w.wantOnBase("rest.txt", "rest")
	w.await(key, "its workspace in the trash", func(d api.TaskDetail) bool { return !d.Workspace.RemovedAt.IsZero() })
	w.cli("trash", "empty", "--yes")
	if out := w.cli("trash", "list"); strings.Contains(out, "trash restore") {
		t.Errorf("the trash is\n%s", out)
	}
}
