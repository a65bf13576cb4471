package linear

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/forge"
)

// closedTypes are the types of states in which an issue is closed.
var closedTypes = []string{"completed", "canceled", "duplicate"}

type user struct {
	ID     string
	Name   string `json:"displayName"`
	Active bool
	App    bool
}

// login returns how people call a user. What an integration wrote has no user.
func (u *user) login() string {
	if u == nil {
		return "integration"
	}
	return u.Name
}

type issue struct {
	ID          string
	Identifier  string
	URL         string
	Title       string
	Description string
	UpdatedAt   time.Time
	ArchivedAt  *time.Time
	Team        struct{ Key string }
	State       struct{ Name, Type string }
	Creator     *user
	Assignee    *user
	Labels      struct{ Nodes []struct{ ID, Name string } }
	Comments    struct {
		Nodes    []comment
		PageInfo pageInfo
	}
}

type comment struct {
	ID        string
	Body      string
	CreatedAt time.Time
	UpdatedAt time.Time
	User      *user
}

type pageInfo struct {
	HasNextPage bool
	EndCursor   string
}

// closed reports whether an issue is closed. One that was removed is archived.
func (i *issue) closed() bool {
	return i.ArchivedAt != nil || slices.Contains(closedTypes, i.State.Type)
}

// read returns the issue. Every user with access to the team can write. A comment
// counts as a change.
func (i *issue) read() coppice.IssueRead {
	r := coppice.IssueRead{
		ID: i.Identifier, URL: i.URL, Title: i.Title, Text: i.Description, Author: i.Creator.login(), Writes: i.Creator != nil && i.Creator.Active,
		Closed: i.closed(), State: i.State.Name, UpdatedAt: i.UpdatedAt.UTC(),
	}
	for _, l := range i.Labels.Nodes {
		r.Labels = append(r.Labels, l.Name)
	}
	if i.Assignee != nil {
		r.Assignees = []string{i.Assignee.Name}
	}
	for _, c := range i.Comments.Nodes {
		if c.UpdatedAt.After(r.UpdatedAt) {
			r.UpdatedAt = c.UpdatedAt.UTC()
		}
	}
	return r
}

const (
	mostIssuePages   = 100 // of 50 issues
	mostCommentPages = forge.MostComments / 100
	mostLabelPages   = 20 // of 250 labels
)

// Issues implements forge.Tracker. Linear cannot list the issue first that changed
// longest ago, so Issues returns all of them.
func (t *team) Issues(ctx context.Context, q forge.IssueQuery) ([]coppice.IssueRead, error) {
	filter := vars{"team": vars{"key": vars{"eq": t.key}}}
	var and []vars
	for _, l := range q.Labels {
		and = append(and, vars{"labels": vars{"some": vars{"name": vars{"eqIgnoreCase": l}}}})
	}
	if q.Assignee != "" {
		filter["assignee"] = vars{"displayName": vars{"eqIgnoreCase": q.Assignee}}
	}
	if q.Query != "" {
		filter["searchableContent"] = vars{"contains": q.Query}
	}
	if q.Open {
		filter["state"] = vars{"type": vars{"nin": closedTypes}}
	}
	if !q.Since.IsZero() {
		since := vars{"updatedAt": vars{"gte": q.Since.UTC().Format("2006-01-02T15:04:05.000Z")}}
		and = append(and, vars{"or": []vars{since, {"comments": vars{"some": since}}}})
	}
	if len(and) > 0 {
		filter["and"] = and
	}
	var list []coppice.IssueRead
	after := vars{"filter": filter, "after": nil}
	for range mostIssuePages {
		got, err := call[struct {
			Issues struct {
				Nodes    []issue
				PageInfo pageInfo
			}
		}](ctx, t, queryIssues, after)
		if err != nil {
			return nil, failed(err)
		}
		for _, i := range got.Issues.Nodes {
			if r := i.read(); t.ofTeam(r.ID) && q.Matches(r) {
				list = append(list, r)
			}
		}
		if after["after"] = got.Issues.PageInfo.EndCursor; !got.Issues.PageInfo.HasNextPage {
			break
		}
	}
	if len(list) == 0 {
		_, _, err := t.team(ctx) // Linear has no issues of a team that does not exist
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b coppice.IssueRead) int {
		return cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), cmp.Compare(len(a.ID), len(b.ID)), strings.Compare(a.ID, b.ID))
	})
	return list, nil
}

// issue returns an issue with all its comments. An issue that was moved to another team
// has another identifier.
func (t *team) issue(ctx context.Context, id string) (*issue, error) {
	if !t.ofTeam(id) {
		return nil, missing("issue", id)
	}
	var whole *issue
	after := vars{"id": id, "after": nil}
	for range mostCommentPages {
		got, err := call[struct{ Issue *issue }](ctx, t, queryIssue, after)
		var refused *refusal
		switch {
		case errors.As(err, &refused) && (refused.code == "INPUT_ERROR" || refused.code == "INVALID_INPUT"):
			return nil, missing("issue", id)
		case err != nil:
			return nil, failed(err)
		case got.Issue == nil || got.Issue.Identifier != id:
			return nil, missing("issue", id)
		case whole == nil:
			whole = got.Issue
		default:
			whole.Comments.Nodes = append(whole.Comments.Nodes, got.Issue.Comments.Nodes...)
		}
		if after["after"] = got.Issue.Comments.PageInfo.EndCursor; !got.Issue.Comments.PageInfo.HasNextPage {
			break
		}
	}
	return whole, nil
}

