package gitlab_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"coppice"
	"coppice/forge"
	"coppice/forge/forgetest"
	"coppice/forge/gitlab"
	"coppice/test/forges"
)

func trackerBundle(t *testing.T) forgetest.TrackerBundle {
	t.Helper()
	p := forges.NewGitLab(map[string]int{forges.GitLabUser: 40, "bob": 30, "eve": 20})
	yes := true
	return forgetest.TrackerBundle{
		Open: gitlab.OpenTracker, Token: forges.GitLabToken, Login: forges.GitLabUser, Writer: "bob", Stranger: "eve",
		Remote: forge.Remote{Kind: "gitlab", API: p.Serve(t), Owner: "group/sub.group", Name: "app"},
		Lacks: map[forgetest.Ability]string{
			forgetest.Parents: "task lists name only the parts", forgetest.Pulls: "merge requests have their own numbers",
			forgetest.States: "GitLab has only open and closed", forgetest.Commas: "labels of GitLab have no commas",
		},
		Create: func(_ *testing.T, login, title, text string, labels ...string) string {
			return p.CreateIssue(login, title, text, labels...)
		},
		Close:   func(_ *testing.T, id string) { p.EditIssue(id, forges.GitLabEdit{By: "bob", Closed: &yes}) },
		Assign:  func(_ *testing.T, id, login string) { p.EditIssue(id, forges.GitLabEdit{Assignee: &login}) },
		Comment: func(_ *testing.T, id, login, text string) { p.CommentIssue(id, login, text) },
		Block:   func(_ *testing.T, id, by string) { p.BlockIssue(id, by) },
		Part:    func(_ *testing.T, id, parent string) { p.PartOfIssue(id, parent) },
		Remove:  func(_ *testing.T, id string) { p.RemoveIssue(id) },
	}
}

func TestTracker(t *testing.T) {
	t.Parallel()
	forgetest.RunTracker(t, trackerBundle)
}

// TestManyNotes reads an issue with more comments and issues than a page has.
func TestManyNotes(t *testing.T) {
	t.Parallel()
	b := trackerBundle(t)
	f, err := b.Open(b.Remote, forge.Options{Token: func(context.Context) (string, error) { return forges.GitLabToken, nil }})
	if err != nil {
		t.Fatal(err)
	}
	id := b.Create(t, "bob", "Many", "text")
	if _, err := forge.WriteIssue(t.Context(), f, coppice.TrackerWriteSpec{Issue: id, Key: "k", Comment: "first"}); err != nil {
		t.Fatal(err)
	}
	for n := range 250 {
		b.Comment(t, id, "bob", fmt.Sprint("comment ", n))
		b.Create(t, "bob", fmt.Sprint("issue ", n), "")
	}
	if _, err := forge.WriteIssue(t.Context(), f, coppice.TrackerWriteSpec{Issue: id, Key: "k", Comment: "second"}); err != nil {
		t.Fatal(err)
	}
	list, err := f.Comments(t.Context(), id)
	if err != nil || len(list) != 251 || !strings.HasPrefix(list[0].Text, "second") || list[250].Text != "comment 249" {
		t.Errorf("%d comments, %v", len(list), err)
	}
	r := forge.ClipIssue(coppice.IssueRead{Comments: list})
	if len(r.Comments) != coppice.MaxIssueComments || r.Comments[0].Text != "comment 200" {
		t.Errorf("the newest comments: %+v", r.Comments[0])
	}
	first, err := f.Issues(t.Context(), forge.IssueQuery{})
	if err != nil || len(first) < forge.MostIssues {
		t.Fatalf("%d issues, %v", len(first), err)
	}
	rest, err := f.Issues(t.Context(), forge.IssueQuery{Since: first[len(first)-1].UpdatedAt})
	if err != nil || len(first)+len(rest) < 251 {
		t.Errorf("%d and %d issues, %v", len(first), len(rest), err)
	}
}
