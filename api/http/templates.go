package http

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/store"
)

// Templates reads and changes the templates of projects.
type Templates interface {
	Templates(ctx context.Context, p coppice.Project) (api.Templates, error)
	Template(ctx context.Context, p coppice.Project, name string) (api.Template, error)
	// SetTemplate writes or removes a template. If it fails, nothing changes.
	SetTemplate(ctx context.Context, p coppice.Project, name string, c api.TemplateChange) (api.Template, error)
}

// TemplateIn names a template. It is exported for the same reason as ProjectIn.
type TemplateIn struct {
	ProjectIn
	Name string `path:"name" maxLength:"64" doc:"The name of a template, which is that of its file without .md"`
}

type changeTemplateIn struct {
	TemplateIn
	Body api.TemplateChange
}

func (s *Server) templateRoutes(a huma.API) {
	add(s, a, op{method: http.MethodGet, path: "/projects/{project}/templates", id: "list-templates", tag: "templates",
		about: "List the templates of a project"}, s.listTemplates)
	add(s, a, op{method: http.MethodGet, path: "/projects/{project}/templates/{name}", id: "show-template", tag: "templates",
		about: "Show a template and its text"}, s.showTemplate)
	add(s, a, op{method: http.MethodPut, path: "/projects/{project}/templates/{name}", id: "change-template", tag: "templates",
		about: "Write or remove a template in the project's checkout", body: textBody}, s.changeTemplate)
	add(s, a, op{method: http.MethodGet, path: "/projects/{project}/template-stats", id: "template-stats", tag: "templates",
		about: "Show how the tasks of each template ended, by model: success, cost, turns and time"}, s.templateStats)
}

// templates runs f with a project whose templates this server can show.
func templates[T any](ctx context.Context, s *Server, prefix string, f func(coppice.Project) (T, error)) (out T, err error) {
	if s.cfg.Templates == nil {
		return out, coppice.Errorf(coppice.EUnavailable, "this server cannot show templates")
	}
	return withProject(ctx, s, prefix, f)
}

func (s *Server) listTemplates(ctx context.Context, in *ProjectIn) (api.Templates, error) {
	return templates(ctx, s, in.Project, func(p coppice.Project) (api.Templates, error) { return s.cfg.Templates.Templates(ctx, p) })
}

func (s *Server) showTemplate(ctx context.Context, in *TemplateIn) (api.Template, error) {
	return templates(ctx, s, in.Project, func(p coppice.Project) (api.Template, error) { return s.cfg.Templates.Template(ctx, p, in.Name) })
}

func (s *Server) changeTemplate(ctx context.Context, in *changeTemplateIn) (api.Template, error) {
	return templates(ctx, s, in.Project, func(p coppice.Project) (api.Template, error) {
		if err := textOrUnset(in.Body.Text, in.Body.Unset); err != nil {
			return api.Template{}, err
		}
		return s.cfg.Templates.SetTemplate(ctx, p, in.Name, in.Body)
	})
}

func (s *Server) templateStats(ctx context.Context, in *ProjectIn) (out api.TemplateStats, err error) {
	out.Stats = []coppice.TemplateStat{}
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		p, err := r.Projects.ByPrefix(in.Project)
		if err != nil {
			return err
		}
		all, err := r.Templates.Stats(p.ID)
		out.Stats = append(out.Stats, all...)
		return err
	})
	return out, err
}
