package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// staleWait is how long Coppice waits for a git that a killed process of Coppice left
// running in a workspace.
const staleWait = 10 * time.Second

// unlockStale removes the locks that a killed git left in a workspace, because nothing
// can be saved while they exist. It is called when no agent runs in the workspace.
// It waits for a git that still runs there.
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
			return nil // git reports which lock blocks it
		case <-t.C:
		}
	}
}

// locksIn lists the locks in a git directory and its refs.
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
