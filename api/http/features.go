package http

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/store"
)

// Features reads and edits projects' features files.
type Features interface {
	// List returns the features without their tasks.
	List(ctx context.Context, p coppice.Project) (api.FeatureList, error)
	// Change sets fields of a feature, or adds one if id is empty, and returns
	// its id.
	Change(ctx context.Context, p coppice.Project, id string, c api.FeatureChange, revision string) (string, error)
}

type featureIn struct {
	ProjectIn
	ID       string `path:"id" maxLength:"200" doc:"The id of a feature"`
	Revision string `query:"revision" maxLength:"64" doc:"The change is refused if the file has changed since"`
	Body     api.FeatureChange
}

func (s *Server) featureRoutes(a huma.API) {
	add(s, a, op{method: http.MethodGet, path: "/projects/{project}/features", id: "list-features", tag: "projects",
		about: "Show a project's features file, with the task of each feature and the file's problems"},
		func(ctx context.Context, in *ProjectIn) (api.FeatureList, error) {
			return s.listFeatures(ctx, in.Project)
		})
	add(s, a, op{method: http.MethodPost, path: "/projects/{project}/features", id: "add-feature", tag: "projects", status: http.StatusCreated, body: taskBody,
		about: "Add a feature at the end of the features file; Coppice creates its task"},
		func(ctx context.Context, in *inProject[api.FeatureChange]) (api.FeatureList, error) {
			return s.changeFeature(ctx, in.Project, "", in.Body, "")
		})
	add(s, a, op{method: http.MethodPatch, path: "/projects/{project}/features/{id}", id: "change-feature", tag: "projects", body: taskBody,
		about: "Set fields of a feature in the features file; the rest of the file does not change"},
		func(ctx context.Context, in *featureIn) (api.FeatureList, error) {
			return s.changeFeature(ctx, in.Project, in.ID, in.Body, in.Revision)
		})
}

func (s *Server) featureProject(ctx context.Context, prefix string) (coppice.Project, error) {
	if s.cfg.Features == nil {
		return coppice.Project{}, coppice.Errorf(coppice.EUnavailable, "this server cannot read features files").WithFix("run `coppice features` in the repository")
	}
	p, err := s.project(ctx, prefix)
	return p.Project, err
}

func (s *Server) changeFeature(ctx context.Context, prefix, id string, c api.FeatureChange, revision string) (out api.FeatureList, err error) {
	p, err := s.featureProject(ctx, prefix)
	if err != nil {
		return out, err
	}
	if _, err := s.cfg.Features.Change(ctx, p, id, c, revision); err != nil {
		return out, err
	}
	return s.listFeatures(ctx, prefix)
}

// listFeatures joins the features with their newest tasks.
func (s *Server) listFeatures(ctx context.Context, prefix string) (out api.FeatureList, err error) {
	p, err := s.featureProject(ctx, prefix)
	if err != nil {
		return out, err
	}
	if out, err = s.cfg.Features.List(ctx, p); err != nil || out.File == "" {
		return out, err
	}
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		newest, err := r.Features.Tasks(p.ID)
		if err != nil {
			return err
		}
		views, err := s.views(ctx, r, newest)
		byFeature := map[string]*api.Task{}
		for i := range views {
			v := &views[i]
			v.Body, v.Steps = "", nil
			byFeature[v.Feature] = v
		}
		for i := range out.Features {
			f := &out.Features[i]
			f.Task = byFeature[f.ID]
			f.CanReopen = f.Task == nil && f.Status == api.FeatureFailed
		}
		return err
	})
	return out, err
}
