package worker

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"coppice"
	"coppice/host"
	"coppice/store"
)

// sweep removes the directories of sessions whose result was accepted by an
// earlier worker that was killed before it tidied up. A directory that belongs
// to no known session, or whose host still runs, is left alone.
func (w *Worker) sweep(ctx context.Context) error {
	entries, err := os.ReadDir(w.cfg.Sessions)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var over []int64
	err = w.cfg.Store.View(ctx, func(r store.Reader) error {
		for _, e := range entries {
			id, err := strconv.ParseInt(e.Name(), 10, 64)
			if err != nil {
				continue
			}
			wanted, err := stillRun(r, id)
			if err != nil {
				return err
			}
			if !wanted {
				over = append(over, id)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range over {
		dir := w.sessionDir(id)
		if phase, _, _, err := host.Inspect(dir); err != nil || phase == host.PhaseRunning {
			continue
		}
		if err := errors.Join(host.Kill(ctx, dir), host.Clean(dir)); err != nil {
			w.cfg.Logger.Warn("cleaning up after a session failed", "session", id, "error", err)
		}
	}
	return nil
}

// stillRun tells whether somebody has yet to bring a session to its end, or
// nobody knows it.
func stillRun(r store.Reader, id int64) (bool, error) {
	s, err := r.Sessions.Get(id)
	if coppice.ErrorCode(err) == coppice.ENotFound {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	work, err := r.Work.Unsettled(coppice.TaskSubject(s.TaskID))
	return slices.ContainsFunc(work, func(i coppice.Work) bool {
		return i.Kind == coppice.WorkRun && i.SessionID == id && i.Open()
	}), err
}
