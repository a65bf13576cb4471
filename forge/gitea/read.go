package gitea

import (
	"cmp"
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

const (
	accessKept = 5 * time.Minute // how long the access of an author is remembered

	// Gitea does not test a request that nobody has changed for long when its base
	// moves. It then says that it does not merge.
	testedFor = 7 * 24 * time.Hour
)

// Read implements forge.Forge.
func (f *Forge) Read(ctx context.Context, number int) (coppice.PullRead, error) {
	api, err := f.api(ctx)
	if err != nil {
		return coppice.PullRead{}, forge.Cause(err)
	}
	p, _, err := api.GetPullRequest(f.remote.Owner, f.remote.Name, int64(number))
	if err != nil {
		return coppice.PullRead{}, forge.Cause(err)
	}
	if p, err = f.tested(ctx, api, p); err != nil {
		return coppice.PullRead{}, forge.Cause(err)
	}
	if err := f.mergedHead(api, p); err != nil {
		return coppice.PullRead{}, forge.Cause(err)
	}
	r := coppice.PullRead{
		Number: number, URL: p.HTMLURL, Title: bare(p.Title), Author: loginOf(p.Poster), State: stateOf(p), Draft: p.Draft,
		Branch: branchOf(p), Head: headOf(p), Foreign: foreign(p), Conflicts: f.conflict(p), UpdatedAt: timeOf(p.Updated),
	}
	if p.Base != nil {
		r.Base = p.Base.Ref
	}
	if p.HasMerged && p.MergedCommitID != nil {
		r.Merged = *p.MergedCommitID
	}
	for _, l := range p.Labels {
		r.Labels = append(r.Labels, l.Name)
	}
	slices.Sort(r.Labels)
	if r.Checks, err = f.checks(api, r.Head); err != nil {
		return coppice.PullRead{}, forge.Cause(err)
	}
	r.CI = forge.CIOf(r.Checks)
	if r.Comments, err = f.comments(api, p.Index); err != nil {
		return coppice.PullRead{}, forge.Cause(err)
	}
	r.Review = forge.ReviewOf(r.Comments)
	return r, nil
}

// tested waits until Gitea has tested whether the request merges. It gives up after
// the pauses, and remembers that these two commits do not merge.
func (f *Forge) tested(ctx context.Context, api *sdk.Client, p *sdk.PullRequest) (*sdk.PullRequest, error) {
	for _, pause := range pauses {
		if !f.untested(p) || f.conflict(p) {
			return p, nil
		}
		if err := f.options.Pause(ctx, pause); err != nil {
			return nil, err
		}
		next, _, err := api.GetPullRequest(f.remote.Owner, f.remote.Name, p.Index)
		if err != nil {
			return nil, err
		}
		p = next
	}
	if f.untested(p) {
		f.mu.Lock()
		f.conflicts[p.Index] = commits(p)
		f.mu.Unlock()
	}
	return p, nil
}

// untested reports whether the request has conflicts, or is still being tested. Of a
// draft, Gitea says neither.
func (f *Forge) untested(p *sdk.PullRequest) bool {
	return stateOf(p) == coppice.PullOpen && !p.Draft && !p.Mergeable && f.now().Sub(timeOf(p.Updated)) < testedFor
}

// conflict reports whether a request is known not to merge.
func (f *Forge) conflict(p *sdk.PullRequest) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.untested(p) {
		delete(f.conflicts, p.Index)
		return false
	}
	return f.conflicts[p.Index] == commits(p)
}

func commits(p *sdk.PullRequest) [2]string {
	if p.Base == nil {
		return [2]string{headOf(p)}
	}
	return [2]string{headOf(p), p.Base.Sha}
}

// states are the results of CI. A warning and a skipped check do not fail.
var states = map[sdk.StatusState]coppice.CIState{
	sdk.StatusSuccess: coppice.CIPassed, sdk.StatusWarning: coppice.CIPassed, "skipped": coppice.CIPassed,
	sdk.StatusFailure: coppice.CIFailed, sdk.StatusError: coppice.CIFailed,
}

