package repo

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// StaleWait is how long Coppice waits for a git that a killed process of Coppice left
// running in a workspace.
const StaleWait = 10 * time.Second

// UnlockStale removes the locks that a killed git left in a workspace, because nothing
// can be saved while they exist. It is called when no agent runs in the workspace.
// It waits for a git that still runs there.
func (rs *Repos) UnlockStale(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, StaleWait)
	defer cancel()
	for {
		locks := LocksIn(filepath.Join(path, ".git"))
		if len(locks) == 0 {
			return nil
		}
		if !GitRunsIn(path) {
			for _, l := range locks {
				rs.Log.InfoContext(ctx, "removing a lock that a killed git left", "path", l)
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

// LocksIn lists the locks in a git directory and its refs.
func LocksIn(dir string) []string {
	locks, _ := filepath.Glob(filepath.Join(dir, "*.lock"))
	_ = filepath.WalkDir(filepath.Join(dir, "refs"), func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(p, ".lock") {
			locks = append(locks, p)
		}
		return nil
	})
	return locks
}

// StaleAge is the age after which a file whose owner is unknown is removed.
const StaleAge = 10 * time.Minute
