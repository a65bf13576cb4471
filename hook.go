package coppice

import (
	"encoding/json"
	"time"
)

// HookEvent names what a hook follows, as the configuration writes it.
type HookEvent string

// The events that hooks can follow.
const (
	HookTaskCreated    HookEvent = "task-created"
	HookTaskAssigned   HookEvent = "task-assigned"
	HookSessionStarted HookEvent = "session-started"
	HookSessionEnded   HookEvent = "session-ended"
	HookQuestionAsked  HookEvent = "question-asked"
	HookChecksDone     HookEvent = "checks-done"
	HookVerified       HookEvent = "verified"
	HookBeforeLand     HookEvent = "before-land"
	HookLanded         HookEvent = "landed"
	HookTaskFailed     HookEvent = "task-failed"
	HookPaused         HookEvent = "paused"
	HookResumed        HookEvent = "resumed"
	HookServerStarted  HookEvent = "server-started"
	HookPullOpened     HookEvent = "pr-opened"
	HookCIDone         HookEvent = "ci-done"
)

// HookReaction is the event of the command of a reaction. The configuration of hooks
// does not have it.
const HookReaction HookEvent = "reaction"

// HookEventInfo describes an event.
type HookEventInfo struct {
	Name   HookEvent `json:"name"`
	Help   string    `json:"help"`
	Blocks bool      `json:"blocks,omitempty" doc:"on_failure can be block"`
}

// HookEvents lists the events, in the order of a task's life.
var HookEvents = []HookEventInfo{
	{Name: HookTaskCreated, Help: "A task was created."},
	{Name: HookTaskAssigned, Help: "A task got a session, which has not started yet."},
	{Name: HookSessionStarted, Help: "The agent of a session started."},
	{Name: HookSessionEnded, Help: "A session ended."},
	{Name: HookQuestionAsked, Help: "An agent asked a question, or for a permission."},
	{Name: HookChecksDone, Help: "The checks of a candidate ended."},
	{Name: HookVerified, Help: "A verifier passed a candidate."},
	{Name: HookBeforeLand, Help: "A proven candidate is about to land.", Blocks: true},
	{Name: HookPullOpened, Help: "A pull request was opened."},
	{Name: HookCIDone, Help: "The checks of the forge ended for the head of a pull request."},
	{Name: HookLanded, Help: "Work landed."},
	{Name: HookTaskFailed, Help: "A task failed."},
	{Name: HookPaused, Help: "A project, or one of its tracks, was paused."},
	{Name: HookResumed, Help: "A project, or one of its tracks, continues."},
	{Name: HookServerStarted, Help: "The server started."},
}

// HookEventNames returns the names of the events.
func HookEventNames() []string {
	var names []string
	for _, e := range HookEvents {
		names = append(names, string(e.Name))
	}
	return names
}

// Known reports whether hooks can follow the event.
func (e HookEvent) Known() bool { return e.info() != nil }

// Blocks reports whether a hook of the event can block what follows.
func (e HookEvent) Blocks() bool { i := e.info(); return i != nil && i.Blocks }

func (e HookEvent) info() *HookEventInfo {
	for i := range HookEvents {
		if HookEvents[i].Name == e {
			return &HookEvents[i]
		}
	}
	return nil
}

// What follows a hook that failed.
const (
	HookIgnore = "ignore" // only the list of runs shows it
	HookWarn   = "warn"   // the task, or the log, has a warning
	HookBlock  = "block"  // what the hook comes before does not happen
)

// HookFailures are the valid values of on_failure.
var HookFailures = []string{HookIgnore, HookWarn, HookBlock}

// The limits of a hook.
const (
	DefaultHookTimeout = Duration(30 * time.Second)
	MaxHookTimeout     = Duration(10 * time.Minute)
	MaxHookOutput      = 64 << 10 // bytes of its output that are kept
	MaxHookText        = 4 << 10  // bytes of each text in its input
	MaxHooks           = 20       // of one event
	KeptHookRuns       = 200      // ended runs of a project that are kept
)

