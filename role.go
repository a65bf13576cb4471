package coppice

import "slices"

// Role is the purpose of a session. Roles describes each.
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
	AtCandidate Where = "candidate" // in a detached worktree, at the commit that would land
	AtTip       Where = "tip"       // in a detached worktree, at the tip of the task's branch
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
}

// Roles lists the roles.
var Roles = []RoleInfo{
	{Role: RoleImplement, About: "do the task", Where: InWorkspace, Notes: true, Status: StatusWorking},
	{Role: RoleVerify, About: "judge whether work does what its task asks, and edit nothing", Where: AtCandidate, Denied: "a verifier changes nothing", App: true, Status: StatusVerifying},
	{Role: RoleFix, About: "fix work that a check, a verifier or a merge refused", Where: InWorkspace, Fixes: true, Notes: true, Status: StatusFixing},
	{Role: RoleAnswer, About: "answer a question about the code, and edit nothing", Where: AtTip, Denied: "this task wants an answer, not a change", Status: StatusWorking},
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
func (r Role) Detached() bool { return r.Info().Where != InWorkspace }

// RoleNames lists the names of the roles.
func RoleNames() []string {
	names := make([]string, len(Roles))
	for n, i := range Roles {
		names[n] = string(i.Role)
	}
	return names
}
