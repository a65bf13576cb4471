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
	"coppice/workspace/repo"
)

// Sweep removes what killed processes of Coppice left: temporary files, and locks in
// git directories of workspaces and in Coppice's own refs. Locks that a live process
// can hold stay, and so does everything of the person. It is called when the server
// starts.
func (w *Workspaces) Sweep(ctx context.Context) error {
	dirs, err := filepath.Glob(filepath.Join(w.Dir, "*", "lock"))
	if err != nil {
		return err
	}
	old := w.Now().Add(-repo.StaleAge)
	for _, d := range dirs {
		r := repo.Repo{Dir: filepath.Dir(d)}
		r.Git = filepath.Join(r.Dir, repo.OwnName)
		repo.SweepDir(r.Tmp(), "", old)
		repo.SweepDir(r.Dir, atomicfile.TempPrefix, old)
		repo.SweepDir(filepath.Join(r.Dir, "landing"), "new-", old)
		repo.SweepDir(filepath.Join(r.Dir, "landing"), "", w.Now().Add(-24*time.Hour)) // of commits that never landed; they are gathered again if they do
		w.sweepOwn(ctx, r)
		w.SettleMove(ctx, r.Dir)
		if repo.Exists(filepath.Join(r.Git, "HEAD")) {
			w.CollectGarbage(ctx, r)
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
	repo.SweepDir(repo.Repo{Dir: w.Dir}.Tmp(), "", old)
	repo.SweepDir(w.trash, atomicfile.TempPrefix, old)
	return context.Cause(ctx)
}

// sweepOwn removes the locks in Coppice's own repository if no git process runs
// there. Only git processes of Coppice write there.
func (w *Workspaces) sweepOwn(ctx context.Context, r repo.Repo) {
	repo.SweepDir(r.Git, gitfiles.TempPrefix, w.Now().Add(-repo.StaleAge))
	if repo.GitRunsIn(r.Git) {
		return
	}
	for _, l := range repo.LocksIn(r.Git) {
		if gitfiles.IsAbandoned(l) || !gitfiles.IsMarked(l) {
			w.Log.InfoContext(ctx, "removing a lock that a killed git left", "path", l)
			_ = os.Remove(l)
		}
	}
}

func (w *Workspaces) sweepSlot(ctx context.Context, r repo.Repo, s slot, old time.Time) error {
	free, err := w.Locks.Try(s.slotLock(r))
	if errors.Is(err, filelock.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	defer free()
	// An agent may run in a ready workspace, so only old locks are removed there.
	if s.State != slotReady || strings.HasPrefix(s.Name, checkPrefix) {
		old = w.Now().Add(time.Hour)
	}
	for _, l := range repo.LocksIn(filepath.Join(s.path(r), ".git")) {
		if st, err := os.Lstat(l); err == nil && st.ModTime().Before(old) {
			w.Log.InfoContext(ctx, "removing a lock that a killed git left", "path", l)
			_ = os.Remove(l)
		}
	}
	return nil
}
