package coppice

import "slices"

// Role says what a session is for. Roles describes each.
type Role string

// The roles of a session.
const (
	RoleImplement Role = "implement" // does the task
	RoleFix       Role = "fix"       // fixes what a check, a verifier or a merge refused
	RoleVerify    Role = "verify"    // judges whether a candidate does what its task asks, and edits nothing
	RoleAnswer    Role = "answer"    // answers a question about the code, and edits nothing
)

// Where says where a session works.
type Where string

// Where sessions work.
const (
	InWorkspace Where = "workspace" // in the task's workspace, on its branch
	AtCandidate Where = "candidate" // in a worktree of its own, at the commit that would land
	AtTip       Where = "tip"       // in a worktree of its own, at the tip of the branch that the task aims at
)

// RoleInfo describes a role. What the role decides and says is in packages engine
// and prompt, by the same name.
type RoleInfo struct {
	Role   Role
	Where  Where
	Denied string // why it may not change files; empty when it may
	Fixes  bool   // each session uses up one of verify.attempts
	App    bool   // the project's app is served for it
	Notes  bool   // it reads and writes the project's progress file
	Status Status // of a task while such a session runs
}

// Roles lists the roles.
var Roles = []RoleInfo{
	{Role: RoleImplement, Where: InWorkspace, Notes: true, Status: StatusWorking},
	{Role: RoleVerify, Where: AtCandidate, Denied: "a verifier changes nothing", App: true, Status: StatusVerifying},
	{Role: RoleFix, Where: InWorkspace, Fixes: true, Notes: true, Status: StatusFixing},
	{Role: RoleAnswer, Where: AtTip, Denied: "this task wants an answer, not a change", Status: StatusWorking},
}

// Info returns the description of the role. A role that this version does not
// know, and the empty one, are described as implement.
func (r Role) Info() RoleInfo {
	if n := slices.IndexFunc(Roles, func(i RoleInfo) bool { return i.Role == r }); n >= 0 {
		return Roles[n]
	}
	return Roles[0]
}

// Detached tells whether a session in the role works in a worktree of its own, on
// no branch. Its conversation stays behind with that worktree.
func (r Role) Detached() bool { return r.Info().Where != InWorkspace }

// RoleNames lists the names of the roles.
func RoleNames() []string {
	names := make([]string, len(Roles))
	for n, i := range Roles {
		names[n] = string(i.Role)
	}
	return names
}
