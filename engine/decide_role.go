package engine

import (
	"fmt"
	"slices"

	"coppice"
	"coppice/prompt"
)

// role is what the engine does for sessions in a role. coppice.Roles has its
// properties, and package prompt its prompt.
type role struct {
	// run adds to the spec of its run. Optional.
	run func(*View, *coppice.RunSpec)
	// end stores the result of its run, for a session that succeeded. Optional.
	end func(*View, coppice.RunResult, *coppice.Session)
	// failed reports whether a session that succeeded achieved nothing, which
	// uses up a try. Optional.
	failed func(*View, *coppice.Session) bool
	// judge decides what follows a session that ended.
	judge func(*View, *coppice.Session) *Decision
}

var roles map[coppice.Role]role

func init() {
	roles = map[coppice.Role]role{
		coppice.RoleImplement: {end: endChange, judge: judgeChange},
		coppice.RoleFix:       {end: endChange, judge: judgeChange},
		coppice.RoleVerify:    {run: runVerifier, end: endVerifier, judge: judgeVerifier},
		coppice.RoleAnswer:    {run: runAnswer, end: endAnswer, failed: unanswered, judge: judgeAnswer},
		coppice.RoleAnalyze:   {judge: judgeAnalysis},
		coppice.RoleCheckout:  {run: runCheckout, end: endAnswer, judge: judgeCheckout},
	}
}

// roleOf returns what the engine does for a session. A role that this version
// does not know is treated like implement.
func roleOf(s *coppice.Session) role {
	if r, ok := roles[s.Role]; ok {
		return r
	}
	return roles[coppice.RoleImplement]
}

// judges reports whether a session in the role judges a candidate, instead of
// working on the task.
func judges(r coppice.Role) bool { return r.Info().Where == coppice.AtCandidate }

// promptFor returns the first message of a task's next session.
func promptFor(v *View, n *coppice.Next, tools []coppice.ToolLine) string {
	in := prompt.Input{
		Task: v.Task, Policy: v.Project.Policy, Next: *n, Onto: v.onto(), Checks: v.checks(),
		Conflict: v.Landing != nil && v.Landing.Outcome == coppice.LandingConflict, Tools: tools, Issue: v.issue,
	}
	for _, m := range v.Messages {
		if n.Role.Info().Prepares {
			break
		}
		if by := coppice.ParseActor(m.From); by.Kind == coppice.ActorSession || m.From == reactionActor || m.From == issueActor {
			in.FromAgents = append(in.FromAgents, m.Text)
			continue
		}
		in.Messages = append(in.Messages, m.Text)
	}
	if !n.Role.Info().Prepares {
		in.Results = v.results
	}
	return prompt.Write(in)
}

// tools returns the tools of Coppice that a task's next session has.
func (t *turn) tools(v *View, n *coppice.Next) ([]coppice.ToolLine, error) {
	if t.cfg.Tools == nil {
		return nil, nil
	}
	lead, err := Leads(t.tx.Reader(), v.Task, n.Role)
	if err != nil {
		return nil, err
	}
	var own *coppice.Profile
	if profile, ok := v.Project.Policy.Agents[n.Agent]; ok {
		own = &profile
	}
	return t.cfg.Tools(n.Agent, own, n.Role, lead), nil
}

// startDetached offers what a starting session in a detached worktree needs
// next: the worktree, then its run.
func startDetached(v *View, s *coppice.Session) *Decision {
	if s.Path != "" {
		spec := runSpec(v, s)
		spec.Path, spec.Ports = s.Path, s.Ports
		return offerRun(v, s, spec)
	}
	from, at := "", v.onto()
	if s.Role.Info().Where == coppice.AtCandidate {
		if v.Landing == nil {
			return endSession(v, coppice.SessionFailed, coppice.Failf(coppice.ClassUnknown, "there is no candidate to verify", ""))
		}
		from, at = v.Landing.Commit, short(v.Landing.Commit)
	}
	if failed, _ := failedBefore(v); s.Role.Info().Where == coppice.AtHead && failed != nil && failed.Head != "" {
		from, at = failed.Head, short(failed.Head)
	}
	return &Decision{Kind: coppice.EventWorkOffered, Reason: "needs a worktree at " + at, Offer: &coppice.Work{
		Kind: coppice.WorkPrepare, Key: fmt.Sprintf("session/%d/prepare", s.ID), Pool: v.place(coppice.WorkRun), SessionID: s.ID,
		Spec: coppice.Raw(coppice.PrepareSpec{
			Key: s.Key, Repo: v.Project.Path, RepoID: v.Project.ID, Base: v.onto(), From: from, Detached: true,
			Policy: v.Project.Policy.Workspace,
		}),
	}}
}

// restrict adds what its role allows to a run's spec.
func restrict(v *View, r coppice.RoleInfo, spec *coppice.RunSpec) {
	if spec.ReadOnly = r.Denied != ""; spec.ReadOnly {
		spec.Locks = "" // what it changes in its own worktree never lands
		spec.Permissions.Rules = slices.Insert(spec.Permissions.Rules, 0, coppice.Rule{Tool: "edit", Do: coppice.RuleDeny, Why: r.Denied})
	}
	if r.App {
		spec.Serve, spec.Docker = v.Project.Policy.Workspace.Serve, v.Project.Policy.Workspace.Docker
	}
}
