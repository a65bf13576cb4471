// Package host is the small process that owns one session's agent, and the
// client that others use to talk to it.
//
// A session has a directory. Start starts `coppice host <dir>` detached, in a
// separate process session, and passes it the Spec and prompt through a pipe.
// Launch starts the process ahead of time, and the process waits. The host
// acquires the directory's lock and starts the agent in another process group. It appends
// every byte of the agent to the spool before anything decodes it, and then the
// driver's events. It serves a unix socket in the directory. The host outlives
// the process that started it. When the agent and all its children have ended,
// the host writes its Exit and exits.
//
// The directory (0700) contains lock (held by the running host), spool/ (segments),
// state.json (State, written before the agent starts), sock (0600) and exit.json
// (Exit, written last). Files appear whole: they are written under another name
// and renamed. state.json and exit.json are synced first. The directory also contains host.log (the host's log) and images
// (images of people, for the prompt and for messages). A Start in progress locks the
// directory. While a host runs, it contains reserve (the disk space of exit.json,
// which it becomes) and, if the agent's launch needs files, private (0700).
//
// If the Spec has an App, the host starts the app before the agent and ends it
// with the session. A bounded part of the app's output goes to the spool and to
// app.log. Without an agent, for a preview, the host serves only the app, and all
// of its output goes to the spool, up to Spec.Output.
//
// A session can send pictures as evidence over the socket. The host keeps a
// bounded number in the spool: see keep.go.
//
// If the agent gets the tools of Coppice, or if its driver takes hooks, the host
// listens on loopback until the agent ends. Calls of tools wait there until a
// client of the socket has answered them: see calls.go. Hooks have a separate
// token.
//
// Where the locks of a project are enforced, a client sends their table to the
// host, whose driver judges edits by it: see locks.go.
//
// An agent can run on a terminal instead of pipes, or in tmux. For tmux the
// directory also contains tmux.sock, tmux.conf and tmux.out. People attach
// through the socket: see attach.go. Every agent can be watched.
//
// Spec.Output limits the spool. The host keeps the start, the end and the events
// that change facts. A note in the spool and Exit.Dropped report how much is
// missing (bound.go).
//
// If the spool cannot be written because the disk is full, the agent continues.
// Its output is read and passed to the driver, but not kept. A note in the spool
// (if it still fits) and Exit.Error report that.
//
// A service manager might count hosts as part of the service that started them.
// Under systemd the daemon's unit needs KillMode=process. Otherwise a restart of
// the daemon ends its hosts.
package host

import (
	"time"

	"coppice"
	"coppice/agent"
)

// Spec describes a host's session. No file contains it, because it has the agent's
// environment.
type Spec struct {
	Session  string            `json:"session"` // key
	Protocol string            `json:"protocol"`
	Profile  coppice.Profile   `json:"profile"`
	Request  agent.Request     `json:"request"`
	Env      map[string]string `json:"env"`              // the agent's whole environment
	Grace    coppice.Duration  `json:"grace"`            // for each step of a stop
	App      App               `json:"app,omitzero"`     // served while the agent works
	Output   coppice.Bytes     `json:"output,omitempty"` // limit of the kept output; 0 means no limit
	Images   []string          `json:"images,omitempty"` // names of images that AddImage wrote, for the prompt
	Tools    bool              `json:"tools,omitempty"`  // the agent gets the tools of Coppice
	// Secrets are the request's secrets. The host passes them to the agent as its
	// protocol requires.
	Secrets map[string]string `json:"-"`
}

// onlyApp reports whether there is no agent: the host serves the app until it is
// stopped.
func (s Spec) onlyApp() bool { return s.Protocol == "" && s.App.Set() }

// State is what a running host reports about itself.
type State struct {
	PID       int       `json:"pid"`
	Started   uint64    `json:"started"` // the kernel's start time of the process; distinguishes it from a later one with the same pid
	AgentPID  int       `json:"agent_pid,omitempty"`
	Cgroup    string    `json:"cgroup,omitempty"` // of the agent and its children; empty if it could not be created
	Mark      string    `json:"mark,omitempty"`   // value of COPPICE_SESSION_ID in the environment of the agent and its children
	StartedAt time.Time `json:"started_at"`
	Version   int       `json:"version,omitempty"` // see Version
}

// Exit describes how the agent ended and what its driver concluded.
type Exit struct {
	Code    int           `json:"code"`
	Signal  string        `json:"signal,omitempty"`
	Stopped bool          `json:"stopped,omitempty"` // a stop was requested
	Done    bool          `json:"done,omitempty"`    // the agent had nothing more to do; ignore how its process ended
	Outcome agent.Outcome `json:"outcome"`
	Spool   int64         `json:"spool"` // the spool's end
	EndedAt time.Time     `json:"ended_at"`
	Dropped int64         `json:"dropped,omitempty"` // bytes of output beyond Spec.Output, which are not kept
	Memory  int64         `json:"memory,omitempty"`  // the agent's peak memory in bytes; 0 means unknown
	Error   string        `json:"error,omitempty"`   // why the agent could not be started, or not followed to its end
}

// Phase is how far a session's host has got.
type Phase string

// The phases.
const (
	PhaseNone    Phase = "none"    // no host has written its state
	PhaseRunning Phase = "running" // a host holds the lock
	PhaseEnded   Phase = "ended"   // the Exit is written
	PhaseLost    Phase = "lost"    // the host started, is gone, and left no Exit
)
