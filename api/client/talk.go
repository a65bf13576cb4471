package client

import (
	"context"
	"net/url"
	"strconv"

	"coppice"
	"coppice/api"
)

func words(text string) map[string]string {
	if text == "" {
		return map[string]string{}
	}
	return map[string]string{"text": text}
}

// SendNext says something to a task when the running session's turn is over.
func (c *Client) SendNext(ctx context.Context, key, text string) (coppice.Message, error) {
	return post[coppice.Message](ctx, c, taskPath(key, "/send"), map[string]any{"text": text, "next": true})
}

// Interrupt ends the turn of a task's running session; a text begins the next.
func (c *Client) Interrupt(ctx context.Context, key, text string) (coppice.Message, error) {
	return post[coppice.Message](ctx, c, taskPath(key, "/interrupt"), words(text))
}

// Model has a task go on with another model.
func (c *Client) Model(ctx context.Context, key, model string) (coppice.Message, error) {
	return post[coppice.Message](ctx, c, taskPath(key, "/model"), map[string]string{"model": model})
}

// Fork makes a new task from another one's conversation and branch.
func (c *Client) Fork(ctx context.Context, key, text string) (api.Task, error) {
	return post[api.Task](ctx, c, taskPath(key, "/fork"), words(text))
}

// Rules lists what people of a project said always to, newest first.
func (c *Client) Rules(ctx context.Context, project string) ([]coppice.Rule, error) {
	l, err := get[api.RuleList](ctx, c, "/projects/"+url.PathEscape(project)+"/rules", nil)
	return l.Rules, err
}

// ForgetRule forgets the nth rule, counted from 1, and returns it.
func (c *Client) ForgetRule(ctx context.Context, project string, n int) (coppice.Rule, error) {
	return post[coppice.Rule](ctx, c, "/projects/"+url.PathEscape(project)+"/rules/"+strconv.Itoa(n)+"/forget", nil)
}

// Limits lists the agents, and models of agents, that nobody can use now.
func (c *Client) Limits(ctx context.Context) ([]api.Limit, error) {
	l, err := get[api.LimitList](ctx, c, "/agents/limits", nil)
	return l.Limits, err
}

// ClearLimit says that an agent, or agent:model, can be used again, and lists
// the limits left.
func (c *Client) ClearLimit(ctx context.Context, agent string) ([]api.Limit, error) {
	l, err := post[api.LimitList](ctx, c, "/agents/"+url.PathEscape(agent)+"/clear", nil)
	return l.Limits, err
}
