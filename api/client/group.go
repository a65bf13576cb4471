package client

import (
	"context"
	"net/http"
	"net/url"

	"coppice/api"
)

// Marks choose tasks by what people mark them with. The zero value means all.
type Marks struct {
	GroupID int64
	Label   string
	Flagged bool
}

func (m Marks) set(v url.Values) {
	setNumber(v, "group_id", m.GroupID)
	set(v, "label", m.Label)
	setIf(v, "flagged", m.Flagged)
}

// Groups lists groups of tasks, newest first, of one project or of all. Before is
// the Next of the previous page.
func (c *Client) Groups(ctx context.Context, project string, before int64) (api.GroupPage, error) {
	v := query("project", project)
	setNumber(v, "before", before)
	return get[api.GroupPage](ctx, c, "/groups", v)
}

// OpenGroups lists the newest groups with a task that has not ended.
func (c *Client) OpenGroups(ctx context.Context, project string) (api.GroupPage, error) {
	return get[api.GroupPage](ctx, c, "/groups", query("project", project, "open", "true"))
}

// Group shows a group by its number, or by its name in a project.
func (c *Client) Group(ctx context.Context, project, name string) (api.Group, error) {
	return get[api.Group](ctx, c, "/groups/"+url.PathEscape(name), query("project", project))
}

// Seen says that the person has seen a task up to an event; 0 means the newest.
func (c *Client) Seen(ctx context.Context, key string, seq int64) (api.Task, error) {
	body := map[string]int64{}
	if seq > 0 {
		body["seq"] = seq
	}
	return call[api.Task](ctx, c, http.MethodPut, taskPath(key, "/seen"), nil, body)
}
