package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	gh "github.com/google/go-github/v84/github"

	"coppice"
	"coppice/forge"
)

var _ forge.Tracker = (*repo)(nil)

// OpenTracker connects to the issues of a repository, as Open does.
var OpenTracker = forge.TrackerOf(Open)

// Issues implements forge.Tracker.
func (r *repo) Issues(ctx context.Context, q forge.IssueQuery) ([]coppice.IssueRead, error) {
	get := r.listed
	if q.Query != "" {
		get = r.searched
	}
	return forge.ListByChange(q, func(since time.Time, number int) (page forge.IssuePage, err error) {
		var list []*gh.Issue
		list, page.More, err = get(ctx, q, since, number)
		for _, i := range list {
			if page.Last = i.GetUpdatedAt().Time; i.GetNumber() > 0 && i.PullRequestLinks == nil && (q.Query == "" || r.here(i.GetRepositoryURL())) {
				page.Issues = append(page.Issues, issueOf(i))
			}
		}
		return page, err
	})
}

// listed returns a page of the list of issues and pull requests.
func (r *repo) listed(ctx context.Context, q forge.IssueQuery, since time.Time, page int) ([]*gh.Issue, bool, error) {
	o := &gh.IssueListByRepoOptions{
		State: map[bool]string{true: "open", false: "all"}[q.Open], Assignee: q.Assignee, Sort: "updated", Direction: "asc", Since: since.UTC(),
		Labels: slices.DeleteFunc(slices.Clone(q.Labels), func(l string) bool { return strings.Contains(l, ",") }),
	}
	if since.IsZero() {
		o.Since = since
	}
	o.ListOptions = gh.ListOptions{PerPage: perPage, Page: page}
	list, resp, err := r.api.Issues.ListByRepo(ctx, r.owner, r.name, o)
	var refused *forge.StatusError
	if q.Assignee != "" && errors.As(err, &refused) && refused.Status == http.StatusUnprocessableEntity {
		return nil, false, nil // nobody has this login
	}
	if err != nil {
		return nil, false, forge.Explain(err)
	}
	return list, resp.NextPage != 0, nil
}

// searched returns a page of what GitHub's search finds. It finds at most 1000.
func (r *repo) searched(ctx context.Context, q forge.IssueQuery, since time.Time, page int) ([]*gh.Issue, bool, error) {
	words := []string{"repo:" + r.owner + "/" + r.name, "is:issue", q.Query}
	for _, l := range q.Labels {
		words = append(words, "label:"+strconv.Quote(l))
	}
	if q.Assignee != "" {
		words = append(words, "assignee:"+q.Assignee)
	}
	if q.Open {
		words = append(words, "state:open")
	}
	if !since.IsZero() {
		words = append(words, "updated:>="+since.UTC().Format(time.RFC3339))
	}
	result, resp, err := r.api.Search.Issues(ctx, strings.Join(words, " "), &gh.SearchOptions{Sort: "updated", Order: "asc", ListOptions: gh.ListOptions{PerPage: perPage, Page: page}})
	var refused *forge.StatusError
	if errors.As(err, &refused) && refused.Status == http.StatusUnprocessableEntity {
		return nil, false, coppice.Errorf(coppice.EInvalid, "GitHub does not understand the query %s: %s", coppice.Quote(q.Query), refused.Text).
			WithField("tracker.import.query").WithFix("use the words and qualifiers of GitHub's search of issues")
	}
	if err != nil {
		return nil, false, forge.Explain(err)
	}
	return result.Issues, resp.NextPage != 0, nil
}

// here reports whether the address of a repository is the one of this repository.
func (r *repo) here(address string) bool {
	return address == "" || strings.HasSuffix(strings.ToLower(address), strings.ToLower("/repos/"+r.owner+"/"+r.name))
}

// fullIssue has what the library does not read. The summaries say whether further
// requests are needed. Older servers do not have them.
type fullIssue struct {
	gh.Issue
	SubIssues    *struct{ Total int } `json:"sub_issues_summary"`
	Dependencies *struct {
		BlockedBy int `json:"blocked_by"`
	} `json:"issue_dependencies_summary"`
}

