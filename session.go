package coppice

import (
	"cmp"
	"time"
)

// SessionState is what a session is doing, as its agent's protocol reports.
type SessionState string

// The states of a session.
const (
	SessionStarting  SessionState = "starting" // decided; its process does not run yet
	SessionWorking   SessionState = "working"  // the agent is in a turn
	SessionWaiting   SessionState = "waiting"  // for a person
	SessionIdle      SessionState = "idle"     // between turns
	SessionLimited   SessionState = "limited"  // its account is limited; the agent itself waits
	SessionDone      SessionState = "done"     // succeeded
	SessionFailed    SessionState = "failed"
	SessionLost      SessionState = "lost"      // its process disappeared
	SessionCancelled SessionState = "cancelled" // a person stopped it
)

// Live reports whether a session in this state has not ended.
func (s SessionState) Live() bool {
	switch s {
	case SessionStarting, SessionWorking, SessionWaiting, SessionIdle, SessionLimited:
		return true
	}
	return false
}

// StopReason is why the engine asked a session to stop.
type StopReason string

// The reasons to stop a session. After the first three, which are not failures,
// its conversation continues in the next session.
const (
	StopTaken     StopReason = "taken"    // a person continues on the agent's own screen
	StopGiven     StopReason = "given"    // the person hands it back
	StopParked    StopReason = "parked"   // it could only wait, and was parked for too long or with too many others
	StopFinished  StopReason = "finished" // its agent called finish_task: it has succeeded
	StopCancelled            = StopReason(ClassCancelled)
	StopBudget               = StopReason(ClassBudget)
	StopTimeout              = StopReason(ClassTimeout)
	StopLimit                = StopReason(ClassLimit)
)

// Session is one agent conversation working for a task in one role.
type Session struct {
	ID        int64  `json:"id"`
	ProjectID int64  `json:"project_id"`
	TaskID    int64  `json:"task_id"`
	N         int    `json:"n"`
	Key       string `json:"key"`
	Round     int    `json:"round"` // of its task
	Role      Role   `json:"role"`
	Track     string `json:"track"`
	Agent     string `json:"agent"`
	Model     string `json:"model,omitempty"`
	Account   string `json:"account,omitempty"` // whose limits and budget apply, if it is not the agent itself
	Prompt    string `json:"prompt,omitempty"`
	Resume    string `json:"resume,omitempty"` // the conversation it continues
	Fork      bool   `json:"fork,omitempty"`   // it continues a copy of the conversation
	Screen    bool   `json:"screen,omitempty"` // it runs on the agent's own interactive screen

	State     SessionState `json:"state"`
	CreatedAt time.Time    `json:"created_at"`
	StartedAt time.Time    `json:"started_at,omitzero"` // its agent's process runs
	EndedAt   time.Time    `json:"ended_at,omitzero"`
	OutputAt  time.Time    `json:"output_at,omitzero"` // when it last wrote anything

	// A live session that can only wait is parked: it does not count against the limits.
	ParkedAt  time.Time `json:"parked_at,omitzero"`   // when it was parked
	ReadyAt   time.Time `json:"ready_at,omitzero"`    // when it got what it waited for; since then it waits for a free session
	ParkedFor Duration  `json:"parked_for,omitempty"` // how long it was parked before that
	Waits     *Waits    `json:"waits,omitempty"`      // the tasks whose results its agent waits for, until it has them

	// How it went.
	Conversation string     `json:"conversation,omitempty"` // the agent's own id for it
	Exit         *int       `json:"exit,omitempty"`
	Signal       string     `json:"signal,omitempty"`
	Summary      string     `json:"summary,omitempty"` // the agent's final message
	Failure      *Failure   `json:"failure,omitempty"`
	From         string     `json:"from,omitempty"` // the branch's head before it
	Head         string     `json:"head,omitempty"` // the branch's head after it
	Stat         string     `json:"stat,omitempty"` // what it changed in between, by file
	Usage        Usage      `json:"usage"`
	Budget       USD        `json:"budget,omitempty"`     // the most that it can spend, reserved while it runs; 0 means no limit
	Cursor       int64      `json:"cursor"`               // how much of its spool is committed
	StopWhy      StopReason `json:"stop_why,omitempty"`   // why the engine asked it to stop
	StopTries    int        `json:"stop_tries,omitempty"` // how often the engine asked
	StopAt       time.Time  `json:"stop_at,omitzero"`     // when the engine last asked
	Warning      string     `json:"warning,omitempty"`
	Report       string     `json:"report,omitempty"`  // what its agent last reported that it is doing, in one line
	Dropped      int64      `json:"dropped,omitempty"` // bytes of output beyond the limit, which are not kept
	Memory       int64      `json:"memory,omitempty"`  // its agent's peak memory in bytes; 0 means unknown
	Verdict      *Verdict   `json:"verdict,omitempty"` // of a verifier
	Answer       *Answer    `json:"answer,omitempty"`  // of a session that answers

	// Where it works if not in its task's workspace: a detached worktree, which
	// is removed when the session has ended.
	Path  string `json:"path,omitempty"`
	Ports []int  `json:"ports,omitempty"`
}

// Parked reports whether the session can only wait, so that it does not count
// against the limits.
func (s Session) Parked() bool { return !s.ParkedAt.IsZero() }

// Unpark makes the session count against the limits again.
func (s *Session) Unpark(now time.Time) {
	if s.Parked() {
		s.ParkedFor += Duration(now.Sub(s.ParkedAt))
	}
	s.ParkedAt, s.ReadyAt = time.Time{}, time.Time{}
}

// AccountName returns the account whose limits and budget apply to the session.
func (s Session) AccountName() string { return cmp.Or(s.Account, s.Agent) }

// Rests reports whether the session was stopped because it could only wait. Its
// questions stay open, and its conversation continues in the next session.
func (s Session) Rests() bool { return s.State == SessionDone && s.StopWhy == StopParked }

// Continues reports whether the session ended without a failure before it had what
// it waited for. Its task waits, and continues in the next session.
func (s Session) Continues() bool {
	return s.Rests() || s.State == SessionDone && s.Waits != nil && s.StopWhy == ""
}

// LastWork returns the newest of the sessions that worked on the task's own files, and
// for which fits reports true; nil if there is none.
func LastWork(sessions []Session, fits func(Session) bool) *Session {
	for i := len(sessions) - 1; i >= 0; i-- {
		if s := &sessions[i]; !s.Role.Detached() && fits(*s) {
			return s
		}
	}
	return nil
}

// OutputKind is a kind of output of a session.
type OutputKind string

// The kinds of output. Raw kinds contain the bytes as they came. The others
// contain the normalized events of the agent's protocol, as JSON.
const (
	OutputStdout OutputKind = "stdout"
	OutputStderr OutputKind = "stderr"
	OutputEvent  OutputKind = "event"
	OutputHost   OutputKind = "host"  // messages of the host itself
	OutputApp    OutputKind = "app"   // output of the app that is served for a verifier
	OutputImage  OutputKind = "image" // an unchanged picture that a session took as evidence; its first bytes show its type
)

// Output is one piece of a session's output. Offset is the position of its frame
// in the session's spool. Offsets grow, and an offset always names the same
// piece.
type Output struct {
	SessionID int64      `json:"session_id"`
	Offset    int64      `json:"offset"`
	At        time.Time  `json:"at"`
	Kind      OutputKind `json:"kind"`
	Data      []byte     `json:"data"`
	Size      int64      `json:"size,omitempty"` // size of a picture, in lists, which leave out its data
}
