package fabric

import (
	"context"

	"coppice"
)

// Terminals opens views of the terminals of sessions, wherever they run. It is
// safe for concurrent use.
type Terminals interface {
	// Attach opens a view of a running session's terminal, which lives until
	// Close, until ctx ends, or until the session does. One that does not run is
	// an error with code conflict.
	Attach(ctx context.Context, session coppice.Session, o coppice.TerminalOptions) (Terminal, error)
}

// Terminal is a live view of a session's terminal. Next has one caller at a time;
// the other methods are safe for concurrent use.
type Terminal interface {
	About() coppice.TerminalAbout
	// Next waits for the next thing shown. It fails behind the one that reports
	// the end, when the session's host is gone, and when the view is closed.
	Next() (coppice.TerminalShown, error)
	// Type types bytes. What cannot be typed is reported by a notice.
	Type(b []byte) error
	Resize(s coppice.TerminalSize) error
	// Close leaves the session as it is, and ends a Next that waits.
	Close() error
}
