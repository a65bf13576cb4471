package gitea

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"coppice"
	"coppice/forge"
)

var _ forge.Tracker = (*Forge)(nil)

// OpenTracker connects to the issues of a repository on a Gitea or Forgejo.
var OpenTracker = forge.TrackerOf(Open)

// mostLists is how often a list is read again that changed while it was read.
const mostLists = 3

// Issues implements forge.Tracker. Gitea lists the newest issue first, in pages by
// number, so it returns all of them. It ignores labels that the repository does not
// have, and does not combine labels of an organization with others.
func (f *Forge) Issues(ctx context.Context, q forge.IssueQuery) ([]coppice.IssueRead, error) {
	api, err := f.api(ctx)
	if err != nil {
		return nil, forge.Cause(err)
	}
	option := sdk.ListIssueOption{Type: sdk.IssueTypeIssue, State: sdk.StateAll, Labels: q.Labels, KeyWord: q.Query, Since: q.Since.UTC().Truncate(time.Second)}
	if q.Open {
		option.State = sdk.StateOpen
	}
	var list []coppice.IssueRead
	for try := range mostLists {
		list = nil
		totals := map[string]bool{}
		err := eachPage(mostIssuePages, func(o sdk.ListOptions) (int, bool, error) {
			option.ListOptions = o
			page, resp, err := api.ListRepoIssues(f.remote.Owner, f.remote.Name, option)
			for _, i := range page {
				if r := issueOf(i); i.PullRequest == nil && q.Matches(r) {
					list = append(list, r)
				}
			}
			if err == nil {
				totals[resp.Header.Get("X-Total-Count")] = true
			}
			return len(page), true, err
		})
		switch {
		case err != nil:
			return nil, err
		case len(totals) > 1 && try < mostLists-1:
			continue // an issue might have moved from one page to another
		}
		break
	}
	slices.SortStableFunc(list, func(a, b coppice.IssueRead) int {
		return cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), cmp.Compare(len(a.ID), len(b.ID)), strings.Compare(a.ID, b.ID))
	})
	return slices.CompactFunc(list, func(a, b coppice.IssueRead) bool { return a.ID == b.ID }), nil
}

// mostIssuePages is more than the number of issues that Coppice works on.
const mostIssuePages = 60

// Issue implements forge.Tracker.
func (f *Forge) Issue(ctx context.Context, id string) (coppice.IssueRead, error) {
	api, err := f.api(ctx)
	if err != nil {
		return coppice.IssueRead{}, forge.Cause(err)
	}
	i, err := f.issue(api, id)
	if err != nil {
		return coppice.IssueRead{}, err
	}
	r := issueOf(i)
	if r.Writes, err = f.canWrite(api, r.Author); err != nil {
		return coppice.IssueRead{}, forge.Cause(err)
	}
	if r.Comments, err = f.issueComments(api, i.Index); err != nil {
		return coppice.IssueRead{}, err
	}
	err = eachPage(mostPages, func(o sdk.ListOptions) (int, bool, error) {
		page, _, err := api.ListIssueDependencies(f.remote.Owner, f.remote.Name, i.Index, sdk.ListIssueDependenciesOptions{ListOptions: o})
		for _, d := range page {
			here := d.Repository == nil || strings.EqualFold(d.Repository.FullName, f.remote.Owner+"/"+f.remote.Name)
			if here && d.PullRequest == nil && d.Index > 0 && d.State != sdk.StateClosed {
				r.BlockedBy = append(r.BlockedBy, strconv.FormatInt(d.Index, 10))
			}
		}
		return len(page), true, err
	})
	if err != nil && coppice.ErrorCode(err) != coppice.ENotFound { // the repository has no dependencies
		return coppice.IssueRead{}, err
	}
	err = forge.AddReferences(ctx, &r, true, func(_ context.Context, id string) (bool, error) {
		i, err := f.issue(api, id)
		return err == nil && i.State != sdk.StateClosed, err
	})
	return r, forge.Cause(err)
}

// issue returns an issue that is not a pull request.
func (f *Forge) issue(api *sdk.Client, id string) (*sdk.Issue, error) {
	n, err := forge.IssueNumber(id)
	if err != nil {
		return nil, err
	}
	i, _, err := api.GetIssue(f.remote.Owner, f.remote.Name, n)
	switch {
	case err != nil:
		return nil, forge.Cause(err)
	case i.PullRequest != nil:
		return nil, coppice.Errorf(coppice.ENotFound, "#%d is a pull request, not an issue", n)
	}
	return i, nil
}

func issueOf(i *sdk.Issue) coppice.IssueRead {
	r := coppice.IssueRead{
		ID: strconv.FormatInt(i.Index, 10), URL: i.HTMLURL, Title: i.Title, Text: i.Body, Author: loginOf(i.Poster),
		Closed: i.State == sdk.StateClosed, UpdatedAt: i.Updated.UTC(),
	}
	for _, l := range i.Labels {
		r.Labels = append(r.Labels, l.Name)
	}
	for _, u := range i.Assignees {
		r.Assignees = append(r.Assignees, loginOf(u))
	}
	return r
}

