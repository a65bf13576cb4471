package coppice

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"
)

// Stage is how far the pipeline is with a task. Only the engine sets it.
type Stage string

// The stages of a task.
const (
	StageWaiting  Stage = "waiting"  // for what Task.Wait names
	StageQueued   Stage = "queued"   // needs a session; dispatch starts one when a session is free
	StageSession  Stage = "session"  // its newest session starts or runs
	StageFlow     Stage = "flow"     // the steps of the flow run
	StageChecking Stage = "checking" // its newest landing is being merged and checked
	StageHeld     Stage = "held"     // proven; waits until a person runs coppice land
	StageReview   Stage = "review"   // proven; waits until a person has reviewed it and runs coppice land
	StagePull     Stage = "pull"     // proven; waits until the forge has merged its pull request
	StageLanding  Stage = "landing"  // its newest landing is in the queue, or left it because its checks were killed
	StageEnded    Stage = "ended"    // see Task.Outcome
)

// Stages lists the stages in the order in which a task goes through them.
var Stages = []Stage{StageWaiting, StageQueued, StageSession, StageFlow, StageChecking, StageHeld, StageReview, StagePull, StageLanding, StageEnded}

// Ended reports whether the task is final at the stage.
func (s Stage) Ended() bool { return s == StageEnded }

// Outcome is how a task ended; empty before that.
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
	WaitSchedule   WaitKind = "schedule"   // the requested time
	WaitBackoff    WaitKind = "backoff"    // a pause before the next try
	WaitPerson     WaitKind = "person"     // a person has to act first
	WaitTasks      WaitKind = "tasks"      // tasks that its session waited for; see Session.Waits
)

// Wait says why a task waits: a kind, a sentence, and when it ends, if it ends
// automatically.
type Wait struct {
	On    WaitKind  `json:"on"`
	Text  string    `json:"text"`
	Fix   string    `json:"fix,omitempty"`
	Until time.Time `json:"until,omitzero"`
}

// Next describes the next session of a waiting or queued task.
type Next struct {
	Role     Role   `json:"role"`
	Agent    string `json:"agent"`
	Model    string `json:"model,omitempty"`
	Evidence string `json:"evidence,omitempty"` // everything that went wrong before
	Note     string `json:"note,omitempty"`     // a person's additional text
	Resume   string `json:"resume,omitempty"`   // the agent's conversation to continue
	Fork     bool   `json:"fork,omitempty"`     // continue a copy of it
	Screen   bool   `json:"screen,omitempty"`   // on the agent's own interactive screen
	Account  string `json:"account,omitempty"`  // the account whose limits apply, if it is not the agent itself; set when queued
}

// Wants is the kind of result that a task should have.
type Wants string

// The kinds of result.
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

	// The request.
	Title     string    `json:"title"`
	Body      string    `json:"body,omitempty"`
	Priority  int       `json:"priority"`
	Track     string    `json:"track"`
	Agent     string    `json:"agent"`
	Model     string    `json:"model,omitempty"`
	Checks    []string  `json:"checks,omitempty"` // in addition to the project's
	After     []int64   `json:"after,omitempty"`  // tasks that must be done first
	NotBefore time.Time `json:"not_before,omitzero"`
	Category  string    `json:"category,omitempty"` // routes it to a track
	Steps     []string  `json:"steps,omitempty"`    // what must be true when it is done
	Feature   string    `json:"feature,omitempty"`  // its id in the features file
	Budget    USD       `json:"budget,omitempty"`   // the most to spend on it; 0 means the project's budget
	Level     string    `json:"level,omitempty"`    // how hard it looks, for model: auto; if empty, the rules decide
	ForkOf    string    `json:"fork_of,omitempty"`  // the key of the task that it was forked from; its branch starts at the head of that task's branch
	CreatedAt time.Time `json:"created_at"`
	CreatedBy string    `json:"created_by,omitempty"`
	TaskDetails

	// The engine's decisions.
	Stage    Stage     `json:"stage"`
	Wait     *Wait     `json:"wait,omitempty"`    // while StageWaiting
	Next     *Next     `json:"next,omitempty"`    // while StageWaiting or StageQueued
	Round    int       `json:"round"`             // how often a person restarted it; sessions and landings of earlier rounds no longer count
	Sessions int       `json:"sessions"`          // number of its sessions, in all rounds
	StageAt  time.Time `json:"stage_at"`          // when the stage started
	Outcome  Outcome   `json:"outcome,omitempty"` // while StageEnded
	Failure  *Failure  `json:"failure,omitempty"` // of a task that failed or waits for a person
	Landed   string    `json:"landed,omitempty"`  // the commit on the base
	EndedAt  time.Time `json:"ended_at,omitzero"`
	Archived time.Time `json:"archived,omitzero"` // when a person archived it; only ended tasks are archived
	Warning  string    `json:"warning,omitempty"` // stalled, long-running, near a limit
}

