package api

import "coppice"

// TerminalControl is a text message on a session's terminal. Binary messages
// are the terminal's own bytes: from the server the agent's output, from the
// client the typed input.
//
// The server's first message has Runtime, ReadOnly and Size; its last one has
// Ended. A client sends only Resize.
type TerminalControl struct {
	Runtime  string       `json:"runtime,omitempty"`   // pty, tmux, or pipe without a screen
	ReadOnly bool         `json:"read_only,omitempty"` // input is not accepted
	Size     []int        `json:"size,omitempty"`      // columns and rows of the screen from now on
	Notice   string       `json:"notice,omitempty"`    // a message for the person
	Redraw   bool         `json:"redraw,omitempty"`    // the next binary message draws the current screen
	Ended    *TerminalEnd `json:"ended,omitempty"`     // the session has ended
	Resize   []int        `json:"resize,omitempty"`    // columns and rows of the client's own terminal
}

// TerminalEnd is how a session ended.
type TerminalEnd struct {
	coppice.TerminalEnd
	Text string `json:"text"` // what people read as that
}

// TerminalOptions are the options for opening a terminal.
type TerminalOptions struct {
	Columns  int  // of the client's own terminal; 0 without one
	Rows     int  // 0 without one
	ReadOnly bool // the client sends no input, and its size does not count
}

// Terminal is a live view of a session's terminal. Next has one caller. The
// other methods are safe for concurrent use.
type Terminal interface {
	// About describes the terminal and its first size.
	About() TerminalControl
	// Next waits for the next bytes or message. After the message with Ended it
	// fails.
	Next() ([]byte, *TerminalControl, error)
	Type(b []byte) error
	Resize(columns, rows int) error
	// Close leaves the session as it is, and ends a waiting Next.
	Close() error
}
