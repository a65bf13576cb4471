package http

import (
	"cmp"
	"context"
	"slices"
	"time"

	"coppice"
	"coppice/api"
	"coppice/store"
)

type agentsIn struct {
	Project string `query:"project" maxLength:"16" doc:"With the agents of this project"`
	Refresh bool   `query:"refresh" doc:"Check again, even if they were just checked"`
}

// listAgents joins the agents on the machine with the current limits.
func (s *Server) listAgents(ctx context.Context, in *agentsIn) (out api.AgentList, err error) {
	if s.cfg.Agents == nil {
		return out, coppice.Errorf(coppice.EUnavailable, "this server cannot look for agents").WithFix("run `coppice agents` on its machine")
	}
	var p *coppice.Project
	if in.Project != "" {
		found, err := s.project(ctx, in.Project)
		if err != nil {
			return out, err
		}
		p = &found.Project
	}
	if out, err = s.cfg.Agents(ctx, p, in.Refresh); err != nil {
		return out, err
	}
	out.Agents, out.Choices = slices.Clone(out.Agents), []string{coppice.ModelAuto}
	limits, err := s.listLimits(ctx, nil)
	if err != nil {
		return out, err
	}
	counts, used, err := s.agentFacts(ctx)
	for i := range out.Agents {
		a := &out.Agents[i]
		a.Warnings, a.Can, a.Efforts, a.Tasks = filled(a.Warnings), filled(a.Can), filled(a.Efforts), counts[a.Name]
		for _, l := range limits.Limits {
			switch agent, _ := coppice.SplitChoice(l.Agent); {
			case l.Agent == a.Name:
				a.Limit, a.Waiting = &l.AgentLimit, l.Tasks
			case agent == a.Name:
				a.ModelLimits = append(a.ModelLimits, l)
			}
		}
		a.Installed, a.State, a.Suggest = a.Path != "", agentState(*a), suggested(*a, used[a.Name])
		a.Choices = slices.Concat(out.Choices, a.Suggest)
		a.Shown = a.State != "not installed" || a.Limit != nil || len(a.ModelLimits) > 0 || a.Tasks.All > 0
	}
	slices.SortStableFunc(out.Agents, moreUseful)
	return out, err
}

// moreUseful compares agents in the order in which people see them.
func moreUseful(a, b api.Agent) int {
	if a.Shown != b.Shown {
		if a.Shown {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(b.Tasks.All, a.Tasks.All), cmp.Compare(a.Name, b.Name))
}

// agentState says whether a task can use an agent now.
func agentState(a api.Agent) string {
	switch {
	case a.Problem != "":
		return "broken"
	case a.Path == "":
		return "not installed"
	case a.Limit != nil:
		return "limited"
	case a.Login == "no":
		return "logged out"
	}
	return "ready"
}

// modelSizes are the kinds of work in a profile's models, the largest first.
var modelSizes = []string{"complex", "medium", "simple"}

// suggested returns the models to offer for an agent, each one time.
func suggested(a api.Agent, used []string) []string {
	models := []string{}
	for _, size := range modelSizes {
		models = append(models, a.Models[size])
	}
	out := []string{}
	for _, m := range append(models, used...) {
		if m != "" && m != coppice.ModelAuto && !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// usedWithin is how long ago a session used a model that is still offered.
const usedWithin = 30 * 24 * time.Hour

// agentFacts counts tasks by agent, and returns the models that its sessions
// used, the newest first.
func (s *Server) agentFacts(ctx context.Context) (counts map[string]api.AgentTasks, used map[string][]string, err error) {
	counts, used = map[string]api.AgentTasks{}, map[string][]string{}
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		tallies, err := r.Tasks.Tally()
		if err != nil {
			return err
		}
		for _, t := range tallies {
			c := counts[t.Agent]
			c.All += t.N
			switch {
			case t.Stage == coppice.StageSession:
				c.Running += t.N
			case t.Outcome == coppice.OutcomeDone:
				c.Done += t.N
			case t.Outcome == coppice.OutcomeFailed:
				c.Failed += t.N
			}
			counts[t.Agent] = c
		}
		rows, err := r.Spend.Usage(store.UsageQuery{From: s.cfg.Now().Add(-usedWithin), To: s.cfg.Now()})
		for _, row := range rows {
			used[row.Agent] = append(used[row.Agent], row.Model)
		}
		return err
	})
	return counts, used, err
}
