package client

import (
	"context"
	"encoding/json"
	"net/http"

	"coppice"
	"coppice/api"
)

// FollowChecks calls state with the checks of a task, first and after each change,
// and output with everything that they write. It returns nil when the checks have
// ended, or if none run. If the server restarts, the checks start again: then the
// state has another Run, and the output starts again.
func (c *Client) FollowChecks(ctx context.Context, key string, state func(api.RunningChecks) error, output func(coppice.RunOutput) error) error {
	return c.followRun(ctx, taskPath(key, "/checks/live"), state, output)
}

// FollowPreview does the same for the log of a task's running preview.
func (c *Client) FollowPreview(ctx context.Context, key string, state func(api.RunningChecks) error, output func(coppice.RunOutput) error) error {
	return c.followRun(ctx, taskPath(key, "/preview/log"), state, output)
}

// Preview shows the newest preview of a task.
func (c *Client) Preview(ctx context.Context, key string) (coppice.Preview, error) {
	return get[coppice.Preview](ctx, c, taskPath(key, "/preview"), nil)
}

// StartPreview starts the app of a task's workspace.
func (c *Client) StartPreview(ctx context.Context, key string) (coppice.Preview, error) {
	return post[coppice.Preview](ctx, c, taskPath(key, "/preview"), nil)
}

// StopPreview asks the app of a task's workspace to stop.
func (c *Client) StopPreview(ctx context.Context, key string) (coppice.Preview, error) {
	return call[coppice.Preview](ctx, c, http.MethodDelete, taskPath(key, "/preview"), nil, nil)
}

func (c *Client) followRun(ctx context.Context, path string, state func(api.RunningChecks) error, output func(coppice.RunOutput) error) error {
	last := ""
	return c.follow(ctx, func(ctx context.Context, open func()) error {
		return c.stream(ctx, path, nil, last, open, func(m message) error {
			var err error
			switch m.name {
			case "state", "end":
				err = decoded(m, state)
			case "output":
				err = decoded(m, output)
			}
			if err != nil {
				return final{err}
			}
			if last = m.at; m.name == "end" {
				return errEnd
			}
			return nil
		})
	})
}

// decoded passes the data of a message to a function.
func decoded[T any](m message, f func(T) error) error {
	var v T
	if err := json.Unmarshal(m.data, &v); err != nil {
		return err
	}
	return f(v)
}
