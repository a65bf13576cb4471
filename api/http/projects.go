package http

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/store"
)

// ProjectIn names a project. It is exported because the HTTP framework fills
// embedded structs only if they are.
type ProjectIn struct {
	Project string `path:"project" maxLength:"16" doc:"The prefix of the project's keys"`
}

// inProject is a request about a project with a body.
type inProject[B any] struct {
	ProjectIn
	Body B
}

type addProjectIn struct {
	Body struct {
		Path   string `json:"path" minLength:"1" maxLength:"4096" doc:"A directory of the checkout"`
		Prefix string `json:"prefix,omitempty" maxLength:"16" doc:"The prefix of its keys, for a new project; if absent, it comes from the name of the directory"`
		Edits  bool   `json:"edits,omitempty" doc:"For a known project, apply a person's edits of its policy, but nothing that was landed there"`
	}
}

type renameIn struct {
	ProjectIn
	Body struct {
		Prefix string `json:"prefix" minLength:"1" maxLength:"16" doc:"The new prefix"`
	}
}

type pauseIn struct {
	ProjectIn
	Body struct {
		Track string `json:"track,omitempty" maxLength:"64" doc:"Only this track"`
	}
}

func (s *Server) projectRoutes(a huma.API) {
	add(s, a, op{method: http.MethodPost, path: "/projects/{project}/remove", id: "remove-project", tag: "projects",
		about: "Remove a project in the background; an event project.removed says when it is removed"}, s.removeProject)
	add(s, a, op{method: http.MethodGet, path: "/projects", id: "list-projects", tag: "projects", about: "List projects"}, s.listProjects)
	add(s, a, op{method: http.MethodPost, path: "/projects", id: "add-project", tag: "projects",
		about: "Add the project of a directory; for a known one, confirm its current policy and git settings"}, s.addProject)
	add(s, a, op{method: http.MethodGet, path: "/projects/{project}", id: "show-project", tag: "projects", about: "Show a project"}, s.showProject)
	add(s, a, op{method: http.MethodPost, path: "/projects/{project}/pause", id: "pause-project", tag: "projects",
		about: "Start no more sessions in a project or track"}, s.pause(true))
	add(s, a, op{method: http.MethodPost, path: "/projects/{project}/resume", id: "resume-project", tag: "projects",
		about: "Start sessions again"}, s.pause(false))
	add(s, a, op{method: http.MethodPost, path: "/projects/{project}/rename", id: "rename-project", tag: "projects",
		about: "Give a project another prefix; the keys of its tasks stay as they are, and its earlier prefixes still name it"}, s.renameProject)
	add(s, a, op{method: http.MethodPost, path: "/projects/{project}/confirm", id: "confirm-need", tag: "projects", body: textBody,
		about: "Confirm a need: a changed policy, git settings or statuses, or a base that moved"}, s.confirm)
	add(s, a, op{method: http.MethodPost, path: "/projects/{project}/restore-base", id: "restore-base", tag: "projects",
		about: "Move back a base that moved without Coppice"}, s.restoreBase)
}

func (s *Server) listProjects(ctx context.Context, _ *none) (out api.ProjectList, err error) {
	out.Projects = []api.Project{}
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		ps, err := r.Projects.All()
		if err != nil {
			return err
		}
		running, err := r.Lanes.Running()
		if err != nil {
			return err
		}
		for _, p := range ps {
			out.Projects = append(out.Projects, projectView(p, running))
		}
		return nil
	})
	return out, err
}

// projectView makes the API's view of a project.
func projectView(p coppice.Project, running map[coppice.Lane]int) api.Project {
	v := api.Project{Project: p, Running: runningIn(running, p.ID), Defaults: taskDefaults(p.Policy)}
	if p.Removal != nil {
		return v
	}
	pause := "pause"
	if !p.PausedAt.IsZero() {
		pause = "resume"
	}
	v.Can = []string{"reload", pause, "rename", "remove"}
	if p.Policy.Features != "" {
		v.Can = append(v.Can, "add-feature")
	}
	return v
}

// results maps what a task results in to its first role.
var results = []struct {
	name string
	role coppice.Role
}{{"change", coppice.RoleImplement}, {"answer", coppice.RoleAnswer}, {"checkout", coppice.RoleCheckout}}

// taskDefaults returns what a new task has if its request does not say it.
func taskDefaults(p coppice.Policy) api.TaskDefaults {
	none := coppice.Task{}
	d := api.TaskDefaults{Budget: p.BudgetFor(none), Retry: p.RetryFor(none), Branch: p.BranchTemplate()}
	for _, r := range results {
		agent := p.AgentFor(r.role)
		d.First = append(d.First, api.FirstSession{
			Result: r.name, Agent: agent, Model: p.ModelFor(agent, ""), Effort: p.EffortFor(agent), Limits: none.RunLimits(p, r.role), Without: r.role.Info().Without,
		})
	}
	return d
}

