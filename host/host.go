// Package host is the small process that owns one session's agent, and the
// way for others to talk to it.
//
// A session has a directory. Start writes its Spec and prompt there and starts
// `coppice host <dir>` detached, in a process session of its own (Launch does so
// ahead of time, and the process waits); the host takes the directory's lock, starts the agent in a further process group,
// appends every byte the agent writes to the spool before anything decodes it,
// and the driver's events behind them. It serves a unix socket in the
// directory. It outlives whoever started it. When the agent has ended and
// everything it started is gone, the host writes its Exit and ends.
//
// The directory (0700) holds: lock (held by the living host), spec.json and
// prompt (0600), spool/ (segments), state.json (State, written before the agent
// starts), sock (0600), exit.json (Exit, written last). Files appear whole: they
// are written under another name and renamed; state and exit are synced before.
// Besides these there are host.log (what the host logs), starting (locked by a
// Start under way) and, while a host runs, reserve (room for exit.json on a disk
// that fills up) and private (0700: files that the agent's launch needs).
//
// Where the Spec has an App, the host starts it before the agent and ends it with
// the session. What it writes goes to the spool and to app.log, bounded.
//
// Pictures that the session takes as evidence are handed in over the socket and
// kept in the spool, bounded: see keep.go.
//
// An agent whose driver takes hooks finds an address on loopback for them, with
// a token of its own, until it ends.
//
// An agent may run on a terminal of its own instead of pipes, or in tmux (then
// tmux.sock, tmux.conf and tmux.out are in the directory, too). People attach to
// it through the socket: see attach.go. To watch works for every agent.
//
// The spool is bounded by Spec.Output: its beginning and its end are kept, and
// what decides about the session; a note in the spool and Exit.Dropped tell how
// much is missing in between (bound.go).
//
// When the spool cannot be written, for want of room on the disk, the agent is
// not stopped: its output is read and given to the driver but no longer kept,
// which a note in the spool (if it still fits) and Exit.Error tell.
//
// A host is not part of whoever started it, but a service manager may see that
// otherwise: under systemd the daemon's unit needs KillMode=process, or a
// restart of the daemon ends its hosts too.
package host

import (
	"time"

	"coppice"
	"coppice/agent"
)

// Spec is what a host is to do. It holds the agent's environment, so its file
// is readable by its owner only.
type Spec struct {
	Session  string            `json:"session"` // key
	Protocol string            `json:"protocol"`
	Profile  coppice.Profile   `json:"profile"`
	Request  agent.Request     `json:"request"`          // without Prompt, which has a file of its own
	Env      map[string]string `json:"env"`              // the agent's whole environment
	Grace    coppice.Duration  `json:"grace"`            // for each step of a stop
	App      App               `json:"app,omitzero"`     // what is served while the agent works
	Output   coppice.Bytes     `json:"output,omitempty"` // how much of its output is kept; 0 means all of it
	// Secrets are the request's. They are in no file: the host gets them through
	// a pipe, and the agent as its protocol does it.
	Secrets map[string]string `json:"-"`
}

// State is what a running host tells of itself.
type State struct {
	PID       int       `json:"pid"`
	Started   uint64    `json:"started"` // the kernel's start time of that pid, against reuse
	AgentPID  int       `json:"agent_pid,omitempty"`
	Cgroup    string    `json:"cgroup,omitempty"` // where the agent and its children live, if one could be made
	Mark      string    `json:"mark,omitempty"`   // value of COPPICE_SESSION_ID in the environment of the agent and its children
	StartedAt time.Time `json:"started_at"`
	Version   int       `json:"version,omitempty"` // see Version
}

// Exit is how the agent ended and what its driver made of it.
type Exit struct {
	Code    int           `json:"code"`
	Signal  string        `json:"signal,omitempty"`
	Stopped bool          `json:"stopped,omitempty"` // because a stop was asked for
	Done    bool          `json:"done,omitempty"`    // the agent had nothing more to do; how its process ended says nothing
	Outcome agent.Outcome `json:"outcome"`
	Spool   int64         `json:"spool"` // the spool's end
	EndedAt time.Time     `json:"ended_at"`
	Dropped int64         `json:"dropped,omitempty"` // bytes of output beyond Spec.Output, which are not kept
	Memory  int64         `json:"memory,omitempty"`  // the most bytes that the agent had in use; 0 means unknown
	Error   string        `json:"error,omitempty"`   // why the agent could not be started at all, or not captured to its end
}

// Phase is how far a session's host has come.
type Phase string

// The phases.
const (
	PhaseNone    Phase = "none"    // never began: no host has written its state
	PhaseRunning Phase = "running" // a host holds the lock
	PhaseEnded   Phase = "ended"   // there is an Exit
	PhaseLost    Phase = "lost"    // it began, is gone, and left no Exit
)
