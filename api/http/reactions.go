package http

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/reaction"
	"coppice/store"
)

type listReactionsIn struct {
	Project string `query:"project" maxLength:"16" doc:"Only this project"`
	PageIn
}

func (s *Server) reactionRoutes(a huma.API) {
	add(s, a, op{method: http.MethodGet, path: "/reactions", id: "list-reactions", tag: "reactions", about: "List what followed events of pull requests, tasks and agents, newest first"}, s.listReactions)
	add(s, a, op{method: http.MethodGet, path: "/projects/{project}/reactions", id: "list-reaction-rules", tag: "reactions", about: "List the rules of reactions of a project, by event"}, s.reactionRules)
}

func (s *Server) listReactions(ctx context.Context, in *listReactionsIn) (out api.ReactionPage, err error) {
	out.Reactions = []api.ReactionEntry{}
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		only, err := projectID(r, in.Project)
		if err != nil {
			return err
		}
		list, err := r.Reactions.List(store.ReactionFilter{ProjectID: only, BeforeID: in.Before, Most: in.Limit + 1})
		if err != nil {
			return err
		}
		if len(list) > in.Limit {
			list = list[:in.Limit]
			out.Next = list[in.Limit-1].ID
		}
		var in, of []int64
		for _, e := range list {
			in, of = append(in, e.ProjectID), append(of, e.TaskID)
		}
		projects, err := r.Projects.Some(in)
		if err != nil {
			return err
		}
		tasks, err := r.Tasks.Some(of)
		if err != nil {
			return err
		}
		for _, e := range list {
			t := tasks[e.TaskID]
			out.Reactions = append(out.Reactions, api.ReactionEntry{Reacted: reacted(e), Project: projects[e.ProjectID].Prefix, Of: t.Key, Title: t.Title})
		}
		return nil
	})
	return out, err
}

func reacted(e coppice.Reacted) api.Reacted { return api.Reacted{Reacted: e, Waits: e.Waits()} }

// reactionsOf returns the history of a task.
func reactionsOf(r store.Reader, t coppice.Task) (out []api.Reacted, err error) {
	list, err := r.Reactions.Of(t.ProjectID, t.ID)
	for _, e := range list {
		out = append(out, reacted(e))
	}
	return out, err
}

func (s *Server) reactionRules(ctx context.Context, in *ProjectIn) (out api.ReactionRules, err error) {
	p, err := store.Read(ctx, s.cfg.Store, func(r store.Reader) (coppice.Project, error) { return byPrefix(r, in.Project) })
	if err != nil {
		return out, err
	}
	out = api.ReactionRules{Project: p.Prefix, Trust: p.Policy.Trust}
	if out.Trust == "" {
		out.Trust = coppice.TrustLevels[0]
	}
	for _, e := range reaction.Events {
		_, own := p.Policy.Reactions[e.Name]
		rules := api.EventRules{Event: e.Name, About: e.Help, Own: own, Rules: reaction.RulesOf(e.Name, p.Policy.Reactions)}
		for _, rule := range rules.Rules {
			if rules.Why == "" {
				rules.Why = reaction.Untrusted(e.Name, rule, p.Policy.Trust)
			}
		}
		out.Events = append(out.Events, rules)
	}
	return out, nil
}
