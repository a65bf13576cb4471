package client

import (
	"context"
	"net/http"
	"net/url"

	"coppice"
	"coppice/api"
)

// HookQuery chooses runs of hooks. The zero value means the newest of all.
type HookQuery struct {
	Project, Task, Event string
	Before               int64 // the Next of the previous page
	Limit                int   // 0 means the server's default
}

// Hooks lists hooks: those of one project or of all, and the user's.
func (c *Client) Hooks(ctx context.Context, project string) (api.HookList, error) {
	return get[api.HookList](ctx, c, "/hooks", query("project", project))
}

// HookRuns lists runs of hooks, newest first.
func (c *Client) HookRuns(ctx context.Context, q HookQuery) (api.HookRunPage, error) {
	v := query("project", q.Project, "task", q.Task, "event", q.Event)
	setNumber(v, "before", q.Before)
	setNumber(v, "limit", q.Limit)
	return get[api.HookRunPage](ctx, c, "/hooks/runs", v)
}

// TestHooks runs the hooks of an event without the event. The runs have not ended
// when it returns.
func (c *Client) TestHooks(ctx context.Context, t coppice.HookTest) (api.HookRunPage, error) {
	return call[api.HookRunPage](ctx, c, http.MethodPost, "/hooks/test", nil, t)
}

// hookWait is how many seconds one request waits for the end of a run.
const hookWait = "20"

// WaitHook returns a run of a hook after it has ended.
func (c *Client) WaitHook(ctx context.Context, id string) (api.HookRun, error) {
	for {
		run, err := get[api.HookRun](ctx, c, "/hooks/runs/"+url.PathEscape(id), url.Values{"wait": {hookWait}})
		if err != nil || !run.EndedAt.IsZero() {
			return run, err
		}
	}
}
