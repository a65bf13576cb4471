package coppice

import (
	"encoding/json"
	"slices"
	"time"
)

// InboxKind is a kind of entry of the inbox.
type InboxKind string

// The kinds of entry.
const (
	InboxQuestion   InboxKind = "question"   // an agent asks something
	InboxPermission InboxKind = "permission" // an agent asks whether it can use a tool
	InboxWaiting    InboxKind = "waiting"    // a task waits for a person for another reason
	InboxStalled    InboxKind = "stalled"    // a session writes nothing
	InboxLimit      InboxKind = "limit"      // an account is limited or logged out, and work waits for it
	InboxBudget     InboxKind = "budget"     // the budget of a task, or of a day, is spent, or a session reached a limit
	InboxQueue      InboxKind = "queue"      // a person must act before the next landing
	InboxChange     InboxKind = "change"     // a change of the policy or the features file waits for confirmation
	InboxSchedule   InboxKind = "schedule"   // a schedule paused after a run failed, or its run cannot be created
	InboxReview     InboxKind = "review"     // proven work waits for a person's approval
	InboxFailed     InboxKind = "failed"     // a task failed, and nobody has continued or archived it
)

// InboxKinds lists the kinds in the order of the inbox: what blocks an agent
// comes first, then what blocks work, then results.
var InboxKinds = [][]InboxKind{
	{InboxQuestion, InboxPermission},
	{InboxWaiting, InboxStalled, InboxLimit, InboxBudget, InboxQueue, InboxChange, InboxSchedule},
	{InboxReview, InboxFailed},
}

// What an entry of the inbox blocks, in the order of InboxKinds.
const (
	BlocksAgent   = "agent"
	BlocksWork    = "work"
	BlocksNothing = "nothing"
)

// Blocks returns what entries of the kind block.
func (k InboxKind) Blocks() string {
	for i, kinds := range InboxKinds {
		if slices.Contains(kinds, k) {
			return []string{BlocksAgent, BlocksWork, BlocksNothing}[i]
		}
	}
	return ""
}

// CanSnooze reports whether a person can hide entries of the kind for a while. An
// agent waits for the answer to a question, so it cannot be hidden.
func (k InboxKind) CanSnooze() bool { return k != InboxQuestion && k != InboxPermission }

// MostInboxText limits the text of an entry, in bytes.
const MostInboxText = 16 << 10

// InboxEntry is one thing that needs a person. It is derived from facts and never
// stored.
type InboxEntry struct {
	ID      string        `json:"id" doc:"Stable while the cause stays, such as question/app-12/3"`
	Kind    InboxKind     `json:"kind" enum:"question,permission,waiting,stalled,limit,budget,queue,change,schedule,review,failed"`
	Project string        `json:"project,omitempty" doc:"The prefix of its project; absent for an account"`
	Task    string        `json:"task,omitempty" doc:"The key of its task; absent if it is about a project or an account"`
	Tasks   []string      `json:"tasks,omitempty" doc:"Keys of further tasks that need the same of a person"`
	Title   string        `json:"title" doc:"The title of the task, or the name of what it is about"`
	Text    string        `json:"text" doc:"The whole question or reason, at most 16 KiB"`
	Fix     string        `json:"fix,omitempty" doc:"What a person can do about it"`
	Diff    string        `json:"diff,omitempty" doc:"The change that waits for confirmation"`
	Paths   []string      `json:"paths,omitempty" doc:"Files that block a landing"`
	Options []string      `json:"options,omitempty" doc:"The answers to choose from; the number of an option, from 1, is an answer too"`
	Since   time.Time     `json:"since,omitzero"`
	Actions []InboxAction `json:"actions" doc:"What can be done, the most likely first"`

	Blocks    string `json:"blocks" enum:"agent,work,nothing" doc:"What waits for the person; nothing for a result"`
	Snoozable bool   `json:"can_snooze,omitempty" doc:"It can be snoozed"`
	Question  int64  `json:"question,omitempty" doc:"The number of the question"`
	Rule      *Rule  `json:"rule,omitempty" doc:"The rule that an answer with always would add"`

	Descriptions []string `json:"descriptions,omitempty" doc:"What the options mean, in the same order"`
	Several      bool     `json:"several,omitempty" doc:"Several options can be chosen"`

	Snoozed      bool      `json:"snoozed,omitempty" doc:"It is hidden"`
	SnoozedUntil time.Time `json:"snoozed_until,omitzero" doc:"Hidden until then"`
	SnoozedFor   string    `json:"snoozed_for,omitempty" doc:"Hidden until this event of the task in snoozed_task"`
	SnoozedTask  string    `json:"snoozed_task,omitempty"`
	SnoozedBy    string    `json:"snoozed_by,omitempty"`
	Back         bool      `json:"back,omitempty" doc:"It was snoozed, and the snooze has ended"`

	ProjectID int64  `json:"-"` // 0 for an account
	TaskID    int64  `json:"-"` // 0 if it is not about one task
	Mark      string `json:"-"` // differs if the same thing happens again, so that a snooze applies to one time only
}

