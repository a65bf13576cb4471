package http

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
)

type changePromptIn struct {
	ProjectIn
	Role string `path:"role" maxLength:"40" doc:"The role, such as implement"`
	Body api.PromptChange
}

func (s *Server) configRoutes(a huma.API) {
	add(s, a, op{method: http.MethodGet, path: "/projects/{project}/config", id: "show-config", tag: "projects",
		about: "Show every key of a project's coppice.yaml, its value and the source of the value"}, s.showConfig)
	add(s, a, op{method: http.MethodPatch, path: "/projects/{project}/config", id: "change-config", tag: "projects",
		about: "Set or unset one key of coppice.yaml; the rest of the file does not change", body: textBody}, s.changeConfig)
	add(s, a, op{method: http.MethodGet, path: "/projects/{project}/prompts", id: "list-prompts", tag: "projects",
		about: "List the prompt of every role: the project's own file, or the built-in text"}, s.listPrompts)
	add(s, a, op{method: http.MethodPatch, path: "/projects/{project}/prompts/{role}", id: "change-prompt", tag: "projects",
		about: "Write or remove the project's own prompt of a role", body: textBody}, s.changePrompt)
	add(s, a, op{method: http.MethodGet, path: "/agents", id: "list-agents", tag: "agents",
		about: "List the agent CLIs that Coppice knows: their version, login, abilities and limits"}, s.listAgents)
}

// settings runs f with a project whose settings this server can show.
func settings[T any](ctx context.Context, s *Server, prefix string, f func(coppice.Project) (T, error)) (out T, err error) {
	if err := s.hasSettings(); err != nil {
		return out, err
	}
	return withProject(ctx, s, prefix, f)
}

func (s *Server) hasSettings() error {
	if s.cfg.Settings == nil {
		return coppice.Errorf(coppice.EUnavailable, "this server cannot show settings").WithFix("run `coppice config` in the repository")
	}
	return nil
}

// withProject runs f with the project that has a prefix.
func withProject[T any](ctx context.Context, s *Server, prefix string, f func(coppice.Project) (T, error)) (out T, err error) {
	p, err := s.project(ctx, prefix)
	if err != nil {
		return out, err
	}
	return f(p.Project)
}

// valueOrUnset refuses a change of a key that has both a value and unset, or neither.
func valueOrUnset(c api.ConfigChange) error {
	if (len(c.Value) > 0) == c.Unset {
		return coppice.Errorf(coppice.EInvalid, "a change has either a value or unset").WithFix("send one of the two").WithField("value")
	}
	return nil
}

// textOrUnset refuses a change of a file that has both a text and unset, or neither.
func textOrUnset(text string, unset bool) error {
	if (text != "") == unset {
		return coppice.Errorf(coppice.EInvalid, "a change has either a text or unset").WithFix("send one of the two").WithField("text")
	}
	return nil
}

func (s *Server) showConfig(ctx context.Context, in *ProjectIn) (api.ProjectConfig, error) {
	return settings(ctx, s, in.Project, func(p coppice.Project) (api.ProjectConfig, error) { return s.cfg.Settings.Config(ctx, p) })
}

func (s *Server) changeConfig(ctx context.Context, in *inProject[api.ConfigChange]) (api.ProjectConfig, error) {
	return settings(ctx, s, in.Project, func(p coppice.Project) (api.ProjectConfig, error) {
		if err := valueOrUnset(in.Body); err != nil {
			return api.ProjectConfig{}, err
		}
		return s.cfg.Settings.SetConfig(ctx, p, in.Body)
	})
}

func (s *Server) listPrompts(ctx context.Context, in *ProjectIn) (api.Prompts, error) {
	return settings(ctx, s, in.Project, func(p coppice.Project) (api.Prompts, error) { return s.cfg.Settings.Prompts(ctx, p) })
}

func (s *Server) changePrompt(ctx context.Context, in *changePromptIn) (api.Prompt, error) {
	return settings(ctx, s, in.Project, func(p coppice.Project) (api.Prompt, error) {
		if err := textOrUnset(in.Body.Text, in.Body.Unset); err != nil {
			return api.Prompt{}, err
		}
		return s.cfg.Settings.SetPrompt(ctx, p, in.Role, in.Body)
	})
}

// wholeNumber reads a number within bounds.
func wholeNumber(s string, least, most int) (int, error) {
	n, err := strconv.Atoi(s)
	if err == nil && (n < least || n > most) {
		err = strconv.ErrRange
	}
	return n, err
}
