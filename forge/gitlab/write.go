package gitlab

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	gl "gitlab.com/gitlab-org/api/client-go"

	"coppice"
	"coppice/forge"
)

func (r *repo) Create(ctx context.Context, text coppice.PullText) (forge.Brief, error) {
	title := titleOf(text)
	o := &gl.CreateMergeRequestOptions{Title: &title, Description: &text.Body, SourceBranch: &text.Branch, TargetBranch: &text.Base}
	if len(text.Labels) > 0 {
		o.Labels = (*gl.LabelOptions)(&text.Labels)
	}
	ids, err := r.reviewers(ctx, request{}, text)
	if err != nil {
		return forge.Brief{}, err
	}
	if len(ids) > 0 {
		o.ReviewerIDs = &ids
	}
	m, err := send[request](ctx, r, http.MethodPost, "/merge_requests", o)
	return m.brief(), forge.Explain(err)
}

func (r *repo) Update(ctx context.Context, number int, text coppice.PullText) error {
	m, _, err := get[request](ctx, r, path(number, ""), nil)
	if err != nil {
		return err
	}
	var o gl.UpdateMergeRequestOptions
	title, same := titleOf(text), true
	set := func(field **string, now string, want *string) {
		if now != *want {
			*field, same = want, false
		}
	}
	set(&o.Title, m.Title, &title)
	set(&o.Description, m.Description, &text.Body)
	set(&o.TargetBranch, m.TargetBranch, &text.Base)
	labels := slices.DeleteFunc(slices.Clone(text.Labels), func(name string) bool { return slices.Contains(m.Labels, name) })
	if len(labels) > 0 {
		o.AddLabels, same = (*gl.LabelOptions)(&labels), false
	}
	ids, err := r.reviewers(ctx, m, text)
	if err != nil {
		return err
	}
	if len(ids) > len(m.Reviewers) {
		o.ReviewerIDs, same = &ids, false
	}
	if same {
		return nil
	}
	_, err = send[request](ctx, r, http.MethodPut, path(number, ""), o)
	return forge.Explain(err)
}

// reviewers returns the ids of the reviewers that a request is to have: GitLab
// replaces the whole list. The author is not asked.
func (r *repo) reviewers(ctx context.Context, m request, text coppice.PullText) ([]int64, error) {
	var ids []int64
	for _, u := range m.Reviewers {
		ids = append(ids, u.ID)
	}
	if text.Draft {
		return ids, nil
	}
	for _, name := range text.Reviewers {
		same := func(u user) bool { return strings.EqualFold(u.Username, name) }
		if same(m.Author) || slices.ContainsFunc(m.Reviewers, same) {
			continue
		}
		list, _, err := r.api.Users.ListUsers(&gl.ListUsersOptions{Username: &name}, gl.WithContext(ctx))
		if err != nil {
			return nil, forge.Explain(err)
		}
		if len(list) != 1 || list[0] == nil {
			return nil, coppice.Errorf(coppice.EInvalid, "GitLab does not have the user %s", coppice.Quote(name)).
				WithField("land.pr.reviewers").WithFix("correct the name in coppice.yaml")
		}
		if !slices.Contains(ids, list[0].ID) {
			ids = append(ids, list[0].ID)
		}
	}
	return ids, nil
}

// send sends a change below the project, and decodes the answer. A change that GitLab
// refuses fails with a *forge.StatusError.
func send[T any](ctx context.Context, r *repo, method, path string, body any) (T, error) {
	var v T
	req, err := r.api.NewRequest(method, "projects/"+gl.PathEscape(r.project)+path, body, []gl.RequestOptionFunc{gl.WithContext(ctx)})
	if err != nil {
		return v, err
	}
	_, err = r.api.Do(req, &v)
	return v, err
}

