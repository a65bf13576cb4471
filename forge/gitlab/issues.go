package gitlab

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	gl "gitlab.com/gitlab-org/api/client-go"

	"coppice"
	"coppice/forge"
)

var _ forge.Tracker = (*repo)(nil)

// OpenTracker connects to the issues of a project, as Open does.
var OpenTracker = forge.TrackerOf(Open)

// issue has the fields that Coppice reads.
type issue struct {
	entry
	Project   int64  `json:"project_id"`
	Assignees []user `json:"assignees"`
	LinkType  string `json:"link_type"` // of a list of links
}

func (i issue) read() coppice.IssueRead {
	r := coppice.IssueRead{
		ID: strconv.Itoa(i.IID), URL: i.WebURL, Title: i.Title, Text: i.Description, Author: i.Author.login(),
		Closed: i.State == "closed", Labels: i.Labels,
	}
	for _, u := range i.Assignees {
		r.Assignees = append(r.Assignees, u.login())
	}
	if i.UpdatedAt != nil {
		r.UpdatedAt = i.UpdatedAt.UTC()
	}
	return r
}

// issueQuery has the parameters of a list of issues.
type issueQuery struct {
	gl.ListOptions
	State        string   `url:"state,omitempty"`
	OrderBy      string   `url:"order_by"`
	Sort         string   `url:"sort"`
	UpdatedAfter string   `url:"updated_after,omitempty"`
	Labels       string   `url:"labels,omitempty"`
	Assignee     []string `url:"assignee_username[],omitempty"`
	Search       string   `url:"search,omitempty"`
}

// Issues implements forge.Tracker.
func (r *repo) Issues(ctx context.Context, q forge.IssueQuery) ([]coppice.IssueRead, error) {
	o := issueQuery{ListOptions: gl.ListOptions{PerPage: perPage}, OrderBy: "updated_at", Sort: "asc", Labels: strings.Join(q.Labels, ","), Search: q.Query}
	if q.Open {
		o.State = "opened"
	}
	if q.Assignee != "" {
		o.Assignee = []string{q.Assignee}
	}
	return forge.ListByChange(q, func(since time.Time, number int) (page forge.IssuePage, err error) {
		if o.Page = int64(number); !since.IsZero() {
			o.UpdatedAfter = since.UTC().Format("2006-01-02T15:04:05.000Z")
		}
		list, resp, err := get[[]issue](ctx, r, "/issues", o)
		if err != nil {
			return page, err
		}
		for _, i := range list {
			if i.IID > 0 {
				page.Issues = append(page.Issues, i.read())
				page.Last = page.Issues[len(page.Issues)-1].UpdatedAt
			}
		}
		page.More = resp.NextPage != 0
		return page, nil
	})
}

func issuePath(id, rest string) (string, error) {
	n, err := forge.IssueNumber(id)
	return fmt.Sprintf("/issues/%d%s", n, rest), err
}

func (r *repo) issue(ctx context.Context, id string) (issue, error) {
	path, err := issuePath(id, "")
	if err != nil {
		return issue{}, err
	}
	i, _, err := get[issue](ctx, r, path, nil)
	return i, err
}

// Issue implements forge.Tracker.
func (r *repo) Issue(ctx context.Context, id string) (coppice.IssueRead, error) {
	i, err := r.issue(ctx, id)
	if err != nil {
		return coppice.IssueRead{}, err
	}
	read := i.read()
	writers, err := r.writers(ctx, map[string]int64{read.Author: i.Author.ID})
	if err != nil {
		return coppice.IssueRead{}, err
	}
	read.Writes = writers[i.Author.ID]
	if read.Comments, err = r.Comments(ctx, id); err != nil {
		return coppice.IssueRead{}, err
	}
	// Some editions have only links without a direction.
	links, err := pages[issue](ctx, r, "/issues/"+id+"/links")
	if err != nil && coppice.ErrorCode(err) != coppice.ENotFound {
		return coppice.IssueRead{}, err
	}
	for _, l := range links {
		switch {
		case l.LinkType == "is_blocked_by" && l.State != "closed" && l.Project == i.Project:
			read.BlockedBy = append(read.BlockedBy, strconv.Itoa(l.IID))
		case l.LinkType == "relates_to" && l.WebURL != "":
			read.Links = append(read.Links, l.WebURL)
		}
	}
	err = forge.AddReferences(ctx, &read, true, func(ctx context.Context, id string) (bool, error) {
		i, err := r.issue(ctx, id)
		return err == nil && i.State != "closed", err
	})
	return read, err
}