// checks returns the newest status of each context, in order of their names.
func (f *Forge) checks(api *sdk.Client, head string) ([]coppice.PullCheck, error) {
	if head == "" {
		return nil, nil
	}
	newest := map[string]*sdk.Status{}
	err := eachPage(mostPages, func(o sdk.ListOptions) (int, bool, error) {
		list, _, err := api.ListStatuses(f.remote.Owner, f.remote.Name, head, sdk.ListStatusesOption{ListOptions: o})
		for _, s := range list {
			if old := newest[s.Context]; old == nil || old.ID < s.ID {
				newest[s.Context] = s
			}
		}
		return len(list), true, err
	})
	if coppice.ErrorCode(err) == coppice.ENotFound {
		return nil, nil // the commit of an old request is gone
	}
	var checks []coppice.PullCheck
	for name, s := range newest {
		state := states[s.State]
		if state == coppice.CINone {
			state = coppice.CIPending
		}
		checks = append(checks, coppice.PullCheck{Name: name, State: state, Text: s.Description, URL: s.TargetURL})
	}
	slices.SortFunc(checks, func(a, b coppice.PullCheck) int { return strings.Compare(a.Name, b.Name) })
	return checks, err
}

// comments returns the reviews and comments, oldest first.
func (f *Forge) comments(api *sdk.Client, number int64) ([]coppice.PullComment, error) {
	plain, _, err := api.ListIssueComments(f.remote.Owner, f.remote.Name, number, sdk.ListIssueCommentOptions{})
	if err != nil {
		return nil, err
	}
	var list []coppice.PullComment
	for _, c := range plain {
		list = append(list, commentOf("comment/", c.ID, c.Poster, c.Body, c.Created))
	}
	reviews, err := f.reviews(api, number)
	if err != nil {
		return nil, err
	}
	withLines := 0
	for _, r := range slices.Backward(reviews) { // the newest first, because their number is limited
		c := commentOf("review/", r.ID, r.Reviewer, r.Body, r.Submitted)
		if !r.Dismissed {
			c.Review = decisions[r.State]
		}
		if c.Review != coppice.ReviewNone || strings.TrimSpace(c.Text) != "" {
			list = append(list, c)
		}
		if r.CodeCommentsCount == 0 || withLines == coppice.MaxPullComments {
			continue
		}
		withLines++
		lines, err := f.lineComments(api, number, r.ID)
		if err != nil {
			return nil, err
		}
		list = append(list, lines...)
	}
	slices.SortFunc(list, older)
	return list, f.addAccess(api, list)
}

// older orders comments by their time, and those of one second, the unit of Gitea's
// times, by their ids.
func older(a, b coppice.PullComment) int {
	kindA, idA, _ := strings.Cut(a.ID, "/")
	kindB, idB, _ := strings.Cut(b.ID, "/")
	return cmp.Or(a.At.Compare(b.At), strings.Compare(kindA, kindB), cmp.Compare(len(idA), len(idB)), strings.Compare(idA, idB))
}

// decisions are the reviews that decide. Others only comment, or are not finished.
var decisions = map[sdk.ReviewStateType]coppice.ReviewState{
	sdk.ReviewStateApproved: coppice.ReviewApproved, sdk.ReviewStateRequestChanges: coppice.ReviewChanges,
}

// reviews returns the reviews that somebody submitted, oldest first.
func (f *Forge) reviews(api *sdk.Client, number int64) ([]*sdk.PullReview, error) {
	var all []*sdk.PullReview
	err := eachPage(mostPages, func(o sdk.ListOptions) (int, bool, error) {
		list, _, err := api.ListPullReviews(f.remote.Owner, f.remote.Name, number, sdk.ListPullReviewsOptions{ListOptions: o})
		for _, r := range list {
			if decisions[r.State] != "" || r.State == sdk.ReviewStateComment {
				all = append(all, r)
			}
		}
		return len(list), true, err
	})
	return all, err
}

