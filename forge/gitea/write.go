package gitea

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"coppice"
	"coppice/forge"
)

// titleOf returns the title that Gitea has for a text. Its own marks of a draft in the
// text would make a draft of a request that is ready.
func titleOf(text coppice.PullText) string {
	title := coppice.FirstLine(bare(strings.ToValidUTF8(text.Title, "?")))
	if title == "" {
		title = text.Branch
	}
	if text.Draft {
		title = draftPrefix + title
	}
	return title
}

// bodyOf returns the description as Gitea stores it.
func bodyOf(text coppice.PullText) string {
	return forge.Storable(text.Body)
}

// Create implements forge.Forge.
func (f *Forge) Create(ctx context.Context, text coppice.PullText) (forge.Brief, error) {
	api, err := f.api(ctx)
	if err != nil {
		return forge.Brief{}, forge.Cause(err)
	}
	ids, err := f.labelIDs(api, text.Labels)
	if err != nil {
		return forge.Brief{}, forge.Cause(err)
	}
	option := sdk.CreatePullRequestOption{Head: text.Branch, Base: text.Base, Title: titleOf(text), Body: bodyOf(text), Labels: ids}
	p, _, err := api.CreatePullRequest(f.remote.Owner, f.remote.Name, option)
	for _, pause := range pauses {
		// Gitea knows a branch only some time after the push.
		if code, _ := status(err); code != http.StatusNotFound {
			break
		}
		if err := f.options.Pause(ctx, pause); err != nil {
			return forge.Brief{}, err
		}
		p, _, err = api.CreatePullRequest(f.remote.Owner, f.remote.Name, option)
	}
	if code, said := status(err); code == http.StatusConflict {
		return forge.Brief{}, coppice.Errorf(coppice.EConflict, "the branch %s has a pull request already: %s", coppice.Quote(text.Branch), said)
	}
	if err != nil {
		return forge.Brief{}, forge.Cause(err)
	}
	return f.brief(p), forge.Cause(f.askReviewers(api, p, text))
}

// Update implements forge.Forge.
func (f *Forge) Update(ctx context.Context, number int, text coppice.PullText) error {
	api, err := f.api(ctx)
	if err != nil {
		return forge.Cause(err)
	}
	p, _, err := api.GetPullRequest(f.remote.Owner, f.remote.Name, int64(number))
	if err != nil {
		return forge.Cause(err)
	}
	var change sdk.EditPullRequestOption
	changed := false
	if title := titleOf(text); p.Title != title {
		change.Title, changed = title, true
	}
	if body := bodyOf(text); p.Body != body {
		change.Body, changed = &body, true
	}
	if p.Base != nil && p.Base.Ref != text.Base {
		change.Base, changed = text.Base, true
	}
	if changed {
		if _, _, err := api.EditPullRequest(f.remote.Owner, f.remote.Name, p.Index, change); err != nil {
			return forge.Cause(err)
		}
	}
	missing := slices.DeleteFunc(slices.Clone(text.Labels), func(name string) bool {
		return slices.ContainsFunc(p.Labels, func(l *sdk.Label) bool { return strings.EqualFold(l.Name, name) })
	})
	if len(missing) > 0 {
		ids, err := f.labelIDs(api, missing)
		if err != nil {
			return forge.Cause(err)
		}
		if _, _, err := api.AddIssueLabels(f.remote.Owner, f.remote.Name, p.Index, sdk.IssueLabelsOption{Labels: ids}); err != nil {
			return forge.Cause(err)
		}
	}
	return forge.Cause(f.askReviewers(api, p, text))
}

