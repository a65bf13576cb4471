//go:build linux

package gitea_test

import (
	"encoding/base64"
	"testing"

	sdk "code.gitea.io/sdk/gitea"

	"coppice"
	"coppice/forge/forgetest"
	"coppice/test/forges"
)

// TestPeople reads who wrote what: with a token that cannot administer the
// repository, of programs, of reviews that were dismissed, and of a fork.
func TestPeople(t *testing.T) {
	t.Parallel()
	b := bundle(t)
	s, name := forges.Gitea(t), b.Remote.Name
	b.Token = s.User(t, forges.Writer)
	f := forgetest.Open(t, b)
	b.Commit(t, "topic", "topic.txt", "text\n")
	opened, err := f.Create(t.Context(), coppice.PullText{Branch: "topic", Base: "main", Title: "t"})
	if err != nil {
		t.Fatal(err)
	}
	number := opened.Number
	for _, login := range []string{forges.Owner, forges.Stranger, forges.Bot} {
		b.Comment(t, number, login, "hello")
	}
	b.Review(t, number, forges.Owner, coppice.ReviewChanges, "not yet")
	r, err := f.Read(t.Context(), number)
	if err != nil || r.Review != coppice.ReviewChanges || r.Author != forges.Writer {
		t.Errorf("read %+v, %v", r, err)
	}
	for _, c := range r.Comments {
		if c.Writes != (c.Author != forges.Stranger) || c.Bot != (c.Author == forges.Bot) {
			t.Errorf("comment %+v", c)
		}
	}
	owner := s.API(t, forges.Owner)
	list, _, err := owner.ListPullReviews(forges.Owner, name, int64(number), sdk.ListPullReviewsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, review := range list {
		if review.State == sdk.ReviewStateRequestChanges {
			if _, err := owner.DismissPullReview(forges.Owner, name, int64(number), review.ID, sdk.DismissPullReviewOptions{Message: "done"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if r, err = f.Read(t.Context(), number); err != nil || r.Review != coppice.ReviewNone {
		t.Errorf("after the review was dismissed: %q, %v", r.Review, err)
	}

	stranger := s.API(t, forges.Stranger)
	if _, _, err := stranger.CreateFork(forges.Owner, name, sdk.CreateForkOption{}); err != nil {
		t.Fatal(err)
	}
	file := sdk.CreateFileOptions{FileOptions: sdk.FileOptions{Message: "m", BranchName: "main", NewBranchName: "topic2"}, Content: base64.StdEncoding.EncodeToString([]byte("x"))}
	if _, _, err := stranger.CreateFile(forges.Stranger, name, "fork.txt", file); err != nil {
		t.Fatal(err)
	}
	p, _, err := stranger.CreatePullRequest(forges.Owner, name, sdk.CreatePullRequestOption{Head: forges.Stranger + ":topic2", Base: "main", Title: "from a fork"})
	if err != nil {
		t.Fatal(err)
	}
	if r, err = f.Read(t.Context(), int(p.Index)); err != nil || !r.Foreign || r.Branch != "topic2" {
		t.Errorf("a request from a fork: %+v, %v", r, err)
	}
	if found, err := f.Find(t.Context(), "topic2"); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("the branch of a fork was found: %+v, %v", found, err)
	}
}
