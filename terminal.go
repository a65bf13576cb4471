package coppice

import "fmt"

// TerminalSize is the size of a terminal. Both fields are 0 without a terminal.
type TerminalSize struct {
	Columns int `json:"columns"`
	Rows    int `json:"rows"`
}

// FirstScreen is the size of the screen of a session before a viewer with a terminal
// attaches.
var FirstScreen = TerminalSize{Columns: 120, Rows: 40}

// TerminalOptions are the options of a view of a session's terminal.
type TerminalOptions struct {
	Size     TerminalSize // size of the client's terminal; zero if it has none
	ReadOnly bool         // nothing will be typed, and the client's size does not count
}

// TerminalAbout describes a view of a terminal.
type TerminalAbout struct {
	Runtime  string // pipe, pty or tmux; a pipe has no screen
	ReadOnly bool   // nothing can be typed
	Size     TerminalSize
}

// TerminalShown is one part of a view of a terminal. Exactly one field is set.
type TerminalShown struct {
	Screen []byte        // draws the whole screen
	Output []byte        // output since then
	Size   *TerminalSize // the new size of the screen
	Notice string        // a text for the person
	Ended  *TerminalEnd  // the session has ended; the last part
}

// TerminalEnd says how a watched session ended.
type TerminalEnd struct {
	Code    int    `json:"code"`
	Signal  string `json:"signal,omitempty"`
	Stopped bool   `json:"stopped,omitempty"`
	Done    bool   `json:"done,omitempty"`
	Failure string `json:"failure,omitempty"`
}

// String returns what people read as the end.
func (e TerminalEnd) String() string {
	switch {
	case e.Failure != "":
		return e.Failure
	case e.Stopped:
		return "stopped"
	case e.Done:
		return "done"
	case e.Signal != "":
		return e.Signal
	}
	return fmt.Sprintf("exit %d", e.Code)
}
