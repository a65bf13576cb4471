package client

import (
	"context"
	"net/http"
	"net/url"

	"coppice/api"
)

func templatePath(project, name string) string {
	return "/projects/" + url.PathEscape(project) + "/templates/" + url.PathEscape(name)
}

// Templates lists the templates of a project.
func (c *Client) Templates(ctx context.Context, project string) (api.Templates, error) {
	return get[api.Templates](ctx, c, "/projects/"+url.PathEscape(project)+"/templates", nil)
}

// Template returns a template with its text.
func (c *Client) Template(ctx context.Context, project, name string) (api.Template, error) {
	return get[api.Template](ctx, c, templatePath(project, name), nil)
}

// SetTemplate writes or removes a template.
func (c *Client) SetTemplate(ctx context.Context, project, name string, change api.TemplateChange) (api.Template, error) {
	return call[api.Template](ctx, c, http.MethodPut, templatePath(project, name), nil, change)
}

// TemplateStats returns the statistics of a project's templates.
func (c *Client) TemplateStats(ctx context.Context, project string) (api.TemplateStats, error) {
	return get[api.TemplateStats](ctx, c, "/projects/"+url.PathEscape(project)+"/template-stats", nil)
}
