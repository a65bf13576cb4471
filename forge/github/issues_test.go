package github_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/forge"
)

func (f *fake) tracker() forge.Tracker { return f.forge().(forge.Tracker) }

// entry is an issue of a list that changed n seconds after the start.
func entry(number, n int, more string) string {
	at := time.Unix(1_700_000_000+int64(n), 0).UTC().Format(time.RFC3339)
	return fmt.Sprintf(`{"number":%d,"state":"open","updated_at":%q,"repository_url":"https://api.github.com/repos/Ann/App"%s}`, number, at, more)
}

func numbers(list []coppice.IssueRead) string {
	var all []string
	for _, r := range list {
		all = append(all, r.ID)
	}
	return strings.Join(all, " ")
}

// TestListMoves reads a list whose entries move while it is read: each page starts at
// the time of the last entry of the page before.
func TestListMoves(t *testing.T) {
	t.Parallel()
	f := newFake(t, "/api/v3/", "/api/graphql")
	next := map[string]string{"Link": `<https://api.github.com/x?page=2>; rel="next"`}
	first := []string{entry(1, 1, ""), entry(2, 2, `,"pull_request":{"url":"x"}`), entry(3, 3, "")}
	f.on("GET issues?direction=asc&page=1&per_page=100&sort=updated&state=all", "", 200, "["+strings.Join(first, ",")+"]").header = next
	second := []string{entry(3, 3, ""), entry(4, 3, "")}
	f.on("GET issues?direction=asc&page=1&per_page=100&since=2023-11-14T22%3A13%3A23Z&sort=updated&state=all", "", 200, "["+strings.Join(second, ",")+"]").header = next
	f.on("GET issues?direction=asc&page=2&per_page=100&since=2023-11-14T22%3A13%3A23Z&sort=updated&state=all", "", 200, "["+entry(1, 9, "")+"]")
	list, err := f.tracker().Issues(t.Context(), forge.IssueQuery{})
	if err != nil || numbers(list) != "3 4 1" {
		t.Errorf("%q, %v", numbers(list), err)
	}
}

func TestListFilters(t *testing.T) {
	t.Parallel()
	label := `,"labels":[{"name":"Agent"},{"name":"a, b"}],"assignees":[{"login":"Bob"}]`
	f := newFake(t, "/", "/graphql")
	f.on("GET issues?assignee=bob&direction=asc&labels=agent&page=1&per_page=100&sort=updated&state=open", "", 200,
		"["+entry(1, 1, label)+","+entry(2, 2, "")+","+entry(3, 3, label+`,"state":"closed"`)+"]")
	q := forge.IssueQuery{Open: true, TrackerImport: coppice.TrackerImport{Labels: []string{"agent", "a, b"}, Assignee: "bob"}}
	if list, err := f.tracker().Issues(t.Context(), q); err != nil || numbers(list) != "1" {
		t.Errorf("%q, %v", numbers(list), err)
	}
	f.onPath("GET /search/issues?order=asc&page=1&per_page=100&q=repo%3Aann%2Fapp+is%3Aissue+crash+label%3A%22agent%22+assignee%3Abob+state%3Aopen+updated%3A%3E%3D2023-11-14T22%3A13%3A20Z&sort=updated", "", 200,
		`{"items":[`+entry(1, 1, label)+`,`+strings.Replace(entry(7, 1, label), "Ann/App", "eve/app", 1)+`]}`)
	q.Labels, q.Query, q.Since = q.Labels[:1], "crash", time.Unix(1_700_000_000, 500)
	if list, err := f.tracker().Issues(t.Context(), q); err != nil || numbers(list) != "1" {
		t.Errorf("search: %q, %v", numbers(list), err)
	}
	f.onPath("GET /search/issues?order=asc&page=1&per_page=100&q=repo%3Aann%2Fapp+is%3Aissue+%22&sort=updated", "", 422, `{"message":"bad query"}`)
	if _, err := f.tracker().Issues(t.Context(), forge.IssueQuery{TrackerImport: coppice.TrackerImport{Query: `"`}}); coppice.Public(err).Field != "tracker.import.query" {
		t.Errorf("a bad query: %v", err)
	}
	f.on("GET issues?assignee=nobody&direction=asc&page=1&per_page=100&sort=updated&state=all", "", 422, `{"message":"Validation Failed"}`)
	if list, err := f.tracker().Issues(t.Context(), forge.IssueQuery{TrackerImport: coppice.TrackerImport{Assignee: "nobody"}}); err != nil || len(list) != 0 {
		t.Errorf("nobody: %q, %v", numbers(list), err)
	}
}

