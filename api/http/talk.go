package http

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/store"
)

type wordsIn struct {
	TaskIn
	Body struct {
		Text string `json:"text,omitempty" doc:"Passed to the agent"`
	}
}

type modelIn struct {
	TaskIn
	Body struct {
		Model string `json:"model" minLength:"1" maxLength:"64" doc:"The vendor's name for it, or auto"`
	}
}

type ruleIn struct {
	ProjectIn
	N int `path:"n" minimum:"1" maximum:"1000" doc:"Its number in the list, from 1"`
}

type agentIn struct {
	Agent string `path:"agent" maxLength:"129" doc:"An agent's name, or agent:model for a model that agent.fallback names"`
}

// talkRoutes are the routes for messages to sessions other than plain ones, for
// forks, rules and limits.
func (s *Server) talkRoutes(a huma.API) {
	task := func(name, id, about string, body int64) op {
		return op{method: http.MethodPost, path: "/tasks/{key}/" + name, id: id, tag: "tasks", about: about, body: body}
	}
	add(s, a, task("interrupt", "interrupt-session", "Interrupt the running session's turn; a text starts the next", textBody), s.message(s.cfg.Talk.Interrupt))
	add(s, a, task("model", "change-model", "Change the model: immediately if the agent can, otherwise for the next session", 0),
		func(ctx context.Context, in *modelIn) (coppice.Message, error) {
			words := &wordsIn{TaskIn: in.TaskIn}
			words.Body.Text = in.Body.Model
			return s.message(s.cfg.Talk.Model)(ctx, words)
		})
	fork := task("fork", "fork-task", "Create a new task that continues with a copy of this one's conversation and branch", textBody)
	fork.status = http.StatusCreated
	add(s, a, fork, s.fork)

	add(s, a, op{method: http.MethodGet, path: "/projects/{project}/rules", id: "list-rules", tag: "projects",
		about: "List remembered permission answers, newest first"}, s.listRules)
	add(s, a, op{method: http.MethodPost, path: "/projects/{project}/rules/{n}/forget", id: "forget-rule", tag: "projects",
		about: "Remove a remembered permission answer"}, func(ctx context.Context, in *ruleIn) (rule coppice.Rule, err error) {
		if err := coppice.ValidPrefix(in.Project); err != nil {
			return rule, err
		}
		return s.cfg.Projects.ForgetRule(ctx, in.Project, in.N)
	})
	add(s, a, op{method: http.MethodGet, path: "/agents/limits", id: "list-limits", tag: "agents",
		about: "List the agents, and the models of agents, that cannot be used now, and which tasks wait for them"}, s.listLimits)
	add(s, a, op{method: http.MethodPost, path: "/agents/{agent}/clear", id: "clear-limit", tag: "agents",
		about: "Clear the limit of an agent, or of one of its models"}, func(ctx context.Context, in *agentIn) (api.LimitList, error) {
		if err := s.cfg.Projects.ClearLimit(ctx, in.Agent); err != nil {
			return api.LimitList{}, err
		}
		return s.listLimits(ctx, nil)
	})
}

// message sends a message to a session and returns it.
func (s *Server) message(say func(ctx context.Context, key, text string) (coppice.Message, error)) func(context.Context, *wordsIn) (coppice.Message, error) {
	return func(ctx context.Context, in *wordsIn) (m coppice.Message, err error) {
		_, err = s.act(ctx, in.Key, func(ctx context.Context) (err error) {
			m, err = say(ctx, in.Key, in.Body.Text)
			return err
		})
		return m, err
	}
}

func (s *Server) fork(ctx context.Context, in *wordsIn) (out api.Task, err error) {
	var made coppice.Task
	_, err = s.act(ctx, in.Key, func(ctx context.Context) (err error) {
		made, err = s.cfg.Tasks.Fork(ctx, in.Key, in.Body.Text)
		return err
	})
	if err != nil {
		return out, err
	}
	return s.viewNow(ctx, made.ID)
}

func (s *Server) listRules(ctx context.Context, in *ProjectIn) (out api.RuleList, err error) {
	p, err := s.project(ctx, in.Project)
	out.Rules = filled(p.Rules)
	return out, err
}

func (s *Server) listLimits(ctx context.Context, _ *none) (out api.LimitList, err error) {
	out.Limits = []api.Limit{}
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		limits, err := s.cfg.Projects.Limits(r)
		for _, l := range limits {
			_, model := coppice.SplitChoice(l.Agent)
			out.Limits = append(out.Limits, api.Limit{AgentLimit: l.AgentLimit, Model: model, Tasks: filled(l.Tasks)})
		}
		return err
	})
	return out, err
}
