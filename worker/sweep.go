package worker

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"

	"coppice/host"
)

// sweep removes the directories of sessions whose result an earlier worker
// reported before it was killed. It leaves directories of unknown sessions, and
// those whose host still runs.
func (w *Worker) sweep(ctx context.Context) error {
	entries, err := os.ReadDir(w.cfg.Sessions)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var ids []int64
	for _, e := range entries {
		if id, err := strconv.ParseInt(e.Name(), 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	over, err := w.cfg.Ledger.Over(ctx, ids)
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
