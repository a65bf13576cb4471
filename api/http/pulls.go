package http

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/store"
)

type adoptIn struct {
	PullIn
	Body struct {
		Title string `json:"title,omitempty" maxLength:"200" doc:"If absent, the title of the pull request"`
		Text  string `json:"text,omitempty" doc:"What an agent should do now; if absent, the task only follows the pull request"`
		Agent string `json:"agent,omitempty" maxLength:"64"`
		Model string `json:"model,omitempty" maxLength:"64" doc:"The vendor's name for it, or auto"`
	}
}

// PullIn names a pull request. It is exported because the HTTP framework fills embedded
// structs only if they are.
type PullIn struct {
	ProjectIn
	Number int `path:"number" minimum:"1" maximum:"2147483647" doc:"The number of the pull request on the forge"`
}

func (s *Server) pullRoutes(a huma.API) {
	add(s, a, op{method: http.MethodPost, path: "/projects/{project}/pulls/{number}/adopt", id: "adopt-pull", tag: "tasks", body: textBody,
		about: "Create a task that continues a pull request of somebody else; if a task has it already, that task is returned"}, s.adoptPull)
	add(s, a, op{method: http.MethodGet, path: "/projects/{project}/pulls/{number}", id: "show-pull-task", tag: "tasks",
		about: "Show the task of a pull request"}, s.showPullTask)
}

func (s *Server) adoptPull(ctx context.Context, in *adoptIn) (out api.Task, err error) {
	if err := coppice.ValidPrefix(in.Project); err != nil {
		return out, err
	}
	t, err := s.cfg.Tasks.AdoptPull(ctx, in.Project, in.Number, coppice.NewTask{Title: in.Body.Title, Body: in.Body.Text, Agent: in.Body.Agent, Model: in.Body.Model})
	if err != nil {
		return out, err
	}
	return s.viewNow(ctx, t.ID)
}

func (s *Server) showPullTask(ctx context.Context, in *PullIn) (out api.Task, err error) {
	p, err := store.Read(ctx, s.cfg.Store, func(r store.Reader) (p coppice.Pull, err error) {
		project, err := byPrefix(r, in.Project)
		if err == nil {
			p, err = r.Pulls.ByNumber(project.ID, in.Number)
		}
		if coppice.ErrorCode(err) == coppice.ENotFound && project.ID != 0 {
			err = coppice.Errorf(coppice.ENotFound, "no task of %s has the pull request #%d", project.Prefix, in.Number).
				WithFix("see `coppice pr list --ended`, or let a task continue it with `coppice pr adopt %d`", in.Number)
		}
		return p, err
	})
	if err != nil {
		return out, err
	}
	return s.viewNow(ctx, p.TaskID)
}

// viewNow returns a task by its id.
func (s *Server) viewNow(ctx context.Context, id int64) (out api.Task, err error) {
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		t, err := r.Tasks.Get(id)
		if err == nil {
			out, err = s.viewOf(ctx, r, t)
		}
		return err
	})
	return out, err
}
