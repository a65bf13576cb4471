package server

import (
	"cmp"
	"maps"
	"slices"

	"coppice"
	"coppice/agent/profiles"
	"coppice/flow"
)

// scriptedAgent is the built-in agent of demos and tests.
const scriptedAgent = "scripted"

// usable returns the agents that a project can use: their programs are installed. The
// best lead comes first. Of equal ones, those come first that the project's agent.use
// and agent.fallback name. The scripted agent is left out unless the project names it.
func (s *Server) usable(p coppice.Project) []flow.Agent {
	named := []string{p.Policy.Agent.Use}
	for _, choice := range p.Policy.Agent.Fallback {
		name, _ := coppice.SplitChoice(choice)
		named = append(named, name)
	}
	named = append(named, slices.Sorted(maps.Keys(p.Policy.Agents))...)
	var out []flow.Agent
	for _, name := range append(named, s.profiles.Names()...) {
		known := slices.ContainsFunc(out, func(a flow.Agent) bool { return a.Name == name })
		if known || name == scriptedAgent && !slices.Contains(named, name) {
			continue
		}
		profile, err := s.profileIn(p, name)
		if err != nil || profiles.Installed(name, profile, s.cfg.Environ) != nil {
			continue
		}
		out = append(out, flow.Agent{Name: name, Scores: profile.Scores})
	}
	slices.SortStableFunc(out, func(a, b flow.Agent) int { return cmp.Compare(b.Scores.Lead, a.Scores.Lead) })
	return out
}
