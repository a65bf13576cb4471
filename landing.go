package coppice

import (
	"cmp"
	"time"
)

// LandingOutcome is how a landing ended; empty before that.
type LandingOutcome string

// The outcomes of a landing.
const (
	LandingLanded   LandingOutcome = "landed"
	LandingConflict LandingOutcome = "conflict"  // it does not merge
	LandingRefused  LandingOutcome = "refused"   // a check or a verifier refused the merged tree
	LandingEmpty    LandingOutcome = "empty"     // the merged tree equals the base: nothing to land
	LandingFailed   LandingOutcome = "failed"    // it could not be tried
	LandingDropped  LandingOutcome = "cancelled" // a person stopped it
)

// Candidate is a commit that a landing would put on its branch: the result of
// merging the landing's head onto Base. Its fields belong together. When the
// branch moves, the landing gets another candidate, and this one does not
// change.
type Candidate struct {
	ID        int64     `json:"-"`
	LandingID int64     `json:"-"`
	Base      string    `json:"base,omitempty"`   // the commit below it
	Tree      string    `json:"tree,omitempty"`   // the merged tree
	Commit    string    `json:"commit,omitempty"` // the commit that would land; empty if the merge created none
	Green     bool      `json:"green,omitempty"`  // every check passed on Tree
	Pushed    bool      `json:"pushed,omitempty"` // the remote has Commit
	Rules     string    `json:"-"`                // the rules of land.ask by which it was merged: see LandAsk.Mark
	Review    string    `json:"review,omitempty"` // which of them asks for a person's review; empty if none does
	CreatedAt time.Time `json:"-"`
}

// Landing puts a task's work on its branch.
type Landing struct {
	ID        int64     `json:"id"`
	ProjectID int64     `json:"project_id"`
	TaskID    int64     `json:"task_id"`
	SessionID int64     `json:"session_id"` // the session whose work it is
	Round     int       `json:"round"`
	Head      string    `json:"head"` // the work: the commit that is merged
	CreatedAt time.Time `json:"created_at"`

	Candidate // the current one; zero before the first merge, and when the landing starts again

	// Verified says that a verifier passed Head. That stays true if the branch
	// moves: the new merge is checked again.
	Verified bool `json:"verified,omitempty"`

	// ApprovedBy is the person who approved Head. That stays true if the branch
	// moves, too. A new head has a new landing, which needs a new approval.
	ApprovedBy string    `json:"approved_by,omitempty"`
	ApprovedAt time.Time `json:"approved_at,omitzero"`

	// Reverts is the commit below an earlier landing of the task, which this one
	// takes off the branch. Head is then the commit of that earlier landing.
	Reverts string `json:"reverts,omitempty"`

	QueueID  int64          `json:"-"` // the queue that it is in; 0 for none
	QueuedAt time.Time      `json:"queued_at,omitzero"`
	Waits    string         `json:"waits,omitempty"`   // why it waits
	Tries    int            `json:"tries,omitempty"`   // how often in a row a step was postponed
	Killed   int            `json:"killed,omitempty"`  // how often in a row its checks were killed; not counted as tries
	RetryAt  time.Time      `json:"retry_at,omitzero"` // no further step before this time
	Steps    int            `json:"steps,omitempty"`   // number of its work items; names the next one
	EndedAt  time.Time      `json:"ended_at,omitzero"`
	Outcome  LandingOutcome `json:"outcome,omitempty"`
	Failure  *Failure       `json:"failure,omitempty"`  // the failure of its last step
	Evidence string         `json:"evidence,omitempty"` // all conflicting hunks or failing logs

	// RedOn is the tree of the base, after a check has refused the candidate and
	// until the landing knows whether the base fails the same check.
	RedOn string `json:"-"`
	// RedRuns marks the landing that runs the check on the base. Others on the same
	// base wait for the result.
	RedRuns bool `json:"-"`
}

// LandingState says how a landing is: its outcome, or before that what it does.
type LandingState string

// The states of a landing that has not ended.
const (
	LandingWaits  LandingState = "waiting"
	LandingPassed LandingState = "passed" // every check passed on its candidate
	LandingRuns   LandingState = "in progress"
)

// State returns the state of the landing.
func (l Landing) State() LandingState {
	switch {
	case l.Outcome != "":
		return LandingState(l.Outcome)
	case l.WaitsFor() != "":
		return LandingWaits
	case l.Green:
		return LandingPassed
	}
	return LandingRuns
}

var landingWords = map[LandingOutcome]string{
	LandingConflict: "did not merge", LandingRefused: "refused by its checks", LandingEmpty: "nothing to land", LandingFailed: "could not run", LandingDropped: "stopped",
}

// StateText returns what people read as the state of the landing.
func (l Landing) StateText() string {
	if l.Outcome == LandingRefused && l.Green {
		return "refused by a verifier"
	}
	if s := l.State(); s != LandingWaits {
		return cmp.Or(landingWords[l.Outcome], string(s))
	}
	return l.WaitsFor()
}

// WaitsFor returns why the landing waits, or that it takes an earlier one off.
func (l Landing) WaitsFor() string {
	if l.Waits == "" && l.Reverts != "" && l.EndedAt.IsZero() {
		return "its landing is being reverted"
	}
	return l.Waits
}

// MovesBack reports whether the landing takes off an earlier one by moving the
// branch back to the commit below it. Otherwise it adds a commit that reverts it.
func (l Landing) MovesBack() bool {
	return l.Reverts != "" && l.Commit == l.Reverts && l.Base == l.Head
}

// Check is one run of a command on one tree. Its result is valid for every later
// landing with the same tree, command and environment, unless something else
// ended the command.
type Check struct {
	ID        int64         `json:"id"`
	ProjectID int64         `json:"project_id"`
	TaskID    int64         `json:"task_id"`
	LandingID int64         `json:"landing_id"`
	Tree      string        `json:"tree"`
	Command   string        `json:"command"`
	Env       string        `json:"env"` // fingerprint of the environment it ran in
	Exit      int           `json:"exit"`
	Signal    string        `json:"signal,omitempty"`    // the signal that killed it, such as SIGKILL; then it has no result
	TimedOut  bool          `json:"timed_out,omitempty"` // it was stopped for its age; only the second time in a row counts as a result
	Log       string        `json:"log,omitempty"`       // its output, without the middle if it is long
	ErrorLine int           `json:"error_line,omitempty" doc:"The line of the whole log at which the first error starts, from 1; absent if none was found"`
	Took      time.Duration `json:"took"`
	StartedAt time.Time     `json:"started_at,omitzero"`
	EndedAt   time.Time     `json:"ended_at"`
	OnBase    bool          `json:"on_base,omitempty" doc:"It ran on the base without the task's work, to find out whether the base fails as well"`
}

// Result says how the run ended.
func (c Check) Result() CommandResult { return resultOf(c.Exit, c.Signal, c.TimedOut) }

// Passed reports whether the tree passed.
func (c Check) Passed() bool { return c.Result() == ResultPassed }

// Killed reports whether the run was killed, so that it has no result.
func (c Check) Killed() bool { return c.Result() == ResultKilled }

// Refused reports whether the run counts against the work of its task.
func (c Check) Refused() bool { return !c.OnBase && !c.Passed() && !c.Killed() }

// Missing reports whether the shell did not find the command, or could not run it.
func (c Check) Missing() bool {
	return c.Result() == ResultFailed && (c.Exit == 126 || c.Exit == 127)
}
