package client

import (
	"context"
	"net/url"
	"strconv"

	"coppice/api"
)

// IssueQuery chooses issues of a project.
type IssueQuery struct {
	Ended  bool
	Before int64
	Limit  int
}

func issuesPath(project string) string { return "/projects/" + url.PathEscape(project) + "/issues" }

// Issues returns the sources of issues of a project, and a page of issues.
func (c *Client) Issues(ctx context.Context, project string, q IssueQuery) (api.Issues, error) {
	v := url.Values{}
	if q.Ended {
		v.Set("ended", "true")
	}
	if q.Before != 0 {
		v.Set("before", strconv.FormatInt(q.Before, 10))
	}
	if q.Limit != 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return get[api.Issues](ctx, c, issuesPath(project), v)
}

// ImportIssues creates the tasks of issues. An issue with an open task gives that task.
func (c *Client) ImportIssues(ctx context.Context, project string, i api.ImportIssues) (api.TaskList, error) {
	return post[api.TaskList](ctx, c, issuesPath(project)+"/import", i)
}

// HeldIssue returns the texts of an issue whose change waits for a person.
func (c *Client) HeldIssue(ctx context.Context, project, tracker, issue string) (api.IssueTexts, error) {
	return get[api.IssueTexts](ctx, c, issuesPath(project)+"/held", url.Values{"tracker": {tracker}, "issue": {issue}})
}

// AcceptIssue accepts the text of an issue that somebody changed.
func (c *Client) AcceptIssue(ctx context.Context, project string, a api.AcceptIssue) (api.Issues, error) {
	return post[api.Issues](ctx, c, issuesPath(project)+"/accept", a)
}

// ReadIssues asks for a pass over the sources of issues now.
func (c *Client) ReadIssues(ctx context.Context, project string) (api.Issues, error) {
	return post[api.Issues](ctx, c, issuesPath(project)+"/read", nil)
}
