package host

import (
	"errors"

	"coppice"
	"coppice/agent"
)

// A client writes requests as lines of JSON and gets one line as the answer to
// each. A follow gets a line whenever the spool has grown, until the end. An
// attach turns the connection into a stream of frames: see attach.go. A client of
// calls gets a line for each call of the agent, and can write replies, which get no
// answer: see calls.go.

// The operations.
const (
	opPing      = "ping"
	opSend      = "send"
	opInterrupt = "interrupt"
	opModel     = "model"
	opStop      = "stop"
	opFollow    = "follow"
	opSnapshot  = "snapshot"
	opAttach    = "attach"
	opKeep      = "keep"

	opSendImages = "send images"
	opCalls      = "calls"
	opReply      = "reply"
	opLocks      = "locks"

	opAnswerCalls = "answer calls" // like opCalls, and the host reads replies from the same connection
)

// Version is the version of the operations that hosts of this release know. A
// host reports it in its state and to Dial. Hosts of the first releases report
// none, which is 0.
//
// Sessions outlive the server, so a server meets hosts of the previous release.
// A new operation needs a higher Version and an entry in since. Its callers do
// without it if the host is too old (ErrOld). Existing operations do not change:
// requests and answers only get new fields.
const Version = 5

// since has the first version that knows an operation. All hosts know the
// operations without an entry.
var since = map[string]int{opSendImages: 2, opCalls: 3, opReply: 3, opLocks: 4, opAnswerCalls: 5}

// maxRequest bounds one request.
const maxRequest = 16 << 20

type request struct {
	Op      string `json:"op"`
	ID      string `json:"id,omitempty"`
	Text    string `json:"text,omitempty"`
	Ref     string `json:"ref,omitempty"`
	GraceMS int64  `json:"grace_ms,omitempty"`
	Data    []byte `json:"data,omitempty"` // a picture

	Images []string `json:"images,omitempty"` // names of images in the session's directory

	Reply *Reply             `json:"reply,omitempty"` // to the call with this ID
	Locks *coppice.LockTable `json:"locks,omitempty"`

	// For attach.
	Columns  int  `json:"columns,omitempty"`
	Rows     int  `json:"rows,omitempty"`
	ReadOnly bool `json:"read_only,omitempty"`
}

type answer struct {
	OK       bool       `json:"ok"`
	Error    *wireError `json:"error,omitempty"`
	End      int64      `json:"end,omitempty"`   // the spool's end
	Ended    bool       `json:"ended,omitempty"` // the session has ended, and its Exit is written
	Version  int        `json:"version,omitempty"`
	Snapshot *Snapshot  `json:"snapshot,omitempty"`
	Attached *attached  `json:"attached,omitempty"`
	Call     *Call      `json:"call,omitempty"`
}

// Snapshot is a running session at one moment.
type Snapshot struct {
	State     State  `json:"state"`
	End       int64  `json:"end"`       // the spool's end
	Output    []byte `json:"output"`    // the end of the agent's output, both streams, at most 64 KiB
	Followers int    `json:"followers"` // current followers
	Dropped   int    `json:"dropped"`   // followers that were too slow
}

// wireError is an error as sent to another process.
type wireError struct {
	Code   coppice.Code `json:"code"`
	Cause  string       `json:"cause"`
	Fix    string       `json:"fix,omitempty"`
	Cannot bool         `json:"cannot,omitempty"` // the error is agent.ErrCannot
	Old    bool         `json:"old,omitempty"`    // the error is ErrOld
}

func wire(err error) *wireError {
	cannot := errors.Is(err, agent.ErrCannot)
	var e *coppice.Error
	switch {
	case errors.As(err, &e):
	case cannot:
		e = coppice.Errorf(coppice.EConflict, "the agent cannot take that now")
	default:
		e = coppice.Errorf(coppice.EUnavailable, "%w", err)
	}
	return &wireError{Code: e.Code, Cause: e.Cause, Fix: e.Fix, Cannot: cannot, Old: errors.Is(err, ErrOld)}
}

func (w *wireError) err() error {
	e := &coppice.Error{Code: w.Code, Cause: w.Cause, Fix: w.Fix}
	switch {
	case w.Cannot:
		e.Err = agent.ErrCannot
	case w.Old:
		e.Err = ErrOld
	}
	return e
}