// Comments implements forge.Tracker.
func (r *repo) Comments(ctx context.Context, id string) ([]coppice.IssueComment, error) {
	path, err := issuePath(id, "/notes")
	if err != nil {
		return nil, err
	}
	notes, err := pagesOf[note](ctx, r, path, func(o gl.ListOptions) any {
		return gl.ListIssueNotesOptions{ListOptions: o, OrderBy: gl.Ptr("created_at"), Sort: gl.Ptr("asc")}
	})
	notes = slices.DeleteFunc(notes, func(n note) bool { return n.System || n.ID == 0 })
	if err != nil || len(notes) == 0 {
		return nil, err
	}
	me, err := r.me(ctx)
	if err != nil {
		return nil, err
	}
	authors := map[string]int64{}
	for _, n := range notes {
		authors[n.Author.login()] = n.Author.ID
	}
	writers, err := r.writers(ctx, authors)
	if err != nil {
		return nil, err
	}
	list := make([]coppice.IssueComment, len(notes))
	for i, n := range notes {
		author := n.Author.login()
		list[i] = coppice.IssueComment{
			ID: strconv.FormatInt(n.ID, 10), Author: author, Bot: bots().MatchString(author), Writes: writers[n.Author.ID], Text: n.Body, At: n.at(), Own: n.Author.ID == me,
		}
	}
	return list, nil
}

// me returns the number of the user of the token.
func (r *repo) me(ctx context.Context) (int64, error) {
	req, err := r.api.NewRequest(http.MethodGet, "user", nil, []gl.RequestOptionFunc{gl.WithContext(ctx)})
	if err != nil {
		return 0, err
	}
	var u user
	_, err = r.api.Do(req, &u)
	return u.ID, forge.Explain(err)
}

// AddComment implements forge.Tracker.
func (r *repo) AddComment(ctx context.Context, id, text string) error {
	path, err := issuePath(id, "/notes")
	if err != nil {
		return err
	}
	_, err = send[struct{}](ctx, r, http.MethodPost, path, gl.CreateIssueNoteOptions{Body: gl.Ptr(forge.Storable(text))})
	return forge.Explain(err)
}

// EditComment implements forge.Tracker.
func (r *repo) EditComment(ctx context.Context, id, comment, text string) error {
	n, err := forge.IssueNumber(comment)
	if err != nil {
		return err
	}
	path, err := issuePath(id, fmt.Sprint("/notes/", n))
	if err != nil {
		return err
	}
	_, err = send[struct{}](ctx, r, http.MethodPut, path, gl.UpdateIssueNoteOptions{Body: gl.Ptr(forge.Storable(text))})
	return forge.Explain(err)
}

// Edit implements forge.Tracker.
func (r *repo) Edit(ctx context.Context, id string, e coppice.IssueEdit) error {
	path, err := issuePath(id, "")
	if err != nil {
		return err
	}
	var o gl.UpdateIssueOptions
	if e.Title != nil {
		o.Title = gl.Ptr(forge.Storable(coppice.FirstLine(*e.Title)))
	}
	if e.Text != nil {
		o.Description = gl.Ptr(forge.Storable(*e.Text))
	}
	if e.Closed != nil {
		o.StateEvent = gl.Ptr(map[bool]string{true: "close", false: "reopen"}[*e.Closed])
	}
	if len(e.Add) > 0 {
		o.AddLabels = (*gl.LabelOptions)(&e.Add)
	}
	if len(e.Drop) > 0 {
		o.RemoveLabels = (*gl.LabelOptions)(&e.Drop)
	}
	if o == (gl.UpdateIssueOptions{}) {
		return nil
	}
	_, err = send[struct{}](ctx, r, http.MethodPut, path, o)
	return forge.Explain(err)
}
