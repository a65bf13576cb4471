package http

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/verb"
)

// continueIn is the request of a verb with a text.
type continueIn struct {
	TaskIn
	Body struct {
		Text   string   `json:"text,omitempty" doc:"Passed to the agent"`
		Images []string `json:"images,omitempty" maxItems:"10" doc:"Ids of uploaded images that belong to the text; see POST /images"`
	}
}

// landIn is the request of a verb that can name the commit that a person has read.
type landIn struct {
	TaskIn
	Body *struct {
		Head string `json:"head,omitempty" pattern:"^[0-9a-f]{7,64}$" patternDescription:"a commit, or at least its first 7 characters" doc:"The commit that you have read, or its first 7 or more characters. The request is refused if the change is at another one."`
	}
}

// resumeIn is the request to resume a flow.
type resumeIn struct {
	TaskIn
	Body *struct {
		From string `json:"from,omitempty" maxLength:"200" doc:"The key of a step, or its beginning: this step and all that follow it no longer count"`
	}
}

// Requeue says how a task starts again. Empty fields stay as they are.
type Requeue struct {
	Note   string `json:"note,omitempty" doc:"What to do differently; passed to the agent"`
	Agent  string `json:"agent,omitempty" maxLength:"64" doc:"The agent that takes over; the default is the task's agent"`
	Model  string `json:"model,omitempty" maxLength:"64" doc:"The vendor's name for it, or auto"`
	Effort string `json:"effort,omitempty" maxLength:"64" doc:"How hard the agent thinks, in its own words"`

	Images []string `json:"images,omitempty" maxItems:"10" doc:"Ids of uploaded images that belong to the note; see POST /images"`
}

// verbRoutes are the routes of the table of verbs.
func (s *Server) verbRoutes(a huma.API) {
	for _, info := range verb.Table {
		if info.Route.ID == "" {
			continue
		}
		o := op{method: http.MethodPost, path: "/tasks/{key}/" + string(info.Verb), id: info.Route.ID, tag: "tasks", about: info.Route.About}
		if info.Text != "" {
			o.body = textBody
		}
		ask := func(ctx context.Context, key string, r verb.Request) (api.Task, error) {
			return s.ask(ctx, key, info.Verb, r)
		}
		switch {
		case info.Staff:
			add(s, a, o, func(ctx context.Context, in *inTask[Requeue]) (api.Task, error) {
				return ask(ctx, in.Key, verb.Request{Text: in.Body.Note, Images: in.Body.Images, Staff: coppice.Staff{Agent: in.Body.Agent, Model: in.Body.Model, Effort: in.Body.Effort}})
			})
		case info.Verb == coppice.VerbResume:
			add(s, a, o, func(ctx context.Context, in *resumeIn) (api.Task, error) {
				var r verb.Request
				if in.Body != nil {
					r.Text = in.Body.From
				}
				return ask(ctx, in.Key, r)
			})
		case info.Text != "":
			add(s, a, o, func(ctx context.Context, in *continueIn) (api.Task, error) {
				return ask(ctx, in.Key, verb.Request{Text: in.Body.Text, Images: in.Body.Images})
			})
		case info.Head:
			add(s, a, o, func(ctx context.Context, in *landIn) (api.Task, error) {
				var r verb.Request
				if in.Body != nil {
					r.Head = in.Body.Head
				}
				return ask(ctx, in.Key, r)
			})
		default:
			add(s, a, o, func(ctx context.Context, in *TaskIn) (api.Task, error) { return ask(ctx, in.Key, verb.Request{}) })
		}
	}
}

// ask adds a request and returns the task.
func (s *Server) ask(ctx context.Context, key string, v coppice.Verb, r verb.Request) (api.Task, error) {
	return s.act(ctx, key, func(ctx context.Context) error { _, err := s.cfg.Tasks.Ask(ctx, key, v, r); return err })
}
