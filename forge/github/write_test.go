package github_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/forge"
	"coppice/forge/forgetest"
	"coppice/forge/github"
)

func textOf(draft bool) coppice.PullText {
	return coppice.PullText{
		Branch: "work", Base: "main", Title: "Old", Body: "Text", Draft: draft,
		Labels: []string{"kept"}, Reviewers: []string{"Coppice", "asked", "new", "ann/core", "ann/asked"},
	}
}

const asked = `,"requested_reviewers":[{"login":"Asked"},null],"requested_teams":[{"slug":"asked"}]`

// An update changes only what differs, and asks nobody twice.
func TestUpdate(t *testing.T) {
	t.Parallel()
	f := newFake(t, "/", "/graphql")
	f.get(map[string]string{"pulls/7": pull(true, asked), "pulls/7/reviews" + pages: `[{"id":1,"user":{"login":"other"}},null]`})
	f.onGraph("markPullRequestReadyForReview", `{"id":"PR_7"}`, `{"data":{}}`)
	f.on("POST pulls/7/requested_reviewers", `{"reviewers":["new"],"team_reviewers":["core"]}`, 201, `{}`)
	if err := f.forge().Update(t.Context(), 7, textOf(false)); err != nil {
		t.Error(err)
	}

	f = newFake(t, "/", "/graphql")
	f.get(map[string]string{"pulls/7": pull(false, asked)})
	f.on("PATCH pulls/7", `{"title":"New","body":"Text","base":"next"}`, 200, `{}`)
	f.onGraph("convertPullRequestToDraft", `{"id":"PR_7"}`, `{"errors":[{"type":"UNPROCESSABLE","message":"Draft pull requests are not supported in this repository."}]}`)
	f.on("POST issues/7/labels", `["more"]`, 200, `[]`)
	text := textOf(true)
	text.Title, text.Base, text.Labels = "New", "next", []string{"KEPT", "more"}
	if err := f.forge().Update(t.Context(), 7, text); err != nil {
		t.Error(err)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	f := newFake(t, "/", "/graphql")
	fields := `{"title":"Old","head":"work","base":"main","body":"Text","draft":%t}`
	f.on("POST pulls", fmt.Sprintf(fields, true), 422, `{"message":"Validation Failed","errors":[{"message":"Draft pull requests are not supported in this repository."}]}`)
	f.on("POST pulls", fmt.Sprintf(fields, false), 201, pull(false, ""))
	text := textOf(true)
	text.Reviewers = nil
	made, err := f.forge().Create(t.Context(), text)
	if err != nil || made.Number != 7 || made.Head != head || made.Body != "Text" {
		t.Errorf("%+v %v", made, err)
	}

	f = newFake(t, "/", "/graphql")
	f.on("POST pulls", fmt.Sprintf(fields, false), 422, `{"message":"Validation Failed","errors":[{"message":"A pull request already exists for ann:work."}]}`)
	if _, err := f.forge().Create(t.Context(), textOf(false)); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("a second request: %v", err)
	}
}

// Find takes the newest request of the branch, and none of a fork.
func TestFind(t *testing.T) {
	t.Parallel()
	f := newFake(t, "/", "/graphql")
	one := `{"number":%d,"state":"closed","merged_at":%s,"head":{"ref":%q,"repo":%s},"base":{"repo":{"id":1}}}`
	f.on("GET pulls?direction=desc&head=ann%3Awork&per_page=100&sort=created&state=all", "", 200, "["+strings.Join([]string{
		fmt.Sprintf(one, 9, "null", "work", `{"id":2}`), fmt.Sprintf(one, 8, "null", "work", "null"), fmt.Sprintf(one, 7, "null", "other", `{"id":1}`),
		fmt.Sprintf(one, 4, "null", "work", `{"id":1}`), fmt.Sprintf(one, 6, `"2026-01-01T00:00:00Z"`, "work", `{"id":1}`), "null",
	}, ",")+"]")
	found, err := f.forge().Find(t.Context(), "work")
	if err != nil || found.Number != 6 || found.State != coppice.PullMerged {
		t.Errorf("%+v %v", found, err)
	}
}

const (
	autoCall  = `{"id":"PR_7","head":"` + head + `","method":"SQUASH","title":"Title","body":"Why"}`
	mergeCall = `{"commit_message":"Why","commit_title":"Title","merge_method":"squash","sha":"` + head + `"}`
	cleanText = `{"errors":[{"type":"UNPROCESSABLE","message":"Pull request Pull request is in clean status"}]}`
)

