package control

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"

	"coppice"
	"coppice/api"
	"coppice/host"
)

// Terminals opens the terminals of sessions that run on this machine.
type Terminals struct {
	Sessions string // where a worker keeps them: see worker.Config.Sessions
}

// Attach opens the terminal of a session, until ctx ends.
func (s Terminals) Attach(ctx context.Context, session coppice.Session, o api.TerminalOptions) (api.Terminal, error) {
	dir := filepath.Join(s.Sessions, strconv.FormatInt(session.ID, 10))
	phase, _, _, err := host.Inspect(dir)
	if err != nil {
		return nil, err
	}
	if phase != host.PhaseRunning {
		return nil, coppice.Errorf(coppice.EConflict, "the session %s is not running: it has just ended, or is about to start", session.Key).
			WithFix("try again in a moment, or see `coppice logs %s`", session.Key)
	}
	c, err := host.Dial(ctx, dir)
	if err == nil {
		var v *host.View
		v, err = c.Attach(ctx, host.ViewOptions{Size: host.Size{Columns: o.Columns, Rows: o.Rows}, ReadOnly: o.ReadOnly})
		if err == nil {
			return &terminalOf{client: c, view: v}, nil
		}
		err = errors.Join(err, c.Close())
	}
	if errors.Is(err, host.ErrGone) {
		err = coppice.Errorf(coppice.EConflict, "the session %s has just ended", session.Key).WithFix("see `coppice logs %s`", session.Key)
	}
	return nil, err
}

// terminalOf shows a host's view as the API tells it.
type terminalOf struct {
	client *host.Client
	view   *host.View
	drawn  []byte // told as the next message
}

// About implements api.Terminal.
func (t *terminalOf) About() api.TerminalControl {
	return api.TerminalControl{Runtime: t.view.Runtime, ReadOnly: t.view.ReadOnly, Size: sizeOf(t.view.Size)}
}

func sizeOf(s host.Size) []int {
	if s == (host.Size{}) {
		return nil
	}
	return []int{s.Columns, s.Rows}
}

// Next implements api.Terminal.
func (t *terminalOf) Next() ([]byte, *api.TerminalControl, error) {
	if b := t.drawn; b != nil {
		t.drawn = nil
		return b, nil, nil
	}
	s, err := t.view.Next()
	switch {
	case err != nil:
		return nil, nil, err
	case s.Screen != nil:
		t.drawn = s.Screen
		return nil, &api.TerminalControl{Redraw: true}, nil
	case s.Size != nil:
		return nil, &api.TerminalControl{Size: sizeOf(*s.Size)}, nil
	case s.Notice != "":
		return nil, &api.TerminalControl{Notice: s.Notice}, nil
	case s.Ended != nil:
		e := *s.Ended
		return nil, &api.TerminalControl{Ended: &api.TerminalEnd{Code: e.Code, Signal: e.Signal, Stopped: e.Stopped, Done: e.Done, Failure: e.Failure}}, nil
	}
	return s.Output, nil, nil
}

// Type implements api.Terminal.
func (t *terminalOf) Type(b []byte) error { return t.view.Type(b) }

// Resize implements api.Terminal.
func (t *terminalOf) Resize(columns, rows int) error {
	return t.view.Resize(host.Size{Columns: columns, Rows: rows})
}

// Close implements api.Terminal.
func (t *terminalOf) Close() error { return errors.Join(t.view.Close(), t.client.Close()) }
