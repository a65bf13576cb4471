package coppice

import (
	"encoding/json"
	"time"
)

// WorkKind names an effect on the world.
type WorkKind string

// The kinds of work. For each there is one Spec and one Result type below.
const (
	WorkPrepare WorkKind = "workspace.prepare" // create a workspace, or complete a half-created one
	WorkRemove  WorkKind = "workspace.remove"  // move it to the trash
	WorkRestore WorkKind = "workspace.restore" // restore it
	WorkPurge   WorkKind = "workspace.purge"   // remove expired trash
	WorkStrays  WorkKind = "workspace.strays"  // move the stray branches of a workspace to the trash
	WorkRun     WorkKind = "session.run"       // start a session, or find the running one, and follow it to its end
	WorkSend    WorkKind = "session.send"      // send a running session a message or an answer
	WorkStop    WorkKind = "session.stop"      // end a running session in bounded steps
	WorkCheck   WorkKind = "check.run"         // run the check commands on a tree
	WorkMerge   WorkKind = "land.merge"        // merge a candidate with the base, on trees
	WorkPush    WorkKind = "git.push"          // push a commit to a branch of a remote
	WorkMove    WorkKind = "land.move"         // move the base by compare-and-swap
	WorkBranch  WorkKind = "flow.branch"       // create the branch of a flow, or move it to the trash
	WorkHook    WorkKind = "hook.run"          // run the command of a hook
	WorkPreview WorkKind = "preview.run"       // serve the app of a workspace, or find the running one, and follow it to its end

	WorkPullPush   WorkKind = "pull.push"   // push a task's branch for its pull request, or delete it there
	WorkForgeWrite WorkKind = "forge.write" // change something on a forge: a pull request, a comment
	WorkForgeRead  WorkKind = "forge.read"  // read the pull requests of a project that might have changed

	WorkTrackerRead  WorkKind = "tracker.read"  // read the issues of a source that might have changed
	WorkTrackerWrite WorkKind = "tracker.write" // change an issue: its text, status, labels, the status comment
	WorkNotify       WorkKind = "notify.send"   // send a notification
)

// WorkState says who has a work item.
type WorkState string

// The states of a work item.
const (
	WorkOffered   WorkState = "offered"   // any worker of its pool can take it
	WorkTaken     WorkState = "taken"     // one worker has its lease
	WorkFinished  WorkState = "finished"  // it has a result that the engine has not settled yet
	WorkSettled   WorkState = "settled"   // the engine has acted on its result
	WorkCancelled WorkState = "cancelled" // no longer needed; a result will be refused
)

// Work is one effect. It is offered in the transaction that decided it, leased
// to one worker at a time, fenced by its attempt, and idempotent by its key.
type Work struct {
	ID         int64           `json:"id"`
	Kind       WorkKind        `json:"kind"`
	Key        string          `json:"key"` // never used twice; names the effect
	Pool       string          `json:"pool"`
	Subject    Subject         `json:"-"` // the subject whose deciders offer and settle it
	ProjectID  int64           `json:"project_id"`
	TaskID     int64           `json:"task_id"` // the task that it is about
	SessionID  int64           `json:"session_id,omitempty"`
	State      WorkState       `json:"state"`
	Attempt    int             `json:"attempt"` // 1 for the first worker
	Worker     string          `json:"worker,omitempty"`
	LeaseUntil time.Time       `json:"lease_until,omitzero"`
	Spec       json.RawMessage `json:"spec"`
	Result     json.RawMessage `json:"result,omitempty"`
	Failure    *Failure        `json:"failure,omitempty"` // of the work itself; then Result is empty
	OfferedAt  time.Time       `json:"offered_at"`
	TakenAt    time.Time       `json:"taken_at,omitzero"`
	FinishedAt time.Time       `json:"finished_at,omitzero"`
}

// Open reports whether the item still belongs to the workers.
func (w Work) Open() bool { return w.State == WorkOffered || w.State == WorkTaken }

// Rank is how important the item is to a worker. A lower rank comes first. Steps
// of a queue come before everything, because all later landings wait for them.
// Then comes work that frees a workspace, then work that moves a task closer to
// its landing, and last work that starts something new.
func (w Work) Rank() int {
	if w.Subject.Kind == SubjectQueue {
		return 0
	}
	switch w.Kind {
	case WorkRemove:
		return 1
	case WorkMerge, WorkCheck, WorkRun, WorkSend, WorkStop, WorkPreview, WorkPullPush, WorkForgeWrite, WorkForgeRead, WorkTrackerRead, WorkTrackerWrite, WorkNotify: // a stop is requested repeatedly, and must not starve the run
		return 2
	case WorkPrepare, WorkRestore, WorkStrays, WorkBranch:
		return 3
	}
	return 4
}