// Hook is a command that people configure for an event.
type Hook struct {
	Run       string   `json:"run" yaml:"run"`                         // a shell command
	Timeout   Duration `json:"timeout,omitempty" yaml:"timeout"`       // after which it is killed; see Limit
	OnFailure string   `json:"on_failure,omitempty" yaml:"on_failure"` // see Failure
}

// Limit returns how long the hook can run.
func (h Hook) Limit() Duration {
	if h.Timeout == 0 {
		return DefaultHookTimeout
	}
	return h.Timeout
}

// Failure returns what follows a failure of the hook.
func (h Hook) Failure() string {
	if h.OnFailure == "" {
		return HookWarn
	}
	return h.OnFailure
}

// Hooks has the hooks of each event, in the order in which they run.
type Hooks map[HookEvent][]Hook

// How a run of a hook ended.
const (
	HookPassed  = "passed"
	HookFailed  = "failed"
	HookSkipped = "skipped" // a hook before it failed, and blocks what follows
)

// HookRun is one firing of a hook. Its Key stays the same if the command is
// repeated because the server ended while it ran.
type HookRun struct {
	ID        int64     `json:"-"`
	Key       string    `json:"id"`
	ProjectID int64     `json:"-"`               // 0 for a hook of the user that belongs to no project
	TaskID    int64     `json:"-"`               // 0 if the event belongs to no task
	LandingID int64     `json:"-"`               // of a hook before a landing
	Commit    string    `json:"commit"`          // the candidate of that landing
	Event     HookEvent `json:"event"`           //
	Lane      string    `json:"-"`               // the runs of a lane are carried out one after another
	Blocks    bool      `json:"blocks"`          // something waits for it
	OfferedAt time.Time `json:"-"`               // zero before it is the first in its lane
	EndedAt   time.Time `json:"ended,omitempty"` // zero before that
	HookRunDetails
}

// HookRunDetails are the fields of a run that no query uses.
type HookRunDetails struct {
	Hook
	User    bool            `json:"user,omitempty"` // of the user's configuration, not the project's
	Test    bool            `json:"test,omitempty"` // a person tests it: nothing follows from its result
	Subject string          `json:"subject,omitempty"`
	QueueID int64           `json:"queue,omitempty"` // the queue of the landing that waits for it
	Dir     string          `json:"dir,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"` // what it gets on stdin
	At      time.Time       `json:"at"`              // of the event
	Outcome string          `json:"outcome,omitempty"`
	HookResult
}

// Open reports whether the run has not ended.
func (r HookRun) Open() bool { return r.EndedAt.IsZero() }

// HookSpec asks to run a hook.
type HookSpec struct {
	Key     string          `json:"key"`
	Event   HookEvent       `json:"event"`
	Run     string          `json:"run"`
	Timeout Duration        `json:"timeout"`
	Dir     string          `json:"dir,omitempty"` // the root of the project's checkout; the home directory if empty
	PassEnv []string        `json:"pass_env,omitempty"`
	Env     []string        `json:"env,omitempty"` // NAME=value
	Input   json.RawMessage `json:"input"`
}

// HookResult reports how the command of a hook ended.
type HookResult struct {
	Exit     int           `json:"exit"`
	Signal   string        `json:"signal,omitempty"` // that killed it
	TimedOut bool          `json:"timed_out,omitempty"`
	Output   string        `json:"output,omitempty"` // without the middle if it is long
	Took     time.Duration `json:"took,omitempty"`
	Attempt  int           `json:"attempt,omitempty"` // how often a worker started it
}

