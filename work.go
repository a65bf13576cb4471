package coppice

import (
	"encoding/json"
	"time"
)

// WorkKind names an effect on the world.
type WorkKind string

// The kinds of work. For each there is one Spec and one Result type below.
const (
	WorkPrepare WorkKind = "workspace.prepare" // make a workspace, or complete a half-made one
	WorkRemove  WorkKind = "workspace.remove"  // to the trash
	WorkRestore WorkKind = "workspace.restore" // and back
	WorkPurge   WorkKind = "workspace.purge"   // forget trash that expired
	WorkRun     WorkKind = "session.run"       // start a session, or find the running one, and follow it to its end
	WorkSend    WorkKind = "session.send"      // hand a running session a message or an answer
	WorkStop    WorkKind = "session.stop"      // end a running session in bounded steps
	WorkCheck   WorkKind = "check.run"         // run the check commands on a tree
	WorkMerge   WorkKind = "land.merge"        // merge a candidate with the base, on trees
	WorkPush    WorkKind = "git.push"          // bring a commit to a branch of a remote
	WorkMove    WorkKind = "land.move"         // move the base by compare-and-swap
)

// WorkState says who holds a work item.
type WorkState string

// The states of a work item.
const (
	WorkOffered   WorkState = "offered"   // anybody of its pool may take it
	WorkTaken     WorkState = "taken"     // one worker holds its lease
	WorkFinished  WorkState = "finished"  // it has a result that the engine has yet to settle
	WorkSettled   WorkState = "settled"   // the engine has drawn its conclusions
	WorkCancelled WorkState = "cancelled" // no longer wanted; a result will be refused
)

// Work is one effect: offered in the transaction that decided it, leased to
// one worker at a time, fenced by its attempt, idempotent by its key.
type Work struct {
	ID         int64           `json:"id"`
	Kind       WorkKind        `json:"kind"`
	Key        string          `json:"key"` // unique for ever; the effect's own name
	Pool       string          `json:"pool"`
	Subject    Subject         `json:"-"` // whose deciders offered it, and settle it
	ProjectID  int64           `json:"project_id"`
	TaskID     int64           `json:"task_id"` // that it is about
	SessionID  int64           `json:"session_id,omitempty"`
	State      WorkState       `json:"state"`
	Attempt    int             `json:"attempt"` // 1 for the first worker that takes it
	Worker     string          `json:"worker,omitempty"`
	LeaseUntil time.Time       `json:"lease_until,omitzero"`
	Spec       json.RawMessage `json:"spec"`
	Result     json.RawMessage `json:"result,omitempty"`
	Failure    *Failure        `json:"failure,omitempty"` // of the work itself; its Result is then empty
	OfferedAt  time.Time       `json:"offered_at"`
	TakenAt    time.Time       `json:"taken_at,omitzero"`
	FinishedAt time.Time       `json:"finished_at,omitzero"`
}

// Open tells whether the item still belongs to the workers.
func (w Work) Open() bool { return w.State == WorkOffered || w.State == WorkTaken }

// Rank is how important the item is to whoever takes work: less comes first. What
// moves a queue on comes before everything, since all landings behind wait for it.
// Then what frees a workspace, then what brings a task closer to its landing, and
// last what begins something new.
func (w Work) Rank() int {
	if w.Subject.Kind == SubjectQueue {
		return 0
	}
	switch w.Kind {
	case WorkRemove:
		return 1
	case WorkMerge, WorkCheck, WorkRun, WorkSend, WorkStop: // a stop is asked for again and again, and must not starve the run
		return 2
	case WorkPrepare, WorkRestore:
		return 3
	}
	return 4
}

// Lease is a worker's hold on a work item. Attempt fences it: a result or
// renewal from an older attempt is refused.
type Lease struct {
	Work    Work
	Attempt int
	Worker  string
	Until   time.Time
}

// DecodeSpec decodes the spec of a work item into its kind's type.
func DecodeSpec[T any](w Work) (T, error) { return decode[T](w.Spec) }

// DecodeResult decodes the result of a work item into its kind's type.
func DecodeResult[T any](w Work) (T, error) { return decode[T](w.Result) }

func decode[T any](raw json.RawMessage) (T, error) {
	var v T
	err := json.Unmarshal(raw, &v)
	return v, err
}

// PrepareSpec asks for a workspace on a branch made from a commit: of the base,
// or the one it names.
type PrepareSpec struct {
	Key    string `json:"key"`               // the task's
	Repo   string `json:"repo"`              // the repository's address: on this machine a path
	RepoID int64  `json:"repo_id,omitempty"` // and its id: the project's
	Branch string `json:"branch"`
	Base   string `json:"base"`           // the base branch
	From   string `json:"from,omitempty"` // the branch or commit to begin from, instead of the base
	// Detached asks for a worktree of its own on no branch, for a session that only
	// looks: at the commit From, or at the tip of Base. Its key is the session's.
	Detached bool            `json:"detached,omitempty"`
	Policy   WorkspacePolicy `json:"policy"`
}

