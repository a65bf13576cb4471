// Package gitlab connects to merge requests on GitLab, on gitlab.com or on a server
// of an organization, with the REST API.
package gitlab

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	gl "gitlab.com/gitlab-org/api/client-go"

	"coppice"
	"coppice/forge"
)

// repo is a project on GitLab.
type repo struct {
	api     *gl.Client
	options forge.Options
	project string // its path: group/name
}

// Open connects to a project on GitLab. The address of the API is
// https://gitlab.com/api/v4/, or the same path of another server.
func Open(r forge.Remote, o forge.Options) (forge.Forge, error) {
	client, err := forge.Client(r, o)
	if err != nil {
		return nil, err
	}
	// The client adds the token and maps failures. The engine decides about retries
	// and limits.
	api, err := gl.NewAuthSourceClient(gl.Unauthenticated{}, gl.WithBaseURL(r.API), gl.WithHTTPClient(client),
		gl.WithoutRetries(), gl.WithCustomLimiter(unlimited{}))
	if err != nil {
		return nil, coppice.Errorf(coppice.EInvalid, "%s is not an address of an API", coppice.Quote(r.API)).WithField("forge.url")
	}
	return &repo{api: api, options: o, project: r.Owner + "/" + r.Name}, nil
}

type unlimited struct{}

func (unlimited) Wait(ctx context.Context) error { return ctx.Err() }

// perPage is the largest page of a list.
const perPage = 100

