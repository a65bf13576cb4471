package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// staleWait bounds the wait for a git that a killed process of ours left
// running in a workspace.
const staleWait = 10 * time.Second

// unlockStale removes the locks that a killed git left in a workspace: nothing
// can be saved while they are there. It is called when no agent works in the
// workspace. A git that still runs there is waited for.
func (w *Workspaces) unlockStale(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, staleWait)
	defer cancel()
	for {
		locks := locksIn(filepath.Join(path, ".git"))
		if len(locks) == 0 {
			return nil
		}
		if !gitRunsIn(path) {
			for _, l := range locks {
				w.log.InfoContext(ctx, "removing a lock that a killed git left", "path", l)
				if err := os.Remove(l); err != nil && !os.IsNotExist(err) {
					return err
				}
			}
			return nil
		}
		t := time.NewTimer(20 * time.Millisecond)
		select {
		case <-ctx.Done():
			t.Stop()
			return nil // git itself says which lock is in the way
		case <-t.C:
		}
	}
}

// locksIn lists the locks of a git directory: beside its own files and its refs.
func locksIn(dir string) []string {
	locks, _ := filepath.Glob(filepath.Join(dir, "*.lock"))
	_ = filepath.WalkDir(filepath.Join(dir, "refs"), func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(p, ".lock") {
			locks = append(locks, p)
		}
		return nil
	})
	return locks
}
