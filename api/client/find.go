package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"coppice"
	"coppice/api"
)

// SearchQuery says what to search for, and where.
type SearchQuery struct {
	Text    string   // words, "phrases in quotes", and -words that must not occur
	Project string   // a prefix
	Kinds   []string // api.HitTask, api.HitOutput, api.HitCheck; empty means all
	Most    int
	Fresh   bool // wait until the index has read what was written before, at most 10 seconds
	Marks
}

// Search finds tasks, output of sessions, and checks.
func (c *Client) Search(ctx context.Context, q SearchQuery) (api.SearchPage, error) {
	v := query("project", q.Project, "kinds", strings.Join(q.Kinds, ","))
	v.Set("q", q.Text)
	q.set(v)
	setNumber(v, "most", q.Most)
	setIf(v, "fresh", q.Fresh)
	return get[api.SearchPage](ctx, c, "/search", v)
}

// UsageQuery is a span of days. Its zero value means the last 30.
type UsageQuery struct {
	From, To string // days, as in 2026-03-04
	Project  string // a prefix
	ByTask   bool
	Most     int
	Marks
}

// Usage returns what sessions used.
func (c *Client) Usage(ctx context.Context, q UsageQuery) (api.UsageReport, error) {
	v := query("from", q.From, "to", q.To, "project", q.Project)
	q.set(v)
	if q.ByTask {
		v.Set("group", "task")
	}
	setNumber(v, "most", q.Most)
	return get[api.UsageReport](ctx, c, "/usage", v)
}

// Agents lists the agent CLIs on the server's machine, with the agents of a
// project if one is named. Refresh checks them again.
func (c *Client) Agents(ctx context.Context, project string, refresh bool) (api.AgentList, error) {
	v := query("project", project)
	setIf(v, "refresh", refresh)
	return get[api.AgentList](ctx, c, "/agents", v)
}

// Config shows a project's coppice.yaml, key by key.
func (c *Client) Config(ctx context.Context, project string) (api.ProjectConfig, error) {
	return get[api.ProjectConfig](ctx, c, "/projects/"+url.PathEscape(project)+"/config", nil)
}

// SetConfig changes one key of a project's coppice.yaml.
func (c *Client) SetConfig(ctx context.Context, project string, change api.ConfigChange) (api.ProjectConfig, error) {
	return call[api.ProjectConfig](ctx, c, http.MethodPatch, "/projects/"+url.PathEscape(project)+"/config", nil, change)
}

// Prompts lists the prompt of every role of a project.
func (c *Client) Prompts(ctx context.Context, project string) (api.Prompts, error) {
	return get[api.Prompts](ctx, c, "/projects/"+url.PathEscape(project)+"/prompts", nil)
}

// SetPrompt writes or removes a project's own prompt of a role.
func (c *Client) SetPrompt(ctx context.Context, project, role string, change api.PromptChange) (api.Prompt, error) {
	return call[api.Prompt](ctx, c, http.MethodPatch, "/projects/"+url.PathEscape(project)+"/prompts/"+url.PathEscape(role), nil, change)
}

// Archive archives or unarchives an ended task.
func (c *Client) Archive(ctx context.Context, key string, on bool) (api.Task, error) {
	if on {
		return post[api.Task](ctx, c, taskPath(key, "/archive"), nil)
	}
	return post[api.Task](ctx, c, taskPath(key, "/unarchive"), nil)
}

// OutputBefore returns the last output of a session before an offset, or the
// last of all if the offset is negative.
func (c *Client) OutputBefore(ctx context.Context, session string, before int64, most int, kinds ...coppice.OutputKind) (api.OutputPage, error) {
	v := url.Values{"limit": {strconv.Itoa(most)}}
	if before < 0 {
		v.Set("tail", "true")
	} else {
		v.Set("before", strconv.FormatInt(before, 10))
	}
	for _, k := range kinds {
		v.Add("kinds", string(k))
	}
	return get[api.OutputPage](ctx, c, "/sessions/"+url.PathEscape(session)+"/output", v)
}
