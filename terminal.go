package coppice

// TerminalSize is how large a terminal is. Both are 0 where there is none.
type TerminalSize struct {
	Columns int `json:"columns"`
	Rows    int `json:"rows"`
}

// TerminalOptions say how a view of a session's terminal is wanted.
type TerminalOptions struct {
	Size     TerminalSize // of the client's own terminal; none when it has none
	ReadOnly bool         // nothing will be typed, and the client's size does not count
}

// TerminalAbout is what a view of a terminal shows.
type TerminalAbout struct {
	Runtime  string // pipe, pty or tmux; a pipe has no screen
	ReadOnly bool   // nothing can be typed
	Size     TerminalSize
}

// TerminalShown is one thing that a view of a terminal shows. Exactly one field
// is set.
type TerminalShown struct {
	Screen []byte        // draws the screen as it is, whatever was shown before
	Output []byte        // what the agent wrote since
	Size   *TerminalSize // the screen's from now on
	Notice string        // a text for the person
	Ended  *TerminalEnd  // the session is over; the last one
}

// TerminalEnd is how a session that somebody watched has ended.
type TerminalEnd struct {
	Code    int    `json:"code"`
	Signal  string `json:"signal,omitempty"`
	Stopped bool   `json:"stopped,omitempty"`
	Done    bool   `json:"done,omitempty"`
	Failure string `json:"failure,omitempty"`
}
