package coppice

import (
	"encoding/json"
	"time"
)

// Stage is where the pipeline stands with a task. Only the engine sets it.
type Stage string

// The stages of a task.
const (
	StageWaiting  Stage = "waiting"  // for what Task.Wait names
	StageQueued   Stage = "queued"   // wants a session; dispatch starts it when there is room
	StageSession  Stage = "session"  // its newest session is on its way or running
	StageChecking Stage = "checking" // its newest landing is being merged and checked
	StageHeld     Stage = "held"     // proven, waits for a person to say land
	StageReview   Stage = "review"   // proven, waits for a person to review it and say land
	StageLanding  Stage = "landing"  // its newest landing is in the queue, or left it while its checks are being killed
	StageEnded    Stage = "ended"    // see Task.Outcome
)

// Stages lists the stages in the order in which a task goes through them.
var Stages = []Stage{StageWaiting, StageQueued, StageSession, StageChecking, StageHeld, StageReview, StageLanding, StageEnded}

// Ended reports whether the task is final at the stage.
func (s Stage) Ended() bool { return s == StageEnded }

// Outcome is how a task ended; empty while it has not.
type Outcome string

// The outcomes of a task.
const (
	OutcomeDone      Outcome = "done"
	OutcomeFailed    Outcome = "failed"
	OutcomeCancelled Outcome = "cancelled"
)

// WaitKind says what a waiting task waits for.
type WaitKind string

// The kinds of waiting.
const (
	WaitDependency WaitKind = "dependency" // another task
	WaitSchedule   WaitKind = "schedule"   // the moment it was asked for
	WaitBackoff    WaitKind = "backoff"    // a pause before the next try
	WaitPerson     WaitKind = "person"     // somebody has to do something first
)

// Wait is why a task waits: always a kind and a sentence, and the moment it
// ends by itself when it does.
type Wait struct {
	On    WaitKind  `json:"on"`
	Text  string    `json:"text"`
	Fix   string    `json:"fix,omitempty"`
	Until time.Time `json:"until,omitzero"`
}

// Next is the session a waiting or queued task will get.
type Next struct {
	Role     Role   `json:"role"`
	Agent    string `json:"agent"`
	Model    string `json:"model,omitempty"`
	Evidence string `json:"evidence,omitempty"` // what went wrong before, whole
	Note     string `json:"note,omitempty"`     // what a person adds
	Resume   string `json:"resume,omitempty"`   // the agent's conversation to continue
	Fork     bool   `json:"fork,omitempty"`     // continue a copy of it
	Screen   bool   `json:"screen,omitempty"`   // on the agent's own interactive screen
	Account  string `json:"account,omitempty"`  // whose limits hold, where that is not the agent itself; set when queued
}

// Wants says what a task should end in.
type Wants string

// What tasks want.
const (
	WantsChange Wants = ""       // landed code
	WantsAnswer Wants = "answer" // an answer; nothing lands
)

// Task is one unit of work that should end in landed code, or in an answer.
type Task struct {
	ID        int64  `json:"id"`
	ProjectID int64  `json:"project_id"`
	Num       int    `json:"num"`
	Key       string `json:"key"`

	// What was asked for.
	Title     string    `json:"title"`
	Body      string    `json:"body,omitempty"`
	Priority  int       `json:"priority"`
	Track     string    `json:"track"`
	Agent     string    `json:"agent"`
	Model     string    `json:"model,omitempty"`
	Checks    []string  `json:"checks,omitempty"` // besides the project's
	After     []int64   `json:"after,omitempty"`  // tasks that must be done first
	NotBefore time.Time `json:"not_before,omitzero"`
	Category  string    `json:"category,omitempty"` // routes it to a track
	Steps     []string  `json:"steps,omitempty"`    // what must be true when it is done, one by one
	Feature   string    `json:"feature,omitempty"`  // its id in the features file
	Budget    USD       `json:"budget,omitempty"`   // the most to spend on it; the project's when 0
	Level     string    `json:"level,omitempty"`    // how hard it looks, for model: auto; the rules decide when empty
	ForkOf    string    `json:"fork_of,omitempty"`  // the task it was forked from, by key; its branch begins where that one's stands
	CreatedAt time.Time `json:"created_at"`
	CreatedBy string    `json:"created_by,omitempty"`
	TaskDetails

	// What the engine decided.
	Stage    Stage     `json:"stage"`
	Wait     *Wait     `json:"wait,omitempty"`    // while StageWaiting
	Next     *Next     `json:"next,omitempty"`    // while StageWaiting or StageQueued
	Round    int       `json:"round"`             // how often it was begun anew by a person; sessions and landings of earlier rounds no longer count
	Sessions int       `json:"sessions"`          // how many it has had, in all rounds
	StageAt  time.Time `json:"stage_at"`          // since when
	Outcome  Outcome   `json:"outcome,omitempty"` // while StageEnded
	Failure  *Failure  `json:"failure,omitempty"` // of a task that failed or waits for a person
	Landed   string    `json:"landed,omitempty"`  // the commit on the base
	EndedAt  time.Time `json:"ended_at,omitzero"`
	Archived time.Time `json:"archived,omitzero"` // when a person put it away; only an ended task is
	Warning  string    `json:"warning,omitempty"` // stalled, long-running
}