// Lease is a worker's lease of a work item. Attempt fences it: a result or
// renewal of an older attempt is refused.
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

// PrepareSpec asks for a workspace on a branch that starts at a commit: the
// base's, or From.
type PrepareSpec struct {
	Key    string `json:"key"`               // the task's
	Repo   string `json:"repo"`              // the repository's address: on this machine a path
	RepoID int64  `json:"repo_id,omitempty"` // and its id: the project's
	Branch string `json:"branch"`
	Base   string `json:"base"`           // the base branch
	From   string `json:"from,omitempty"` // the branch or commit to start from, instead of the base
	// Detached asks for a worktree on no branch, for a session that only reads:
	// at the commit From, or at the tip of Base. Its key is the session's.
	Detached bool            `json:"detached,omitempty"`
	Policy   WorkspacePolicy `json:"policy"`
	// Fetch is the branch of Remote that has the commit From, if the repository does not
	// have it yet.
	Fetch  string `json:"fetch,omitempty"`
	Remote string `json:"remote,omitempty"`
}

// PrepareResult reports where the workspace is.
type PrepareResult struct {
	Path       string `json:"path"`
	BaseCommit string `json:"base_commit"`
	Head       string `json:"head"`
	Ports      []int  `json:"ports,omitempty"`
}

// RemoveSpec asks to move a workspace to the trash.
type RemoveSpec struct {
	Key    string      `json:"key"`
	Repo   string      `json:"repo"`              // the repository's address: on this machine a path
	RepoID int64       `json:"repo_id,omitempty"` // and its id: the project's
	Path   string      `json:"path"`
	Branch string      `json:"branch"`
	Policy TrashPolicy `json:"policy"`
	Try    int         `json:"try,omitempty"` // of the removals of a detached worktree, from 1
}

// RemoveResult reports what the trash keeps.
type RemoveResult struct {
	Head    string `json:"head"`
	Ref     string `json:"ref"`
	Archive string `json:"archive,omitempty"`
	// Strays are the branches of the agent whose commits the ref keeps.
	Strays []StrayBranch `json:"strays,omitempty"`
}

// StraysSpec asks to move the stray branches of a workspace to the trash.
type StraysSpec struct {
	Key    string `json:"key"`
	Repo   string `json:"repo"`              // the repository's address: on this machine a path
	RepoID int64  `json:"repo_id,omitempty"` // and its id: the project's
	Branch string `json:"branch"`            // the task's
	Ref    string `json:"ref"`               // the entry of the trash, used by no other request
}

// StraysResult reports which branches were removed. Those with a Ref have commits
// that the trash keeps.
type StraysResult struct {
	Head   string        `json:"head,omitempty"` // of the task's branch
	Strays []StrayBranch `json:"strays,omitempty"`
}

// RestoreSpec asks to restore a workspace from the trash.
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

// PurgeSpec asks to remove trash permanently.
type PurgeSpec struct {
	Repo    string `json:"repo"`              // the repository's address: on this machine a path
	RepoID  int64  `json:"repo_id,omitempty"` // and its id: the project's
	Ref     string `json:"ref"`
	Archive string `json:"archive,omitempty"`
}

// PurgeResult is empty.
type PurgeResult struct{}

// BranchSpec asks for the branch of a flow, in the person's repository. If it exists,
// it stays as it is. With Drop it is removed instead, and Ref keeps its commits.
type BranchSpec struct {
	Repo   string `json:"repo"`              // the repository's address: on this machine a path
	RepoID int64  `json:"repo_id,omitempty"` // and its id: the project's
	Branch string `json:"branch"`
	From   string `json:"from,omitempty"` // the branch at whose tip it starts
	Head   string `json:"head,omitempty"` // the commit at which it starts instead: one that the trash keeps
	Drop   bool   `json:"drop,omitempty"`
	Ref    string `json:"ref,omitempty"` // the entry of the trash, used by no other request
}

// BranchResult reports where the branch is, or was.
type BranchResult struct {
	Tip  string `json:"tip,omitempty"`  // empty if a branch to remove did not exist
	Kept bool   `json:"kept,omitempty"` // the trash has commits of it that no other branch has
}

