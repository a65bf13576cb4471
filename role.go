package coppice

import (
	"slices"
	"time"
)

// Role is the purpose of a session. Roles describes each.
type Role string

// The roles of a session.
const (
	RoleImplement Role = "implement" // does the task
	RoleFix       Role = "fix"       // fixes what a check, a verifier or a merge refused
	RoleVerify    Role = "verify"    // judges whether a candidate does what its task asks, and edits nothing
	RoleAnswer    Role = "answer"    // answers a question about the code, and edits nothing
	RoleAnalyze   Role = "analyze"   // finds out why a session failed, for the next one, and edits nothing
	RoleCheckout  Role = "checkout"  // does the task in the person's own checkout, where nothing lands
)

// Where says where a session works.
type Where string

// Where sessions work.
const (
	InWorkspace Where = "workspace" // in the task's workspace, on its branch
	AtCandidate Where = "candidate" // in a detached worktree, at the commit that would land
	AtTip       Where = "tip"       // in a detached worktree, at the tip of the branch on which the task lands
	AtHead      Where = "head"      // in a detached worktree, at the newest commit of the task's work
	InCheckout  Where = "checkout"  // in the person's own checkout of the project
)

// RoleInfo describes a role. Its decisions are in package engine and its prompt
// in package prompt, under the same name.
type RoleInfo struct {
	Role   Role
	About  string // what its sessions do, for people
	Where  Where
	Denied string // why it cannot change files; empty if it can
	Fixes  bool   // each session uses up one of verify.attempts
	App    bool   // the project's app is served for it
	Notes  bool   // it reads and writes the project's progress file
	Status Status // of a task while a session in the role runs
	// Prepares means that it prepares the next session: its failure uses up no
	// try, and messages wait for that session.
	Prepares bool
	// Limits of its sessions, where neither policy nor task has one.
	Limits RunLimits
	// Completion has the completion checks that apply to its sessions.
	Completion []string
	// Without names the fields that a new task cannot have if its first session is in
	// the role.
	Without []string
}

// landing names the fields of a new task that matter only if its work lands.
var landing = []string{"checks", "steps", "feature", "branch"}

// Roles lists the roles.
var Roles = []RoleInfo{
	{Role: RoleImplement, About: "do the task", Where: InWorkspace, Notes: true, Status: StatusWorking, Completion: []string{CompletionDiff, CompletionErrors}},
	{Role: RoleVerify, About: "judge whether work does what its task asks, and edit nothing", Where: AtCandidate, Denied: "a verifier changes nothing", App: true, Status: StatusVerifying},
	{Role: RoleFix, About: "fix work that a check, a verifier or a merge refused", Where: InWorkspace, Fixes: true, Notes: true, Status: StatusFixing, Completion: []string{CompletionErrors}},
	{Role: RoleAnswer, About: "answer a question about the code, and edit nothing", Where: AtTip, Denied: "this task wants an answer, not a change", Status: StatusWorking, Completion: []string{CompletionErrors}, Without: append(landing, "interactive")},
	{
		Role: RoleAnalyze, About: "find out why a session failed, for the next one, and edit nothing", Where: AtHead, Denied: "an analysis changes nothing",
		Status: StatusWorking, Prepares: true, Limits: RunLimits{Time: Duration(10 * time.Minute), Budget: 1},
	},
	{Role: RoleCheckout, About: "do the task in your own checkout, where nothing lands", Where: InCheckout, Status: StatusWorking, Without: append(landing, "after", "not_before")},
}

// Info returns the description of the role. Unknown roles and the empty role are
// described as implement.
func (r Role) Info() RoleInfo {
	if n := slices.IndexFunc(Roles, func(i RoleInfo) bool { return i.Role == r }); n >= 0 {
		return Roles[n]
	}
	return Roles[0]
}

// Detached reports whether a session in the role works in a detached worktree.
// Its conversation is lost with that worktree.
func (r Role) Detached() bool { w := r.Info().Where; return w != InWorkspace && w != InCheckout }

// Lands reports whether the work of a session in the role can land.
func (r Role) Lands() bool { return r.Info().Where == InWorkspace }

// RoleNames lists the names of the roles.
func RoleNames() []string {
	names := make([]string, len(Roles))
	for n, i := range Roles {
		names[n] = string(i.Role)
	}
	return names
}
