package github_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
)

const (
	head = "1111111111111111111111111111111111111111"

	pages   = "?per_page=100"
	onePull = `{"number":7,"node_id":"PR_7","state":"open","title":"Old","body":"Text","draft":%t,"html_url":"https://forge.test/pull/7",
		"user":{"login":"coppice"},"head":{"ref":"work","sha":"` + head + `","repo":{"id":1}},"base":{"ref":"main","repo":{"id":1}},"labels":[{"name":"Kept"}]%s}`
)

// pull is a request with further fields.
func pull(draft bool, more string) string { return fmt.Sprintf(onePull, draft, more) }

// reads are the calls of Read, with nothing to report.
func reads(more map[string]string) map[string]string {
	all := map[string]string{
		"pulls/7":                   pull(false, ""),
		"pulls/7/reviews" + pages:   `[]`,
		"pulls/7/comments" + pages:  `[]`,
		"issues/7/comments" + pages: `[]`,
		"commits/" + head + "/check-runs?filter=latest&per_page=100": `{"check_runs":[]}`,
		"commits/" + head + "/status" + pages:                        `{"statuses":[]}`,
	}
	for call, body := range more {
		all[call] = body
	}
	return all
}

func TestChecks(t *testing.T) {
	t.Parallel()
	f := newFake(t, "/", "/graphql")
	long := strings.Repeat("0123456789abcde\n", 1<<21) + "the end\n" // 32 MiB
	storage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the storage of logs got the token")
		}
		fmt.Fprint(w, long)
	}))
	t.Cleanup(storage.Close)
	run := func(id int, name, status, conclusion, app string) string {
		return fmt.Sprintf(`{"id":%d,"name":%q,"status":%q,"conclusion":%q,"app":{"slug":%q},"html_url":"https://forge.test/%d","output":{"title":null,"summary":"first\nsecond"}}`, id, name, status, conclusion, app, id)
	}
	f.get(reads(map[string]string{
		"commits/" + head + "/check-runs?filter=latest&per_page=100": `{"check_runs":[` + strings.Join([]string{
			run(1, "build", "completed", "failure", "github-actions"),
			run(2, "both", "completed", "success", "x"), run(3, "docs", "completed", "neutral", "x"), run(4, "skip", "completed", "skipped", "x"),
			run(5, "slow", "in_progress", "", "x"), run(6, "again", "completed", "cancelled", "x"), run(7, "again", "completed", "success", "x"),
			run(8, "gone", "completed", "cancelled", "github-actions"), run(9, "lost", "completed", "timed_out", "github-actions"),
		}, ",") + `,null,{}]}`,
		"commits/" + head + "/status" + pages: `{"state":"failure","statuses":[{"context":"both","state":"error","description":"broke","target_url":"https://ci.test"},
			{"context":"ext","state":"success"},{"context":"wait","state":"pending"},null]}`,
	}))
	f.on("GET actions/jobs/1/logs", "", 302, "").header["Location"] = storage.URL + "/log"
	f.on("GET actions/jobs/9/logs", "", 410, `{"message":"gone"}`)
	read, err := f.forge().Read(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range read.Checks {
		got = append(got, c.Name+" "+string(c.State))
	}
	want := []string{"again passed", "both failed", "build failed", "docs passed", "ext passed", "gone failed", "lost failed", "skip passed", "slow pending", "wait pending"}
	if !slices.Equal(got, want) || read.CI != coppice.CIFailed {
		t.Errorf("checks %q, %q", read.CI, got)
	}
	build := read.Checks[2]
	if !strings.HasSuffix(build.Log, "\nthe end\n") || !strings.HasPrefix(build.Log, "0123") || len(build.Log) < coppice.MaxPullLog || len(build.Log) > 4*coppice.MaxPullLog {
		t.Errorf("a log of %d bytes: %.20q", len(build.Log), build.Log)
	}
	if build.Text != "first\nsecond" || build.URL != "https://forge.test/1" || read.Checks[1].Text != "broke" {
		t.Errorf("texts %+v", read.Checks)
	}
}

