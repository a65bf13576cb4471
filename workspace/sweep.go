package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"coppice/internal/atomicfile"
	"coppice/internal/filelock"
	"coppice/workspace/gitfiles"
)

// staleAge is the age after which a file whose owner is unknown is removed.
const staleAge = 10 * time.Minute

// Sweep removes what killed processes of Coppice left: temporary files, and locks in
// git directories of workspaces and in Coppice's own refs. Locks that a live process
// can hold stay, and so does everything of the person. It is called when the server
// starts.
func (w *Workspaces) Sweep(ctx context.Context) error {
	dirs, err := filepath.Glob(filepath.Join(w.dir, "*", "lock"))
	if err != nil {
		return err
	}
	old := w.now().Add(-staleAge)
	for _, d := range dirs {
		r := repo{dir: filepath.Dir(d)}
		r.git = filepath.Join(r.dir, ownName)
		sweepDir(r.tmp(), "", old)
		sweepDir(r.dir, atomicfile.TempPrefix, old)
		sweepDir(filepath.Join(r.dir, "landing"), "new-", old)
		sweepDir(filepath.Join(r.dir, "landing"), "", w.now().Add(-24*time.Hour)) // of commits that never landed; they are gathered again if they do
		w.sweepOwn(ctx, r)
		w.settleMove(ctx, r.dir)
		if exists(filepath.Join(r.git, "HEAD")) {
			w.collectGarbage(ctx, r)
		}
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
	sweepDir(w.trash, atomicfile.TempPrefix, old)
	return context.Cause(ctx)
}

// settleMove completes or undoes a landing that was interrupted. If that is not
// possible now, the next landing tries again.
func (w *Workspaces) settleMove(ctx context.Context, dir string) {
	r, err := w.of(dir)
	if err != nil {
		return
	}
	sweepDir(r.user, gitfiles.TempPrefix, w.now().Add(-staleAge))
	if lock := filepath.Join(r.user, filepath.FromSlash(keepRef)+".lock"); gitfiles.IsAbandoned(lock) {
		_ = os.Remove(lock)
	}
	unlock, err := w.locks.Wait(ctx, moveLock(r))
	if err != nil {
		return
	}
	defer unlock()
	if err := w.recoverMove(ctx, r); err != nil {
		w.log.ErrorContext(ctx, "an interrupted landing is not settled yet", "repository", r.root, "error", err)
		return
	}
	stages, _ := filepath.Glob(filepath.Join(r.user, "worktrees", "*", stageName))
	for _, dir := range append(stages, filepath.Join(r.user, stageName)) {
		_ = removeWhole(dir)
	}
}

// sweepOwn removes the locks in Coppice's own repository if no git process runs
// there. Only git processes of Coppice write there.
func (w *Workspaces) sweepOwn(ctx context.Context, r repo) {
	sweepDir(r.git, gitfiles.TempPrefix, w.now().Add(-staleAge))
	if gitRunsIn(r.git) {
		return
	}
	for _, l := range locksIn(r.git) {
		if gitfiles.IsAbandoned(l) || !gitfiles.IsMarked(l) {
			w.log.InfoContext(ctx, "removing a lock that a killed git left", "path", l)
			_ = os.Remove(l)
		}
	}
}

func (w *Workspaces) sweepSlot(ctx context.Context, r repo, s slot, old time.Time) error {
	free, err := w.locks.Try(s.slotLock(r))
	if errors.Is(err, filelock.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	defer free()
	// An agent may run in a ready workspace, so only old locks are removed there.
	if s.State != slotReady || strings.HasPrefix(s.Name, checkPrefix) {
		old = w.now().Add(time.Hour)
	}
	for _, l := range locksIn(filepath.Join(s.path(r), ".git")) {
		if st, err := os.Lstat(l); err == nil && st.ModTime().Before(old) {
			w.log.InfoContext(ctx, "removing a lock that a killed git left", "path", l)
			_ = os.Remove(l)
		}
	}
	return nil
}

// sweepDir removes old files whose names start with prefix.
func sweepDir(dir, prefix string, old time.Time) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if st, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), prefix) && st.ModTime().Before(old) {
			_ = removeWhole(filepath.Join(dir, e.Name()))
		}
	}
}
