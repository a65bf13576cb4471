// Package agent is the contract with agent CLIs. An agent is a protocol (code,
// in a folder below) times a profile (data).
//
// A protocol makes Drivers. A Driver is the live side of one run, written as a
// pure state machine: bytes and requests in, events and bytes for the agent's
// stdin out. It does no I/O, starts nothing and knows no clock, so the host can
// run it, tests can replay recordings through it, and any cut of the same bytes
// gives the same events.
package agent

import (
	"encoding/json"
	"errors"
	"time"

	"coppice"
)

// ErrCannot says that the agent's protocol has no way to do what was asked,
// now or at all.
var ErrCannot = errors.New("agent: the protocol cannot do that")

// Request is what a session wants of an agent.
type Request struct {
	Session    string // key
	Role       coppice.Role
	Prompt     string // the whole first message
	PromptFile string // the same text in a file, 0600, for profiles that pass it so
	Model      string
	Resume     string // the conversation to continue
	// Spent is what the conversation to continue has used in earlier runs.
	// Some agents only tell totals over a conversation; their drivers
	// subtract it to tell what this run used.
	Spent coppice.Usage
	Dir   string // the workspace
	// Private is a directory of the session's own, 0700, outside the
	// workspace. Launch.Files are written there.
	Private string
	Screen  bool    // a person works on the agent's own screen; it stays until they leave
	Fork    bool    // continue a copy of Resume
	Effort  string  // how hard to think, in the agent's own words
	Budget  float64 // the most to spend, in US dollars; 0 means no bound

	// Schema is what the agent's last words are held to, where it can: the
	// outcome's summary then is JSON of that shape. Nothing relies on it.
	Schema json.RawMessage

	Permissions coppice.PermissionPolicy
	MCP         map[string]coppice.MCPServer
	// HookURL is where the host answers the agent's hooks, on loopback, for
	// protocols that are Hookers. The token stands in the agent's environment
	// under HookTokenVar.
	HookURL string
	// Token is the session's own for tool servers, which also stands in the
	// agent's environment under TokenVar. Drivers use it only for agents that
	// take the headers of tool servers over their stdin and fill in nothing
	// themselves. It is never logged, recorded or written to a file.
	Token string `json:"-"`
	// Secrets are the values of secrets that tool servers refer to, by variable.
	// Launch sets the variables, for agents that fill them in from their
	// environment; others get the values over their stdin. What is said of
	// Token holds for them.
	Secrets map[string]string `json:"-"`
}

// The variables of an agent's environment that hold secrets of the session's
// own. They never stand in arguments.
const (
	TokenVar     = "COPPICE_TOKEN"      // for tool servers
	HookTokenVar = "COPPICE_HOOK_TOKEN" // for the host's hook address
	secretVar    = "COPPICE_SECRET_"    // begins those of secrets that tool servers refer to
)

// SecretVar is the variable that holds a secret, by the secret's name.
func SecretVar(name string) string { return secretVar + name }

// Launch is how to start the agent's process.
type Launch struct {
	Argv []string
	Env  map[string]string // besides what the profile says
	// Files are written to Request.Private, 0600, before the process starts.
	Files map[string][]byte
	// Screen starts the process on a terminal of its own instead of pipes.
	Screen coppice.ScreenProfile
}

// Protocol is a way of talking to agents. Implementations are safe for
// concurrent use.
type Protocol interface {
	// Name is what profiles call it.
	Name() string
	// Launch tells how to start the agent; it never puts the prompt or
	// anything secret into Argv.
	Launch(p coppice.Profile, r Request) (Launch, error)
	// Driver makes the live side of one run.
	Driver(p coppice.Profile, r Request) Driver
}

// Step is what follows from something: events to record, bytes to write to the
// agent's stdin, and whether stdin is closed after them. Done says that the
// agent has nothing more to do: a process that does not end by itself then is
// ended, and that is no failure.
type Step struct {
	Events     []coppice.AgentEvent
	Write      []byte
	CloseStdin bool
	Done       bool
}

// Driver is one run's state machine. Its methods are called one at a time.
type Driver interface {
	// Start is called once, when the process runs.
	Start() Step
	// Output takes the next bytes of stdout or stderr, cut anywhere.
	Output(s Stream, b []byte) Step
	// Send hands the agent a message, or the answer to a question it asked
	// (ref is the question's). ErrCannot when there is no way.
	Send(text, ref string) (Step, error)
	// Interrupt ends the agent's turn, not its process.
	Interrupt() (Step, error)
	// Stop is the protocol's own way to end the process, if it has one.
	Stop() Step
	// Exit is called once, after the last output. It returns what is known of
	// how the run went.
	Exit(x Exit) (Step, Outcome)
}

// A Switcher is a Driver whose agent can go on with another model.
type Switcher interface {
	// Model has the agent use another model from its next turn on.
	Model(name string) (Step, error)
}

// A Hooker is a Driver whose agent calls hooks over HTTP, and waits for the
// answer: the last word on whether a tool is used.
type Hooker interface {
	// Hook takes a hook's body and returns the answer's.
	Hook(body []byte) (Step, []byte)
}

// A Screener is a Driver of an agent on a terminal.
type Screener interface {
	// Resize tells how large the terminal is from now on.
	Resize(columns, rows int) Step
	// Tick is called when the agent has written nothing for a while, so that
	// what stands on its screen can be judged. It knows no clock: quiet is
	// how long. It is called a few times in the course of one silence, each
	// later than the one before, and with 0 now and then while the agent
	// goes on writing.
	Tick(quiet time.Duration) Step
}

// An Attendant is a Screener that wants to know of people at the terminal.
type Attendant interface {
	// Attend is called when somebody types, and when all who typed have left.
	Attend(typing bool) Step
}

// Stream is one of the agent's output streams.
type Stream int

// The streams.
const (
	Stdout Stream = 1
	Stderr Stream = 2
)

// Exit is how the process ended.
type Exit struct {
	Code   int    // -1 when it was killed by a signal
	Signal string // SIGTERM, SIGKILL, …
}

// Outcome is how a run went, as its protocol and exit tell. Whether the
// repository agrees is for others to see.
type Outcome struct {
	Failure      *coppice.Failure `json:"failure,omitempty"`
	Summary      string           `json:"summary,omitempty"`
	Conversation string           `json:"conversation,omitempty"`
	Usage        coppice.Usage    `json:"usage"`
}

// Undelivered is the event of a message that was taken by Send and that the
// agent, as is now known, will never read. Its text is the message's.
func Undelivered(message string) coppice.AgentEvent {
	return coppice.AgentEvent{Kind: coppice.KindNotice, Name: coppice.NameUndelivered, Text: Text(message), Reason: "the agent ended before it read this message"}
}

// Dropped is the host's own notice of how many bytes of output were not kept so
// far. Without a text it is only for programs.
func Dropped(text string, bytes int64) coppice.AgentEvent {
	return coppice.AgentEvent{Kind: coppice.KindNotice, Name: coppice.NameDropped, Text: text, Bytes: bytes}
}
