package client

import (
	"context"
	"net/url"

	"coppice/api"
)

// Reactions lists the history of reactions, newest first: of one project, or of all.
// Before is the Next of the previous page, or 0.
func (c *Client) Reactions(ctx context.Context, project string, before int64, limit int) (api.ReactionPage, error) {
	v := query("project", project)
	setNumber(v, "before", before)
	setNumber(v, "limit", limit)
	return get[api.ReactionPage](ctx, c, "/reactions", v)
}

// ReactionRules lists the rules of reactions of a project.
func (c *Client) ReactionRules(ctx context.Context, project string) (api.ReactionRules, error) {
	return get[api.ReactionRules](ctx, c, "/projects/"+url.PathEscape(project)+"/reactions", nil)
}