// TaskDetails are fields of a task that the store keeps together, as JSON. Add
// new fields of a task here: they need no column.
type TaskDetails struct {
	Wants  Wants           `json:"wants,omitempty"`
	Schema json.RawMessage `json:"schema,omitempty"` // the JSON schema that an answer must match; if empty, the answer is a text
	Onto   string          `json:"onto,omitempty"`   // the branch on which its work lands; empty for the project's base
	// Checkout says that its sessions work in the person's own checkout. It wants an
	// answer, so nothing lands.
	Checkout bool `json:"checkout,omitempty"`
	// Interactive says that its agent has no screen, and that a person decides after
	// each turn what follows.
	Interactive bool `json:"interactive,omitempty"`

	Branch string `json:"branch,omitempty"` // its own branch, if that is not TaskBranch; see BranchName
	Effort string `json:"effort,omitempty"` // how hard its agent thinks, in the agent's words; empty for the project's level
	Retry  string `json:"retry,omitempty"`  // what follows a failed session, one of RetryPolicies; empty for the project's

	Completion []string `json:"completion,omitempty"` // what its sessions must have done; see Requires

	// What stops each of its sessions, besides its budget; see RunLimits.
	Turns     int      `json:"turns,omitempty"`
	Time      Duration `json:"time,omitempty"`
	UntilDone bool     `json:"until_done,omitempty"` // the limits of roles and health.timeout do not apply

	Context map[string]string `json:"context,omitempty"` // small values for its agents, by name

	Images []string `json:"images,omitempty"` // ids of the images that people attached, oldest first

	Skip     []string  `json:"skip,omitempty"`      // checks that a person left out for it, in order, each once
	Blocking []string  `json:"blocking,omitempty"`  // checks that the base fails as well, or whose command is missing; valid while it waits for a person because of them
	BaseFrom int64     `json:"base_from,omitempty"` // results of checks on the base count from this landing on: a person has fixed what the base needs
	DoneAt   time.Time `json:"done_at,omitzero"`    // when it was done, while it is being continued
	Note     string    `json:"note,omitempty"`      // how it was done, if it did not just land

	Reverted *Reverted `json:"reverted,omitempty"` // its last landing, if a person took it off the branch
	Earlier  []string  `json:"earlier,omitempty"`  // the commits of its landings before Landed, oldest first

	Strays []StrayBranch `json:"strays,omitempty"` // branches that its agents created besides its own; at most MostStrays

	HookFailed string `json:"hook_failed,omitempty"` // says which of its hooks failed last, if people want to know
	Parent     int64  `json:"parent,omitempty"`      // the task whose session or flow created it; see family.go

	Flow *Flow `json:"flow,omitempty"` // its work is done by other tasks
	Step *Step `json:"step,omitempty"` // it is a step of a flow

	Template string `json:"template,omitempty"` // the name of the template that it was created from
	Schedule int64  `json:"schedule,omitempty"` // the id of the schedule that created it

	Pull      bool   `json:"pull,omitempty"`      // it has a pull request; see Pull
	Land      string `json:"land,omitempty"`      // its landing method, one of LandingMethods; empty for the project's
	Attention string `json:"attention,omitempty"` // what a person should look at while it waits for its pull request

	Issue *IssueRef `json:"issue,omitempty"` // the issue of a tracker that it was created from

	// How people find it.
	Group   int64    `json:"group,omitempty"`   // the id of its group
	Labels  []string `json:"labels,omitempty"`  // in order, each once
	Flagged bool     `json:"flagged,omitempty"` // a person flagged it
}

// Reverted is a landing that a person took off its branch.
type Reverted struct {
	Commit string    `json:"commit"`            // what had landed
	As     string    `json:"as,omitempty"`      // the commit that reverts it; empty if the branch moved back
	BackTo string    `json:"back_to,omitempty"` // the commit to which the branch moved back
	By     string    `json:"by"`
	At     time.Time `json:"at"`
}

// String says what happened to the landing.
func (r Reverted) String() string {
	switch {
	case r.BackTo != "":
		return fmt.Sprintf("reverted: the branch moved back to %.10s", r.BackTo)
	case r.As != "":
		return fmt.Sprintf("reverted by %.10s", r.As)
	}
	return "reverted: the branch no longer has it"
}