// TestMissingIssues reads what a person removed, moved, or never was an issue.
func TestMissingIssues(t *testing.T) {
	t.Parallel()
	f := newFake(t, "/", "/graphql")
	f.on("GET issues/1", "", 410, `{"message":"This issue was deleted"}`)
	f.on("GET issues/2", "", 200, entry(77, 1, ""))
	f.on("GET issues/3", "", 200, entry(3, 1, `,"pull_request":{"url":"x"}`))
	for _, id := range []string{"1", "2", "3"} {
		if r, err := f.tracker().Issue(t.Context(), id); coppice.ErrorCode(err) != coppice.ENotFound {
			t.Errorf("%s: %+v, %v", id, r, err)
		}
	}
}

// TestIssueOfAnApp reads an issue whose summaries say that there is nothing more to
// ask, with the token of an app.
func TestIssueOfAnApp(t *testing.T) {
	t.Parallel()
	f := newFake(t, "/", "/graphql")
	f.on("GET issues/5", "", 200, entry(5, 1, `,"comments":3,"sub_issues_summary":{"total":0},"issue_dependencies_summary":{"blocked_by":1},
		"parent_issue_url":"https://api.github.com/repos/ann/app/issues/4","author_association":"MEMBER","user":{"login":"bob"},"body":"blocked by #6"`))
	f.on("GET issues/6", "", 200, entry(6, 1, ""))
	f.on("GET issues/5/dependencies/blocked_by?per_page=100", "", 200,
		"["+entry(8, 1, "")+","+entry(9, 1, `,"state":"closed"`)+","+strings.Replace(entry(10, 1, ""), "Ann/App", "ann/other", 1)+"]")
	f.on("GET issues/5/comments?per_page=100", "", 200, `[{"id":1,"body":"a <!-- coppice:k -->","user":{"login":"app[bot]","type":"Bot"},"created_at":"2026-01-01T00:00:00Z"},
		{"id":2,"body":"b <!-- coppice:k -->","user":{"login":"eve"},"created_at":"2026-01-01T00:00:00Z"},{"id":3,"body":"c","user":{"login":"app[bot]","type":"Bot"},"created_at":"2026-01-01T00:00:00Z"}]`)
	f.onPath("GET /user", "", 403, `{"message":"Resource not accessible by integration"}`)
	r, err := f.tracker().Issue(t.Context(), "5")
	if err != nil || r.Parent != "4" || !r.Writes || !slices.Equal(r.BlockedBy, []string{"8", "6"}) || len(r.Children) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if got := forge.ClipIssue(r).Comments; len(got) != 2 || got[0].Author != "eve" || got[1].Text != "c" {
		t.Errorf("comments %+v", got)
	}
}

// GitHub answers requests for a repository that was renamed, with its new name.
func TestRenamedRepository(t *testing.T) {
	t.Parallel()
	renamed := func(i string) string { return strings.Replace(i, "Ann/App", "Ann/Renamed", 1) }
	f := newFake(t, "/", "/graphql")
	f.on("GET issues?direction=asc&page=1&per_page=100&sort=updated&state=all", "", 200, "["+renamed(entry(1, 1, ""))+"]")
	if list, err := f.tracker().Issues(t.Context(), forge.IssueQuery{}); err != nil || numbers(list) != "1" {
		t.Errorf("%q, %v", numbers(list), err)
	}
	f.on("GET issues/1", "", 200, renamed(entry(1, 1, `,"parent_issue_url":"https://api.github.com/repos/Ann/Renamed/issues/3"`)))
	f.on("GET issues/1/dependencies/blocked_by?per_page=100", "", 200, "["+renamed(entry(2, 1, ""))+","+strings.Replace(entry(9, 1, ""), "Ann/App", "eve/app", 1)+"]")
	f.on("GET issues/1/sub_issues?per_page=100", "", 200, "["+renamed(entry(4, 1, ""))+"]")
	if r, err := f.tracker().Issue(t.Context(), "1"); err != nil || r.Parent != "3" || !slices.Equal(r.BlockedBy, []string{"2"}) || !slices.Equal(r.Children, []string{"4"}) {
		t.Errorf("%+v, %v", r, err)
	}
}