// A token with fine-grained permissions cannot read check runs. It can read Actions.
func TestChecksOfActions(t *testing.T) {
	t.Parallel()
	calls := reads(nil)
	delete(calls, "commits/"+head+"/check-runs?filter=latest&per_page=100")
	calls["actions/runs?head_sha="+head+"&per_page=100"] = `{"workflow_runs":[{"id":31,"workflow_id":3},{"id":30,"workflow_id":3},{"id":20,"workflow_id":2},null]}`
	calls["actions/runs/31/jobs?filter=latest&per_page=100"] = `{"jobs":[{"id":311,"name":"test","status":"completed","conclusion":"failure"}]}`
	calls["actions/runs/20/jobs?filter=latest&per_page=100"] = `{"jobs":[{"id":201,"name":"lint","status":"completed","conclusion":"success"},null]}`
	calls["actions/jobs/311/logs"] = "boom\n"
	f := newFake(t, "/", "/graphql")
	f.get(calls)
	f.on("GET commits/"+head+"/check-runs?filter=latest&per_page=100", "", 403, `{"message":"Resource not accessible by personal access token"}`)
	read, err := f.forge().Read(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	if len(read.Checks) != 2 || read.Checks[0].State != coppice.CIPassed || read.Checks[1].Log != "boom\n" || read.CI != coppice.CIFailed {
		t.Errorf("checks %+v", read.Checks)
	}
}

// Without both permissions, the failure names what is missing.
func TestChecksForbidden(t *testing.T) {
	t.Parallel()
	calls := reads(nil)
	delete(calls, "commits/"+head+"/check-runs?filter=latest&per_page=100")
	delete(calls, "commits/"+head+"/status"+pages)
	f := newFake(t, "/", "/graphql")
	f.get(calls)
	f.on("GET commits/"+head+"/check-runs?filter=latest&per_page=100", "", 403, `{"message":"no checks"}`)
	f.on("GET actions/runs?head_sha="+head+"&per_page=100", "", 403, `{"message":"no actions"}`)
	_, err := f.forge().Read(t.Context(), 7)
	if failure := failureOf(err); failure.Class != coppice.ClassAuth || !strings.Contains(failure.Text, "no checks") {
		t.Errorf("%v", err)
	}
}

func failureOf(err error) coppice.Failure {
	var failure *coppice.Failure
	if !errors.As(err, &failure) {
		return coppice.Failure{}
	}
	return *failure
}

const threads = `{"data":{"repository":{"pullRequest":{"reviewThreads":{"nodes":[%s],"pageInfo":{"hasNextPage":%t,"endCursor":"c1"}}}}}}`

func TestComments(t *testing.T) {
	t.Parallel()
	f := newFake(t, "/", "/graphql")
	review := `{"id":%d,"state":%q,"body":%q,"submitted_at":"2026-01-0%dT00:00:00Z","author_association":%q,"user":{"login":%q,"type":%q}}`
	var list []string
	add := func(state, body, association, login, kind string) {
		n := len(list) + 1
		list = append(list, fmt.Sprintf(review, n, state, body, n, association, login, kind))
	}
	add("CHANGES_REQUESTED", "no", "MEMBER", "bob", "User")
	add("COMMENTED", "", "MEMBER", "bob", "User")
	add("APPROVED", "", "NONE", "eve", "User")
	add("APPROVED", "", "COLLABORATOR", "dan", "User")
	add("DISMISSED", "was yes", "COLLABORATOR", "dan", "User")
	add("APPROVED", "", "OWNER", "bob", "User")
	add("PENDING", "mine", "OWNER", "coppice", "User")
	add("COMMENTED", "scan", "CONTRIBUTOR", "scan[bot]", "Bot")
	f.get(reads(map[string]string{
		"pulls/7":                 pull(false, `,"mergeable_state":"dirty","merged_at":null`),
		"pulls/7/reviews" + pages: "[" + strings.Join(list, ",") + ",null]",
		"pulls/7/comments" + pages: `[{"id":50,"path":"a.go","line":null,"original_line":4,"body":"why","created_at":"2026-02-01T00:00:00Z","author_association":"MEMBER","user":{"login":"bob"}},
			{"id":51,"in_reply_to_id":50,"path":"a.go","body":"so","created_at":"2026-02-02T00:00:00Z","user":null},null,{}]`,
		"issues/7/comments" + pages: `[{"id":9,"body":"hi","created_at":"2025-01-01T00:00:00Z","user":{"login":"eve"},"author_association":"NONE"}]`,
	}))
	ids := `{"owner":"ann","name":"app","number":7,"after":%s}`
	f.onGraph("repository", fmt.Sprintf(ids, "null"), fmt.Sprintf(threads, `{"id":"T0","isResolved":false,"comments":{"nodes":[]}},null`, true))
	f.onGraph("repository", fmt.Sprintf(ids, `"c1"`), fmt.Sprintf(threads, `{"id":"T1","isResolved":true,"comments":{"nodes":[{"databaseId":50}]}}`, false))
	read, err := f.forge().Read(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range read.Comments {
		got = append(got, fmt.Sprint(c.ID, " ", c.Author, " ", c.Review, " ", c.Bot, c.Writes, c.Resolved, " ", c.Thread, c.Path, c.Line))
	}
	want := []string{
		"comment/9 eve  false false false 0", "review/1 bob changes false true false 0", "review/3 eve approved false false false 0",
		"review/4 dan  false true false 0", "review/5 dan  false true false 0", "review/6 bob approved false true false 0",
		"review/8 scan[bot]  true false false 0", "line/50 bob  false true true 50a.go4", "line/51 ghost  false false true 50a.go0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("comments\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if read.Review != coppice.ReviewApproved || !read.Conflicts {
		t.Errorf("review %q, conflicts %t", read.Review, read.Conflicts)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	f := newFake(t, "/", "/graphql")
	nodes := `{"id":"T1","isResolved":false,"comments":{"nodes":[{"databaseId":50}]}},{"id":"T2","isResolved":true,"comments":{"nodes":[{"databaseId":60}]}}`
	f.onGraph("repository", `{"owner":"ann","name":"app","number":7,"after":null}`, fmt.Sprintf(threads, nodes, false))
	f.onGraph("resolveReviewThread", `{"id":"T1"}`, `{"data":{"resolveReviewThread":{"thread":{"isResolved":true}}}}`)
	r := f.forge()
	for thread, want := range map[string]coppice.Code{"50": "", "60": "", "70": coppice.ENotFound} {
		if err := r.Resolve(t.Context(), 7, thread); coppice.ErrorCode(err) != want {
			t.Errorf("%s: %v", thread, err)
		}
	}
}

// A list of 12 pages has its first page and the newest ones.
func TestPages(t *testing.T) {
	t.Parallel()
	f := newFake(t, "/", "/graphql")
	calls := reads(nil)
	delete(calls, "issues/7/comments"+pages)
	f.get(calls)
	link := `<` + f.url + `/x?page=12>; rel="last"`
	for _, page := range []int{1, 4, 5, 6, 7, 8, 9, 10, 11, 12} {
		call := fmt.Sprintf("GET issues/7/comments?page=%d&per_page=100", page)
		if page == 1 {
			call = "GET issues/7/comments?per_page=100"
		}
		f.on(call, "", 200, fmt.Sprintf(`[{"id":%d,"body":"x"}]`, page)).header["Link"] = link
	}
	read, err := f.forge().Read(t.Context(), 7)
	if err != nil || len(read.Comments) != 10 {
		t.Errorf("%d comments, %v", len(read.Comments), err)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, c := range map[string]struct {
		status int
		body   string
		header map[string]string
		class  coppice.Class
		code   coppice.Code
		retry  time.Duration // at least
	}{
		"no token":  {401, `{"message":"Bad credentials"}`, nil, coppice.ClassAuth, coppice.EInternal, 0},
		"forbidden": {403, `{"message":"Resource not accessible"}`, map[string]string{"X-RateLimit-Remaining": "4000", "X-RateLimit-Reset": "1"}, coppice.ClassAuth, coppice.EInternal, 0},
		"missing":   {404, `{"message":"Not Found"}`, nil, "", coppice.ENotFound, 0},
		"secondary": {403, `{"message":"You have exceeded a secondary rate limit"}`, map[string]string{"Retry-After": "120"}, coppice.ClassRateLimit, coppice.EInternal, 110 * time.Second},
		"primary": {403, `{"message":"API rate limit exceeded"}`, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": id(now.Add(time.Hour).Unix())},
			coppice.ClassRateLimit, coppice.EInternal, 50 * time.Minute},
		"broken":  {502, `<html>`, nil, coppice.ClassEnvironment, coppice.EInternal, 0},
		"garbage": {200, `{"this is not`, nil, coppice.ClassEnvironment, coppice.EInternal, 0},
		"refused": {422, `{"message":"Validation Failed","errors":[{"message":"head is wrong"}]}`, nil, "", coppice.EInvalid, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, "/", "/graphql")
			f.on("GET pulls?direction=desc&per_page=100&sort=updated&state=all", "", c.status, c.body).header = c.header
			_, err := f.forge().Recent(t.Context())
			failure := failureOf(err)
			if err == nil || failure.Class != c.class || coppice.ErrorCode(err) != c.code {
				t.Errorf("class %q, code %q: %v", failure.Class, coppice.ErrorCode(err), err)
			}
			if c.retry > 0 && failure.RetryAt.Before(now.Add(c.retry)) {
				t.Errorf("retry at %v", failure.RetryAt)
			}
		})
	}
}