func runningIn(running map[coppice.Lane]int, project int64) (n int) {
	for lane, k := range running {
		if lane.ProjectID == project {
			n += k
		}
	}
	return n
}

func (s *Server) addProject(ctx context.Context, in *addProjectIn) (api.Project, error) {
	var p coppice.Project
	var confirmed []coppice.Need
	var err error
	switch {
	case in.Body.Edits && s.cfg.Use != nil:
		p, err = s.cfg.Use(ctx, in.Body.Path)
	case s.cfg.Add != nil:
		p, confirmed, err = s.cfg.Add(ctx, in.Body.Path, in.Body.Prefix)
	default:
		p, err = s.cfg.Projects.AddProjectAs(ctx, in.Body.Path, in.Body.Prefix)
	}
	if err != nil {
		return api.Project{}, err
	}
	out, err := s.project(ctx, p.Prefix)
	out.Confirmed = confirmed
	return out, err
}

// decide runs f with a project whose needs a person decides about, and returns the
// project afterwards.
func (s *Server) decide(ctx context.Context, prefix string, f func(coppice.Project) error) (api.Project, error) {
	if s.cfg.Needs == nil {
		return api.Project{}, coppice.Errorf(coppice.EUnavailable, "this server cannot confirm anything").WithFix("run `coppice project add` in the repository")
	}
	p, err := s.project(ctx, prefix)
	if err == nil {
		err = f(p.Project)
	}
	if err != nil {
		return api.Project{}, err
	}
	return s.project(ctx, prefix)
}

func (s *Server) confirm(ctx context.Context, in *inProject[api.Confirmation]) (api.Project, error) {
	return s.decide(ctx, in.Project, func(p coppice.Project) error { return s.cfg.Needs.Confirm(ctx, p, in.Body) })
}

func (s *Server) restoreBase(ctx context.Context, in *ProjectIn) (api.Project, error) {
	return s.decide(ctx, in.Project, func(p coppice.Project) error { return s.cfg.Needs.RestoreBase(ctx, p) })
}

func (s *Server) showProject(ctx context.Context, in *ProjectIn) (api.Project, error) {
	return s.project(ctx, in.Project)
}

// projectID returns the id of the project of a prefix, and 0 for no prefix.
func projectID(r store.Reader, prefix string) (int64, error) {
	if prefix == "" {
		return 0, nil
	}
	p, err := byPrefix(r, prefix)
	return p.ID, err
}

func (s *Server) project(ctx context.Context, prefix string) (out api.Project, err error) {
	if err := coppice.ValidPrefix(prefix); err != nil {
		return out, err
	}
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		p, err := r.Projects.ByPrefix(prefix)
		if err != nil {
			return err
		}
		running, err := r.Lanes.Running()
		out = projectView(p, running)
		return err
	})
	return out, err
}

func (s *Server) removeProject(ctx context.Context, in *inProject[coppice.Remove]) (out api.Removed, err error) {
	if err := coppice.ValidPrefix(in.Project); err != nil {
		return out, err
	}
	if s.cfg.Remove == nil {
		return out, coppice.Errorf(coppice.EUnavailable, "this server cannot remove projects")
	}
	p, err := s.project(ctx, in.Project) // it might be removed before the answer
	if err != nil {
		return out, err
	}
	left, err := s.cfg.Remove(ctx, in.Project, in.Body)
	return api.Removed{ID: p.ID, Prefix: p.Prefix, Path: p.Path, Left: append([]api.Left{}, left...)}, err
}

func (s *Server) renameProject(ctx context.Context, in *renameIn) (api.Project, error) {
	if err := coppice.ValidPrefix(in.Project); err != nil {
		return api.Project{}, err
	}
	p, err := s.cfg.Projects.RenameProject(ctx, in.Project, in.Body.Prefix)
	if err != nil {
		return api.Project{}, err
	}
	return s.project(ctx, p.Prefix)
}

func (s *Server) pause(on bool) func(context.Context, *pauseIn) (api.Project, error) {
	return func(ctx context.Context, in *pauseIn) (api.Project, error) {
		if err := coppice.ValidPrefix(in.Project); err != nil {
			return api.Project{}, err
		}
		if in.Body.Track != "" {
			if err := coppice.ValidName("track", in.Body.Track); err != nil {
				return api.Project{}, err
			}
		}
		if _, err := s.cfg.Projects.Pause(ctx, in.Project, in.Body.Track, on); err != nil {
			return api.Project{}, err
		}
		return s.project(ctx, in.Project)
	}
}