// issue returns an issue that is not a pull request.
func (r *repo) issue(ctx context.Context, id string) (*fullIssue, error) {
	n, err := forge.IssueNumber(id)
	if err != nil {
		return nil, err
	}
	i := &fullIssue{}
	req, err := r.api.NewRequest(http.MethodGet, fmt.Sprintf("repos/%s/%s/issues/%d", r.owner, r.name, n), nil)
	if err != nil {
		return nil, err
	}
	_, err = r.api.Do(ctx, req, i)
	var refused *forge.StatusError
	switch {
	case errors.As(err, &refused) && refused.Status == http.StatusGone:
		return nil, coppice.Errorf(coppice.ENotFound, "the issue #%d was deleted", n)
	case err != nil:
		return nil, forge.Explain(err)
	case int64(i.GetNumber()) != n: // GitHub redirects
		return nil, coppice.Errorf(coppice.ENotFound, "the issue #%d was moved to another repository", n)
	case i.PullRequestLinks != nil:
		return nil, coppice.Errorf(coppice.ENotFound, "#%d is a pull request, not an issue", n)
	}
	return i, nil
}

// Issue implements forge.Tracker.
func (r *repo) Issue(ctx context.Context, id string) (coppice.IssueRead, error) {
	i, err := r.issue(ctx, id)
	if err != nil {
		return coppice.IssueRead{}, err
	}
	read := issueOf(&i.Issue)
	home := i.GetRepositoryURL() // a repository that was renamed has another name here
	same := func(address string) bool { return r.here(address) || strings.EqualFold(address, home) }
	if address, number, found := cutLast(i.GetParentIssueURL(), "/issues/"); found && same(address) {
		if _, err := forge.IssueNumber(number); err == nil {
			read.Parent = number
		}
	}
	if i.GetComments() > 0 {
		if read.Comments, err = r.issueComments(ctx, i.GetNumber()); err != nil {
			return coppice.IssueRead{}, err
		}
	}
	if i.Dependencies == nil || i.Dependencies.BlockedBy > 0 {
		if read.BlockedBy, err = r.related(ctx, i.GetNumber(), "dependencies/blocked_by", same); err != nil {
			return coppice.IssueRead{}, err
		}
	}
	if i.SubIssues == nil || i.SubIssues.Total > 0 {
		if read.Children, err = r.related(ctx, i.GetNumber(), "sub_issues", same); err != nil {
			return coppice.IssueRead{}, err
		}
	}
	err = forge.AddReferences(ctx, &read, false, func(ctx context.Context, id string) (bool, error) {
		i, err := r.issue(ctx, id)
		return err == nil && i.GetState() != "closed", err
	})
	return read, err
}

// related returns the open issues of the same repository that a list has. A server that
// does not have the list has none of them.
func (r *repo) related(ctx context.Context, number int, list string, same func(address string) bool) ([]string, error) {
	req, err := r.api.NewRequest(http.MethodGet, fmt.Sprintf("repos/%s/%s/issues/%d/%s?per_page=%d", r.owner, r.name, number, list, perPage), nil)
	if err != nil {
		return nil, err
	}
	var issues []*gh.Issue
	if _, err := r.api.Do(ctx, req, &issues); err != nil {
		if err = forge.Explain(err); coppice.ErrorCode(err) == coppice.ENotFound {
			err = nil
		}
		return nil, err
	}
	var ids []string
	for _, i := range issues {
		if i.GetState() != "closed" && i.PullRequestLinks == nil && i.GetNumber() > 0 && same(i.GetRepositoryURL()) {
			ids = append(ids, strconv.Itoa(i.GetNumber()))
		}
	}
	return ids, nil
}

func issueOf(i *gh.Issue) coppice.IssueRead {
	read := coppice.IssueRead{
		ID: strconv.Itoa(i.GetNumber()), URL: i.GetHTMLURL(), Title: i.GetTitle(), Text: i.GetBody(), Author: login(i.GetUser()),
		Writes: slices.Contains(writers, i.GetAuthorAssociation()), Closed: i.GetState() == "closed", UpdatedAt: i.GetUpdatedAt().UTC(),
	}
	for _, l := range i.Labels {
		read.Labels = append(read.Labels, l.GetName())
	}
	for _, u := range i.Assignees {
		read.Assignees = append(read.Assignees, login(u))
	}
	return read
}

// Comments implements forge.Tracker.
func (r *repo) Comments(ctx context.Context, id string) ([]coppice.IssueComment, error) {
	n, err := forge.IssueNumber(id)
	if err != nil {
		return nil, err
	}
	return r.issueComments(ctx, int(n))
}