// Comments implements forge.Tracker.
func (f *Forge) Comments(ctx context.Context, id string) ([]coppice.IssueComment, error) {
	api, err := f.api(ctx)
	if err != nil {
		return nil, forge.Cause(err)
	}
	i, err := f.issue(api, id)
	if err != nil {
		return nil, err
	}
	return f.issueComments(api, i.Index)
}

// issueComments returns the comments, of which Gitea lists all, oldest first.
func (f *Forge) issueComments(api *sdk.Client, number int64) ([]coppice.IssueComment, error) {
	list, _, err := api.ListIssueComments(f.remote.Owner, f.remote.Name, number, sdk.ListIssueCommentOptions{})
	if err != nil {
		return nil, forge.Cause(err)
	}
	if len(list) == 0 {
		return nil, nil
	}
	me, err := f.me(api)
	if err != nil {
		return nil, err
	}
	list = list[max(0, len(list)-forge.MostComments):]
	comments := make([]coppice.IssueComment, len(list))
	for i, c := range list {
		p := commentOf("", c.ID, c.Poster, c.Body, c.Created)
		comments[i] = coppice.IssueComment{ID: p.ID, Author: p.Author, Bot: p.Bot, Text: p.Text, At: p.At, Own: p.Author == me}
		if comments[i].Writes, err = f.canWrite(api, p.Author); err != nil {
			return nil, forge.Cause(err)
		}
	}
	return comments, nil
}

// me returns the login of the token.
func (f *Forge) me(api *sdk.Client) (string, error) {
	f.mu.Lock()
	known := f.self
	f.mu.Unlock()
	if known.login != "" && f.now().Sub(known.at) < accessKept {
		return known.login, nil
	}
	u, _, err := api.GetMyUserInfo()
	if err != nil {
		return "", forge.Cause(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.self.login, f.self.at = loginOf(u), f.now()
	return f.self.login, nil
}

// AddComment implements forge.Tracker.
func (f *Forge) AddComment(ctx context.Context, id, text string) error {
	n, err := forge.IssueNumber(id)
	if err != nil {
		return err
	}
	return f.Comment(ctx, int(n), text)
}

// EditComment implements forge.Tracker.
func (f *Forge) EditComment(ctx context.Context, _, comment, text string) error {
	n, err := forge.IssueNumber(comment)
	if err != nil {
		return err
	}
	api, err := f.api(ctx)
	if err != nil {
		return forge.Cause(err)
	}
	_, _, err = api.EditIssueComment(f.remote.Owner, f.remote.Name, n, sdk.EditIssueCommentOption{Body: forge.Storable(text)})
	return forge.Cause(err)
}

// Edit implements forge.Tracker. It closes an issue last.
func (f *Forge) Edit(ctx context.Context, id string, e coppice.IssueEdit) error {
	api, err := f.api(ctx)
	if err != nil {
		return forge.Cause(err)
	}
	i, err := f.issue(api, id)
	if err != nil {
		return err
	}
	ids, err := f.labelIDs(api, e.Add)
	if err != nil {
		return forge.Cause(err)
	}
	if len(ids) > 0 {
		if _, _, err := api.AddIssueLabels(f.remote.Owner, f.remote.Name, i.Index, sdk.IssueLabelsOption{Labels: ids}); err != nil {
			return forge.Cause(err)
		}
	}
	for _, l := range i.Labels {
		if !slices.ContainsFunc(e.Drop, func(name string) bool { return strings.EqualFold(name, l.Name) }) {
			continue
		}
		if _, err := api.DeleteIssueLabel(f.remote.Owner, f.remote.Name, i.Index, l.ID); err != nil && coppice.ErrorCode(forge.Cause(err)) != coppice.ENotFound {
			return forge.Cause(err)
		}
	}
	var change sdk.EditIssueOption
	if e.Title != nil {
		change.Title = forge.Storable(coppice.FirstLine(*e.Title))
	}
	if e.Text != nil {
		text := forge.Storable(*e.Text)
		change.Body = &text
	}
	if e.Closed != nil {
		state := map[bool]sdk.StateType{true: sdk.StateClosed, false: sdk.StateOpen}[*e.Closed]
		change.State = &state
	}
	if change.Title == "" && change.Body == nil && change.State == nil {
		return nil
	}
	_, _, err = api.EditIssue(f.remote.Owner, f.remote.Name, i.Index, change)
	if code, said := status(err); code == http.StatusPreconditionFailed {
		return coppice.Failf(coppice.ClassEnvironment, "Gitea does not close the issue #"+id+": "+said, "close the issues that block it, or remove these dependencies")
	}
	return forge.Cause(err)
}
