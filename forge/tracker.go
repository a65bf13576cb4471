package forge

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"coppice"
)

// Tracker is one source of issues: a repository on a forge, or a team of Linear. All
// methods are safe for concurrent use, return promptly when ctx ends, and fail as the
// methods of Forge do. An issue that does not exist fails with code not_found. A pull
// request is never an issue, although some forges list it among them.
//
// ReadIssues and WriteIssue carry out the work of the engine on any tracker.
type Tracker interface {
	// Issues returns the issues that match a query, the one that changed longest ago
	// first. They have no comments, links, blockers and sub-issues. The list can end
	// after MostIssues, with one that changed after q.Since.
	Issues(ctx context.Context, q IssueQuery) ([]coppice.IssueRead, error)
	// Issue returns an issue with its comments, as Comments does, its links, the open
	// issues that block it, its parent and its open sub-issues, as far as the tracker
	// has them.
	Issue(ctx context.Context, id string) (coppice.IssueRead, error)
	// Edit changes an issue. WriteIssue asks only for what differs. A label that does
	// not exist is created, where the tracker needs that.
	Edit(ctx context.Context, id string, e coppice.IssueEdit) error
	// Comments returns the comments of an issue, oldest first, with those of Coppice.
	// Of more than MostComments, it returns the newest.
	Comments(ctx context.Context, id string) ([]coppice.IssueComment, error)
	// AddComment adds a comment.
	AddComment(ctx context.Context, id, text string) error
	// EditComment replaces the text of a comment.
	EditComment(ctx context.Context, id, comment, text string) error
}

// The numbers that a tracker returns. A caller that gets MostIssues or more asks again,
// since the last one's change.
const (
	MostIssues   = 200
	MostComments = 1000
)

// IssueQuery chooses issues.
type IssueQuery struct {
	coppice.TrackerImport
	Since time.Time // only those that changed then or later
	Open  bool      // only open ones
}

// Matches reports whether an issue of a list has the labels and the assignee. Some
// trackers ignore what they do not know. Only the tracker knows what its search finds.
func (q IssueQuery) Matches(r coppice.IssueRead) bool {
	r.Closed = r.Closed && q.Open
	return q.TrackerImport.Matches(r)
}

func containsFold(list []string, name string) bool {
	return slices.ContainsFunc(list, func(other string) bool { return strings.EqualFold(other, name) })
}

// IssuePage is a part of a list of issues, sorted by the time of their change.
type IssuePage struct {
	Issues []coppice.IssueRead
	Last   time.Time // the change of the last entry, which might not be an issue
	More   bool      // there is another page
}

// mostIssuePages limits the requests for one list of issues.
const mostIssuePages = 50

// ListByChange reads a list page by page, as Tracker.Issues returns it. An issue that
// changes in the meantime moves to the end of the list, and those after it move forward
// by one. So the list is read again since the last change of each page. Only a page
// whose entries all changed at the same time is followed by the next one.
func ListByChange(q IssueQuery, get func(since time.Time, page int) (IssuePage, error)) ([]coppice.IssueRead, error) {
	var list []coppice.IssueRead
	place := map[string]int{}
	since, number := q.Since, 1
	for range mostIssuePages {
		page, err := get(since, number)
		if err != nil {
			return nil, err
		}
		for _, r := range page.Issues {
			at, twice := place[r.ID]
			switch {
			case !q.Matches(r) || r.UpdatedAt.Before(q.Since.Truncate(time.Second)):
			case twice:
				list[at] = r
			default:
				place[r.ID] = len(list)
				list = append(list, r)
			}
		}
		if number++; page.Last.After(since) {
			since, number = page.Last, 1
		}
		if !page.More || len(list) >= MostIssues && list[len(list)-1].UpdatedAt.After(q.Since) {
			break
		}
	}
	slices.SortStableFunc(list, func(a, b coppice.IssueRead) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	return list, nil
}

// Storable returns a text without what no tracker accepts.
func Storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", "")
}

// IssueNumber returns the number of an issue of a forge.
func IssueNumber(id string) (int64, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n <= 0 || strconv.FormatInt(n, 10) != id {
		return 0, coppice.Errorf(coppice.ENotFound, "%s is not the number of an issue", coppice.Quote(id))
	}
	return n, nil
}

// TrackerOpener connects to a source of issues on one kind of tracker. For Linear, the
// name of the remote is the team's key.
type TrackerOpener func(Remote, Options) (Tracker, error)

// TrackerOf connects to the issues of a repository on a forge that is a Tracker too.
func TrackerOf(open Opener) TrackerOpener {
	return func(r Remote, o Options) (Tracker, error) {
		f, err := open(r, o)
		if err != nil {
			return nil, err
		}
		return f.(Tracker), nil
	}
}
