// Package agent is the contract with agent CLIs. An agent is a protocol (code,
// in a folder below) and a profile (data).
//
// A protocol makes Drivers. A Driver is the live side of one run, written as a
// pure state machine: its input is bytes and requests, its output is events and
// bytes for the agent's stdin. It does no I/O, starts nothing and knows no
// clock, so the host can run it and tests can replay recordings. The same bytes
// give the same events, however they are cut.
package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"coppice"
)

// ErrCannot says that the agent's protocol cannot do what was requested, now or
// at all.
var ErrCannot = errors.New("agent: the protocol cannot do that")

// Request is what a session requests of an agent.
type Request struct {
	Session string // key
	Role    coppice.Role
	Prompt  string // the whole first message
	// Images belong to the prompt. Only protocols whose drivers are Viewers get
	// them.
	Images []Image `json:"-"`
	Model  string
	Resume string // the conversation to continue
	// Spent is what the conversation to continue has used in earlier runs. Some
	// agents only report totals of a conversation. Their drivers subtract it to
	// report what this run used.
	Spent coppice.Usage
	Dir   string // the workspace
	// Private is the session's own directory, 0700, outside the workspace.
	// Launch.Files are written there.
	Private string
	Screen  bool    // a person works on the agent's own screen; it stays until they leave
	Fork    bool    // continue a copy of Resume
	Effort  string  // how hard to think, as one of the agent's own levels
	Budget  float64 // the most to spend, in US dollars; 0 means no limit

	// Schema is the JSON schema for the agent's final message, if the agent
	// supports it: the outcome's summary is then JSON that matches it. Callers
	// must still validate it.
	Schema json.RawMessage

	Permissions coppice.PermissionPolicy
	Locks       string // whether edits without a lock are refused; see coppice.LockModes
	MCP         map[string]coppice.MCPServer
	// Program is the program of Coppice, which passes the tools of Coppice on as
	// a tool server over stdin and stdout (coppice mcp).
	Program string
	// HookURL is where the host answers the agent's hooks, on loopback, for
	// protocols that are Hookers. The token is in the agent's environment under
	// HookTokenVar.
	HookURL string
	// Token is the session's token for tool servers. It is also in the agent's
	// environment under TokenVar. Drivers use it only for agents that get the
	// headers of tool servers over their stdin and do not expand variables. It
	// is never logged, recorded or written to a file.
	Token string `json:"-"`
	// Secrets are the values of secrets that tool servers refer to, by
	// variable. Launch sets the variables, for agents that expand them from
	// their environment. Others get the values over their stdin. The rules for
	// Token apply to them.
	Secrets map[string]string `json:"-"`
}

// The variables of an agent's environment that hold secrets of the session.
// They are never in arguments.
const (
	TokenVar     = "COPPICE_TOKEN"      // for tool servers
	HookTokenVar = "COPPICE_HOOK_TOKEN" // for the host's hook address
	secretVar    = "COPPICE_SECRET_"    // the prefix for secrets that tool servers refer to
)

// ToolServer is the name of the server with the tools of Coppice. ToolsURLVar is
// the variable of an agent's environment with its address.
const (
	ToolServer  = "coppice"
	ToolsURLVar = "COPPICE_MCP_URL"
)

// SecretVar returns the variable that holds a secret, by the secret's name.
func SecretVar(name string) string { return secretVar + name }

// Launch says how to start the agent's process.
type Launch struct {
	Argv []string
	Env  map[string]string // in addition to the profile's
	// Files are written to Request.Private, 0600, before the process starts.
	Files map[string][]byte
	// Screen starts the process on a separate terminal instead of pipes.
	Screen coppice.ScreenProfile
}

// Protocol is a protocol for talking to agents. Implementations are safe for
// concurrent use.
type Protocol interface {
	// Name is its name in profiles.
	Name() string
	// Launch returns how to start the agent. It never puts the prompt or
	// anything secret into Argv.
	Launch(p coppice.Profile, r Request) (Launch, error)
	// Driver makes the live side of one run.
	Driver(p coppice.Profile, r Request) Driver
}