// PrepareResult tells where it is.
type PrepareResult struct {
	Path       string `json:"path"`
	BaseCommit string `json:"base_commit"`
	Head       string `json:"head"`
	Ports      []int  `json:"ports,omitempty"`
}

// RemoveSpec asks to put a workspace into the trash.
type RemoveSpec struct {
	Key    string      `json:"key"`
	Repo   string      `json:"repo"`              // the repository's address: on this machine a path
	RepoID int64       `json:"repo_id,omitempty"` // and its id: the project's
	Path   string      `json:"path"`
	Branch string      `json:"branch"`
	Policy TrashPolicy `json:"policy"`
}

// RemoveResult tells what the trash keeps.
type RemoveResult struct {
	Head    string `json:"head"`
	Ref     string `json:"ref"`
	Archive string `json:"archive,omitempty"`
}

// RestoreSpec asks to bring a workspace back from the trash.
type RestoreSpec struct {
	Key     string          `json:"key"`
	Repo    string          `json:"repo"`              // the repository's address: on this machine a path
	RepoID  int64           `json:"repo_id,omitempty"` // and its id: the project's
	Branch  string          `json:"branch"`
	Head    string          `json:"head"`
	Ref     string          `json:"ref"`
	Archive string          `json:"archive,omitempty"`
	Policy  WorkspacePolicy `json:"policy"`
}

// PurgeSpec asks to forget trash for good.
type PurgeSpec struct {
	Repo    string `json:"repo"`              // the repository's address: on this machine a path
	RepoID  int64  `json:"repo_id,omitempty"` // and its id: the project's
	Ref     string `json:"ref"`
	Archive string `json:"archive,omitempty"`
}

// PurgeResult says nothing: it is forgotten.
type PurgeResult struct{}

// RunSpec asks to run a session to its end.
type RunSpec struct {
	Session Session  `json:"session"` // without its prompt, which the store has
	Task    string   `json:"task"`    // key
	Title   string   `json:"title"`
	Repo    string   `json:"repo"`              // the repository's address: on this machine a path
	RepoID  int64    `json:"repo_id,omitempty"` // and its id: the project's
	Path    string   `json:"path"`              // the workspace's
	Branch  string   `json:"branch"`
	Ports   []int    `json:"ports,omitempty"`
	Profile *Profile `json:"profile,omitempty"` // the project's own, where it has one for the agent

	Base   string `json:"base"`             // the base branch, for the agent to know
	Effort string `json:"effort,omitempty"` // how hard the agent thinks, in its own words

	Permissions PermissionPolicy     `json:"permissions"` // the remembered rules first
	MCP         map[string]MCPServer `json:"mcp,omitempty"`
	Budget      USD                  `json:"budget,omitempty"` // what is left to spend; 0 means no bound

	ReadOnly bool         `json:"read_only,omitempty"` // the session works in a detached worktree and may change nothing
	Serve    ServePolicy  `json:"serve,omitzero"`      // the app that is served for it
	Docker   DockerPolicy `json:"docker,omitzero"`     // where the app's command runs

	Output   Bytes           `json:"output,omitempty"`   // how much of its output is kept; 0 means all of it
	Progress string          `json:"progress,omitempty"` // a file of the workspace that no commit takes in
	Schema   json.RawMessage `json:"schema,omitempty"`   // what the session's last words are held to, where its agent can
	Browser  bool            `json:"browser,omitempty"`  // it is given a browser of its own
}

// RunResult tells how a session went: what its process did, what its agent
// said and what the repository shows. The engine believes only the three
// together.
type RunResult struct {
	Exit         *int     `json:"exit,omitempty"`
	Signal       string   `json:"signal,omitempty"`
	Stopped      bool     `json:"stopped,omitempty"` // ended because it was asked to
	Lost         bool     `json:"lost,omitempty"`    // its host vanished
	Conversation string   `json:"conversation,omitempty"`
	Summary      string   `json:"summary,omitempty"`
	Failure      *Failure `json:"failure,omitempty"` // as the agent's protocol or its exit tells
	From         string   `json:"from"`              // the branch's head before
	Head         string   `json:"head"`              // and after, leftovers committed
	Stat         string   `json:"stat,omitempty"`    // what changed in between, summed up by file
	Changed      []string `json:"changed,omitempty"` // tracked files that a session changed which may change nothing
	Usage        Usage    `json:"usage"`
	Dropped      int64    `json:"dropped,omitempty"` // bytes of its output beyond the limit, which are not kept
	Memory       int64    `json:"memory,omitempty"`  // the most bytes that its agent had in use; 0 means unknown
}

// SendSpec asks to hand a running session a text.
type SendSpec struct {
	ID       string `json:"id"`             // said once, however often it is sent
	Session  string `json:"session"`        // key
	Kind     string `json:"kind,omitempty"` // of message
	Text     string `json:"text"`
	Question string `json:"question,omitempty"` // the Ref of the question it answers
}

// SendResult tells whether the agent has it.
type SendResult struct {
	Delivered bool   `json:"delivered"`
	Why       string `json:"why,omitempty"` // when not
}