// RunSpec asks to run a session to its end.
type RunSpec struct {
	Session Session  `json:"session"`          // without its prompt, which the store has
	Images  []string `json:"images,omitempty"` // ids of the images that belong to its prompt
	Task    string   `json:"task"`             // key
	Title   string   `json:"title"`
	Repo    string   `json:"repo"`              // the repository's address: on this machine a path
	RepoID  int64    `json:"repo_id,omitempty"` // and its id: the project's
	Path    string   `json:"path"`              // of the workspace
	Branch  string   `json:"branch"`
	Ports   []int    `json:"ports,omitempty"`
	Profile *Profile `json:"profile,omitempty"` // the project's own profile of the agent, if it has one

	Base   string `json:"base"`             // the base branch, for the agent
	Effort string `json:"effort,omitempty"` // how hard the agent thinks, in the agent's words

	Permissions PermissionPolicy     `json:"permissions"` // remembered rules first
	MCP         map[string]MCPServer `json:"mcp,omitempty"`
	Locks       string               `json:"locks,omitempty"`  // whether edits without a lock are refused; see LockModes
	Budget      USD                  `json:"budget,omitempty"` // what is left to spend; 0 means no limit

	Checkout bool         `json:"checkout,omitempty"`  // the session works in the person's own checkout, in which Coppice changes nothing
	ReadOnly bool         `json:"read_only,omitempty"` // the session works in a detached worktree and must change nothing
	Serve    ServePolicy  `json:"serve,omitzero"`      // the app that is served for it
	Docker   DockerPolicy `json:"docker,omitzero"`     // where the app's command runs
	PassEnv  []string     `json:"pass_env,omitempty"`  // variables that the project passes on: names and patterns

	Output   Bytes           `json:"output,omitempty"`   // limit of the kept output; 0 means no limit
	Progress string          `json:"progress,omitempty"` // a file of the workspace that is never committed
	Schema   json.RawMessage `json:"schema,omitempty"`   // the JSON schema of the session's final message, if its agent supports that
	Browser  bool            `json:"browser,omitempty"`  // the session gets its own browser
	Diff     int             `json:"diff,omitempty"`     // how many bytes of what it changed are reported if it fails
	Identity Identity        `json:"identity,omitzero"`  // the author of its commits

	NoErrors      bool          `json:"no_errors,omitempty"`     // it fails if its output ends with an error
	BrowserServer BrowserServer `json:"browser_server,omitzero"` // the tool server of that browser
}

// RunResult reports how a session went: what its process did, what its agent
// said and what the repository shows. The engine needs all three to believe it.
type RunResult struct {
	Exit         *int     `json:"exit,omitempty"`
	Signal       string   `json:"signal,omitempty"`
	Stopped      bool     `json:"stopped,omitempty"` // it was asked to stop
	Lost         bool     `json:"lost,omitempty"`    // its host disappeared
	Conversation string   `json:"conversation,omitempty"`
	Summary      string   `json:"summary,omitempty"`
	Failure      *Failure `json:"failure,omitempty"` // as reported by the agent's protocol, or derived from its exit
	From         string   `json:"from"`              // the branch's head before it
	Head         string   `json:"head"`              // the branch's head after it, with leftover changes committed
	Stat         string   `json:"stat,omitempty"`    // what changed in between, by file
	Diff         string   `json:"diff,omitempty"`    // the start of what changed in between, if it failed or can still fail and the spec asks for it
	Error        string   `json:"error,omitempty"`   // with which its output ends, if the spec forbids it
	Changed      []string `json:"changed,omitempty"` // tracked files that a read-only session changed
	Usage        Usage    `json:"usage"`
	Dropped      int64    `json:"dropped,omitempty"` // bytes of output beyond the limit, which are not kept
	Memory       int64    `json:"memory,omitempty"`  // its agent's peak memory in bytes; 0 means unknown

	Strays []StrayBranch `json:"strays,omitempty"` // the branches of its workspace besides the task's
}

// SendSpec asks to send a text to a running session.
type SendSpec struct {
	ID       string `json:"id"`             // delivered once, however often it is sent
	Session  string `json:"session"`        // key
	Kind     string `json:"kind,omitempty"` // of message
	Text     string `json:"text"`
	Question string `json:"question,omitempty"` // the Ref of the question it answers

	Images []string `json:"images,omitempty"` // ids of the images that belong to the text
}

// SendResult reports whether the agent has it.
type SendResult struct {
	Delivered bool   `json:"delivered"`
	Why       string `json:"why,omitempty"` // why not
}

// StopSpec asks to end a running session, or a preview.
type StopSpec struct {
	Session string   `json:"session"`
	Preview int64    `json:"preview,omitempty"` // the preview to end, instead of a session
	Task    string   `json:"task,omitempty"`    // the key of its task
	Grace   Duration `json:"grace"`             // for each step
}

// StopResult is empty: the session's RunResult reports the end.
type StopResult struct{}

// CheckSpec asks to check a tree.
type CheckSpec struct {
	Repo     string          `json:"repo"`              // the repository's address: on this machine a path
	RepoID   int64           `json:"repo_id,omitempty"` // and its id: the project's
	Commit   string          `json:"commit"`            // a commit with that tree
	Tree     string          `json:"tree"`
	Commands []string        `json:"commands"`
	Timeout  Duration        `json:"timeout"` // for each command
	Policy   WorkspacePolicy `json:"policy"`
	// Base is the commit below a candidate. If a command fails, the result has its
	// tree.
	Base string `json:"base,omitempty"`
	// OnBase says that Commit is the base below a candidate that a command refused.
	OnBase bool `json:"on_base,omitempty"`
}

