//go:build linux

package gitea_test

import (
	"os"
	"testing"

	sdk "code.gitea.io/sdk/gitea"

	"coppice"
	"coppice/forge"
	"coppice/forge/forgetest"
	"coppice/forge/gitea"
	"coppice/test/forges"
)

func TestMain(m *testing.M) { os.Exit(forges.Run(m)) }

// states are Gitea's names of results, and events those of reviews.
var (
	states = map[coppice.CIState]sdk.StatusState{coppice.CIPending: sdk.StatusPending, coppice.CIPassed: sdk.StatusSuccess, coppice.CIFailed: sdk.StatusFailure}
	events = map[coppice.ReviewState]sdk.ReviewStateType{
		coppice.ReviewNone: sdk.ReviewStateComment, coppice.ReviewApproved: sdk.ReviewStateApproved, coppice.ReviewChanges: sdk.ReviewStateRequestChanges,
	}
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func bundle(t *testing.T) forgetest.Bundle {
	s := forges.Gitea(t)
	r := s.Repo(t)
	review := func(t *testing.T, number int, login string, o sdk.CreatePullReviewOptions) {
		t.Helper()
		_, _, err := s.API(t, login).CreatePullReview(forges.Owner, r.Name, int64(number), o)
		must(t, err)
	}
	return forgetest.Bundle{
		Open: gitea.Open, Remote: forge.Remote{Kind: "gitea", API: s.URL + "/api/v1/", Owner: forges.Owner, Name: r.Name},
		Token: s.User(t, forges.Owner), Login: forges.Owner, Base: "main", Writer: forges.Writer, Stranger: forges.Stranger,
		Commit: func(t *testing.T, branch, file, text string) string { return r.Commit(t, branch, file, text) },
		SetStatus: func(t *testing.T, commit, name string, state coppice.CIState, text string) {
			_, _, err := s.API(t, forges.Bot).CreateStatus(forges.Owner, r.Name, commit, sdk.CreateStatusOption{State: states[state], Context: name, Description: text})
			must(t, err)
		},
		Review: func(t *testing.T, number int, login string, state coppice.ReviewState, text string) {
			review(t, number, login, sdk.CreatePullReviewOptions{State: events[state], Body: text})
		},
		CommentLine: func(t *testing.T, number int, login, path string, line int, text string) {
			review(t, number, login, sdk.CreatePullReviewOptions{State: sdk.ReviewStateComment, Comments: []sdk.CreatePullReviewComment{{Path: path, Body: text, NewLineNum: int64(line)}}})
		},
		Comment: func(t *testing.T, number int, login, text string) {
			_, _, err := s.API(t, login).CreateIssueComment(forges.Owner, r.Name, int64(number), sdk.CreateIssueCommentOption{Body: text})
			must(t, err)
		},
		Asked: func(t *testing.T, number int) []string {
			p, _, err := s.API(t, forges.Owner).GetPullRequest(forges.Owner, r.Name, int64(number))
			must(t, err)
			var logins []string
			for _, u := range p.RequestedReviewers {
				logins = append(logins, u.UserName)
			}
			return logins
		},
		RequireStatus: func(t *testing.T, name string) {
			_, _, err := s.API(t, forges.Owner).CreateBranchProtection(forges.Owner, r.Name, sdk.CreateBranchProtectionOption{
				BranchName: "main", RuleName: "main", EnablePush: true, EnableStatusCheck: true, StatusCheckContexts: []string{name}, BlockAdminMergeOverride: true,
			})
			must(t, err)
		},
		DeleteBranch: func(t *testing.T, branch string) {
			_, _, err := s.API(t, forges.Owner).DeleteRepoBranch(forges.Owner, r.Name, branch)
			must(t, err)
		},
	}
}

func TestForge(t *testing.T) {
	t.Parallel()
	forgetest.Run(t, bundle)
}

// A merged request keeps its head: Gitea says where its branch is now.
func TestMergedHeadStays(t *testing.T) {
	t.Parallel()
	b := bundle(t)
	f := forgetest.Open(t, b)
	head := b.Commit(t, "topic", "topic.txt", "text\n")
	opened, err := f.Create(t.Context(), coppice.PullText{Branch: "topic", Base: "main", Title: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := forge.Write(t.Context(), f, coppice.ForgeWriteSpec{Op: coppice.ForgeMerge, Number: opened.Number, Head: head, Method: coppice.MergeMerge}); err != nil {
		t.Fatal(err)
	}
	later := b.Commit(t, "topic", "topic.txt", "later\n")
	found, err := f.Find(t.Context(), "topic")
	if err != nil || found.State != coppice.PullMerged || found.Head != head {
		t.Errorf("found %+v, %v, and it was merged at %s; its branch is at %s", found, err, head, later)
	}
	if r, err := f.Read(t.Context(), opened.Number); err != nil || r.State != coppice.PullMerged || r.Head != head {
		t.Errorf("read %+v, %v", r, err)
	}
}