// Issue implements forge.Tracker.
func (t *team) Issue(ctx context.Context, id string) (coppice.IssueRead, error) {
	i, err := t.issue(ctx, id)
	if err != nil {
		return coppice.IssueRead{}, err
	}
	r := i.read()
	if r.Comments, err = t.comments(ctx, i); err != nil {
		return coppice.IssueRead{}, err
	}
	got, err := call[struct {
		Issue *struct {
			Parent           *issue
			Children         struct{ Nodes []issue }
			InverseRelations struct {
				Nodes []struct {
					Type  string
					Issue issue
				}
			}
			Attachments struct{ Nodes []struct{ URL string } }
		}
	}](ctx, t, queryRelated, vars{"id": i.ID})
	switch {
	case err != nil:
		return coppice.IssueRead{}, failed(err)
	case got.Issue == nil:
		return coppice.IssueRead{}, missing("issue", id)
	case got.Issue.Parent != nil && t.ofTeam(got.Issue.Parent.Identifier):
		r.Parent = got.Issue.Parent.Identifier
	}
	open := func(list []string, other issue) []string {
		if !t.ofTeam(other.Identifier) || other.closed() {
			return list
		}
		return append(list, other.Identifier)
	}
	for _, c := range got.Issue.Children.Nodes {
		r.Children = open(r.Children, c)
	}
	for _, l := range got.Issue.InverseRelations.Nodes {
		if l.Type == "blocks" {
			r.BlockedBy = open(r.BlockedBy, l.Issue)
		}
	}
	for _, a := range got.Issue.Attachments.Nodes {
		r.Links = append(r.Links, a.URL)
	}
	return r, nil
}

// Comments implements forge.Tracker.
func (t *team) Comments(ctx context.Context, id string) ([]coppice.IssueComment, error) {
	i, err := t.issue(ctx, id)
	if err != nil {
		return nil, err
	}
	return t.comments(ctx, i)
}

func (t *team) comments(ctx context.Context, i *issue) ([]coppice.IssueComment, error) {
	if len(i.Comments.Nodes) == 0 {
		return nil, nil
	}
	me, err := call[struct{ Viewer user }](ctx, t, queryViewer, vars{})
	if err != nil {
		return nil, failed(err)
	}
	var list []coppice.IssueComment
	for _, c := range i.Comments.Nodes {
		own := c.User != nil && c.User.ID == me.Viewer.ID
		text := c.Body
		if own {
			text = fromLinear(text)
		}
		list = append(list, coppice.IssueComment{
			ID: c.ID, Author: c.User.login(), Bot: c.User == nil || c.User.App, Writes: c.User != nil && c.User.Active, Text: text, At: c.CreatedAt.UTC(), Own: own,
		})
	}
	slices.SortStableFunc(list, func(a, b coppice.IssueComment) int { return a.At.Compare(b.At) })
	return list, nil
}

// The marker of a comment on Linear, and on other trackers.
const (
	hidden  = "<!-- coppice:"
	visible = "`coppice:"
)

// toLinear returns a text that Linear keeps: with a marker that people can see.
func toLinear(text string) string {
	before, rest, found := strings.Cut(forge.Storable(text), hidden)
	key, after, closed := strings.Cut(rest, " -->")
	if !found || !closed {
		return forge.Storable(text)
	}
	return before + visible + key + "`" + after
}

// fromLinear is the inverse of toLinear.
func fromLinear(text string) string {
	i := strings.LastIndex(text, visible)
	if i < 0 {
		return text
	}
	key, after, closed := strings.Cut(text[i+len(visible):], "`")
	if !closed || strings.TrimSpace(after) != "" {
		return text
	}
	return text[:i] + hidden + key + " -->" + after
}

// AddComment implements forge.Tracker.
func (t *team) AddComment(ctx context.Context, id, text string) error {
	i, err := t.issue(ctx, id)
	if err != nil {
		return err
	}
	_, err = call[any](ctx, t, createComment, vars{"input": vars{"issueId": i.ID, "body": toLinear(text)}})
	return failed(err)
}

// EditComment implements forge.Tracker.
func (t *team) EditComment(ctx context.Context, _, comment, text string) error {
	_, err := call[any](ctx, t, updateComment, vars{"id": comment, "input": vars{"body": toLinear(text)}})
	var refused *refusal
	if !errors.As(err, &refused) {
		return err
	}
	// Linear has one code for everything that is wrong with an operation.
	found, missed := call[struct{ Comment *commentID }](ctx, t, queryComment, vars{"id": comment})
	if errors.As(missed, &refused) || missed == nil && found.Comment == nil {
		return missing("comment", comment)
	}
	return failed(err)
}

type commentID struct{ ID string }
