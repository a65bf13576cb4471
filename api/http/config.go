package http

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
)

type changeConfigIn struct {
	ProjectIn
	Body api.ConfigChange
}

func (s *Server) configRoutes(a huma.API) {
	add(s, a, op{method: http.MethodGet, path: "/projects/{project}/config", id: "show-config", tag: "projects",
		about: "Show every key of a project's coppice.yaml, its value and the source of the value"}, s.showConfig)
	add(s, a, op{method: http.MethodPatch, path: "/projects/{project}/config", id: "change-config", tag: "projects",
		about: "Set or unset one key of coppice.yaml; the rest of the file does not change", body: textBody}, s.changeConfig)
	add(s, a, op{method: http.MethodGet, path: "/agents", id: "list-agents", tag: "agents",
		about: "List the agent CLIs that Coppice knows: their version, login, abilities and limits"}, s.listAgents)
}

func (s *Server) settings(ctx context.Context, prefix string) (coppice.Project, error) {
	if s.cfg.Settings == nil {
		return coppice.Project{}, coppice.Errorf(coppice.EUnavailable, "this server cannot show settings").WithFix("run `coppice config` in the repository")
	}
	p, err := s.project(ctx, prefix)
	return p.Project, err
}

func (s *Server) showConfig(ctx context.Context, in *ProjectIn) (api.ProjectConfig, error) {
	p, err := s.settings(ctx, in.Project)
	if err != nil {
		return api.ProjectConfig{}, err
	}
	return s.cfg.Settings.Config(ctx, p)
}

func (s *Server) changeConfig(ctx context.Context, in *changeConfigIn) (api.ProjectConfig, error) {
	p, err := s.settings(ctx, in.Project)
	if err != nil {
		return api.ProjectConfig{}, err
	}
	if (len(in.Body.Value) > 0) == in.Body.Unset {
		return api.ProjectConfig{}, coppice.Errorf(coppice.EInvalid, "a change has either a value or unset").WithFix("send one of the two").WithField("value")
	}
	return s.cfg.Settings.SetConfig(ctx, p, in.Body)
}

// wholeNumber reads a number within bounds.
func wholeNumber(s string, least, most int) (int, error) {
	n, err := strconv.Atoi(s)
	if err == nil && (n < least || n > most) {
		err = strconv.ErrRange
	}
	return n, err
}