// TaskDetails are fields of a task that the store keeps together, as JSON. A new
// field of a task belongs here: it needs no column.
type TaskDetails struct {
	Wants  Wants           `json:"wants,omitempty"`
	Schema json.RawMessage `json:"schema,omitempty"` // the JSON schema that an answer must match; text is wanted when empty
	Onto   string          `json:"onto,omitempty"`   // the branch that its work lands on; empty for the project's base
}

// FirstRole is the role of the session that a task begins with.
func (t Task) FirstRole() Role {
	if t.Wants == WantsAnswer {
		return RoleAnswer
	}
	return RoleImplement
}

// Ended tells whether the task is final until a person says otherwise.
func (t Task) Ended() bool { return t.Stage.Ended() }

// Lane names the queue the task stands in: tasks of one lane share every
// limit, so the first of a lane stands for all of them. Empty unless queued.
func (t Task) Lane() Lane {
	if t.Stage != StageQueued || t.Next == nil {
		return Lane{}
	}
	l := Lane{ProjectID: t.ProjectID, Track: t.Track, Agent: t.Next.Agent}
	if t.Next.Account != "" {
		l.Agent = t.Next.Account
	}
	return l
}

// Lane is a queue of tasks that compete for the same room. Of live sessions it
// has the agent's name alone.
type Lane struct {
	ProjectID int64  `json:"project_id"`
	Track     string `json:"track"`
	Agent     string `json:"agent"` // the account, see AgentChoice.Account
}

// Status is what a person reads. It is derived, never stored.
type Status string

// The statuses of a task.
const (
	StatusWaiting   Status = "waiting"
	StatusReady     Status = "ready"
	StatusWorking   Status = "working"
	StatusChecking  Status = "checking"
	StatusVerifying Status = "verifying"
	StatusFixing    Status = "fixing"
	StatusLanding   Status = "landing"
	StatusNeedsYou  Status = "needs you"
	StatusDone      Status = "done"
	StatusFailed    Status = "failed"
	StatusCancelled Status = "cancelled"
)

// Statuses lists them in the order in which people want to see them.
var Statuses = []Status{
	StatusNeedsYou, StatusWorking, StatusVerifying, StatusFixing, StatusChecking, StatusLanding, StatusReady, StatusWaiting,
	StatusFailed, StatusDone, StatusCancelled,
}

// ReasonAnswered is why a task waits that has what it waited for.
const ReasonAnswered = "answered; waiting for a free session"

// Status derives the status from the task, its newest session, its newest
// landing and what its lane is blocked by ("" when it is not). The second
// result is the reason; waiting and needs you always have one.
func (t Task) Status(last *Session, land *Landing, asked *Question, blocked string) (Status, string) {
	if t.Stage.Awaits() {
		return StatusNeedsYou, t.Stage.awaits()
	}
	switch t.Stage {
	case StageWaiting, "":
		if t.Wait == nil {
			return StatusWaiting, "not looked at yet"
		}
		if t.Wait.On == WaitPerson {
			return StatusNeedsYou, t.Wait.Text
		}
		return StatusWaiting, t.Wait.Text
	case StageQueued:
		if blocked != "" {
			return StatusWaiting, blocked
		}
		return StatusReady, ""
	case StageSession:
		if asked != nil && asked.Open() {
			return StatusNeedsYou, asked.Asks()
		}
		if last != nil && !last.ReadyAt.IsZero() {
			return StatusWaiting, ReasonAnswered
		}
		if last != nil {
			return last.Role.Info().Status, t.Warning
		}
		return StatusWorking, t.Warning
	case StageChecking:
		if land != nil && land.EndedAt.IsZero() {
			return StatusChecking, land.Waits
		}
		return StatusChecking, ""
	case StageLanding:
		if land != nil && land.Waits != "" {
			return StatusLanding, land.Waits
		}
		return StatusLanding, ""
	}
	switch t.Outcome {
	case OutcomeDone:
		return StatusDone, ""
	case OutcomeCancelled:
		return StatusCancelled, ""
	}
	if t.Failure != nil {
		return StatusFailed, t.Failure.Text
	}
	return StatusFailed, ""
}

// Raw encodes a value whose type is known to encode; used for work specs,
// results and event data.
func Raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("coppice: encoding " + err.Error()) // a type of ours that cannot encode is a bug
	}
	return b
}
