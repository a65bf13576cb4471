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

// Send sends a message to a task, with uploaded images.
func (c *Client) Send(ctx context.Context, key, text string, images ...string) (coppice.Message, error) {
	return c.say(ctx, key, map[string]any{"text": text}, images)
}

// SendNext sends a message to a task, for after the running session's turn.
func (c *Client) SendNext(ctx context.Context, key, text string, images ...string) (coppice.Message, error) {
	return c.say(ctx, key, map[string]any{"text": text, "next": true}, images)
}

func (c *Client) say(ctx context.Context, key string, body map[string]any, images []string) (coppice.Message, error) {
	if len(images) > 0 {
		body["images"] = images
	}
	return post[coppice.Message](ctx, c, taskPath(key, "/send"), body)
}

// Interrupt ends the turn of a task's running session. A text starts the next
// turn.
func (c *Client) Interrupt(ctx context.Context, key, text string) (coppice.Message, error) {
	return post[coppice.Message](ctx, c, taskPath(key, "/interrupt"), words(text))
}

// Model changes the model of a task.
func (c *Client) Model(ctx context.Context, key, model string) (coppice.Message, error) {
	return post[coppice.Message](ctx, c, taskPath(key, "/model"), map[string]string{"model": model})
}

// Fork creates a new task from another one's conversation and branch.
func (c *Client) Fork(ctx context.Context, key, text string) (api.Task, error) {
	return post[api.Task](ctx, c, taskPath(key, "/fork"), words(text))
}

// Rules lists the remembered permission answers of a project, newest first.
func (c *Client) Rules(ctx context.Context, project string) ([]coppice.Rule, error) {
	l, err := get[api.RuleList](ctx, c, "/projects/"+url.PathEscape(project)+"/rules", nil)
	return l.Rules, err
}

// ForgetRule removes the nth rule, counted from 1, and returns it.
func (c *Client) ForgetRule(ctx context.Context, project string, n int) (coppice.Rule, error) {
	return post[coppice.Rule](ctx, c, "/projects/"+url.PathEscape(project)+"/rules/"+strconv.Itoa(n)+"/forget", nil)
}

// Limits lists the agents, and models of agents, that cannot be used now.
func (c *Client) Limits(ctx context.Context) ([]api.Limit, error) {
	l, err := get[api.LimitList](ctx, c, "/agents/limits", nil)
	return l.Limits, err
}

// ClearLimit clears the limit of an agent, or agent:model, and returns the
// remaining limits.
func (c *Client) ClearLimit(ctx context.Context, agent string) ([]api.Limit, error) {
	l, err := post[api.LimitList](ctx, c, "/agents/"+url.PathEscape(agent)+"/clear", nil)
	return l.Limits, err
}
