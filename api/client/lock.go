package client

import (
	"context"
	"net/http"
	"net/url"

	"coppice/api"
)

// Locks returns the locks of a project, the sessions that wait for some, and
// cycles.
func (c *Client) Locks(ctx context.Context, project string) (api.Locks, error) {
	return get[api.Locks](ctx, c, "/projects/"+url.PathEscape(project)+"/locks", nil)
}

// ReleaseLock releases the lock with a name, or all locks of a session.
func (c *Client) ReleaseLock(ctx context.Context, project, name, session string) (api.ReleasedLocks, error) {
	return call[api.ReleasedLocks](ctx, c, http.MethodDelete, "/projects/"+url.PathEscape(project)+"/locks", query("name", name, "session", session), nil)
}
