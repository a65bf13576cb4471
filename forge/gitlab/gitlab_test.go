package gitlab_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/forge"
	"coppice/forge/forgetest"
	"coppice/forge/gitlab"
	"coppice/test/forges"
)

// opened returns a forge with a request.
func opened(t *testing.T) (forge.Forge, *project, int) {
	t.Helper()
	b, p := bundle(t)
	p.push("work", "work.txt", "text")
	f := forgetest.Open(t, b)
	made, err := f.Create(t.Context(), coppice.PullText{Branch: "work", Base: "main", Title: "Work", Body: "Why"})
	if err != nil {
		t.Fatal(err)
	}
	return f, p, made.Number
}

func TestJobs(t *testing.T) {
	t.Parallel()
	f, p, number := opened(t)
	head := p.branches["work"]
	job := func(id int, name, status string, allowed bool) {
		p.jobList = append(p.jobList, map[string]any{
			"id": id, "name": name, "status": status, "allow_failure": allowed, "failure_reason": "script_failure", "web_url": fmt.Sprint("https://gitlab.test/", id),
			"coverage": nil, "tag_list": nil, "runner": nil,
		})
	}
	job(1, "test", "failed", false)
	job(2, "lint", "success", false)
	job(3, "flaky", "failed", true)
	job(4, "deploy", "manual", true)
	job(5, "gate", "manual", false)
	job(6, "gone", "failed", false)
	job(7, "stopped", "canceled", false)
	p.traces[1] = strings.Repeat("0123456789abcde\n", 1<<21) + "the end\n" // 32 MiB
	p.pipeline = map[string]any{"id": 9, "project_id": forges.GitLabProject, "sha": head, "ref": "work", "status": "failed", "yaml_errors": nil, "coverage": nil}
	p.setStatus(head, "lint", coppice.CIFailed, "an older pipeline")
	p.setStatus(head, "external", coppice.CIPassed, "ok")
	r := forgetest.Read(t, f, number)
	var got []string
	for _, c := range r.Checks {
		got = append(got, c.Name+" "+string(c.State))
	}
	want := []string{"deploy passed", "external passed", "flaky passed", "gate pending", "gone failed", "lint passed", "stopped failed", "test failed"}
	if !slices.Equal(got, want) || r.CI != coppice.CIFailed {
		t.Errorf("%q %q", r.CI, got)
	}
	test := r.Checks[7]
	if !strings.HasSuffix(test.Log, "\nthe end\n") || !strings.HasPrefix(test.Log, "0123") || len(test.Log) > 4*coppice.MaxPullLog || test.Text != "script failure" || test.URL == "" {
		t.Errorf("%.60q, log of %d bytes", test.Text, len(test.Log))
	}
}