// CheckResult has the result of each command, in order.
type CheckResult struct {
	Env      string  `json:"env"`
	Checks   []Check `json:"checks"`
	BaseTree string  `json:"base_tree,omitempty"` // of the base, if a command failed
}

// MergeSpec asks to merge a head onto the base. The same spec on the same base
// creates the same commit, so it is safe to repeat.
type MergeSpec struct {
	Repo     string    `json:"repo"`              // the repository's address: on this machine a path
	RepoID   int64     `json:"repo_id,omitempty"` // and its id: the project's
	Base     string    `json:"base"`              // branch
	Head     string    `json:"head"`
	Strategy string    `json:"strategy"`
	Message  string    `json:"message"` // with trailers
	At       time.Time `json:"at"`      // the committer's date: the landing's
	Ref      string    `json:"ref"`     // keeps the commit until it has landed
	// Ours names files that the candidate does not change. They land as the base
	// has them.
	Ours []string `json:"ours,omitempty"`
	// Seen is the commit where Coppice last saw the base, or to which it moved
	// it. If the base is elsewhere, it is checked before the merge.
	Seen string `json:"seen,omitempty"`
	// Onto is the commit to merge onto, instead of the branch's head: that of a
	// landing which is about to land.
	Onto string `json:"onto,omitempty"`
	// Ask has the rules by which a change waits for a person's review.
	Ask LandAsk `json:"ask,omitzero"`
	// Reverts asks to take off what Head added on top of this commit, instead of
	// merging Head.
	Reverts string `json:"reverts,omitempty"`
}

// MergeResult is a commit on top of Base, or the conflicts.
type MergeResult struct {
	Base      string     `json:"base"` // the base's commit
	Tree      string     `json:"tree,omitempty"`
	Commit    string     `json:"commit,omitempty"`
	Empty     bool       `json:"empty,omitempty"` // the tree equals the base's
	Conflicts []Conflict `json:"conflicts,omitempty"`
	// Review says which rule of Ask applies to the change. It is empty if none
	// does.
	Review string `json:"review,omitempty"`
	// Refused is git's message about a commit that is incomplete, or that a git
	// which checks received objects would refuse.
	Refused string `json:"refused,omitempty"`
	// Need is set if the base moved since Seen in a way that a person must
	// check. Then nothing was merged.
	Need *Need `json:"need,omitempty"`
}

// Conflict is one path that does not merge, with its hunks.
type Conflict struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// PushSpec asks to push New to the branch of a remote, before the local branch
// moves from Old to New.
type PushSpec struct {
	Repo   string `json:"repo"`              // the repository's address: on this machine a path
	RepoID int64  `json:"repo_id,omitempty"` // and its id: the project's
	Base   string `json:"base"`              // branch
	Old    string `json:"old"`
	New    string `json:"new"`
	Remote string `json:"remote,omitempty"` // origin if empty
}

// PushResult reports whether the remote has New. If not, either Blocked says why
// the push had to wait, or the branch moved elsewhere and the landing starts
// again. After a failed push it is unknown whether the remote has New. A
// repeated push reports it.
type PushResult struct {
	Pushed  bool   `json:"pushed"`
	Now     string `json:"now"` // where the local branch is
	Blocked string `json:"blocked,omitempty"`
	// Need is what a person must do before New can land here, as in MoveResult.
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
	Ref    string `json:"ref"`              // removed after the landing
	// Push asks to push first. Only earlier versions offer work with it.
	Push bool `json:"push,omitempty"`
	// Follow asks to fetch New from the branch of the remote, and to move the branch
	// there from wherever it is, if New is on top of it. Old is not used.
	Follow bool `json:"follow,omitempty"`
	// Back asks to move the branch back to New, a commit below Old. Nothing moves
	// if something else builds on Old.
	Back bool `json:"back,omitempty"`
}

// MoveResult reports where the base is now. Moved is true exactly if the base is
// at New, or contains New. Otherwise either Blocked says why the move had to
// wait, or the base moved elsewhere and the landing starts again. After a failed
// move it is unknown where the base is. A repeated move reports it.
type MoveResult struct {
	Moved   bool   `json:"moved"`
	Now     string `json:"now"`
	Blocked string `json:"blocked,omitempty"`
	// Need is what a person must do before a blocked move can succeed: about
	// files of the checkout, or about changed git settings. It is nil if the
	// block ends automatically.
	Need *Need `json:"need,omitempty"`
	// Builds names what builds on the commit that a move back would take off.
	Builds string `json:"builds,omitempty"`
}
