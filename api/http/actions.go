package http

import (
	"context"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
)

type sendIn struct {
	TaskIn
	Body struct {
		Text   string   `json:"text" minLength:"1"`
		Next   bool     `json:"next,omitempty" doc:"Deliver it after the running session's turn, not during it"`
		Images []string `json:"images,omitempty" maxItems:"10" doc:"Ids of uploaded images; see POST /images"`
	}
}

type answerIn struct {
	TaskIn
	Body struct {
		Question int64  `json:"question,omitempty" minimum:"0" doc:"Which one; the default is the oldest open one"`
		Text     string `json:"text" minLength:"1"`
	}
}

type diffIn struct {
	TaskIn
	Since string `query:"since" enum:"base,session" default:"base" doc:"Everything that the task changed, or what changed since its last session started"`
}

type undoIn struct {
	Body struct {
		Task    string `json:"task,omitempty" maxLength:"40" doc:"Whose workspace. Without a task, the one that was removed last in the project"`
		Project string `json:"project,omitempty" maxLength:"16" doc:"A project's prefix, required without a task"`
	}
}

func (s *Server) actionRoutes(a huma.API) {
	post := func(name, id, about string, body int64) op {
		return op{method: http.MethodPost, path: "/tasks/{key}/" + name, id: id, tag: "tasks", about: about, body: body}
	}
	add(s, a, post("archive", "archive-task", "Archive an ended task, so that lists leave it out", 0), s.archive(true))
	add(s, a, post("unarchive", "unarchive-task", "Unarchive a task", 0), s.archive(false))
	add(s, a, post("send", "send-message", "Send a message to a task's session, or to its next one", textBody), s.send)
	add(s, a, post("answer", "answer-question", "Answer a session's question", textBody), s.answer)
	add(s, a, op{method: http.MethodPost, path: "/undo", id: "undo", tag: "tasks", about: "Restore a removed workspace"}, s.undo)
}

func (s *Server) archive(on bool) func(context.Context, *TaskIn) (api.Task, error) {
	return func(ctx context.Context, in *TaskIn) (api.Task, error) {
		return s.act(ctx, in.Key, func(ctx context.Context) error { _, err := s.cfg.Tasks.Archive(ctx, in.Key, on); return err })
	}
}

func (s *Server) send(ctx context.Context, in *sendIn) (msg coppice.Message, err error) {
	if err := coppice.ValidText("text", in.Body.Text, coppice.MaxMessage); err != nil {
		return msg, err
	}
	_, err = s.act(ctx, in.Key, func(ctx context.Context) (err error) {
		say := s.cfg.Talk.Send
		if in.Body.Next {
			say = s.cfg.Talk.SendNext
		}
		msg, err = say(ctx, in.Key, in.Body.Text, in.Body.Images...)
		return err
	})
	return msg, err
}

func (s *Server) answer(ctx context.Context, in *answerIn) (out api.Question, err error) {
	if err := coppice.ValidText("text", in.Body.Text, coppice.MaxMessage); err != nil {
		return out, err
	}
	_, err = s.act(ctx, in.Key, func(ctx context.Context) error {
		q, err := s.cfg.Talk.Answer(ctx, in.Key, in.Body.Question, in.Body.Text)
		out = question(q)
		return err
	})
	return out, err
}

func (s *Server) undo(ctx context.Context, in *undoIn) (coppice.Trash, error) {
	if in.Body.Task == "" && in.Body.Project == "" {
		return coppice.Trash{}, coppice.Errorf(coppice.EInvalid, "the request names neither a task nor a project").
			WithFix("name a task, or a project to restore what was removed last in it")
	}
	if in.Body.Project != "" {
		if err := coppice.ValidPrefix(in.Body.Project); err != nil {
			return coppice.Trash{}, err
		}
	}
	if in.Body.Task != "" {
		if _, _, _, err := coppice.ParseKey(in.Body.Task); err != nil {
			return coppice.Trash{}, err
		}
	}
	return s.cfg.Projects.Undo(ctx, in.Body.Task, in.Body.Project)
}

type branchIn struct {
	TaskIn
	Stray string `query:"stray" maxLength:"250" doc:"A branch that its agents created besides the task's, instead of the task's branch"`
}

// bringBranch copies a task's branch into the user's repository.
func (s *Server) bringBranch(ctx context.Context, in *branchIn) (out api.Branch, err error) {
	if s.cfg.Bring == nil {
		return out, coppice.Errorf(coppice.EUnavailable, "this server cannot copy branches")
	}
	t, err := s.task(ctx, in.Key)
	if err != nil {
		return out, err
	}
	return s.cfg.Bring(ctx, t, in.Stray)
}

// diffRoute serves what a task changed, as text, because it can be long.
func (s *Server) diffRoute(a huma.API) {
	o := op{method: http.MethodGet, path: "/tasks/{key}/diff", id: "diff-task", tag: "tasks", about: "What a task changed against its base, or since its last session started"}.
		operation(http.StatusNotFound)
	o.Responses = map[string]*huma.Response{"200": {
		Description: "A patch", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	huma.Register(a, o, func(ctx context.Context, in *diffIn) (*huma.StreamResponse, error) {
		t, err := s.task(ctx, in.Key)
		var text string
		if err == nil {
			text, err = s.cfg.Diff(ctx, t, in.Since)
		}
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		return &huma.StreamResponse{Body: func(c huma.Context) {
			c.SetHeader("Content-Type", "text/plain; charset=utf-8")
			_, _ = io.WriteString(c.BodyWriter(), text) // the reader might be gone
		}}, nil
	})
}