// StopSpec asks to end a running session.
type StopSpec struct {
	Session string   `json:"session"`
	Grace   Duration `json:"grace"` // for each of the bounded steps
}

// StopResult says nothing: the session's own RunResult tells.
type StopResult struct{}

// CheckSpec asks to judge a tree.
type CheckSpec struct {
	Repo     string          `json:"repo"`              // the repository's address: on this machine a path
	RepoID   int64           `json:"repo_id,omitempty"` // and its id: the project's
	Commit   string          `json:"commit"`            // a commit whose tree it is
	Tree     string          `json:"tree"`
	Commands []string        `json:"commands"`
	Timeout  Duration        `json:"timeout"` // for each
	Policy   WorkspacePolicy `json:"policy"`
}

// CheckResult tells the judgement of each command, in order.
type CheckResult struct {
	Env    string  `json:"env"`
	Checks []Check `json:"checks"`
}

// MergeSpec asks what the candidate looks like on top of the base. The same
// spec on the same base makes the same commit, so doing it twice does no harm.
type MergeSpec struct {
	Repo     string    `json:"repo"`              // the repository's address: on this machine a path
	RepoID   int64     `json:"repo_id,omitempty"` // and its id: the project's
	Base     string    `json:"base"`              // branch
	Head     string    `json:"head"`
	Strategy string    `json:"strategy"`
	Message  string    `json:"message"` // trailers included
	At       time.Time `json:"at"`      // the committer's date: the landing's
	Ref      string    `json:"ref"`     // keeps the commit until it landed
	// Ours names files that the candidate does not change: whatever it says of
	// them, they land as the base has them.
	Ours []string `json:"ours,omitempty"`
	// Seen is where the base was when Coppice last saw it, or moved it there. A
	// base that is elsewhere is judged before it is built upon.
	Seen string `json:"seen,omitempty"`
	// Onto is the commit to merge onto, instead of where the branch is now: that
	// of a landing which is about to land.
	Onto string `json:"onto,omitempty"`
}

// MergeResult is a commit on top of Base, or what conflicts.
type MergeResult struct {
	Base      string     `json:"base"` // the base's commit
	Tree      string     `json:"tree,omitempty"`
	Commit    string     `json:"commit,omitempty"`
	Empty     bool       `json:"empty,omitempty"` // the tree is the base's own
	Conflicts []Conflict `json:"conflicts,omitempty"`
	// Refused is git's word on a commit that is incomplete or that no git which
	// checks what it receives would take.
	Refused string `json:"refused,omitempty"`
	// Need is set when the base moved since Seen in a way that a person must
	// look at. Nothing was merged then.
	Need *Need `json:"need,omitempty"`
}

// Conflict is one path that does not merge, with its hunks.
type Conflict struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// PushSpec asks to bring New to the branch of a remote, before the branch moves
// here from Old to New.
type PushSpec struct {
	Repo   string `json:"repo"`              // the repository's address: on this machine a path
	RepoID int64  `json:"repo_id,omitempty"` // and its id: the project's
	Base   string `json:"base"`              // branch
	Old    string `json:"old"`
	New    string `json:"new"`
	Remote string `json:"remote,omitempty"` // origin when empty
}

// PushResult reports whether the remote has New. If not, either Blocked says why
// the push had to wait, or the branch has gone elsewhere and the landing begins
// again. After a push that fails the remote may have New or not; done again, it
// reports which.
type PushResult struct {
	Pushed  bool   `json:"pushed"`
	Now     string `json:"now"` // where the branch is here
	Blocked string `json:"blocked,omitempty"`
	// Need is what a person has to do before New can land here, as in a MoveResult.
	// It is known before the remote moves.
	Need *Need `json:"need,omitempty"`
}

// MoveSpec asks to move the base from Old to New.
type MoveSpec struct {
	Repo   string `json:"repo"`              // the repository's address: on this machine a path
	RepoID int64  `json:"repo_id,omitempty"` // and its id: the project's
	Base   string `json:"base"`              // branch
	Old    string `json:"old"`
	New    string `json:"new"`
	Remote string `json:"remote,omitempty"`
	Pushed bool   `json:"pushed,omitempty"` // the remote has New
	Ref    string `json:"ref"`              // dropped once landed
	// Push asks to push first. Only work that an earlier version offered has it.
	Push bool `json:"push,omitempty"`
}

// MoveResult tells where the base is now. Moved is true exactly when it is at
// New, or New is part of it. Otherwise either Blocked says why it had to wait,
// or the base has gone elsewhere and the landing begins again. A move that fails
// says nothing of where the base is; done again, it tells.
type MoveResult struct {
	Moved   bool   `json:"moved"`
	Now     string `json:"now"`
	Blocked string `json:"blocked,omitempty"`
	// Need is what a person has to do before a blocked move can succeed: about
	// files of the checkout, or about git settings that changed. Nil when the
	// block ends by itself.
	Need *Need `json:"need,omitempty"`
}
