package coppice

import "time"

// ForgeSpec says how a worker finds a project's forge. The secrets are not in it:
// the worker resolves them when it carries the work out.
type ForgeSpec struct {
	Repo   string      `json:"repo"`              // the repository's address: on this machine a path
	RepoID int64       `json:"repo_id,omitempty"` // and its id: the project's
	Remote string      `json:"remote,omitempty"`  // origin if empty
	Forge  ForgePolicy `json:"forge,omitzero"`
}

// PullPushSpec asks to move a branch of the remote from Old to New. Old is empty if
// the branch does not exist there; New is empty to delete the branch. Keep is a commit of
// somebody else that New has to contain, if the branch still does.
type PullPushSpec struct {
	ForgeSpec
	Branch string `json:"branch"`
	Old    string `json:"old,omitempty"`
	New    string `json:"new,omitempty"`
	Keep   string `json:"keep,omitempty"`
}

// PullPushResult reports whether the branch of the remote is at New. If somebody
// else pushed Theirs to it, which New does not contain, nothing was pushed. If New
// contains what somebody else pushed, Kept is that commit. If the remote has a rule
// against the push, Blocked is its text.
type PullPushResult struct {
	Pushed  bool   `json:"pushed"`
	Theirs  string `json:"theirs,omitempty"`
	Kept    string `json:"kept,omitempty"`
	Blocked string `json:"blocked,omitempty"`
}

// ForgeOp is a change of something on a forge.
type ForgeOp string

// The changes. Each is safe to repeat: it first looks for what it would do.
const (
	ForgePut     ForgeOp = "put"     // open the request of Text.Branch, or make it look like Text
	ForgeMerge   ForgeOp = "merge"   // merge it, if its head is Head
	ForgeComment ForgeOp = "comment" // write Comment, with the marker Key
	ForgeResolve ForgeOp = "resolve" // resolve Threads
	ForgeClose   ForgeOp = "close"   // close it without merging it
)

// ForgeWriteSpec asks for a change on a forge.
type ForgeWriteSpec struct {
	ForgeSpec
	Op      ForgeOp  `json:"op"`
	Key     string   `json:"key"`              // the marker: the task's key for a request, a unique key for a comment
	Number  int      `json:"number,omitempty"` // of the request; 0 if Coppice does not know it
	Before  int      `json:"before,omitempty"` // of the task's request before it, which has ended
	Closed  bool     `json:"closed,omitempty"` // that one was closed; somebody can have merged it since
	Text    PullText `json:"text,omitzero"`
	Head    string   `json:"head,omitempty"`
	Method  string   `json:"method,omitempty"` // one of PullMerges
	Auto    bool     `json:"auto,omitempty"`   // leave the merge to the forge, when its rules allow it
	Comment string   `json:"comment,omitempty"`
	Threads []string `json:"threads,omitempty"`
}

// ForgeWriteResult reports what the forge has now. If the forge refuses the change,
// such as a merge without a review, Blocked has its text.
type ForgeWriteResult struct {
	Number  int       `json:"number,omitempty"`
	URL     string    `json:"url,omitempty"`
	State   PullState `json:"state,omitempty"`
	Merged  string    `json:"merged,omitempty"` // the commit on the base
	Auto    bool      `json:"auto,omitempty"`   // the forge merges it later
	Blocked string    `json:"blocked,omitempty"`
}

// ForgeReadSpec asks to read the pull requests of a project. The worker reads the
// forge's list of recent changes, and then each request that differs from what Coppice
// knows, or of which it wants the whole.
type ForgeReadSpec struct {
	ForgeSpec
	Base  string     `json:"base"` // whose tip is reported
	Pulls []PullWant `json:"pulls,omitempty"`
	Scope ForgeScope `json:"scope,omitempty"`
}

// ForgeScope says how much of a forge a pass reads.
type ForgeScope string

// The scopes, the largest first.
const (
	ForgeAll   ForgeScope = ""      // a pass at an interval: the list, and what might have changed without being in it
	ForgeList  ForgeScope = "list"  // the list, and what it shows as changed
	ForgeNamed ForgeScope = "named" // only the requests of the spec, without the list
)

// ForgeHint is what a signed webhook says about a change on a forge. It has no facts:
// Coppice reads the forge itself. An empty hint means that anything might have changed.
type ForgeHint struct {
	Number int    `json:"number,omitempty"` // of a pull request
	Commit string `json:"commit,omitempty"` // whose CI changed
	Branch string `json:"branch,omitempty"` // to which somebody pushed
	None   bool   `json:"none,omitempty"`   // no pull request changed
}

// PullWant is a pull request of which Coppice wants news.
type PullWant struct {
	Task      int64     `json:"task"` // the id
	Number    int       `json:"number"`
	Head      string    `json:"head,omitempty"` // as last reported
	UpdatedAt time.Time `json:"updated_at,omitzero"`
	Whole     bool      `json:"whole,omitempty"` // read it even if the list shows no change
}

// ForgeReadResult has what was read. A request that was not read is missing.
type ForgeReadResult struct {
	Tip   string     `json:"tip,omitempty"`
	Pulls []PullSeen `json:"pulls,omitempty"`
}

// PullSeen is what a forge reports about the pull request of a task.
type PullSeen struct {
	Task int64    `json:"task"`
	Read PullRead `json:"read"`
}
