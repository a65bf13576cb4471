package api

// TerminalControl is a text message on a session's terminal. Binary messages
// are the terminal's own bytes: what the agent wrote from the server, what was
// typed from the client.
//
// The server's first message tells Runtime, ReadOnly and Size; its last one
// tells Ended. A client sends Resize and nothing else.
type TerminalControl struct {
	Runtime  string       `json:"runtime,omitempty"`   // pty, tmux, or pipe where there is no screen
	ReadOnly bool         `json:"read_only,omitempty"` // nothing can be typed
	Size     []int        `json:"size,omitempty"`      // columns and rows of the screen from now on
	Notice   string       `json:"notice,omitempty"`    // something to tell the person
	Redraw   bool         `json:"redraw,omitempty"`    // the next binary message draws the screen as it is
	Ended    *TerminalEnd `json:"ended,omitempty"`     // the session is over
	Resize   []int        `json:"resize,omitempty"`    // columns and rows of the client's own terminal
}

// TerminalEnd is how a session ended.
type TerminalEnd struct {
	Code    int    `json:"code"`
	Signal  string `json:"signal,omitempty"`
	Stopped bool   `json:"stopped,omitempty"`
	Done    bool   `json:"done,omitempty"` // it had nothing more to do; how its process ended says nothing
	Failure string `json:"failure,omitempty"`
}

// TerminalOptions say how a terminal is wanted.
type TerminalOptions struct {
	Columns  int  // of the client's own terminal; 0 when it has none
	Rows     int  // likewise
	ReadOnly bool // nothing will be typed, and the client's size does not count
}

// Terminal is a live view of a session's terminal. Next has one caller; the
// other methods are safe for concurrent use.
type Terminal interface {
	// About tells what it is, and how large at first.
	About() TerminalControl
	// Next waits for the next bytes or message. Behind the message that tells
	// the end it fails.
	Next() ([]byte, *TerminalControl, error)
	Type(b []byte) error
	Resize(columns, rows int) error
	// Close leaves the session as it is, and ends a Next that waits.
	Close() error
}
