package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// staleAge is the age at which what nobody is known to hold belongs to nobody.
const staleAge = 10 * time.Minute

// Sweep removes what killed processes of ours left behind: temporary files, and
// locks within git's directories of our worktrees and in our own refs. A lock
// that a living process could hold is left alone, as is everything of the
// person's. It is called at start-up.
func (w *Workspaces) Sweep(ctx context.Context) error {
	dirs, err := filepath.Glob(filepath.Join(w.dir, "*", "lock"))
	if err != nil {
		return err
	}
	old := w.now().Add(-staleAge)
	for _, d := range dirs {
		r := repo{dir: filepath.Dir(d)}
		sweepDir(r.tmp(), "", old)
		sweepDir(r.dir, ".new-", old)
		list, err := w.slots(r)
		if err != nil {
			return err
		}
		for _, s := range list {
			if err := w.sweepSlot(ctx, r, s, old); err != nil {
				return err
			}
		}
	}
	sweepDir(repo{dir: w.dir}.tmp(), "", old)
	sweepDir(w.trash, ".new-", old)
	return context.Cause(ctx)
}

func (w *Workspaces) sweepSlot(ctx context.Context, r repo, s slot, old time.Time) error {
	free, ok, err := w.tryLock(r.slotLock(s))
	if err != nil || !ok {
		return err // in use
	}
	defer free()
	admin, err := adminDir(r.path(s))
	if err != nil {
		return nil
	}
	// An agent may be at work in a ready workspace, so there only age tells.
	if s.State != slotReady || strings.HasPrefix(s.Name, checkPrefix) {
		old = w.now().Add(time.Hour)
	}
	locks, _ := filepath.Glob(filepath.Join(admin, "*.lock"))
	for _, l := range locks {
		if st, err := os.Lstat(l); err == nil && st.ModTime().Before(old) {
			w.log.InfoContext(ctx, "removing a lock that a killed git left", "path", l)
			_ = os.Remove(l)
		}
	}
	common := filepath.Dir(filepath.Dir(admin))
	w.sweepRefs(common)
	return nil
}

// sweepDir removes old files whose names begin with prefix.
func sweepDir(dir, prefix string, old time.Time) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if st, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), prefix) && !st.IsDir() && st.ModTime().Before(old) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
