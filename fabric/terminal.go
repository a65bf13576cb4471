package fabric

import (
	"context"

	"coppice"
)

// Terminals opens views of the terminals of sessions, wherever they run. It is
// safe for concurrent use.
type Terminals interface {
	// Attach opens a view of a running session's terminal. It lives until Close,
	// until ctx ends, or until the session ends. If the session does not run,
	// the error has code conflict.
	Attach(ctx context.Context, session coppice.Session, o coppice.TerminalOptions) (Terminal, error)
}

// Terminal is a live view of a session's terminal. Next has one caller at a
// time. The other methods are safe for concurrent use.
type Terminal interface {
	About() coppice.TerminalAbout
	// Next waits for the next part of the view. It fails after the part that
	// reports the end, if the session's host is gone, and if the view is closed.
	Next() (coppice.TerminalShown, error)
	// Type types bytes. A notice reports what cannot be typed.
	Type(b []byte) error
	Resize(s coppice.TerminalSize) error
	// Close does not change the session. It ends a Next that waits.
	Close() error
}
