package client

import (
	"context"
	"net/http"
	"net/url"

	"coppice/api"
)

// FlowQuery selects flows. Its zero value selects the newest of all.
type FlowQuery struct {
	Project string
	Open    bool  // only those that have not ended
	Before  int64 // the Next of the previous page
	Limit   int   // 0 means 50
}

func flowPath(key, rest string) string { return "/flows/" + url.PathEscape(key) + rest }

func documentPath(key, name string) string {
	return flowPath(key, "/documents/"+url.PathEscape(name))
}

// Flows lists flows, newest first.
func (c *Client) Flows(ctx context.Context, q FlowQuery) (api.FlowPage, error) {
	v := query("project", q.Project)
	setIf(v, "open", q.Open)
	setNumber(v, "before", q.Before)
	setNumber(v, "limit", q.Limit)
	return get[api.FlowPage](ctx, c, "/flows", v)
}

// Flow shows a flow with its steps and documents.
func (c *Client) Flow(ctx context.Context, key string) (api.FlowDetail, error) {
	return get[api.FlowDetail](ctx, c, flowPath(key, ""), nil)
}

// Document reads a version of a flow's document; 0 means the newest.
func (c *Client) Document(ctx context.Context, key, name string, version int64) (api.FlowDocument, error) {
	v := url.Values{}
	setNumber(v, "version", version)
	return get[api.FlowDocument](ctx, c, documentPath(key, name), v)
}

// DocumentVersions lists the versions of a flow's document, newest first.
func (c *Client) DocumentVersions(ctx context.Context, key, name string) (api.DocumentVersions, error) {
	return get[api.DocumentVersions](ctx, c, documentPath(key, name)+"/versions", nil)
}

// PutDocument writes a new version of a flow's document.
func (c *Client) PutDocument(ctx context.Context, key, name string, w api.DocumentWrite) (api.FlowDocument, error) {
	return call[api.FlowDocument](ctx, c, http.MethodPut, documentPath(key, name), nil, w)
}