func (f *Forge) lineComments(api *sdk.Client, number, review int64) ([]coppice.PullComment, error) {
	lines, _, err := api.ListPullReviewComments(f.remote.Owner, f.remote.Name, number, review)
	if coppice.ErrorCode(forge.Cause(err)) == coppice.ENotFound {
		return nil, nil // somebody deleted the review just now
	}
	var list []coppice.PullComment
	for _, l := range lines {
		c := commentOf("line/", l.ID, l.Reviewer, l.Body, l.Created)
		c.Thread, c.Path, c.Resolved = strconv.FormatInt(l.ID, 10), l.Path, l.Resolver != nil
		if c.Line = int(l.LineNum); c.Line == 0 {
			c.Line = int(l.OldLineNum)
		}
		list = append(list, c)
	}
	return list, err
}

func commentOf(kind string, id int64, author *sdk.User, text string, at time.Time) coppice.PullComment {
	c := coppice.PullComment{ID: kind + strconv.FormatInt(id, 10), Author: loginOf(author), Text: text, At: at.UTC()}
	c.Bot = author != nil && author.ID < -1 || isBot(c.Author)
	return c
}

// isBot reports whether a login is the usual one of a program. Gitea has accounts of
// programs, but does not mark them in its answers, except its own, whose ids are
// negative.
func isBot(login string) bool {
	login = strings.ToLower(login)
	return slices.ContainsFunc([]string{"[bot]", "-bot", "_bot", ".bot"}, func(end string) bool { return strings.HasSuffix(login, end) })
}

// addAccess adds whether the authors have write access.
func (f *Forge) addAccess(api *sdk.Client, list []coppice.PullComment) error {
	for i := range list {
		writes, err := f.canWrite(api, list[i].Author)
		if err != nil {
			return err
		}
		list[i].Writes = writes
	}
	return nil
}

func (f *Forge) canWrite(api *sdk.Client, login string) (bool, error) {
	f.mu.Lock()
	known, ok := f.writers[login]
	f.mu.Unlock()
	if login == "" || ok && f.now().Sub(known.at) < accessKept {
		return known.writes, nil
	}
	result, _, err := api.CollaboratorPermission(f.remote.Owner, f.remote.Name, login)
	var failure *coppice.Failure
	var writes bool
	switch {
	case errors.As(err, &failure) && failure.Class == coppice.ClassAuth:
		// Only an administrator of the repository can read the permissions of others.
		// Everybody can read who can be assigned: the people with write access.
		return f.amongAssignees(api, login)
	case coppice.ErrorCode(forge.Cause(err)) == coppice.ENotFound: // the account is gone
	case err != nil:
		return false, err
	case result != nil:
		writes = slices.Contains([]sdk.AccessMode{sdk.AccessModeWrite, sdk.AccessModeAdmin, sdk.AccessModeOwner}, result.Permission)
	}
	f.remember(login, writes)
	return writes, nil
}

func (f *Forge) amongAssignees(api *sdk.Client, login string) (bool, error) {
	users, _, err := api.GetAssignees(f.remote.Owner, f.remote.Name)
	if err != nil {
		return false, err
	}
	writes := false
	for _, u := range users {
		f.remember(u.UserName, true)
		writes = writes || u.UserName == login
	}
	f.remember(login, writes)
	return writes, nil
}

func (f *Forge) remember(login string, writes bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.writers) > 1000 {
		clear(f.writers)
	}
	f.writers[login] = access{writes, f.now()}
}

// status returns the status of an answer that is not a success, 0 for any other
// error.
func status(err error) (int, string) {
	var s *forge.StatusError
	if errors.As(err, &s) {
		return s.Status, s.Text
	}
	if coppice.ErrorCode(forge.Cause(err)) == coppice.ENotFound {
		return http.StatusNotFound, ""
	}
	return 0, ""
}