// entry has what merge requests and issues share.
type entry struct {
	IID         int        `json:"iid"`
	State       string     `json:"state"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Author      user       `json:"author"`
	Labels      []string   `json:"labels"`
	WebURL      string     `json:"web_url"`
	UpdatedAt   *time.Time `json:"updated_at"`
}

// request is a merge request. It has the fields that Coppice reads: the type of the
// library fails if any other field is not what it expects.
type request struct {
	entry
	Draft           bool      `json:"draft"`
	SourceBranch    string    `json:"source_branch"`
	TargetBranch    string    `json:"target_branch"`
	SourceProject   int64     `json:"source_project_id"`
	TargetProject   int64     `json:"target_project_id"`
	SHA             string    `json:"sha"`
	MergeCommit     string    `json:"merge_commit_sha"`
	SquashCommit    string    `json:"squash_commit_sha"`
	Reviewers       []user    `json:"reviewers"`
	HasConflicts    bool      `json:"has_conflicts"`
	AutoMerge       bool      `json:"merge_when_pipeline_succeeds"`
	MergeStatus     string    `json:"detailed_merge_status"`
	HeadPipeline    *pipeline `json:"head_pipeline"`
	Rebasing        bool      `json:"rebase_in_progress"`
	MergeError      string    `json:"merge_error"`
	DivergedCommits int       `json:"diverged_commits_count"`
}

type user struct {
	ID       int64  `json:"id"`
	Username string `json:"username"`
}

// login returns the name of a user. GitLab shows a deleted user as ghost.
func (u user) login() string { return cmp.Or(u.Username, "ghost") }

// get sends a GET request below the project, and decodes the answer.
func get[T any](ctx context.Context, r *repo, path string, options any) (T, *gl.Response, error) {
	var v T
	req, err := r.api.NewRequest(http.MethodGet, "projects/"+gl.PathEscape(r.project)+path, options, []gl.RequestOptionFunc{gl.WithContext(ctx)})
	if err != nil {
		return v, nil, err
	}
	resp, err := r.api.Do(req, &v)
	return v, resp, forge.Explain(err)
}

// pages reads a list that is oldest first. A list of more than mostPages has its first
// page and the newest ones.
func pages[T any](ctx context.Context, r *repo, path string) ([]T, error) {
	return pagesOf[T](ctx, r, path, func(o gl.ListOptions) any { return o })
}

// pagesOf is pages with further options.
func pagesOf[T any](ctx context.Context, r *repo, path string, options func(gl.ListOptions) any) ([]T, error) {
	const mostPages = 10
	all, resp, err := get[[]T](ctx, r, path, options(gl.ListOptions{PerPage: perPage}))
	if err != nil {
		return nil, err
	}
	last := resp.TotalPages
	for page := max(2, last-mostPages+2); page <= last; page++ {
		more, _, err := get[[]T](ctx, r, path, options(gl.ListOptions{PerPage: perPage, Page: page}))
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// requests lists merge requests, ended ones too.
func (r *repo) requests(ctx context.Context, order, branch string) ([]request, error) {
	o := gl.ListProjectMergeRequestsOptions{
		ListOptions: gl.ListOptions{PerPage: perPage}, State: gl.Ptr("all"), OrderBy: &order, Sort: gl.Ptr("desc"),
	}
	if branch != "" {
		o.SourceBranch = &branch
	}
	list, _, err := get[[]request](ctx, r, "/merge_requests", o)
	return list, err
}

func (r *repo) Recent(ctx context.Context) ([]forge.Brief, error) {
	list, err := r.requests(ctx, "updated_at", "")
	if err != nil {
		return nil, err
	}
	var briefs []forge.Brief
	for _, m := range list {
		if m.IID > 0 {
			briefs = append(briefs, m.brief())
		}
	}
	return briefs, nil
}

func (r *repo) Find(ctx context.Context, branch string) (forge.Brief, error) {
	list, err := r.requests(ctx, "created_at", branch)
	if err != nil {
		return forge.Brief{}, err
	}
	var newest request
	for _, m := range list {
		if m.SourceBranch == branch && m.SourceProject == m.TargetProject && m.IID > newest.IID {
			newest = m
		}
	}
	if newest.IID == 0 {
		return forge.Brief{}, coppice.Errorf(coppice.ENotFound, "the branch %s has no merge request", coppice.Quote(branch))
	}
	return newest.brief(), nil
}

func (r *repo) Tip(ctx context.Context, branch string) (string, error) {
	b, _, err := get[struct {
		Commit struct {
			ID string `json:"id"`
		} `json:"commit"`
	}](ctx, r, "/repository/branches/"+gl.PathEscape(branch), nil)
	return b.Commit.ID, err
}

func (m request) brief() forge.Brief {
	b := forge.Brief{Number: m.IID, URL: m.WebURL, State: m.state(), Branch: m.SourceBranch, Head: m.SHA, Body: m.Description}
	if m.UpdatedAt != nil {
		b.UpdatedAt = m.UpdatedAt.UTC()
	}
	return b
}

// state returns the state of a request. GitLab locks a request while it merges it.
func (m request) state() coppice.PullState {
	switch m.State {
	case "merged":
		return coppice.PullMerged
	case "closed":
		return coppice.PullClosed
	}
	return coppice.PullOpen
}

// merged returns the commit on the base. A project can merge without a commit for the
// merge.
func (m request) merged() string { return cmp.Or(m.MergeCommit, m.SquashCommit, m.SHA) }

// draftMarks are the starts of a title that make a request a draft, in small letters.
var draftMarks = []string{"draft:", "[draft]", "(draft)"}

// title returns the title without the marks of a draft.
func (m request) title() string {
	title := m.Title
	for {
		rest := title
		for _, mark := range draftMarks {
			if len(rest) >= len(mark) && strings.EqualFold(rest[:len(mark)], mark) {
				rest = strings.TrimLeft(rest[len(mark):], " ")
			}
		}
		if rest == title || !m.Draft {
			return title
		}
		title = rest
	}
}

// titleOf returns the title that GitLab stores. Any other start than the mark that
// Coppice writes would make it a draft that Coppice does not know about.
func titleOf(text coppice.PullText) string {
	title := request{entry: entry{Title: text.Title}, Draft: true}.title()
	if text.Draft {
		return "Draft: " + title
	}
	return title
}

func path(number int, rest string) string {
	return "/merge_requests/" + strconv.Itoa(number) + rest
}
