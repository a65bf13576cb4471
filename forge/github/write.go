package github

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	gh "github.com/google/go-github/v84/github"

	"coppice"
	"coppice/forge"
)

// noDrafts is part of GitHub's text if a repository does not allow drafts.
const noDrafts = "Draft pull requests are not supported"

func (r *repo) Create(ctx context.Context, text coppice.PullText) (forge.Brief, error) {
	fields := &gh.NewPullRequest{Title: &text.Title, Head: &text.Branch, Base: &text.Base, Body: &text.Body, Draft: &text.Draft}
	p, _, err := r.api.PullRequests.Create(ctx, r.owner, r.name, fields)
	if text.Draft && err != nil && strings.Contains(err.Error(), noDrafts) {
		text.Draft = false
		p, _, err = r.api.PullRequests.Create(ctx, r.owner, r.name, fields)
	}
	if err != nil {
		return forge.Brief{}, forge.Explain(err)
	}
	return brief(p), r.assign(ctx, p, text)
}

func (r *repo) Update(ctx context.Context, number int, text coppice.PullText) error {
	p, _, err := r.api.PullRequests.Get(ctx, r.owner, r.name, number)
	if err != nil {
		return forge.Explain(err)
	}
	if p.GetTitle() != text.Title || p.GetBody() != text.Body || p.GetBase().GetRef() != text.Base {
		edit := &gh.PullRequest{Title: &text.Title, Body: &text.Body}
		if p.GetBase().GetRef() != text.Base {
			edit.Base = &gh.PullRequestBranch{Ref: &text.Base}
		}
		if _, _, err := r.api.PullRequests.Edit(ctx, r.owner, r.name, number, edit); err != nil {
			return forge.Explain(err)
		}
	}
	if p.GetDraft() != text.Draft {
		change := mutateReady
		if text.Draft {
			change = mutateDraft
		}
		err := r.call(ctx, change, map[string]any{"id": p.GetNodeID()}, nil)
		var refused *forge.Refused
		if errors.As(err, &refused) && text.Draft && strings.Contains(refused.Text, noDrafts) {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return r.assign(ctx, p, text)
}

// assign adds the labels and asks the reviewers that a request lacks.
func (r *repo) assign(ctx context.Context, p *gh.PullRequest, text coppice.PullText) error {
	labels := slices.DeleteFunc(slices.Clone(text.Labels), func(name string) bool {
		return slices.ContainsFunc(p.Labels, func(l *gh.Label) bool { return strings.EqualFold(l.GetName(), name) })
	})
	if len(labels) > 0 {
		if _, _, err := r.api.Issues.AddLabelsToIssue(ctx, r.owner, r.name, p.GetNumber(), labels); err != nil {
			return forge.Explain(err)
		}
	}
	if text.Draft {
		return nil
	}
	request, err := r.reviewers(ctx, p, text.Reviewers)
	if err != nil || len(request.Reviewers)+len(request.TeamReviewers) == 0 {
		return err
	}
	if _, _, err := r.api.PullRequests.RequestReviewers(ctx, r.owner, r.name, p.GetNumber(), request); err != nil {
		return forge.Explain(err)
	}
	return nil
}

// reviewers returns who is asked for a review: not the author, nobody who is asked
// already, and nobody who has reviewed. A name with a slash is a team: owner/team.
func (r *repo) reviewers(ctx context.Context, p *gh.PullRequest, names []string) (gh.ReviewersRequest, error) {
	known := []string{login(p.GetUser())}
	for _, u := range p.RequestedReviewers {
		known = append(known, u.GetLogin())
	}
	for _, t := range p.RequestedTeams {
		known = append(known, r.owner+"/"+t.GetSlug())
	}
	names = without(names, known)
	if len(names) == 0 {
		return gh.ReviewersRequest{}, nil
	}
	reviews, err := pages(func(o gh.ListOptions) ([]*gh.PullRequestReview, *gh.Response, error) {
		return r.api.PullRequests.ListReviews(ctx, r.owner, r.name, p.GetNumber(), &o)
	})
	if err != nil {
		return gh.ReviewersRequest{}, err
	}
	for _, v := range reviews {
		known = append(known, login(v.GetUser()))
	}
	var request gh.ReviewersRequest
	for _, name := range without(names, known) {
		if _, team, ok := strings.Cut(name, "/"); ok {
			request.TeamReviewers = append(request.TeamReviewers, team)
		} else {
			request.Reviewers = append(request.Reviewers, name)
		}
	}
	return request, nil
}

// without returns the names that are not known. Logins do not differ by case.
func without(names, known []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) })
	})
}

func (r *repo) Merge(ctx context.Context, number int, m forge.Merge) (string, error) {
	if !m.Auto {
		return r.merge(ctx, number, m)
	}
	p, _, err := r.api.PullRequests.Get(ctx, r.owner, r.name, number)
	if err != nil {
		return "", forge.Explain(err)
	}
	if p.GetHead().GetSHA() != m.Head {
		return "", &forge.Refused{Text: "the head of the pull request is " + p.GetHead().GetSHA()}
	}
	if p.GetAutoMerge() != nil {
		return "", nil
	}
	err = r.auto(ctx, p.GetNodeID(), m)
	var refused *forge.Refused
	if !errors.As(err, &refused) || !strings.Contains(refused.Text, "clean status") {
		return "", err
	}
	// Nothing is left for which GitHub would wait.
	commit, err := r.merge(ctx, number, m)
	if errors.As(err, &refused) && strings.Contains(refused.Text, "merge queue") {
		return "", r.call(ctx, mutateQueue, map[string]any{"id": p.GetNodeID(), "head": m.Head}, nil)
	}
	return commit, err
}

func (r *repo) merge(ctx context.Context, number int, m forge.Merge) (string, error) {
	options := &gh.PullRequestOptions{SHA: m.Head, MergeMethod: m.Method}
	message := ""
	if m.Method != coppice.MergeRebase {
		options.CommitTitle, message = m.Title, m.Message
		options.DontDefaultIfBlank = m.Title != ""
	}
	result, _, err := r.api.PullRequests.Merge(ctx, r.owner, r.name, number, message, options)
	var status *forge.StatusError
	switch {
	case errors.As(err, &status) && slices.Contains(mergeRefusals, status.Status):
		return "", &forge.Refused{Text: status.Text}
	case err != nil:
		return "", forge.Explain(err)
	case !result.GetMerged():
		return "", &forge.Refused{Text: coppice.FirstLine(result.GetMessage())}
	}
	return result.GetSHA(), nil
}

// mergeRefusals are the statuses of a merge that the rules of the repository do not
// allow, or whose head is another one.
var mergeRefusals = []int{http.StatusMethodNotAllowed, http.StatusConflict, http.StatusUnprocessableEntity}

func (r *repo) Comment(ctx context.Context, number int, text string) error {
	if _, _, err := r.api.Issues.CreateComment(ctx, r.owner, r.name, number, &gh.IssueComment{Body: &text}); err != nil {
		return forge.Explain(err)
	}
	return nil
}

func (r *repo) Close(ctx context.Context, number int) error {
	closed := "closed"
	if _, _, err := r.api.PullRequests.Edit(ctx, r.owner, r.name, number, &gh.PullRequest{State: &closed}); err != nil {
		return forge.Explain(err)
	}
	return nil
}