func (r *repo) issueComments(ctx context.Context, number int) ([]coppice.IssueComment, error) {
	list, err := pages(func(o gh.ListOptions) ([]*gh.IssueComment, *gh.Response, error) {
		return r.api.Issues.ListComments(ctx, r.owner, r.name, number, &gh.IssueListCommentsOptions{ListOptions: o})
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	me, err := r.me(ctx)
	if err != nil {
		return nil, err
	}
	var comments []coppice.IssueComment
	for _, c := range list {
		if c.GetID() == 0 {
			continue
		}
		p := by(c.GetUser(), c.GetAuthorAssociation())
		own := p.Author == me || me == "" && p.Bot
		comments = append(comments, coppice.IssueComment{
			ID: strconv.FormatInt(c.GetID(), 10), Author: p.Author, Bot: p.Bot, Writes: p.Writes, Text: c.GetBody(), At: c.GetCreatedAt().UTC(), Own: own,
		})
	}
	slices.SortStableFunc(comments, func(a, b coppice.IssueComment) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(len(a.ID), len(b.ID)), strings.Compare(a.ID, b.ID))
	})
	return comments, nil
}

// self is the account of the token.
type self struct {
	login string // empty: the token of an app, which cannot ask
	until time.Time
}

// selfKept is how long the account of the token is remembered.
const selfKept = 5 * time.Minute

// me returns the login of the token, which has just read the comments. The token of an
// app or of Actions cannot ask for it. Its comments are those of a bot.
func (r *repo) me(ctx context.Context) (string, error) {
	r.mu.Lock()
	known := r.self
	r.mu.Unlock()
	if r.now().Before(known.until) {
		return known.login, nil
	}
	u, _, err := r.api.Users.Get(ctx, "")
	err = forge.Explain(err)
	if err != nil && failureClass(err) != coppice.ClassAuth {
		return "", err
	}
	known = self{u.GetLogin(), r.now().Add(selfKept)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.self = known
	return known.login, nil
}

// AddComment implements forge.Tracker.
func (r *repo) AddComment(ctx context.Context, id, text string) error {
	n, err := forge.IssueNumber(id)
	if err != nil {
		return err
	}
	return r.Comment(ctx, int(n), forge.Storable(text))
}

// EditComment implements forge.Tracker.
func (r *repo) EditComment(ctx context.Context, _, comment, text string) error {
	n, err := forge.IssueNumber(comment)
	if err != nil {
		return err
	}
	text = forge.Storable(text)
	_, _, err = r.api.Issues.EditComment(ctx, r.owner, r.name, n, &gh.IssueComment{Body: &text})
	return forge.Explain(err)
}

// Edit implements forge.Tracker. It closes an issue last.
func (r *repo) Edit(ctx context.Context, id string, e coppice.IssueEdit) error {
	i, err := r.issue(ctx, id)
	if err != nil {
		return err
	}
	number := i.GetNumber()
	if len(e.Add) > 0 {
		if _, _, err := r.api.Issues.AddLabelsToIssue(ctx, r.owner, r.name, number, e.Add); err != nil {
			return forge.Explain(err)
		}
	}
	for _, l := range i.Labels {
		if !slices.ContainsFunc(e.Drop, func(name string) bool { return strings.EqualFold(name, l.GetName()) }) {
			continue
		}
		_, err := r.api.Issues.RemoveLabelForIssue(ctx, r.owner, r.name, number, url.PathEscape(l.GetName()))
		if err = forge.Explain(err); err != nil && coppice.ErrorCode(err) != coppice.ENotFound {
			return err
		}
	}
	var change gh.IssueRequest
	if e.Title != nil {
		change.Title = gh.Ptr(forge.Storable(coppice.FirstLine(*e.Title)))
	}
	if e.Text != nil {
		change.Body = gh.Ptr(forge.Storable(*e.Text))
	}
	if e.Closed != nil {
		change.State = gh.Ptr(map[bool]string{true: "closed", false: "open"}[*e.Closed])
		change.StateReason = gh.Ptr(map[bool]string{true: "completed", false: "reopened"}[*e.Closed])
	}
	if change.Title == nil && change.Body == nil && change.State == nil {
		return nil
	}
	_, _, err = r.api.Issues.Edit(ctx, r.owner, r.name, number, &change)
	return forge.Explain(err)
}

// cutLast is strings.Cut at the last separator.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
