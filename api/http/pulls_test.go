package http_test

import (
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/api/client"
	"coppice/store"
	"coppice/verb"
)

// TestAdoptPull adopts a request, finds its task by the number, and asks for its comments.
func TestAdoptPull(t *testing.T) {
	t.Parallel()
	b := setupApp(t, "Other")
	b.Pull = coppice.PullRead{Number: 7, URL: "https://forge/7", Title: "Their work", State: coppice.PullOpen, Branch: "feature", Head: strings.Repeat("1", 40), Base: "main"}
	adopted, err := b.Client.AdoptPull(b.Ctx, "app", 7, client.Adoption{Text: "Add tests.", Title: "Tests"})
	b.Must(err)
	if adopted.Key != "app-2" || adopted.Title != "Tests" || !strings.HasPrefix(adopted.Body, "Add tests.") || adopted.PR == nil || adopted.PR.Number != 7 || !adopted.PR.Adopted {
		t.Errorf("the task: %+v", adopted)
	}
	again, err := b.Client.AdoptPull(b.Ctx, "app", 7, client.Adoption{})
	b.Must(err)
	found, err := b.Client.PullTask(b.Ctx, "app", 7)
	if b.Must(err); again.Key != "app-2" || found.Key != "app-2" {
		t.Errorf("adopted again as %s, found %s", again.Key, found.Key)
	}
	for name, err := range map[string]error{
		"an unknown number":  second(b.Client.AdoptPull(b.Ctx, "app", 8, client.Adoption{})),
		"an unknown request": second(b.Client.PullTask(b.Ctx, "app", 8)),
		"an unknown project": second(b.Client.AdoptPull(b.Ctx, "nope", 7, client.Adoption{})),
	} {
		if coppice.ErrorCode(err) != coppice.ENotFound {
			t.Errorf("%s: %v", name, err)
		}
	}

	comments := func() error {
		return second(b.Client.Ask(b.Ctx, "app-2", coppice.VerbComments, verb.Request{Text: "be quick"}))
	}
	if err := comments(); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("without a comment: %v", err)
	}
	b.Update(func(tx store.Tx) error {
		p, err := tx.Pulls.Of(adopted.ID)
		b.Must(err)
		p.Report.Comments = []coppice.PullComment{
			{ID: "1", Author: "ann", Writes: true, Text: "rename it"}, {ID: "2", Author: "eve", Review: coppice.ReviewApproved},
			{ID: "3", Author: "ann", Writes: true, Review: coppice.ReviewChanges}, {ID: "4", Author: "eve", Review: coppice.ReviewChanges},
		}
		p.Report.Draft, p.MergeHead = true, "a"
		return tx.Pulls.Put(p)
	})
	want := []coppice.Reviewer{{Name: "eve", Review: coppice.ReviewChanges}, {Name: "ann", Review: coppice.ReviewChanges, Counts: true}}
	if d, err := b.Client.Task(b.Ctx, "app-2"); err != nil || !slices.Equal(d.Reviewers, want) || d.PR.Word != "draft" || d.MergeText != "Merge requested." {
		t.Errorf("%v: the reviewers are %+v, the state is %q, %q", err, d.Reviewers, d.PR.Word, d.MergeText)
	}
	b.Must(comments())
	if err := second(b.Client.Ask(b.Ctx, "app-2", coppice.VerbOpenPull, verb.Request{})); coppice.ErrorCode(err) != coppice.EConflict || !strings.Contains(err.Error(), "https://forge/7") {
		t.Errorf("a second request: %v", err)
	}
}
