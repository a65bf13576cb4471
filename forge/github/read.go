package github

import (
	"context"
	"slices"
	"strconv"
	"strings"

	gh "github.com/google/go-github/v84/github"

	"coppice"
	"coppice/forge"
)

func (r *repo) Read(ctx context.Context, number int) (coppice.PullRead, error) {
	p, _, err := r.api.PullRequests.Get(ctx, r.owner, r.name, number)
	if err != nil {
		return coppice.PullRead{}, forge.Explain(err)
	}
	read := coppice.PullRead{
		Number: p.GetNumber(), URL: p.GetHTMLURL(), Title: p.GetTitle(), Author: login(p.GetUser()),
		State: stateOf(p), Draft: p.GetDraft(), Branch: p.GetHead().GetRef(), Head: p.GetHead().GetSHA(),
		Base: p.GetBase().GetRef(), Foreign: foreign(p), UpdatedAt: p.GetUpdatedAt().Time,
	}
	if read.State == coppice.PullMerged {
		read.Merged = p.GetMergeCommitSHA()
	}
	read.Conflicts = read.State == coppice.PullOpen && p.GetMergeableState() == "dirty"
	for _, l := range p.Labels {
		if l.GetName() != "" {
			read.Labels = append(read.Labels, l.GetName())
		}
	}
	slices.Sort(read.Labels)
	if read.Comments, err = r.comments(ctx, number); err != nil {
		return coppice.PullRead{}, err
	}
	read.Review = forge.ReviewOf(read.Comments)
	if read.Head != "" {
		if read.Checks, err = r.checks(ctx, read.Head); err != nil {
			return coppice.PullRead{}, err
		}
		read.CI = forge.CIOf(read.Checks)
	}
	return read, nil
}

// comments returns the reviews, the comments on lines and the other comments of a
// request.
func (r *repo) comments(ctx context.Context, number int) ([]coppice.PullComment, error) {
	reviews, err := pages(func(o gh.ListOptions) ([]*gh.PullRequestReview, *gh.Response, error) {
		return r.api.PullRequests.ListReviews(ctx, r.owner, r.name, number, &o)
	})
	if err != nil {
		return nil, err
	}
	lines, err := pages(func(o gh.ListOptions) ([]*gh.PullRequestComment, *gh.Response, error) {
		return r.api.PullRequests.ListComments(ctx, r.owner, r.name, number, &gh.PullRequestListCommentsOptions{ListOptions: o})
	})
	if err != nil {
		return nil, err
	}
	plain, err := pages(func(o gh.ListOptions) ([]*gh.IssueComment, *gh.Response, error) {
		return r.api.Issues.ListComments(ctx, r.owner, r.name, number, &gh.IssueListCommentsOptions{ListOptions: o})
	})
	if err != nil {
		return nil, err
	}
	all := reviewComments(reviews)
	threads := map[string]thread{}
	if len(lines) > 0 {
		if threads, err = r.threads(ctx, number); err != nil {
			return nil, err
		}
	}
	for _, c := range lines {
		if c.GetID() == 0 {
			continue
		}
		root := c.GetID()
		if c.GetInReplyTo() != 0 {
			root = c.GetInReplyTo()
		}
		id := strconv.FormatInt(root, 10)
		comment := by(c.GetUser(), c.GetAuthorAssociation())
		comment.ID, comment.Thread, comment.Resolved = "line/"+strconv.FormatInt(c.GetID(), 10), id, threads[id].Resolved
		comment.Path, comment.Line, comment.Text, comment.At = c.GetPath(), c.GetLine(), c.GetBody(), c.GetCreatedAt().Time
		if comment.Line == 0 { // the line has changed since
			comment.Line = c.GetOriginalLine()
		}
		all = append(all, comment)
	}
	for _, c := range plain {
		if c.GetID() == 0 {
			continue
		}
		comment := by(c.GetUser(), c.GetAuthorAssociation())
		comment.ID, comment.Text, comment.At = "comment/"+strconv.FormatInt(c.GetID(), 10), c.GetBody(), c.GetCreatedAt().Time
		all = append(all, comment)
	}
	forge.SortComments(all)
	return all, nil
}

// decisions are the states of reviews that decide something.
var decisions = map[string]coppice.ReviewState{"APPROVED": coppice.ReviewApproved, "CHANGES_REQUESTED": coppice.ReviewChanges}

// reviewComments returns the reviews that say something. A review that only groups
// comments on lines does not, and a pending one is not published.
func reviewComments(list []*gh.PullRequestReview) []coppice.PullComment {
	var all []coppice.PullComment
	for _, v := range list {
		decision := decisions[v.GetState()]
		author := login(v.GetUser())
		if v.GetState() == "DISMISSED" { // it withdraws what the person decided before
			for i := range all {
				if all[i].Author == author {
					all[i].Review = coppice.ReviewNone
				}
			}
		}
		if v.GetID() == 0 || v.GetState() == "PENDING" || decision == coppice.ReviewNone && v.GetBody() == "" {
			continue
		}
		comment := by(v.GetUser(), v.GetAuthorAssociation())
		comment.ID, comment.Review = "review/"+strconv.FormatInt(v.GetID(), 10), decision
		comment.Text, comment.At = v.GetBody(), v.GetSubmittedAt().Time
		all = append(all, comment)
	}
	return all
}

// writers are the relations to a repository that have write access. GitHub reports
// MEMBER for members of the organization, whose access can be less.
var writers = []string{"OWNER", "MEMBER", "COLLABORATOR"}

func by(u *gh.User, association string) coppice.PullComment {
	return coppice.PullComment{Author: login(u), Bot: isBot(u), Writes: slices.Contains(writers, association)}
}

func isBot(u *gh.User) bool {
	return u.GetType() == "Bot" || strings.HasSuffix(u.GetLogin(), "[bot]")
}

// login returns the name of a user. GitHub shows a deleted user as ghost.
func login(u *gh.User) string {
	if u.GetLogin() == "" {
		return "ghost"
	}
	return u.GetLogin()
}
