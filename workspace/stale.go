package workspace

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// staleWait bounds the wait for a git that a killed process of ours left
// running in a workspace.
const staleWait = 10 * time.Second

// unlockStale removes the locks that a killed git left in a workspace and on
// its branch: nothing can be saved while they are there. It is called when no
// agent works in the workspace. A git that still runs there is waited for.
func (w *Workspaces) unlockStale(ctx context.Context, s slot, path, admin string) error {
	ctx, cancel := context.WithTimeout(ctx, staleWait)
	defer cancel()
	for {
		locks, err := filepath.Glob(filepath.Join(admin, "*.lock"))
		if err != nil {
			return err
		}
		branch := filepath.Join(filepath.Dir(filepath.Dir(admin)), "refs", "heads", filepath.FromSlash(s.Branch)+".lock")
		if s.Branch != "" && exists(branch) {
			locks = append(locks, branch)
		}
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
			return nil // git itself tells which lock is in the way
		case <-t.C:
		}
	}
}