// A pipeline can fail without a failed job, and one of an older head does not count.
func TestPipelines(t *testing.T) {
	t.Parallel()
	f, p, number := opened(t)
	head := p.branches["work"]
	for name, c := range map[string]struct {
		pipeline map[string]any
		want     coppice.CIState
	}{
		"none":          {nil, coppice.CINone},
		"configuration": {map[string]any{"id": 1, "sha": head, "status": "failed", "yaml_errors": "jobs: no script"}, coppice.CIFailed},
		"running":       {map[string]any{"id": 1, "sha": head, "status": "running"}, coppice.CIPending},
		"merged result": {map[string]any{"id": 1, "sha": "other", "ref": fmt.Sprintf("refs/merge-requests/%d/merge", number), "status": "success"}, coppice.CIPassed},
		"old":           {map[string]any{"id": 1, "sha": "other", "ref": "work", "status": "failed"}, coppice.CINone},
	} {
		p.pipeline = c.pipeline
		r := forgetest.Read(t, f, number)
		if r.CI != c.want || name == "configuration" && r.Checks[0].Text != "jobs: no script" {
			t.Errorf("%s: %q %+v", name, r.CI, r.Checks)
		}
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	f, p, number := opened(t)
	p.say(number, "bob", "changed the description", map[string]any{"system": true})
	p.say(number, "project_42_bot_x", "scan", nil)
	p.review(number, "bob", coppice.ReviewChanges, "") // without a text
	p.say(number, "bob", "old side", map[string]any{"resolvable": true, "resolved": true, "position": map[string]any{"old_path": "a", "old_line": 3, "new_path": nil, "new_line": nil}})
	r := forgetest.Read(t, f, number)
	var got []string
	for _, c := range r.Comments {
		kind, _, _ := strings.Cut(c.ID, "/")
		got = append(got, fmt.Sprint(kind, " ", c.Author, " ", c.Review, " ", c.Bot, c.Writes, c.Resolved, " ", c.Path, c.Line, c.Thread != ""))
	}
	want := []string{"note project_42_bot_x  true true false 0 false", "review bob changes false true false 0 false", "note bob  false true true a3 true"}
	if !slices.Equal(got, want) || r.Review != coppice.ReviewChanges {
		t.Errorf("%q %q, want %q", r.Review, got, want)
	}
	first := r.Comments[1].ID
	p.review(number, "bob", coppice.ReviewChanges, "")
	if r = forgetest.Read(t, f, number); r.Comments[2].ID == first {
		t.Errorf("a second request for changes has the same id: %+v", r.Comments)
	}
}

func TestDrafts(t *testing.T) {
	t.Parallel()
	f, p, number := opened(t)
	text := coppice.PullText{Branch: "work", Base: "main", Title: "Draft: [draft] Work", Body: "Why", Draft: true}
	for draft, stored := range map[bool]string{true: "Draft: Work", false: "Work"} {
		text.Draft = draft
		if err := f.Update(t.Context(), number, text); err != nil {
			t.Fatal(err)
		}
		if r := forgetest.Read(t, f, number); p.list_[number-1].title != stored || r.Title != "Work" || r.Draft != draft {
			t.Errorf("stored %q, read %+v", p.list_[number-1].title, r)
		}
	}
	p.list_[number-1].title = "dRaft: (Draft) Work"
	if r := forgetest.Read(t, f, number); r.Title != "Work" || !r.Draft {
		t.Errorf("another mark: %+v", r)
	}
}

func TestReviewers(t *testing.T) {
	t.Parallel()
	f, p, number := opened(t)
	text := coppice.PullText{Branch: "work", Base: "main", Title: "Work", Body: "Why", Reviewers: []string{"Bob", "coppice", "eve"}}
	p.list_[number-1].reviewers = []int{p.UserID("eve")}
	if err := f.Update(t.Context(), number, text); err != nil || !slices.Equal(p.list_[number-1].reviewers, []int{p.UserID("eve"), p.UserID("bob")}) {
		t.Errorf("%v %v", p.list_[number-1].reviewers, err)
	}
	text.Reviewers = []string{"nobody"}
	if err := f.Update(t.Context(), number, text); coppice.ErrorCode(err) != coppice.EInvalid || coppice.Public(err).Fix == "" {
		t.Errorf("an unknown reviewer: %v", err)
	}
}

// A rebase moves the head, and then the new head is merged.
func TestRebase(t *testing.T) {
	t.Parallel()
	b, p := bundle(t)
	waits := 0
	f, err := gitlab.Open(b.Remote, forge.Options{
		Token: func(context.Context) (string, error) { return forges.GitLabToken, nil },
		Wait:  func(context.Context, time.Duration) error { waits++; return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	open := func(branch, file string) (int, string) {
		head := p.push(branch, file, branch)
		made, err := f.Create(t.Context(), coppice.PullText{Branch: branch, Base: "main", Title: branch})
		if err != nil {
			t.Fatal(err)
		}
		return made.Number, head
	}
	number, head := open("work", "a.txt")
	other, conflicting := open("other", "same.txt")
	p.push("main", "same.txt", "base")
	p.stuck = 2
	commit, err := f.Merge(t.Context(), number, forge.Merge{Head: head, Method: coppice.MergeRebase})
	if err != nil || waits != 2 || commit != p.branches["main"] || p.commits[commit].files["same.txt"] != "base" || p.commits[commit].files["a.txt"] != "work" {
		t.Errorf("merged as %q after %d waits: %v", commit, waits, err)
	}
	var refused *forge.Refused
	if _, err := f.Merge(t.Context(), other, forge.Merge{Head: conflicting, Method: coppice.MergeRebase}); !errors.As(err, &refused) || !strings.Contains(refused.Text, "Rebase failed") {
		t.Errorf("a rebase with conflicts: %v", err)
	}
	if _, err := f.Merge(t.Context(), other, forge.Merge{Head: conflicting, Method: coppice.MergeMerge}); !errors.As(err, &refused) || refused.Text != "GitLab does not merge it: conflict" {
		t.Errorf("a merge with conflicts: %v", err)
	}
}

// FuzzAnswers sends any answer to any call. Nothing may panic, and what is listed has
// a number.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		`null`, `[]`, `{}`, `[null]`, `[[]]`, `{"iid":-1}`, `"x"`, `{"iid":1,"author":null,"labels":[{"name":"a"},"b"],"reviewers":[null],"head_pipeline":null}`,
		`{"iid":1,"sha":"1","labels":null,"head_pipeline":{"id":1,"sha":"1","status":null}}`, `[{"iid":1,"notes":[null],"name":"x","status":"failed"}]`,
		`{"approved_by":[null,{"user":null}]}`, `[{"user":null,"state":"requested_changes"}]`, `{"iid":1e99}`, `[{"id":1,"notes":[{"id":1,"author":null,"position":null}]}]`,
	} {
		f.Add(seed, 200)
	}
	f.Add(`{"message":{"base":[7]}}`, 400)
	f.Add(`{"error":null}`, 405)
	f.Fuzz(func(t *testing.T, body string, status int) {
		forgetest.Answers(t, gitlab.Open, forge.Remote{Kind: "gitlab", API: "https://forge.test/api/v4/", Owner: "a", Name: "b"}, status, body)
	})
}
