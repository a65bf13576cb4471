//go:build linux

package workspace_test

import (
	"encoding/json"

	"coppice"
)

// flowSpec is about the branch of the flow app-13.
func (s *stage) flowSpec(drop bool) coppice.BranchSpec {
	spec := coppice.BranchSpec{Repo: s.repo, Branch: coppice.TaskBranch("app-13"), From: "main"}
	if drop {
		spec.From, spec.Drop, spec.Ref = "", true, "refs/coppice/trash/app-13-flow-7"
	}
	return spec
}

func (s *stage) flow(spec coppice.BranchSpec) coppice.BranchResult {
	s.t.Helper()
	res, err := s.workspaces().FlowBranch(s.t.Context(), spec)
	if err != nil {
		s.t.Fatal(err)
	}
	return res
}

// setFlow creates the branch of a flow, unless the situation sets another spec. The
// branch is at s.flowTip.
func setFlow(situation func(*stage)) func(*stage) {
	return func(s *stage) {
		s.commit("first")
		s.workspaces()
		s.flowTip = s.git(s.repo, "rev-parse", "main")
		s.kind, s.spec = "flow", s.flowSpec(false)
		situation(s)
	}
}

// flowWithStep has a step on the branch of the flow, which is removed.
func flowWithStep(s *stage) {
	branch := s.flowSpec(false).Branch
	s.flow(s.flowSpec(false))
	s.prepare()
	added(s)
	merge := s.mergeSpec(s.save(), coppice.StrategySquash)
	merge.Base = branch
	m, err := s.workspaces().Merge(s.t.Context(), merge)
	if err != nil {
		s.t.Fatal(err)
	}
	move := coppice.MoveSpec{Repo: s.repo, Base: branch, Old: m.Base, New: m.Commit, Ref: landingRef}
	if res, err := s.workspaces().Move(s.t.Context(), move); err != nil || !res.Moved {
		s.t.Fatal(res, err)
	}
	s.remove()
	s.made, s.flowTip, s.spec = "", m.Commit, s.flowSpec(true)
}

// flowInTrash has the commits of the flow only in the trash, and the branch is created
// from it.
func flowInTrash(s *stage) {
	flowWithStep(s)
	spec := s.flowSpec(false)
	spec.Head = s.flow(s.flowSpec(true)).Tip
	s.git(s.repo, "update-ref", "refs/coppice/keep", "main")
	s.git(s.repo, "reflog", "expire", "--expire=now", "--all")
	packed(s)
	s.spec = spec
}

// checkFlow checks that the branch of a flow is at its commit, or gone and kept by the
// trash. Then the person's git can pack and prune, and the branch can be created again.
func (s *stage) checkFlow(res any, err error) []wrong {
	bad := s.untouched()
	if err != nil {
		return append(bad, wrongf("error", "%v", err))
	}
	spec := s.spec.(coppice.BranchSpec)
	var r coppice.BranchResult
	if b, err := json.Marshal(res); err != nil || json.Unmarshal(b, &r) != nil || r != (coppice.BranchResult{Tip: s.flowTip, Kept: spec.Drop}) {
		bad = append(bad, wrongf("error", "the answer is %v, want %s", res, s.flowTip))
	}
	at, _ := tryGit(s.repo, "rev-parse", "--verify", "--quiet", "refs/heads/"+spec.Branch)
	if want := map[bool]string{false: s.flowTip}[spec.Drop]; at != want {
		bad = append(bad, wrongf("base", "the flow's branch is at %q, want %q", at, want))
	}
	if _, err := tryGit(s.repo, "pack-refs", "--all"); err != nil {
		bad = append(bad, wrongf("lock left", "%v", err))
	}
	if !spec.Drop || len(bad) > 0 {
		return bad
	}
	for _, args := range [][]string{{"update-ref", "refs/coppice/keep", "main"}, {"reflog", "expire", "--expire=now", "--all"}, {"prune", "--expire=now"}} {
		if _, err := tryGit(s.repo, args...); err != nil {
			return append(bad, wrongf("error", "%v", err))
		}
	}
	back := s.flowSpec(false)
	back.Head = r.Tip
	w, err := openAt(s.root)
	if err == nil {
		_, err = w.FlowBranch(s.t.Context(), back)
	}
	if err != nil {
		return append(bad, wrongf("lost", "%v", err))
	}
	return append(bad, s.intact()...)
}