// Warnings returns what a person should know about the task.
func (t Task) Warnings() string {
	if t.Warning == "" || t.HookFailed == "" {
		return t.Warning + t.HookFailed
	}
	return t.Warning + "; " + t.HookFailed
}

// FirstRole returns the role of a task's first session.
func (t Task) FirstRole() Role {
	switch {
	case t.Checkout:
		return RoleCheckout
	case t.Wants == WantsAnswer:
		return RoleAnswer
	}
	return RoleImplement
}

// Ended reports whether the task is final until a person acts.
func (t Task) Ended() bool { return t.Stage.Ended() }

// Restartable reports whether the task has failed or was cancelled: it can be
// changed and retried.
func (t Task) Restartable() bool { return t.Ended() && t.Outcome != OutcomeDone }

// Changeable reports whether the task's request can change. What a task that failed
// or was cancelled gets counts when it is retried.
func (t Task) Changeable() bool { return !t.Ended() || t.Restartable() }

// InOrder compares two tasks in the order of the queue: by priority, then the oldest
// first.
func InOrder(priority int, id int64, other int, otherID int64) int {
	return cmp.Or(cmp.Compare(other, priority), cmp.Compare(id, otherID))
}

// PriorityBetween returns the priority that puts a task between two others, with the
// least change. One of them can be nil. If no priority does that, the task gets the
// one that is next to them.
func PriorityBetween(t Task, above, below *Task) int {
	fits := func(p int) bool {
		return p >= MinPriority && p <= MaxPriority &&
			(above == nil || InOrder(above.Priority, above.ID, p, t.ID) < 0) && (below == nil || InOrder(p, t.ID, below.Priority, below.ID) < 0)
	}
	for change := range MaxPriority - MinPriority + 1 {
		for _, p := range []int{t.Priority + change, t.Priority - change} {
			if fits(p) {
				return p
			}
		}
	}
	if above != nil {
		return above.Priority
	}
	return below.Priority
}

// TakesMessages reports whether a session of the task would get a message.
func (t Task) TakesMessages() bool { return !t.Ended() && !t.Stage.Lands() }

// Lane returns the queue that the task is in. Tasks of one lane share every
// limit, so the first of a lane represents all of them. Empty unless queued.
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

// Lane is a queue of tasks that compete for the same free sessions. For live
// sessions, Agent is only the agent's name.
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

// Statuses lists the statuses in the order in which people want to see them.
var Statuses = []Status{
	StatusNeedsYou, StatusWorking, StatusVerifying, StatusFixing, StatusChecking, StatusLanding, StatusReady, StatusWaiting,
	StatusFailed, StatusDone, StatusCancelled,
}

// ReasonTurn is the status text of an interactive task whose agent has finished its
// turn.
const ReasonTurn = "its agent has finished its turn, and it is yours"

// ReasonAnswered is the status text of a task that has its answer and waits for
// a free session.
const ReasonAnswered = "answered; waiting for a free session"

// Status derives the status from the task, its newest session, its newest
// landing, its question, and what blocks its lane ("" if nothing does). The
// second result is the reason. StatusWaiting and StatusNeedsYou always have one.
func (t Task) Status(last *Session, land *Landing, asked *Question, blocked string) (Status, string) {
	if t.Stage == StagePull && t.Attention == "" {
		return StatusLanding, t.awaits(land)
	}
	if t.Stage.Awaits() {
		return StatusNeedsYou, t.awaits(land)
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
	case StageFlow:
		if t.Flow != nil {
			return StatusWorking, t.Flow.Note
		}
		return StatusWorking, ""
	case StageChecking:
		if land != nil && land.EndedAt.IsZero() {
			return StatusChecking, land.WaitsFor()
		}
		return StatusChecking, ""
	case StageLanding:
		if land != nil {
			return StatusLanding, land.WaitsFor()
		}
		return StatusLanding, ""
	}
	switch t.Outcome {
	case OutcomeDone:
		return StatusDone, t.Note
	case OutcomeCancelled:
		if t.Reverted != nil {
			return StatusCancelled, t.Reverted.String()
		}
		return StatusCancelled, ""
	}
	if t.Failure != nil {
		return StatusFailed, t.Failure.Text
	}
	return StatusFailed, ""
}

// Raw encodes work specs, results and event data, whose types can always be
// encoded.
func Raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("coppice: encoding " + err.Error()) // a type that cannot be encoded is a bug
	}
	return b
}
