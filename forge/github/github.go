// Package github connects to pull requests on GitHub and GitHub Enterprise Server,
// with the REST API and, for what only that has, the GraphQL API.
package github

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"time"

	gh "github.com/google/go-github/v84/github"

	"coppice"
	"coppice/forge"
)

// repo is a repository on GitHub.
type repo struct {
	api         *gh.Client
	now         func() time.Time
	graph       string // the address of the GraphQL API
	owner, name string

	mu   sync.Mutex
	self self
}

// Open connects to a repository on GitHub. The address of the API is
// https://api.github.com/, or https://HOST/api/v3/ of an Enterprise Server.
func Open(r forge.Remote, o forge.Options) (forge.Forge, error) {
	client, err := forge.Client(r, o)
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(strings.TrimSuffix(r.API, "/") + "/")
	if err != nil {
		return nil, err
	}
	api := gh.NewClient(client)
	api.BaseURL = base
	// The engine keeps the time at which it retries.
	api.DisableRateLimitCheck = true
	// The GraphQL API of an Enterprise Server is next to the REST API, not below it.
	graph := *base
	graph.Path = strings.TrimSuffix(base.Path, "v3/") + "graphql"
	now := o.Now
	if now == nil {
		now = time.Now
	}
	return &repo{api: api, now: now, graph: graph.String(), owner: r.Owner, name: r.Name}, nil
}

// perPage is the largest page of a list.
const perPage = 100

func (r *repo) Recent(ctx context.Context) ([]forge.Brief, error) {
	list, _, err := r.api.PullRequests.List(ctx, r.owner, r.name, &gh.PullRequestListOptions{
		State: "all", Sort: "updated", Direction: "desc", ListOptions: gh.ListOptions{PerPage: perPage},
	})
	if err != nil {
		return nil, forge.Explain(err)
	}
	var briefs []forge.Brief
	for _, p := range list {
		if p.GetNumber() > 0 {
			briefs = append(briefs, brief(p))
		}
	}
	return briefs, nil
}

func (r *repo) Find(ctx context.Context, branch string) (forge.Brief, error) {
	list, _, err := r.api.PullRequests.List(ctx, r.owner, r.name, &gh.PullRequestListOptions{
		State: "all", Head: r.owner + ":" + branch, Sort: "created", Direction: "desc", ListOptions: gh.ListOptions{PerPage: perPage},
	})
	if err != nil {
		return forge.Brief{}, forge.Explain(err)
	}
	var newest *gh.PullRequest
	for _, p := range list { // GitHub ignores a filter that it does not understand
		if p.GetHead().GetRef() == branch && !foreign(p) && p.GetNumber() > newest.GetNumber() {
			newest = p
		}
	}
	if newest == nil {
		return forge.Brief{}, coppice.Errorf(coppice.ENotFound, "the branch %s has no pull request", coppice.Quote(branch))
	}
	return brief(newest), nil
}

func (r *repo) Tip(ctx context.Context, branch string) (string, error) {
	ref, _, err := r.api.Git.GetRef(ctx, r.owner, r.name, "heads/"+branch)
	if err != nil {
		return "", forge.Explain(err)
	}
	return ref.GetObject().GetSHA(), nil
}

func brief(p *gh.PullRequest) forge.Brief {
	return forge.Brief{
		Number: p.GetNumber(), URL: p.GetHTMLURL(), State: stateOf(p),
		Branch: p.GetHead().GetRef(), Head: p.GetHead().GetSHA(), Body: p.GetBody(), UpdatedAt: p.GetUpdatedAt().Time,
	}
}

// stateOf returns the state of a request. Lists have no field merged.
func stateOf(p *gh.PullRequest) coppice.PullState {
	switch {
	case p.GetMerged() || !p.GetMergedAt().IsZero():
		return coppice.PullMerged
	case p.GetState() == "closed":
		return coppice.PullClosed
	}
	return coppice.PullOpen
}

// foreign reports whether the branch of a request is in another repository. The
// repository is missing if somebody deleted it.
func foreign(p *gh.PullRequest) bool {
	head := p.GetHead().GetRepo()
	return head == nil || head.GetID() != p.GetBase().GetRepo().GetID()
}

// pages reads a list that is oldest first. A list of more than mostPages has its first
// page and the newest ones.
func pages[T any](list func(gh.ListOptions) ([]T, *gh.Response, error)) ([]T, error) {
	const mostPages = 10
	all, resp, err := list(gh.ListOptions{PerPage: perPage})
	if err != nil {
		return nil, forge.Explain(err)
	}
	last := resp.LastPage
	for page := max(2, last-mostPages+2); page <= last; page++ {
		more, _, err := list(gh.ListOptions{PerPage: perPage, Page: page})
		if err != nil {
			return nil, forge.Explain(err)
		}
		all = append(all, more...)
	}
	return all, nil
}

// failureClass returns the class of a failure, "" for any other error.
func failureClass(err error) coppice.Class {
	var failure *coppice.Failure
	if errors.As(err, &failure) {
		return failure.Class
	}
	return ""
}
