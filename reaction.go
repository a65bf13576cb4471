package coppice

import "time"

// ReactionEvent names what a reaction follows, as the configuration writes it. The
// table of events is in package reaction.
type ReactionEvent string

// The events of pull requests.
const (
	OnCIFailed      ReactionEvent = "ci-failed"
	OnChanges       ReactionEvent = "changes-requested"
	OnComment       ReactionEvent = "comment"
	OnBotComment    ReactionEvent = "bot-comment"
	OnConflicts     ReactionEvent = "merge-conflicts"
	OnApprovedGreen ReactionEvent = "approved-and-green"
	OnMerged        ReactionEvent = "pr-merged"
	OnClosed        ReactionEvent = "pr-closed"
	OnLabel         ReactionEvent = "label-added"
)

// The events of tasks and their agents.
const (
	OnIdle        ReactionEvent = "agent-idle"
	OnStuck       ReactionEvent = "agent-stuck"
	OnNeedsInput  ReactionEvent = "agent-needs-input"
	OnExited      ReactionEvent = "agent-exited"
	OnTaskFailed  ReactionEvent = "task-failed"
	OnAllComplete ReactionEvent = "all-complete"
)

// What a reaction does.
const (
	ReactSend    = "send-to-agent" // the agent continues its conversation with the message
	ReactTask    = "task"          // a new task, with the message as its description
	ReactNotify  = "notify"        // a person gets the message
	ReactMerge   = "merge"         // the request is merged
	ReactRun     = "run"           // a command runs, as a hook does
	ReactNothing = "nothing"
)

// ReactionActions lists the valid values of do.
var ReactionActions = []string{ReactSend, ReactTask, ReactNotify, ReactMerge, ReactRun, ReactNothing}

// Priority says how urgent a message to people is.
type Priority string

// The priorities, the most urgent first.
const (
	PriorityUrgent  Priority = "urgent"
	PriorityAction  Priority = "action"
	PriorityWarning Priority = "warning"
	PriorityInfo    Priority = "info"
)

// Priorities lists the priorities.
var Priorities = []Priority{PriorityUrgent, PriorityAction, PriorityWarning, PriorityInfo}

// Reaction is a rule: what follows an event, and how often.
type Reaction struct {
	If            string   `json:"if,omitempty" yaml:"if"`                         // a condition on the fields of the event; empty: always
	Do            string   `json:"do" yaml:"do"`                                   // one of ReactionActions
	Message       string   `json:"message,omitempty" yaml:"message"`               // a template; empty: the event's own
	Run           string   `json:"run,omitempty" yaml:"run"`                       // the command, with do: run
	Retries       int      `json:"retries,omitempty" yaml:"retries"`               // how often for one request; after that a person decides; 0 means the event's own
	EscalateAfter Duration `json:"escalate_after,omitempty" yaml:"escalate_after"` // a person decides if the event lasts longer; 0 means never
	Threshold     Duration `json:"threshold,omitempty" yaml:"threshold"`           // the event counts when it has lasted this long
	Priority      Priority `json:"priority,omitempty" yaml:"priority"`             // of the message to people
}

// Reactions has the rules of each event. The first rule whose condition is true
// applies. An event that is missing has the default rules.
type Reactions map[ReactionEvent][]Reaction

// Trust says whether reactions can pass text from outside to agents.
const (
	TrustSandboxed   = "sandboxed"   // only to sessions in a sandbox
	TrustUnsandboxed = "unsandboxed" // to every session
)

// TrustLevels are the valid values of trust, the default first.
var TrustLevels = []string{TrustSandboxed, TrustUnsandboxed}

// Reacted is one entry of the history of reactions: an event, and what followed.
type Reacted struct {
	ID        int64     `json:"id"`
	ProjectID int64     `json:"-"`
	TaskID    int64     `json:"-"`   // 0 for an event of the whole project
	Key       string    `json:"key"` // names the event: the same event is never handled twice
	At        time.Time `json:"at"`
	ReactedDetails
}

// Waits reports whether an agent has the message, and nothing has followed yet.
func (e Reacted) Waits() bool { return e.Do == ReactSend && e.Pushed == "" && e.EndedAt.IsZero() }

// ReactedDetails are the fields of a Reacted that no query uses.
type ReactedDetails struct {
	Event    ReactionEvent `json:"event"`
	Do       string        `json:"do"`             // what was done; nothing if it was not
	Why      string        `json:"why,omitempty"`  // why nothing was done
	Text     string        `json:"text,omitempty"` // what the event was about, in one line
	Message  string        `json:"message,omitempty"`
	Run      string        `json:"run,omitempty"`  // the command, with do: run
	Head     string        `json:"head,omitempty"` // the commit that it is about
	Seen     []string      `json:"seen,omitempty"` // the ids of the comments that it is about
	Try      int           `json:"try,omitempty"`  // 1 for the first reaction to this kind of event; 0 if a person asked for it
	Priority Priority      `json:"priority,omitempty"`
	Task     string        `json:"task,omitempty"`     // the key of the task that it created
	Pushed   string        `json:"pushed,omitempty"`   // the commit that followed
	Result   string        `json:"result,omitempty"`   // how it ended, in one line
	Resolved bool          `json:"resolved,omitempty"` // nothing is left to do about the discussions of its comments
	EndedAt  time.Time     `json:"ended_at,omitzero"`
}

// KeptReactions is how many entries of the history of a task are kept.
const KeptReactions = 100
