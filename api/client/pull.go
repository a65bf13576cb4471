package client

import (
	"context"
	"fmt"
	"net/url"

	"coppice/api"
)

// Adoption says how a task continues a pull request of somebody else. Without a text,
// the task only follows it.
type Adoption struct {
	Title string `json:"title,omitempty"`
	Text  string `json:"text,omitempty"`
	Agent string `json:"agent,omitempty"`
	Model string `json:"model,omitempty"`
}

// AdoptPull creates a task that continues a pull request. If a task has it already, that
// task is returned.
func (c *Client) AdoptPull(ctx context.Context, project string, number int, a Adoption) (api.Task, error) {
	return post[api.Task](ctx, c, pullPath(project, number)+"/adopt", a)
}

// PullTask returns the task of a pull request.
func (c *Client) PullTask(ctx context.Context, project string, number int) (api.Task, error) {
	return get[api.Task](ctx, c, pullPath(project, number), nil)
}

func pullPath(project string, number int) string {
	return fmt.Sprintf("/projects/%s/pulls/%d", url.PathEscape(project), number)
}
