package host

import (
	"errors"

	"coppice"
	"coppice/agent"
)

// A client writes requests as lines of JSON and gets one answer line for each;
// follow is answered by a line whenever the spool grew, until the end. An attach
// makes the connection a stream of frames: see attach.go.

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
)

// Version is the version of what hosts of this release understand. A host reports
// it in its state and when it is dialled. Hosts of releases before there were
// versions report none, which is 0.
//
// Sessions outlive the server, so a server meets hosts of the release before it.
// An operation that is added gets a higher Version and an entry in since; whoever
// uses it goes on without it when the host is too old (ErrOld). What is there is
// not changed: fields of requests and answers are only added.
const Version = 1

// since says from which version on hosts know an operation. All know those that
// it does not name.
var since = map[string]int{}

// maxRequest bounds one request.
const maxRequest = 16 << 20

type request struct {
	Op      string `json:"op"`
	ID      string `json:"id,omitempty"`
	Text    string `json:"text,omitempty"`
	Ref     string `json:"ref,omitempty"`
	GraceMS int64  `json:"grace_ms,omitempty"`
	Data    []byte `json:"data,omitempty"` // of a picture

	// Of an attach.
	Columns  int  `json:"columns,omitempty"`
	Rows     int  `json:"rows,omitempty"`
	ReadOnly bool `json:"read_only,omitempty"`
}

type answer struct {
	OK       bool       `json:"ok"`
	Error    *wireError `json:"error,omitempty"`
	End      int64      `json:"end,omitempty"`   // of the spool
	Ended    bool       `json:"ended,omitempty"` // the session is over, its Exit written
	Version  int        `json:"version,omitempty"`
	Snapshot *Snapshot  `json:"snapshot,omitempty"`
	Attached *attached  `json:"attached,omitempty"`
}

// Snapshot is a running session at one moment.
type Snapshot struct {
	State     State  `json:"state"`
	End       int64  `json:"end"`       // of the spool
	Output    []byte `json:"output"`    // the last of what the agent wrote, both streams, at most 64 KiB
	Followers int    `json:"followers"` // who follow it now
	Dropped   int    `json:"dropped"`   // who followed it and were too slow
}

// wireError is an error on its way to another process.
type wireError struct {
	Code   coppice.Code `json:"code"`
	Cause  string       `json:"cause"`
	Fix    string       `json:"fix,omitempty"`
	Cannot bool         `json:"cannot,omitempty"` // it was agent.ErrCannot
	Old    bool         `json:"old,omitempty"`    // it was ErrOld
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
