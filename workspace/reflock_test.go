package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"coppice/internal/process"
)

// A lock on a ref of ours that a killed process held goes at the next start;
// one whose holder lives, and a young one of git's, stay.
func TestSweepRefLocks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.prepare("app-1")
	start, err := process.StartTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(b.root, ".git", "refs", "coppice", "x")
	for name, text := range map[string]string{
		"dead.lock": fmt.Sprintf("%s%d %d\n", lockMark, os.Getpid(), start+1), "alive.lock": fmt.Sprintf("%s%d %d\n", lockMark, os.Getpid(), start), "git.lock": "",
	} {
		write(t, dir, name, text)
	}
	if err := b.Sweep(b.ctx); err != nil {
		t.Fatal(err)
	}
	for name, stays := range map[string]bool{"dead.lock": false, "alive.lock": true, "git.lock": true} {
		if got := exists(filepath.Join(dir, name)); got != stays {
			t.Errorf("%s is there: %v", name, got)
		}
	}
	head := run(t, b.root, "git", "rev-parse", "HEAD")
	if err := writeRef(filepath.Join(b.root, ".git"), "refs/coppice/x/alive", head); err == nil {
		t.Error("a ref was written though its lock is held")
	}
	if err := writeRef(filepath.Join(b.root, ".git"), "refs/coppice/x/dead", head); err != nil || run(t, b.root, "git", "rev-parse", "refs/coppice/x/dead") != head {
		t.Errorf("a ref was not written: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(b.root, ".git", refTemp+"*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