func (r *repo) Merge(ctx context.Context, number int, o forge.Merge) (string, error) {
	m, _, err := get[request](ctx, r, path(number, ""), gl.GetMergeRequestsOptions{IncludeDivergedCommitsCount: gl.Ptr(true)})
	if err != nil {
		return "", err
	}
	switch {
	case m.SHA != o.Head:
		return "", &forge.Refused{Text: "the head of the merge request is " + m.SHA}
	case m.state() == coppice.PullMerged:
		return m.merged(), nil
	case m.AutoMerge && o.Auto:
		return "", nil
	}
	if o.Method == coppice.MergeRebase && m.DivergedCommits > 0 {
		if o.Head, err = r.rebase(ctx, number); err != nil {
			return "", err
		}
	}
	return r.accept(ctx, number, o)
}

func (r *repo) accept(ctx context.Context, number int, o forge.Merge) (string, error) {
	squash := o.Method == coppice.MergeSquash
	fields := gl.AcceptMergeRequestOptions{SHA: &o.Head, Squash: &squash}
	if o.Auto {
		fields.AutoMerge = &o.Auto
		//lint:ignore SA1019 older versions of GitLab know only this name
		fields.MergeWhenPipelineSucceeds = &o.Auto
	}
	message := strings.TrimSpace(o.Title + "\n\n" + o.Message)
	switch {
	case o.Title == "":
	case squash:
		fields.SquashCommitMessage = &message
	case o.Method == coppice.MergeMerge:
		fields.MergeCommitMessage = &message
	}
	m, err := send[request](ctx, r, http.MethodPut, path(number, "/merge"), fields)
	var status *forge.StatusError
	switch {
	case errors.As(err, &status):
		return "", r.refused(ctx, number, status)
	case err != nil:
		return "", err
	case m.state() == coppice.PullMerged:
		return m.merged(), nil
	case o.Auto && m.AutoMerge:
		return "", nil
	}
	return "", &forge.Refused{Text: cmp.Or(coppice.FirstLine(m.MergeError), "GitLab has not merged it yet")}
}

// refused returns the error of a merge that GitLab refuses. Its answer can lack the
// reason, which the request has.
func (r *repo) refused(ctx context.Context, number int, status *forge.StatusError) error {
	text := status.Text
	if status.Status == http.StatusMethodNotAllowed {
		m, _, err := get[request](ctx, r, path(number, ""), nil)
		if err != nil {
			return err
		}
		if m.MergeStatus != "" {
			text = "GitLab does not merge it: " + strings.ReplaceAll(m.MergeStatus, "_", " ")
		}
	}
	return &forge.Refused{Text: text}
}

// rebaseWait is the time between two questions whether a rebase has ended.
const rebaseWait = time.Second

// rebase asks GitLab to rebase the branch, waits until it has, and returns the head.
func (r *repo) rebase(ctx context.Context, number int) (string, error) {
	_, err := send[struct{}](ctx, r, http.MethodPut, path(number, "/rebase"), nil)
	var status *forge.StatusError
	if errors.As(err, &status) {
		return "", &forge.Refused{Text: status.Text}
	}
	if err != nil {
		return "", err
	}
	for {
		m, _, err := get[request](ctx, r, path(number, ""), gl.GetMergeRequestsOptions{IncludeRebaseInProgress: gl.Ptr(true)})
		switch {
		case err != nil:
			return "", err
		case m.MergeError != "":
			return "", &forge.Refused{Text: coppice.FirstLine(m.MergeError)}
		case !m.Rebasing:
			return m.SHA, nil
		}
		if err := r.options.Pause(ctx, rebaseWait); err != nil {
			return "", err
		}
	}
}

func (r *repo) Comment(ctx context.Context, number int, text string) error {
	_, err := send[struct{}](ctx, r, http.MethodPost, path(number, "/notes"), gl.CreateMergeRequestNoteOptions{Body: &text})
	return forge.Explain(err)
}

func (r *repo) Resolve(ctx context.Context, number int, thread string) error {
	_, err := send[struct{}](ctx, r, http.MethodPut, path(number, "/discussions/"+gl.PathEscape(thread)), gl.ResolveMergeRequestDiscussionOptions{Resolved: gl.Ptr(true)})
	return forge.Explain(err)
}

func (r *repo) Close(ctx context.Context, number int) error {
	_, err := send[struct{}](ctx, r, http.MethodPut, path(number, ""), gl.UpdateMergeRequestOptions{StateEvent: gl.Ptr("close")})
	return forge.Explain(err)
}