// HookInput is what a hook gets on stdin, as JSON. A part that does not concern
// the event is missing.
type HookInput struct {
	ID       string        `json:"id"` // the same if the hook is repeated
	Event    HookEvent     `json:"event"`
	At       time.Time     `json:"at"`
	Reason   string        `json:"reason,omitempty"` // as the log has it
	Test     bool          `json:"test,omitempty"`   // a person tests the hook
	Project  *HookProject  `json:"project,omitempty"`
	Task     *HookTask     `json:"task,omitempty"`
	Session  *HookSession  `json:"session,omitempty"`
	Landing  *HookLanding  `json:"landing,omitempty"`
	Question *HookQuestion `json:"question,omitempty"`
	Pull     *HookPull     `json:"pull,omitempty"`
	Reaction *HookReacted  `json:"reaction,omitempty"`
}

// HookPull is the pull request in a hook's input.
type HookPull struct {
	Number int         `json:"number"`
	URL    string      `json:"url"`
	Branch string      `json:"branch"`
	Base   string      `json:"base"`
	Head   string      `json:"head"`
	CI     CIState     `json:"ci,omitempty"`
	Review ReviewState `json:"review,omitempty"`
	Failed []string    `json:"failed,omitempty"` // the names of the checks of CI that failed
}

// HookReacted is the reaction in the input of its command. Its texts come from
// outside.
type HookReacted struct {
	Event   ReactionEvent `json:"event"`
	Text    string        `json:"text"`
	Message string        `json:"message"`
}

// HookProject is the project in a hook's input.
type HookProject struct {
	Prefix string `json:"prefix"`
	Path   string `json:"path"`
	Base   string `json:"base,omitempty"`
	Track  string `json:"track,omitempty"` // that was paused, or continues; absent for the whole project
}

// HookTask is the task in a hook's input.
type HookTask struct {
	Key       string   `json:"key"`
	Title     string   `json:"title"`
	Stage     Stage    `json:"stage"`
	Outcome   Outcome  `json:"outcome,omitempty"`
	Branch    string   `json:"branch,omitempty"`
	Track     string   `json:"track,omitempty"`
	Category  string   `json:"category,omitempty"`
	Labels    []string `json:"labels,omitempty"`
	Agent     string   `json:"agent,omitempty"`
	Feature   string   `json:"feature,omitempty"`
	Landed    string   `json:"landed,omitempty"`    // the commit
	Workspace string   `json:"workspace,omitempty"` // its path, while it exists
	Failure   string   `json:"failure,omitempty"`
}

// HookSession is the session in a hook's input.
type HookSession struct {
	Key     string       `json:"key"`
	Role    Role         `json:"role"`
	Agent   string       `json:"agent"`
	Model   string       `json:"model,omitempty"`
	State   SessionState `json:"state"`
	Exit    *int         `json:"exit,omitempty"`
	Summary string       `json:"summary,omitempty"`
	CostUSD float64      `json:"cost_usd,omitempty"`
	Failure string       `json:"failure,omitempty"`
}

// HookLanding is the landing in a hook's input.
type HookLanding struct {
	Onto    string         `json:"onto"` // the branch
	Head    string         `json:"head"` // the work
	Base    string         `json:"base,omitempty"`
	Commit  string         `json:"commit,omitempty"` // the merged commit
	Tree    string         `json:"tree,omitempty"`
	Green   bool           `json:"green"` // every check passed
	Outcome LandingOutcome `json:"outcome,omitempty"`
	Reverts bool           `json:"reverts,omitempty"` // it takes off an earlier landing
}

// HookQuestion is the question in a hook's input.
type HookQuestion struct {
	ID      int64    `json:"id"`
	Kind    string   `json:"kind,omitempty"`
	Text    string   `json:"text"`
	Options []string `json:"options,omitempty"`
}

// HookTest asks to run the hooks of an event without the event.
type HookTest struct {
	Event   HookEvent `json:"event" doc:"The event, such as landed"`
	Project string    `json:"project,omitempty" doc:"Its hooks and the user's; without a project, only the user's"`
	Task    string    `json:"task,omitempty" doc:"The task whose facts the hooks get; without one, they get a sample"`
}
