package worker

import (
	"context"
	"errors"

	"coppice"
	"coppice/fabric"
	"coppice/host"
)

var _ fabric.Terminals = (*Worker)(nil)

// Attach opens a view of the terminal of a session that runs here.
func (w *Worker) Attach(ctx context.Context, session coppice.Session, o coppice.TerminalOptions) (fabric.Terminal, error) {
	dir := w.sessionDir(session.ID)
	phase, _, _, err := host.Inspect(dir)
	if err != nil {
		return nil, err
	}
	if phase != host.PhaseRunning {
		return nil, coppice.Errorf(coppice.EConflict, "the session %s is not running: it has just ended, or is about to start", session.Key).
			WithFix("retry in a moment, or see `coppice logs %s`", session.Key)
	}
	c, err := host.Dial(ctx, dir)
	if err == nil {
		var v *host.View
		if v, err = c.Attach(ctx, o); err == nil {
			return terminal{v, c}, nil
		}
		err = errors.Join(err, c.Close())
	}
	if errors.Is(err, host.ErrGone) {
		err = coppice.Errorf(coppice.EConflict, "the session %s has just ended", session.Key).WithFix("see `coppice logs %s`", session.Key)
	}
	return nil, err
}

// terminal is a host's view with its connection.
type terminal struct {
	*host.View
	client *host.Client
}

// Close implements fabric.Terminal.
func (t terminal) Close() error { return errors.Join(t.View.Close(), t.client.Close()) }