func TestMerge(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		auto    bool
		calls   func(*fake)
		commit  string
		refused string
	}{
		"direct":   {false, func(f *fake) { f.on("PUT pulls/7/merge", mergeCall, 200, `{"sha":"2222","merged":true}`) }, "2222", ""},
		"not done": {false, func(f *fake) { f.on("PUT pulls/7/merge", mergeCall, 200, `{"merged":false,"message":"later"}`) }, "", "later"},
		"rules": {false, func(f *fake) {
			f.on("PUT pulls/7/merge", mergeCall, 405, `{"message":"At least 1 approving review is required"}`)
		}, "", "approving review"},
		"other head": {false, func(f *fake) { f.on("PUT pulls/7/merge", mergeCall, 409, `{"message":"Head branch was modified"}`) }, "", "modified"},
		"auto": {true, func(f *fake) {
			f.get(map[string]string{"pulls/7": pull(false, "")})
			f.onGraph("enablePullRequestAutoMerge", autoCall, `{"data":{"enablePullRequestAutoMerge":{"pullRequest":{"number":7}}}}`)
		}, "", ""},
		"auto again": {true, func(f *fake) {
			f.get(map[string]string{"pulls/7": pull(false, `,"auto_merge":{"merge_method":"squash"}`)})
		}, "", ""},
		"auto other head": {true, func(f *fake) { f.get(map[string]string{"pulls/7": strings.ReplaceAll(pull(false, ""), head, "3333")}) }, "", "3333"},
		"auto refused": {true, func(f *fake) {
			f.get(map[string]string{"pulls/7": pull(false, "")})
			f.onGraph("enablePullRequestAutoMerge", autoCall, `{"errors":[{"type":"UNPROCESSABLE","message":"Auto merge is not allowed for this repository"}]}`)
		}, "", "not allowed"},
		"auto clean": {true, func(f *fake) {
			f.get(map[string]string{"pulls/7": pull(false, "")})
			f.onGraph("enablePullRequestAutoMerge", autoCall, cleanText)
			f.on("PUT pulls/7/merge", mergeCall, 200, `{"sha":"2222","merged":true}`)
		}, "2222", ""},
		"queue": {true, func(f *fake) {
			f.get(map[string]string{"pulls/7": pull(false, "")})
			f.onGraph("enablePullRequestAutoMerge", autoCall, cleanText)
			f.on("PUT pulls/7/merge", mergeCall, 405, `{"message":"Changes must be made through the merge queue"}`)
			f.onGraph("enqueuePullRequest", `{"id":"PR_7","head":"`+head+`"}`, `{"data":{}}`)
		}, "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, "/", "/graphql")
			c.calls(f)
			commit, err := f.forge().Merge(t.Context(), 7, forge.Merge{Head: head, Method: coppice.MergeSquash, Title: "Title", Message: "Why", Auto: c.auto})
			var refused *forge.Refused
			switch {
			case c.refused == "" && (err != nil || commit != c.commit):
				t.Errorf("commit %q: %v", commit, err)
			case c.refused != "" && (!errors.As(err, &refused) || !strings.Contains(refused.Text, c.refused)):
				t.Errorf("%v, want %q", err, c.refused)
			}
		})
	}
}

// A merge by rebase sends no message.
func TestMergeByRebase(t *testing.T) {
	t.Parallel()
	f := newFake(t, "/", "/graphql")
	f.on("PUT pulls/7/merge", `{"merge_method":"rebase","sha":"`+head+`"}`, 200, `{"sha":"2222","merged":true}`)
	if commit, err := f.forge().Merge(t.Context(), 7, forge.Merge{Head: head, Method: coppice.MergeRebase, Title: "Title", Message: "Why"}); err != nil || commit != "2222" {
		t.Errorf("%q %v", commit, err)
	}
}

// The errors of GraphQL have the status 200.
func TestGraphErrors(t *testing.T) {
	t.Parallel()
	reset := time.Now().Add(time.Hour)
	for kind, class := range map[string]coppice.Class{"FORBIDDEN": coppice.ClassAuth, "INSUFFICIENT_SCOPES": coppice.ClassAuth, "RATE_LIMITED": coppice.ClassRateLimit} {
		f := newFake(t, "/", "/graphql")
		f.onGraph("repository", `{"owner":"ann","name":"app","number":7,"after":null}`, `{"data":null,"errors":[{"type":"`+kind+`","message":"no"}]}`).
			header["X-RateLimit-Reset"] = id(reset.Unix())
		failure := failureOf(f.forge().Resolve(t.Context(), 7, "50"))
		if failure.Class != class || class == coppice.ClassRateLimit && failure.RetryAt.Before(reset.Add(-time.Minute)) {
			t.Errorf("%s: %+v", kind, failure)
		}
	}
}

// An Enterprise Server has its APIs below /api.
func TestEnterprise(t *testing.T) {
	t.Parallel()
	f := newFake(t, "/api/v3/", "/api/graphql")
	f.get(map[string]string{"pulls/7": pull(true, "")})
	f.onGraph("markPullRequestReadyForReview", `{"id":"PR_7"}`, `{"data":{}}`)
	text := textOf(false)
	text.Reviewers = nil
	if err := f.forge().Update(t.Context(), 7, text); err != nil {
		t.Error(err)
	}
	if _, err := github.Open(forge.Remote{Kind: "github", API: "nowhere"}, forge.Options{}); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("an address without a host: %v", err)
	}
}

// FuzzAnswers sends any answer to any call. Nothing may panic, and what is read has no
// request without a number.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		`null`, `[]`, `{}`, `[null]`, `[[]]`, `{"number":-1}`, `"x"`, `{"head":null,"base":null,"user":null,"labels":[null],"requested_reviewers":[null]}`,
		`{"data":null}`, `{"data":{"repository":null},"errors":[]}`, `{"errors":[{}]}`, `{"check_runs":null,"statuses":[null],"workflow_runs":[null],"jobs":[null]}`,
		pull(true, asked), `[` + pull(true, `,"id":3,"state":"APPROVED"`) + `]`, `{"labels":[{"name":7}]}`, `{"number":1e99}`,
	} {
		f.Add(seed, 200)
	}
	f.Add(`{"message":7,"errors":{}}`, 422)
	f.Add(`{"message":null}`, 403)
	f.Fuzz(func(t *testing.T, body string, status int) {
		forgetest.Answers(t, github.Open, forge.Remote{Kind: "github", API: "https://forge.test/", Owner: "a", Name: "b"}, status, body)
	})
}