// InboxAction is something that a person can do about an entry: a request to the
// API, and the command that does the same.
type InboxAction struct {
	Verb    Verb            `json:"verb,omitempty" doc:"The verb, if it is one"`
	Label   string          `json:"label" doc:"The text of its button"`
	Method  string          `json:"method" enum:"POST,PATCH"`
	Route   string          `json:"route" doc:"Below /api/v1, such as /tasks/app-12/answer"`
	Body    json.RawMessage `json:"body,omitempty" doc:"The request, without the text"`
	Text    string          `json:"text,omitempty" doc:"The field of the request for a text of the person; absent if it has none"`
	Needs   bool            `json:"needs,omitempty" doc:"The text is required"`
	Prompt  string          `json:"prompt,omitempty" doc:"Asks for the text"`
	Danger  bool            `json:"danger,omitempty"`
	Form    InboxForm       `json:"form,omitempty" enum:"answer,text,confirm" doc:"What a person fills in or reads first: the question with its options, a field for the text, or what is about to happen; absent if the request can be sent immediately"`
	Command string          `json:"command" doc:"The command that does the same"`
}

// InboxForm is a form that an action of the inbox needs.
type InboxForm string

// The forms of actions.
const (
	InboxAnswer  InboxForm = "answer" // the question of the entry
	InboxText    InboxForm = "text"
	InboxConfirm InboxForm = "confirm"
)

// NewSnooze is a request to hide an entry of the inbox: until a time, for a while,
// or until an event of a task.
type NewSnooze struct {
	For   Duration  `json:"for,omitempty" doc:"For how long, such as 2h"`
	Until time.Time `json:"until,omitzero"`
	Event string    `json:"event,omitempty" enum:"any,ended,landed,failed,asked,message" doc:"Until this happens to the task: any event, it ended, landed or failed, it asked something, or it got a message"`
	Task  string    `json:"task,omitempty" maxLength:"40" doc:"Whose event; the default is the entry's own task"`
}

// MaxSnooze is the longest time of a snooze.
const MaxSnooze = 366 * 24 * time.Hour

// Snooze is a stored request to hide an entry of the inbox.
type Snooze struct {
	Entry     string    // the id of the entry
	Mark      string    // of the entry, see InboxEntry
	ProjectID int64     // 0 for an account
	Until     time.Time // if Event is empty
	Event     string    // a name in SnoozeEvents
	TaskID    int64     // whose event
	After     int64     // the newest event of the log when it was requested
	By        Actor
	At        time.Time
}

// SnoozeEvent says which events of a task end a snooze.
type SnoozeEvent struct {
	Name   string
	Kinds  []EventKind // empty means all
	Reason string      // of the event; empty means any
}

// SnoozeEvents lists the events until which an entry can be hidden.
var SnoozeEvents = []SnoozeEvent{
	{Name: "any"},
	{Name: "ended", Kinds: []EventKind{EventTaskEnded}},
	{Name: "landed", Kinds: []EventKind{EventTaskEnded}, Reason: string(OutcomeDone)},
	{Name: "failed", Kinds: []EventKind{EventTaskEnded}, Reason: string(OutcomeFailed)},
	{Name: "asked", Kinds: []EventKind{EventQuestionAsked}},
	{Name: "message", Kinds: []EventKind{EventMessageSent}},
}
