// Package coppice defines the domain: the types of the product.
//
// A Project is a git repository and its Policy. A Task is one unit of work in
// it; the engine gives the task Sessions (agent conversations) in a Workspace
// (a directory and branch), and puts the result on the base branch by a
// Landing, whose merged tree must pass its Checks first. Every effect on the
// world is a Work item. Everything that happens is an Event.
//
// The rows defined here are facts: something happened, or was requested. The
// status that a person reads is derived from them (see Task.Status), never
// stored.
//
// The package imports only the standard library.
package coppice

import "time"

// Usage is what a session consumed, as far as its agent reports it.
type Usage struct {
	InputTokens  int64   `json:"input_tokens,omitempty"`
	OutputTokens int64   `json:"output_tokens,omitempty"`
	CacheRead    int64   `json:"cache_read_tokens,omitempty"`
	CacheWrite   int64   `json:"cache_write_tokens,omitempty"`
	CostUSD      float64 `json:"cost_usd,omitempty"`
	Turns        int64   `json:"turns,omitempty"` // answers of the model
	// Priced says that the cost is calculated from the tokens and the table of
	// prices, because the agent reports none. Estimated says that the table does
	// not have the model, so the highest price of its vendor is used.
	Priced    bool `json:"priced,omitempty"`
	Estimated bool `json:"estimated,omitempty"`
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens:  u.InputTokens + v.InputTokens,
		OutputTokens: u.OutputTokens + v.OutputTokens,
		CacheRead:    u.CacheRead + v.CacheRead,
		CacheWrite:   u.CacheWrite + v.CacheWrite,
		CostUSD:      u.CostUSD + v.CostUSD,
		Turns:        u.Turns + v.Turns,
		Priced:       u.Priced || v.Priced,
		Estimated:    u.Estimated || v.Estimated,
	}
}

// Question is a question of a session to a person. The session waits until it is
// answered or the session ends.
type Question struct {
	ID        int64    `json:"id"`
	TaskID    int64    `json:"task_id"`
	SessionID int64    `json:"session_id"`
	Ref       string   `json:"ref,omitempty"`  // the agent's own name for it, unique within the session
	Kind      string   `json:"kind,omitempty"` // empty, or permission: can the agent use a tool?
	Text      string   `json:"text"`
	Options   []string `json:"options,omitempty"`
	// Descriptions say what the options mean, in the same order. It is empty if no
	// option has one.
	Descriptions []string  `json:"descriptions,omitempty"`
	Several      bool      `json:"several,omitempty"` // several options can be chosen
	Rule         *Rule     `json:"rule,omitempty"`    // of a permission: the rule that "always" would add
	AskedAt      time.Time `json:"asked_at"`
	Answer       string    `json:"answer,omitempty"`
	AnsweredAt   time.Time `json:"answered_at,omitzero"`
	ClosedAt     time.Time `json:"closed_at,omitzero"` // delivered, or no longer needed
	Until        time.Time `json:"until,omitzero"`     // when the agent no longer waits for an answer; zero for the project's limit
}

// Open reports whether a person should still answer.
func (q Question) Open() bool { return q.AnsweredAt.IsZero() && q.ClosedAt.IsZero() }

// Asks returns the question as people read it.
func (q Question) Asks() string {
	if q.Kind == QuestionPermission {
		return "asks permission: " + q.Text
	}
	return q.Text
}

// QuestionPermission is the kind of a question whether the agent can use a tool.
// Its answers are the four below. The agent gets the text after "deny ".
const QuestionPermission = "permission"

// The answers to a permission question.
const (
	AnswerAllow       = "allow"
	AnswerAllowAlways = "allow always"
	AnswerDeny        = "deny"
	AnswerDenyAlways  = "deny always"
)

// The kinds of message. A kind without a text for the agent reaches only a
// running session.
const (
	MessageNow       = ""          // immediately, during a turn if the agent can read it then
	MessageNext      = "next"      // when the turn has ended
	MessageInterrupt = "interrupt" // ends the turn; its text, if any, starts the next one
	MessageModel     = "model"     // its text is the model for the next turns
)

// ModelAuto means that the model is chosen by how hard the task looks.
const ModelAuto = "auto"

