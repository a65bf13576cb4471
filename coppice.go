// Package coppice is the domain: the words of the product and nothing else.
//
// A Project is a git repository and its Policy. A Task is one unit of work in
// it; the engine gives the task Sessions (agent conversations) in a Workspace
// (a directory and branch), and brings the outcome onto the base branch by a
// Landing, whose merged tree must pass its Checks first. Every effect on the
// world is a Work item. Everything that happens is an Event.
//
// The rows defined here are facts: something happened, or was asked for. What
// a person reads as a status is derived from them (see Task.Status), never
// stored a second time.
//
// The package imports the standard library only; every other package is named
// for what it adapts this one to.
package coppice

import "time"

// Usage is what a session consumed, as far as its agent tells.
type Usage struct {
	InputTokens  int64   `json:"input_tokens,omitempty"`
	OutputTokens int64   `json:"output_tokens,omitempty"`
	CacheRead    int64   `json:"cache_read_tokens,omitempty"`
	CacheWrite   int64   `json:"cache_write_tokens,omitempty"`
	CostUSD      float64 `json:"cost_usd,omitempty"`
	Turns        int64   `json:"turns,omitempty"`
	// Priced says that the cost follows from the tokens and the table of prices,
	// because the agent reports none. Estimated says that the table does not name
	// the model, and the highest price of its vendor stands in.
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

// Question is something a session asked a person. The session waits until it
// is answered or the session ends.
type Question struct {
	ID         int64     `json:"id"`
	TaskID     int64     `json:"task_id"`
	SessionID  int64     `json:"session_id"`
	Ref        string    `json:"ref,omitempty"`  // the agent's own name for it, unique within the session
	Kind       string    `json:"kind,omitempty"` // empty, or permission: may a tool be used
	Text       string    `json:"text"`
	Options    []string  `json:"options,omitempty"`
	Rule       *Rule     `json:"rule,omitempty"` // of a permission: what "always" would remember
	AskedAt    time.Time `json:"asked_at"`
	Answer     string    `json:"answer,omitempty"`
	AnsweredAt time.Time `json:"answered_at,omitzero"`
	ClosedAt   time.Time `json:"closed_at,omitzero"` // delivered, or no longer wanted
}

// Open tells whether a person should still answer.
func (q Question) Open() bool { return q.AnsweredAt.IsZero() && q.ClosedAt.IsZero() }

// Asks is what the question asks, as people read it.
func (q Question) Asks() string {
	if q.Kind == QuestionPermission {
		return "asks permission: " + q.Text
	}
	return q.Text
}

// QuestionPermission is the kind of a question whether a tool may be used. Its
// answers are the four below; what follows "deny " is told to the agent.
const QuestionPermission = "permission"

// The answers to a permission question.
const (
	AnswerAllow       = "allow"
	AnswerAllowAlways = "allow always"
	AnswerDeny        = "deny"
	AnswerDenyAlways  = "deny always"
)

// The kinds of message. One that is no text for the agent reaches a running
// session only.
const (
	MessageNow       = ""          // at once, in mid-turn where the agent can
	MessageNext      = "next"      // when the turn is over
	MessageInterrupt = "interrupt" // ends the turn; its text, if any, begins the next
	MessageModel     = "model"     // its text is the model to go on with
)

// ModelAuto stands for a model chosen by how hard the task looks.
const ModelAuto = "auto"

// Message is something a person (or the engine) said to a task. It reaches the
// running session, or the next one when none runs.
type Message struct {
	ID          int64     `json:"id"`
	TaskID      int64     `json:"task_id"`
	SessionID   int64     `json:"session_id,omitempty"` // where it was delivered
	Kind        string    `json:"kind,omitempty"`
	Text        string    `json:"text"`
	From        string    `json:"from,omitempty"`
	SentAt      time.Time `json:"sent_at"`
	DeliveredAt time.Time `json:"delivered_at,omitzero"`
	Failed      string    `json:"failed,omitempty"` // why the last try did not arrive
}

// Open tells whether the message is still to be delivered. One that did not
// arrive goes to the next session, unless it meant the running one alone: an
// interrupt without a text, or another model.
func (m Message) Open() bool {
	forOne := m.Kind == MessageModel || m.Kind == MessageInterrupt && m.Text == ""
	return m.DeliveredAt.IsZero() && (m.Failed == "" || !forOne)
}

// AgentLimit is the shared knowledge that an agent's account can do nothing
// until a moment, or until a person has mended the cause and says so; learned
// by one session and obeyed by all. What ends by itself is known of an account,
// what a person must mend of a whole agent.
type AgentLimit struct {
	Agent string    `json:"agent"`          // the account, see AgentChoice.Account
	Until time.Time `json:"until,omitzero"` // zero until a person says so
	Class Class     `json:"class"`
	Text  string    `json:"text,omitempty"`
}

// Holds tells whether the limit is in force at a moment.
func (l AgentLimit) Holds(now time.Time) bool { return l.Until.IsZero() || l.Until.After(now) }

// For tells whether the limit is one of an account: its own, or one of its agent
// that a person must mend.
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
	Agents      []string `json:"agents,omitempty"` // the agents it has; none means all
	Labels      []string `json:"labels,omitempty"` // what else work can ask for
}

// Trash is something removed that can be brought back until it expires.
type Trash struct {
	ID         int64     `json:"id"`
	ProjectID  int64     `json:"project_id"`
	TaskID     int64     `json:"task_id"`
	What       string    `json:"what"` // "workspace"
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

// Open tells whether it can still be brought back.
func (t Trash) Open() bool { return t.RestoredAt.IsZero() && t.PurgedAt.IsZero() }
