package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"coppice"
	"coppice/api"
	"coppice/engine"
	"coppice/host"
	"coppice/internal/clock"
	"coppice/store"
	"coppice/workspace"
)

const (
	forgetRows  = 500         // rows that one transaction removes
	stopTasks   = 200         // tasks that one transaction stops
	removeAgain = time.Minute // until a failed removal is retried
)

// Remover removes projects in the background. It repeats its work after a
// crash: a project exists, with its removal, until its last row is removed.
type Remover struct {
	store    store.Store
	intake   *engine.Intake
	spaces   *workspace.Workspaces
	sessions string // the directory of sessions
	clock    clock.Clock
	log      *slog.Logger
	asked    chan struct{} // a removal was requested
}

// NewRemover makes a Remover. Sessions is the directory in which sessions keep
// their files.
func NewRemover(s store.Store, i *engine.Intake, w *workspace.Workspaces, sessions string, c clock.Clock, log *slog.Logger) *Remover {
	return &Remover{store: s, intake: i, spaces: w, sessions: sessions, clock: c, log: log, asked: make(chan struct{}, 1)}
}

// Remove starts to remove a project and returns what will not be removed.
func (r *Remover) Remove(ctx context.Context, prefix string, how coppice.Remove) ([]api.Left, error) {
	var p coppice.Project
	var all []coppice.Project
	err := r.store.View(ctx, func(rd store.Reader) (err error) {
		if p, err = rd.Projects.ByPrefix(prefix); err == nil {
			all, err = rd.Projects.All()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := r.shared(ctx, p, all, how); err != nil {
		return nil, err
	}
	left, err := r.left(ctx, p, how)
	if err != nil {
		return nil, err
	}
	if _, err := r.intake.RemoveProject(ctx, prefix, how); err != nil {
		return nil, err
	}
	select {
	case r.asked <- struct{}{}:
	default: // it will check anyway
	}
	return left, nil
}

// shared refuses to purge a project whose repository has another checkout that
// is also a project: their workspaces are in one place.
func (r *Remover) shared(ctx context.Context, p coppice.Project, all []coppice.Project, how coppice.Remove) error {
	if !how.Purge {
		return nil
	}
	home := r.spaces.Home(ctx, p.Path)
	for _, other := range all {
		if other.ID != p.ID && r.spaces.Home(ctx, other.Path) == home {
			return coppice.Errorf(coppice.EConflict, "%s is another checkout of the same repository, and its workspaces would also be removed", other.Prefix).
				WithFix("remove %s without --purge, or remove %s first", p.Prefix, other.Prefix)
		}
	}
	return nil
}

// left returns what a removal leaves behind.
func (r *Remover) left(ctx context.Context, p coppice.Project, how coppice.Remove) ([]api.Left, error) {
	if how.Purge {
		return nil, nil
	}
	remains, err := r.spaces.Remains(ctx, p.Path)
	if err != nil {
		return nil, err
	}
	var left []api.Left
	if remains.Dir != "" {
		left = append(left, api.Left{What: "workspaces", Path: remains.Dir})
	}
	if n := len(remains.Archives); n > 0 {
		left = append(left, api.Left{What: fmt.Sprintf("%d archives of ignored files, beginning with", n), Path: remains.Archives[0]})
	}
	if n := len(remains.Refs); n > 0 {
		left = append(left, api.Left{What: fmt.Sprintf("%d branches and other refs named coppice/", n), Path: p.Path})
	}
	return left, nil
}

// Run removes projects until ctx ends.
func (r *Remover) Run(ctx context.Context) error {
	for {
		seq, waiting, failed, err := r.runOnce(ctx)
		if err != nil && ctx.Err() == nil {
			r.log.Error("removing projects failed", "error", err)
			failed = true
		}
		if !r.rest(ctx, seq, waiting, failed) {
			return nil
		}
	}
}

// rest waits until there might be something to do: a request, an event about
// what it waits for, or the time of a retry.
func (r *Remover) rest(ctx context.Context, seq int64, waiting, failed bool) bool {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	if failed {
		timer := r.clock.AfterFunc(removeAgain, cancel)
		defer timer.Stop()
	}
	var follower sync.WaitGroup
	defer follower.Wait()
	defer cancel()
	if waiting {
		follower.Go(func() {
			_ = r.store.WaitEvent(within, seq) // it also ends with within
			cancel()
		})
	}
	select {
	case <-within.Done():
	case <-r.asked:
	}
	return ctx.Err() == nil
}

// runOnce advances every project that is being removed as far as possible. It
// returns the position in the log up to which it looked, and whether a project
// waits for its tasks or could not be removed.
func (r *Remover) runOnce(ctx context.Context) (seq int64, waiting, failed bool, err error) {
	var all []coppice.Project
	err = r.store.View(ctx, func(rd store.Reader) (err error) {
		if _, seq, err = rd.Log.Bounds(); err == nil {
			all, err = rd.Projects.All()
		}
		return err
	})
	for _, p := range all {
		if p.Removal == nil || ctx.Err() != nil {
			continue
		}
		busy, err := r.take(ctx, p)
		waiting = waiting || busy
		if err != nil && ctx.Err() == nil {
			failed = true
			r.log.Error("a project cannot be removed yet", "project", p.Prefix, "error", err)
			if err := r.intake.RemovalFailed(ctx, p.ID, coppice.Public(err).Cause); err != nil {
				return seq, waiting, failed, err
			}
		}
	}
	return seq, waiting, failed, err
}

// take removes a project. It reports true if it must wait for something of it
// that still runs.
func (r *Remover) take(ctx context.Context, p coppice.Project) (busy bool, err error) {
	if p.Removal.Force {
		for before := int64(0); ; {
			if before, err = r.intake.StopOpen(ctx, p.ID, before, stopTasks); err != nil {
				return false, err
			}
			if before == 0 {
				break
			}
		}
	}
	err = r.store.View(ctx, func(rd store.Reader) (err error) {
		busy, err = rd.Projects.Busy(p.ID)
		return err
	})
	if err != nil || busy {
		return busy, err
	}
	if err := r.cleanSessions(ctx, p.ID); err != nil {
		return false, err
	}
	if p.Removal.Purge {
		if err := r.spaces.Forget(ctx, p.Path); err != nil {
			return false, coppice.Errorf(coppice.EUnavailable, "its files cannot be removed: %w", err)
		}
	}
	for more := true; more; {
		if more, err = r.intake.Forget(ctx, p, forgetRows); coppice.ErrorCode(err) == coppice.EConflict {
			return true, nil // something started in the meantime
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// cleanSessions removes the files of a project's sessions. Session ids are
// never reused, so no other session uses these directories.
func (r *Remover) cleanSessions(ctx context.Context, project int64) error {
	entries, err := os.ReadDir(r.sessions)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		id, err := strconv.ParseInt(e.Name(), 10, 64)
		if err != nil {
			continue
		}
		ours := false
		err = r.store.View(ctx, func(rd store.Reader) error {
			s, err := rd.Sessions.Get(id)
			ours = err == nil && s.ProjectID == project
			if coppice.ErrorCode(err) == coppice.ENotFound {
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
		if dir := filepath.Join(r.sessions, e.Name()); ours {
			if err := errors.Join(host.Kill(ctx, dir), host.Clean(dir)); err != nil {
				return err
			}
		}
	}
	return nil
}
