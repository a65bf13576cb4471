package control

import (
	"context"

	"coppice"
	"coppice/api"
	"coppice/fabric"
)

// Terminals opens the terminals of sessions for the API.
type Terminals struct {
	Of fabric.Terminals
}

// Attach opens the terminal of a session on any node, until ctx ends.
func (s Terminals) Attach(ctx context.Context, session coppice.Session, o api.TerminalOptions) (api.Terminal, error) {
	t, err := s.Of.Attach(ctx, session, coppice.TerminalOptions{
		Size: coppice.TerminalSize{Columns: o.Columns, Rows: o.Rows}, ReadOnly: o.ReadOnly,
	})
	if err != nil {
		return nil, err
	}
	return &terminalOf{Terminal: t}, nil
}

// terminalOf implements the API's Terminal on a session's terminal.
type terminalOf struct {
	fabric.Terminal
	drawn []byte // shown as the next message
}

// About implements api.Terminal.
func (t *terminalOf) About() api.TerminalControl {
	a := t.Terminal.About()
	return api.TerminalControl{Runtime: a.Runtime, ReadOnly: a.ReadOnly, Size: sizeOf(a.Size)}
}

func sizeOf(s coppice.TerminalSize) []int {
	if s == (coppice.TerminalSize{}) {
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
	s, err := t.Terminal.Next()
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
		return nil, &api.TerminalControl{Ended: &api.TerminalEnd{TerminalEnd: *s.Ended}}, nil
	}
	return s.Output, nil, nil
}

// Resize implements api.Terminal.
func (t *terminalOf) Resize(columns, rows int) error {
	return t.Terminal.Resize(coppice.TerminalSize{Columns: columns, Rows: rows})
}