// labelIDs returns the ids of labels. It creates labels that do not exist.
func (f *Forge) labelIDs(api *sdk.Client, names []string) ([]int64, error) {
	if len(names) == 0 {
		return nil, nil
	}
	f.labelling.Lock()
	defer f.labelling.Unlock()
	known := map[string]int64{}
	add := func(list []*sdk.Label) {
		for _, l := range list {
			known[strings.ToLower(l.Name)] = l.ID
		}
	}
	err := eachPage(mostPages, func(o sdk.ListOptions) (int, bool, error) {
		list, _, err := api.ListOrgLabels(f.remote.Owner, sdk.ListOrgLabelsOptions{ListOptions: o})
		add(list)
		return len(list), true, err
	})
	// The owner can be a person, and the token might not be able to read organizations.
	var failure *coppice.Failure
	if code, _ := status(err); err != nil && code != http.StatusNotFound && !(errors.As(err, &failure) && failure.Class == coppice.ClassAuth) {
		return nil, err
	}
	err = eachPage(mostPages, func(o sdk.ListOptions) (int, bool, error) {
		list, _, err := api.ListRepoLabels(f.remote.Owner, f.remote.Name, sdk.ListLabelsOptions{ListOptions: o})
		add(list)
		return len(list), true, err
	})
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, name := range names {
		if known[strings.ToLower(name)] == 0 {
			l, _, err := api.CreateLabel(f.remote.Owner, f.remote.Name, sdk.CreateLabelOption{Name: name, Color: "#808080"})
			if err != nil {
				return nil, err
			}
			add([]*sdk.Label{l})
		}
		ids = append(ids, known[strings.ToLower(name)])
	}
	return ids, nil
}

// askReviewers asks for reviews when the request is ready. It asks nobody twice, and
// not the author, whom Gitea does not allow.
func (f *Forge) askReviewers(api *sdk.Client, p *sdk.PullRequest, text coppice.PullText) error {
	if text.Draft || len(text.Reviewers) == 0 {
		return nil
	}
	asked := []string{loginOf(p.Poster)}
	for _, u := range p.RequestedReviewers {
		asked = append(asked, loginOf(u))
	}
	reviews, err := f.reviews(api, p.Index)
	if err != nil {
		return err
	}
	for _, r := range reviews {
		asked = append(asked, loginOf(r.Reviewer))
	}
	missing := slices.DeleteFunc(slices.Clone(text.Reviewers), func(name string) bool {
		return slices.ContainsFunc(asked, func(other string) bool { return strings.EqualFold(name, other) })
	})
	if len(missing) == 0 {
		return nil
	}
	_, err = api.CreateReviewRequests(f.remote.Owner, f.remote.Name, p.Index, sdk.PullReviewRequestOptions{Reviewers: missing})
	if code, said := status(err); code != 0 {
		return coppice.Failf(coppice.ClassEnvironment, "Gitea cannot ask "+strings.Join(missing, ", ")+" for a review: "+said,
			"check that land.pr.reviewers in coppice.yaml has logins of people with access to the repository")
	}
	return err
}

// styles are Gitea's names of how to merge.
var styles = map[string]sdk.MergeStyle{
	coppice.MergeSquash: sdk.MergeStyleSquash, coppice.MergeMerge: sdk.MergeStyleMerge, coppice.MergeRebase: sdk.MergeStyleRebase,
}

