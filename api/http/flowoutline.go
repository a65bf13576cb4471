package http

import (
	"slices"
	"strconv"

	"coppice"
	"coppice/api"
	"coppice/engine"
	"coppice/store"
)

// outline adds to the detail of a flow what its kind plans, and what people said about
// its documents.
func (s *Server) outline(r store.Reader, t coppice.Task, docs []coppice.Document, out *api.FlowDetail) error {
	o, err := engine.OutlineOf(r, t)
	if err != nil {
		return err
	}
	out.Approves, out.Plan, out.Verdict, out.Outline = o.Approves, o.Plan, o.Verdict, make([]api.FlowPart, len(o.Parts))
	for n, p := range o.Parts {
		out.Outline[n] = api.FlowPart{Key: p.Key, Name: p.Name, Agent: p.Agent, After: p.After, Steps: p.Steps, Runs: p.Runs, Most: p.Most, Maybe: p.Maybe, Status: partStatus(p.Steps, out.Steps)}
	}
	for _, r := range o.Rounds {
		out.Rounds = append(out.Rounds, api.FlowRound(r))
	}
	for _, c := range o.Cycles {
		row := api.FlowCycle{Cycle: c.Cycle, Found: c.Found, Done: c.Done, Left: c.Left, Of: c.Of, Known: c.Known, None: c.None(), Steps: c.Steps}
		for _, step := range out.Steps {
			if !step.Left && slices.Contains(c.Steps, step.Key) {
				row.Cost += step.Cost
			}
		}
		out.Cycles = append(out.Cycles, row)
	}
	comments, err := r.Comments.Of(t.ID)
	for _, c := range comments {
		if c.Side != coppice.SideDocument {
			continue
		}
		one := api.ReviewComment{Comment: c, Outdated: true}
		if n := slices.IndexFunc(docs, func(d coppice.Document) bool { return d.Name == c.Path }); n >= 0 {
			if first, last, ok := c.Find(strconv.FormatInt(docs[n].Version, 10), docs[n].Text); ok {
				one.At, one.Outdated = &api.Place{Path: c.Path, First: first, Last: last}, false
			}
		}
		if c.State == coppice.CommentDraft && c.Path == o.Approves {
			out.Drafts++
		}
		out.Comments = append(out.Comments, one)
	}
	return err
}

// partStatus returns the status of the open step of a part, or else of its newest one.
func partStatus(keys []string, steps []api.FlowStep) (status coppice.Status) {
	for _, step := range steps {
		if step.Left || !slices.Contains(keys, step.Key) {
			continue
		}
		if status = step.Status; step.State == "open" {
			return status
		}
	}
	return status
}
