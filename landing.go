package coppice

import "time"

// LandingOutcome is how a landing ended; empty while it has not.
type LandingOutcome string

// The outcomes of a landing.
const (
	LandingLanded   LandingOutcome = "landed"
	LandingConflict LandingOutcome = "conflict"  // does not merge
	LandingRefused  LandingOutcome = "refused"   // a check or a verifier went against the merged tree
	LandingEmpty    LandingOutcome = "empty"     // the merged tree is the base's: nothing to land
	LandingFailed   LandingOutcome = "failed"    // could not be tried
	LandingDropped  LandingOutcome = "cancelled" // a person stopped it
)

// Candidate is a commit that a landing would put on its branch: what came out
// when the landing's head was merged onto Base. Its fields belong together. When
// the branch moves, the landing gets another candidate, and this one stays as it
// was.
type Candidate struct {
	ID        int64     `json:"-"`
	LandingID int64     `json:"-"`
	Base      string    `json:"base,omitempty"`   // the commit it stands on
	Tree      string    `json:"tree,omitempty"`   // what came out
	Commit    string    `json:"commit,omitempty"` // the commit that would land; empty when the merge made none
	Green     bool      `json:"green,omitempty"`  // every check passed on Tree
	Pushed    bool      `json:"pushed,omitempty"` // the remote has Commit
	CreatedAt time.Time `json:"-"`
}

// Landing is the way of a task's work onto its branch.
type Landing struct {
	ID        int64     `json:"id"`
	ProjectID int64     `json:"project_id"`
	TaskID    int64     `json:"task_id"`
	SessionID int64     `json:"session_id"` // whose work it is
	Round     int       `json:"round"`
	Head      string    `json:"head"` // the work: the commit that is merged
	CreatedAt time.Time `json:"created_at"`

	Candidate // the one in force; zero until the first merge, and when the landing begins again

	// Verified says that a verifier passed Head. A branch that moves under the
	// landing does not change that: what is merged is checked again.
	Verified bool `json:"verified,omitempty"`

	QueueID  int64          `json:"-"` // the queue it stands in, 0 for none
	QueuedAt time.Time      `json:"queued_at,omitzero"`
	Waits    string         `json:"waits,omitempty"`   // why it does not move on
	Tries    int            `json:"tries,omitempty"`   // how often in a row a step was put off
	Killed   int            `json:"killed,omitempty"`  // how often in a row its checks were killed; not counted as tries
	RetryAt  time.Time      `json:"retry_at,omitzero"` // no further step before this moment
	Steps    int            `json:"steps,omitempty"`   // how many work items it had; names the next one
	EndedAt  time.Time      `json:"ended_at,omitzero"`
	Outcome  LandingOutcome `json:"outcome,omitempty"`
	Failure  *Failure       `json:"failure,omitempty"`  // what its last step failed with
	Evidence string         `json:"evidence,omitempty"` // conflicting hunks or failing logs, whole
}

// Check is one run of a command on one tree. It is the judgement of that tree,
// which holds for every later landing with the same tree, command and
// environment, unless something else than the command ended it.
type Check struct {
	ID        int64         `json:"id"`
	ProjectID int64         `json:"project_id"`
	TaskID    int64         `json:"task_id"`
	LandingID int64         `json:"landing_id"`
	Tree      string        `json:"tree"`
	Command   string        `json:"command"`
	Env       string        `json:"env"` // fingerprint of the environment it ran in
	Exit      int           `json:"exit"`
	Signal    string        `json:"signal,omitempty"`    // the signal that killed it, such as SIGKILL; it then judges nothing
	TimedOut  bool          `json:"timed_out,omitempty"` // it was stopped for its age; only the second time in a row is a judgement
	Log       string        `json:"log,omitempty"`       // its output; the middle is cut when long
	Took      time.Duration `json:"took"`
	EndedAt   time.Time     `json:"ended_at"`
}

// Passed tells whether the tree passed.
func (c Check) Passed() bool { return c.Exit == 0 && c.Signal == "" && !c.TimedOut }

// Killed tells whether the run was killed, and therefore judges nothing.
func (c Check) Killed() bool { return c.Signal != "" }