// Merge implements forge.Forge. Gitea refuses with the status 405 and the same text
// what it has not tested yet and what has conflicts, so Merge tries for some seconds.
func (f *Forge) Merge(ctx context.Context, number int, m forge.Merge) (string, error) {
	api, err := f.api(ctx)
	if err != nil {
		return "", forge.Cause(err)
	}
	if m.Auto {
		// Gitea does not compare the head when it only schedules a merge.
		p, _, err := api.GetPullRequest(f.remote.Owner, f.remote.Name, int64(number))
		if err != nil {
			return "", forge.Cause(err)
		}
		if m.Head != "" && headOf(p) != m.Head {
			return "", &forge.Refused{Text: "the head of the pull request is another commit"}
		}
	}
	option := sdk.MergePullRequestOption{Style: styles[m.Method], HeadCommitId: m.Head, MergeWhenChecksSucceed: m.Auto}
	if m.Method != coppice.MergeRebase {
		option.Title, option.Message = m.Title, m.Message
	}
	for i := 0; ; i++ {
		_, answer, err := api.MergePullRequest(f.remote.Owner, f.remote.Name, int64(number), option)
		if err == nil {
			if answer.StatusCode == http.StatusCreated {
				return "", nil // scheduled
			}
			return f.mergedAs(api, number)
		}
		code, said := status(err)
		switch {
		case code == http.StatusConflict && m.Auto && strings.Contains(said, "already scheduled"):
			return "", nil
		case code == http.StatusMethodNotAllowed && strings.Contains(said, "try again later") && i < len(pauses):
			if err := f.waitTested(ctx, api, number, pauses[i]); err != nil {
				return "", err
			}
		case code == http.StatusMethodNotAllowed, code == http.StatusConflict:
			return "", &forge.Refused{Text: "Gitea does not merge it: " + said}
		default:
			return "", forge.Cause(err)
		}
	}
}

// waitTested pauses while Gitea tests whether a request merges. It fails if the
// request is known not to.
func (f *Forge) waitTested(ctx context.Context, api *sdk.Client, number int, pause time.Duration) error {
	p, _, err := api.GetPullRequest(f.remote.Owner, f.remote.Name, int64(number))
	if err != nil {
		return forge.Cause(err)
	}
	if f.conflict(p) {
		return &forge.Refused{Text: "the pull request has conflicts with its base"}
	}
	return f.options.Pause(ctx, pause)
}

// mergedAs returns the commit on the base.
func (f *Forge) mergedAs(api *sdk.Client, number int) (string, error) {
	p, _, err := api.GetPullRequest(f.remote.Owner, f.remote.Name, int64(number))
	if err != nil {
		return "", forge.Cause(err)
	}
	if p.MergedCommitID == nil {
		return "", coppice.Failf(coppice.ClassEnvironment, "Gitea merged the pull request and does not say as which commit", "")
	}
	return *p.MergedCommitID, nil
}

// Comment implements forge.Forge.
func (f *Forge) Comment(ctx context.Context, number int, text string) error {
	api, err := f.api(ctx)
	if err != nil {
		return forge.Cause(err)
	}
	_, _, err = api.CreateIssueComment(f.remote.Owner, f.remote.Name, int64(number), sdk.CreateIssueCommentOption{Body: forge.Storable(text)})
	if err != nil {
		// Gitea answers with an error 500 if the request or the issue does not exist.
		if _, _, missing := api.GetIssue(f.remote.Owner, f.remote.Name, int64(number)); missing != nil {
			err = missing
		}
	}
	return forge.Cause(err)
}

// Resolve implements forge.Forge. Only new versions of Gitea have a call for it.
func (f *Forge) Resolve(ctx context.Context, _ int, thread string) error {
	id, err := strconv.ParseInt(thread, 10, 64)
	if err != nil {
		return coppice.Errorf(coppice.ENotFound, "%s is not a discussion on Gitea", coppice.Quote(thread))
	}
	api, err := f.api(ctx)
	if err != nil {
		return forge.Cause(err)
	}
	_, err = api.ResolvePullReviewComment(f.remote.Owner, f.remote.Name, id)
	if code, _ := status(err); code == http.StatusNotFound || code == http.StatusMethodNotAllowed {
		return nil
	}
	return forge.Cause(err)
}

// Close implements forge.Forge.
func (f *Forge) Close(ctx context.Context, number int) error {
	api, err := f.api(ctx)
	if err != nil {
		return forge.Cause(err)
	}
	closed := sdk.StateClosed
	_, _, err = api.EditPullRequest(f.remote.Owner, f.remote.Name, int64(number), sdk.EditPullRequestOption{State: &closed})
	return forge.Cause(err)
}
