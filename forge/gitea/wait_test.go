package gitea_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/forge"
	"coppice/forge/gitea"
)

// scripted answers requests to a Gitea, by method and path. The last answer of a
// path is repeated.
type scripted struct {
	t       *testing.T
	answers map[string][]answer
	waited  []time.Duration
	now     time.Time
}

type answer struct {
	status int
	body   any
}

func (s *scripted) RoundTrip(req *http.Request) (*http.Response, error) {
	key := req.Method + " " + strings.TrimPrefix(req.URL.Path, "/api/v1/repos/o/r/")
	list := s.answers[key]
	if len(list) == 0 {
		s.t.Errorf("unexpected %s", key)
		list = []answer{{status: 500}}
	}
	if len(list) > 1 {
		s.answers[key] = list[1:]
	}
	body, err := json.Marshal(list[0].body)
	if err != nil {
		s.t.Fatal(err)
	}
	return &http.Response{StatusCode: list[0].status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(body)))}, nil
}

// open connects to the script. Waiting takes no time.
func (s *scripted) open(t *testing.T) forge.Forge {
	t.Helper()
	s.t, s.now = t, time.Unix(1_800_000_000, 0)
	f, err := gitea.Open(forge.Remote{Kind: "gitea", API: "https://git.example.org/api/v1/", Owner: "o", Name: "r"}, forge.Options{
		Transport: s, Now: func() time.Time { return s.now },
		Wait: func(_ context.Context, d time.Duration) error { s.waited = append(s.waited, d); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// pull is a request as Gitea describes it.
func pull(mergeable bool, change ...func(map[string]any)) map[string]any {
	branch := func(name, sha string) map[string]any {
		return map[string]any{"label": name, "ref": name, "sha": sha, "repo_id": 1}
	}
	p := map[string]any{"number": 1, "title": "t", "state": "open", "mergeable": mergeable, "updated_at": time.Unix(1_800_000_000, 0).Format(time.RFC3339), "head": branch("topic", "h"), "base": branch("main", "b")}
	for _, c := range change {
		c(p)
	}
	return p
}

func TestConflictsAreKnownLater(t *testing.T) {
	t.Parallel()
	none := []answer{{200, []any{}}}
	for name, c := range map[string]struct {
		pulls  []answer
		want   bool
		waited int
	}{
		"mergeable":         {[]answer{{200, pull(true)}}, false, 0},
		"tested soon":       {[]answer{{200, pull(false)}, {200, pull(false)}, {200, pull(true)}}, false, 2},
		"not mergeable":     {[]answer{{200, pull(false)}}, true, 7},
		"a draft":           {[]answer{{200, pull(false, func(p map[string]any) { p["draft"] = true })}}, false, 0},
		"closed":            {[]answer{{200, pull(false, func(p map[string]any) { p["state"] = "closed" })}}, false, 0},
		"quiet for a month": {[]answer{{200, pull(false, func(p map[string]any) { p["updated_at"] = "2026-12-01T00:00:00Z" })}}, false, 0},
	} {
		s := &scripted{answers: map[string][]answer{"GET pulls/1": c.pulls, "GET commits/h/statuses": none, "GET issues/1/comments": none, "GET pulls/1/reviews": none}}
		f := s.open(t)
		r, err := f.Read(t.Context(), 1)
		if err != nil || r.Conflicts != c.want || len(s.waited) != c.waited {
			t.Errorf("%s: conflicts %v, %v after %v", name, r.Conflicts, err, s.waited)
		}
		s.waited = nil
		if r, err = f.Read(t.Context(), 1); err != nil || r.Conflicts != c.want || len(s.waited) != 0 {
			t.Errorf("%s, read again: conflicts %v, %v after %v", name, r.Conflicts, err, s.waited)
		}
	}
}

func TestMergeTriesAgain(t *testing.T) {
	t.Parallel()
	later := answer{405, map[string]any{"message": "Please try again later"}}
	merged := pull(true, func(p map[string]any) { p["merged"], p["merge_commit_sha"] = true, "m" })
	for name, c := range map[string]struct {
		answers []answer
		want    string
		refused string
		waited  int
	}{
		"at once":      {[]answer{{200, nil}}, "m", "", 0},
		"later":        {[]answer{later, later, {200, nil}}, "m", "", 2},
		"never":        {[]answer{later}, "", "try again later", 7},
		"not approved": {[]answer{{405, map[string]any{"message": "Does not have enough approvals"}}}, "", "enough approvals", 0},
		"another head": {[]answer{{409, map[string]any{"message": "head out of date"}}}, "", "head out of date", 0},
	} {
		s := &scripted{answers: map[string][]answer{"POST pulls/1/merge": c.answers, "GET pulls/1": {{200, merged}}}}
		commit, err := s.open(t).Merge(t.Context(), 1, forge.Merge{Head: "h", Method: coppice.MergeSquash})
		var refused *forge.Refused
		if commit != c.want || len(s.waited) != c.waited || (c.refused != "") != errors.As(err, &refused) || refused != nil && !strings.Contains(refused.Text, c.refused) || refused == nil && err != nil {
			t.Errorf("%s: %q, %v after %v", name, commit, err, s.waited)
		}
	}
}

func TestMergeOfAKnownConflict(t *testing.T) {
	t.Parallel()
	none := []answer{{200, []any{}}}
	s := &scripted{answers: map[string][]answer{
		"GET pulls/1": {{200, pull(false)}}, "GET commits/h/statuses": none, "GET issues/1/comments": none, "GET pulls/1/reviews": none,
		"POST pulls/1/merge": {{405, map[string]any{"message": "Please try again later"}}},
	}}
	f := s.open(t)
	if _, err := f.Read(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	s.waited = nil
	var refused *forge.Refused
	if _, err := f.Merge(t.Context(), 1, forge.Merge{Head: "h", Method: coppice.MergeMerge}); !errors.As(err, &refused) || !strings.Contains(refused.Text, "conflicts") || len(s.waited) != 0 {
		t.Errorf("%v after %v", err, s.waited)
	}
}

func TestCreateWaitsForTheBranch(t *testing.T) {
	t.Parallel()
	missing := answer{404, map[string]any{"message": "The target couldn't be found."}}
	for name, c := range map[string]struct {
		answers []answer
		code    coppice.Code
		waited  int
	}{
		"known":         {[]answer{{201, pull(true)}}, "", 0},
		"known later":   {[]answer{missing, missing, {201, pull(true)}}, "", 2},
		"never known":   {[]answer{missing}, coppice.ENotFound, 7},
		"opened before": {[]answer{{409, map[string]any{"message": "exists"}}}, coppice.EConflict, 0},
	} {
		s := &scripted{answers: map[string][]answer{"POST pulls": c.answers}}
		if _, err := s.open(t).Create(t.Context(), coppice.PullText{Branch: "topic", Base: "main", Title: "t"}); coppice.ErrorCode(err) != c.code || len(s.waited) != c.waited {
			t.Errorf("%s: %v after %v", name, err, s.waited)
		}
	}
}