// Message is a message of a person or of the engine to a task. It reaches the
// running session, or else the next one.
type Message struct {
	ID          int64     `json:"id"`
	TaskID      int64     `json:"task_id"`
	SessionID   int64     `json:"session_id,omitempty"` // the session that got it
	Kind        string    `json:"kind,omitempty"`
	Text        string    `json:"text"`
	Images      []string  `json:"images,omitempty"` // ids of its images
	From        string    `json:"from,omitempty"`
	SentAt      time.Time `json:"sent_at"`
	DeliveredAt time.Time `json:"delivered_at,omitzero"`
	Failed      string    `json:"failed,omitempty"` // why the last delivery failed
}

// Open reports whether the message still has to be delivered. A message that did
// not arrive goes to the next session, unless it is only for the running one: an
// interrupt without a text, or another model.
func (m Message) Open() bool {
	forOne := m.Kind == MessageModel || m.Kind == MessageInterrupt && m.Text == ""
	return m.DeliveredAt.IsZero() && (m.Failed == "" || !forOne)
}

// MessageState says whether a message has reached the agent.
type MessageState string

// The states of a message.
const (
	MessageWaiting   MessageState = "waiting"
	MessageDelivered MessageState = "delivered"
	MessageFailed    MessageState = "failed"
)

// State returns the state of the message, and what people read as it.
func (m Message) State() (MessageState, string) {
	switch {
	case !m.DeliveredAt.IsZero():
		return MessageDelivered, "delivered"
	case m.Failed != "":
		return MessageFailed, "not delivered: " + m.Failed
	}
	return MessageWaiting, "not delivered yet"
}

// AgentLimit says that an agent's account cannot be used until a time, or until
// a person has fixed the cause and clears the limit. One session reports it, and
// all follow it. A limit that ends automatically belongs to an account. One that
// a person must fix belongs to the whole agent.
type AgentLimit struct {
	Agent string    `json:"agent"`          // the account, see AgentChoice.Account
	Until time.Time `json:"until,omitzero"` // zero: until a person clears it
	Class Class     `json:"class"`
	Text  string    `json:"text,omitempty"`
	Since time.Time `json:"since,omitzero"` // when it was reached
}

// Holds reports whether the limit is in effect at a moment.
func (l AgentLimit) Holds(now time.Time) bool { return l.Until.IsZero() || l.Until.After(now) }

// For reports whether the limit applies to an account: its own limit, or one of
// its agent that a person must fix.
func (l AgentLimit) For(account string) bool {
	agent, _ := SplitChoice(account)
	return l.Agent == account || l.Until.IsZero() && l.Agent == agent
}

// Node is a machine with a worker, as the fabric sees it now.
type Node struct {
	Name        string   `json:"name"`
	MemoryTotal uint64   `json:"memory_total"`
	MemoryUsed  uint64   `json:"memory_used"`
	DiskFree    uint64   `json:"disk_free,omitempty"`
	Agents      []string `json:"agents,omitempty"` // the installed agents; empty means all
	Labels      []string `json:"labels,omitempty"` // further labels that work can require
}

// Trash is a removed thing that can be restored until it expires.
type Trash struct {
	ID         int64     `json:"id"`
	ProjectID  int64     `json:"project_id"`
	TaskID     int64     `json:"task_id"`
	What       string    `json:"what"` // TrashWorkspace, TrashBranches or TrashFlow
	Path       string    `json:"path"` // where its files were
	Branch     string    `json:"branch,omitempty"`
	Head       string    `json:"head,omitempty"`
	Ref        string    `json:"ref,omitempty"`     // keeps the removed commits, the uncommitted state included
	Archive    string    `json:"archive,omitempty"` // ignored files chosen by config
	RemovedAt  time.Time `json:"removed_at"`
	ExpiresAt  time.Time `json:"expires_at"`
	RestoredAt time.Time `json:"restored_at,omitzero"`
	PurgedAt   time.Time `json:"purged_at,omitzero"`
}

// What an entry of the trash has.
const (
	TrashWorkspace = "workspace"
	TrashBranches  = "branches" // branches that an agent created besides the task's
	TrashFlow      = "flow"     // the branch of a flow
)

// Open reports whether it can still be restored.
func (t Trash) Open() bool { return t.RestoredAt.IsZero() && t.PurgedAt.IsZero() }