// Step is the result of a call: events to record, bytes to write to the agent's
// stdin, and whether stdin is closed after them. Done says that the agent is
// finished: a process that does not exit is then ended, which does not count as
// a failure.
type Step struct {
	Events     []coppice.AgentEvent
	Write      []byte
	CloseStdin bool
	Done       bool
}

// Driver is one run's state machine. Its methods are called one at a time.
type Driver interface {
	// Start is called one time, when the process runs.
	Start() Step
	// Output takes the next bytes of stdout or stderr, cut anywhere.
	Output(s Stream, b []byte) Step
	// Send passes a message to the agent, or the answer to a question that it
	// asked (ref is the question's). It returns ErrCannot if the agent cannot
	// get it.
	Send(text, ref string) (Step, error)
	// Interrupt ends the agent's turn, not its process.
	Interrupt() (Step, error)
	// Stop is the protocol's own request to end the process, if it has one.
	Stop() Step
	// Exit is called one time, after the last output. It returns what is known
	// about the outcome of the run.
	Exit(x Exit) (Step, Outcome)
}

// A Switcher is a Driver whose agent can change its model.
type Switcher interface {
	// Model makes the agent use another model from its next turn on.
	Model(name string) (Step, error)
}

// Image is a picture of a person that belongs to a message. It is in a file, for
// agents that read files, and in memory, for the others.
type Image struct {
	Type string // the media type
	Path string
	Data []byte
}

// A Viewer is a Driver whose agent can see images. It also passes on
// Request.Images.
type Viewer interface {
	// SendImages is Send for a message with images.
	SendImages(text string, images []Image) (Step, error)
}

// Unseen returns the sentence for people about images that an agent did not get.
func Unseen(n int) string {
	if n == 1 {
		return "this agent cannot see images: it did not get the image of this message"
	}
	return fmt.Sprintf("this agent cannot see images: it did not get the %d images of this message", n)
}

// WithoutImages returns a message for an agent that cannot see its images.
func WithoutImages(text string, n int) string {
	if n == 1 {
		return text + "\n\n(An image belongs to this message. You cannot see it.)\n"
	}
	return text + fmt.Sprintf("\n\n(%d images belong to this message. You cannot see them.)\n", n)
}

// A Hooker is a Driver whose agent calls hooks over HTTP and waits for the
// answer, which decides whether a tool is used.
type Hooker interface {
	// Hook takes the body of a hook and returns the body of the answer.
	Hook(body []byte) (Step, []byte)
}

// A Screener is a Driver of an agent on a terminal.
type Screener interface {
	// Resize sets the size of the terminal.
	Resize(columns, rows int) Step
	// Tick is called when the agent has written nothing for some time, so that
	// the driver can judge its screen. quiet is how long. It is called a few
	// times during one silence, each time later, and sometimes with 0 while the
	// agent keeps writing.
	Tick(quiet time.Duration) Step
}

// An Attendant is a Screener that reacts to people at the terminal.
type Attendant interface {
	// Attend is called when a person types, and when all who typed have left.
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
	Code   int    // -1 if it was killed by a signal
	Signal string // SIGTERM, SIGKILL, …
}

// Outcome is how a run went, according to its protocol and exit. Others check
// whether the repository agrees.
type Outcome struct {
	Failure      *coppice.Failure `json:"failure,omitempty"`
	Summary      string           `json:"summary,omitempty"`
	Conversation string           `json:"conversation,omitempty"`
	Usage        coppice.Usage    `json:"usage"`
}

// Undelivered returns the event of a message that Send accepted and that the
// agent will never read. Its text is the message's.
func Undelivered(message string) coppice.AgentEvent {
	return coppice.AgentEvent{Kind: coppice.KindNotice, Name: coppice.NameUndelivered, Text: Text(message), Reason: "the agent ended before it read this message"}
}

// Dropped returns the host's notice of how many bytes of output were not kept
// so far. Without a text it is only for programs.
func Dropped(text string, bytes int64) coppice.AgentEvent {
	return coppice.AgentEvent{Kind: coppice.KindNotice, Name: coppice.NameDropped, Text: text, Bytes: bytes}
}
