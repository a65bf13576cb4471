package http_test

import (
	"slices"
	"testing"

	"coppice"
	"coppice/api/client"
	"coppice/store"
)

func TestIssues(t *testing.T) {
	t.Parallel()
	b := setupApp(t, "Fix the crash")
	b.Update(func(tx store.Tx) error {
		p, err := tx.Projects.ByPrefix("app")
		b.Must(err)
		p.Policy.Trackers = coppice.Trackers{{Kind: "gitea", Import: coppice.TrackerImport{Labels: []string{"agent"}}, Active: 1}}
		b.Must(tx.Projects.Put(&p))
		source, gone := coppice.Tracker{ProjectID: p.ID, Name: "gitea"}, coppice.Tracker{ProjectID: p.ID, Name: "linear"}
		source.Place, gone.Place = p.Policy.Trackers[0].Place(), "linear   ENG"
		b.Must(tx.Trackers.Put(&source))
		b.Must(tx.Trackers.Put(&gone))
		put := func(tracker int64, id string, task int64, status coppice.IssueStatus, change func(*coppice.Issue)) {
			i := coppice.Issue{ProjectID: p.ID, TrackerID: tracker, Issue: id, TaskID: task, Status: status}
			i.Read = coppice.IssueRead{ID: id, Title: "Issue " + id, Text: "new\ntext"}
			if change != nil {
				change(&i)
			}
			b.Must(tx.Issues.Put(&i))
		}
		k, err := tx.Tasks.ByKey("app-1")
		b.Must(err)
		k.Issue = &coppice.IssueRef{Tracker: "gitea", ID: "1"}
		b.Must(tx.Tasks.Put(&k))
		put(source.ID, "1", k.ID, coppice.IssueWorking, func(i *coppice.Issue) { i.Held = true })
		put(source.ID, "2", 0, "", nil)
		put(source.ID, "3", 0, coppice.IssueFailed, func(i *coppice.Issue) { i.Reopened = true })
		put(source.ID, "4", 0, coppice.IssueStopped, func(i *coppice.Issue) { i.Read.Closed = true })
		put(gone.ID, "ENG-5", 0, "", nil)
		return nil
	})
	list, err := b.Client.Issues(b.Ctx, "app", client.IssueQuery{})
	b.Must(err)
	if len(list.Sources) != 1 || list.Sources[0].Text != "1 issue waits: 1 of 1 tasks are active" {
		t.Errorf("sources: %+v", list.Sources)
	}
	if k, err := b.Client.Task(b.Ctx, "app-1"); err != nil || k.IssueName != "#1" {
		t.Errorf("the task of %q: %v", k.IssueName, err)
	}
	want := []struct {
		name, why string
		can       []string
	}{
		{"ENG-5", "coppice.yaml no longer has its source", nil},
		{"#4", "", nil},
		{"#3", "somebody reopened it, and a person can import it again", []string{"import"}},
		{"#2", "1 of 1 tasks are active", []string{"import"}},
		{"#1", "its text changed, and a person has to accept it", []string{"accept"}},
	}
	if len(list.Issues) != len(want) {
		t.Fatalf("%d issues: %+v", len(list.Issues), list.Issues)
	}
	for i, w := range want {
		if got := list.Issues[i]; got.Name != w.name || got.Why != w.why || !slices.Equal(got.Can, w.can) {
			t.Errorf("%s, %q, can %v; want %+v", got.Name, got.Why, got.Can, w)
		}
	}
	texts, err := b.Client.HeldIssue(b.Ctx, "app", "gitea", "#1")
	b.Must(err)
	if texts.Task.Title != "Fix the crash" || texts.Tracker.Title != "Issue 1" || texts.Tracker.Text != "new\ntext" {
		t.Errorf("%+v", texts)
	}
	for _, c := range [][2]string{{"gitea", "2"}, {"gitea", "99"}, {"gitlab", "1"}} {
		if _, err := b.Client.HeldIssue(b.Ctx, "app", c[0], c[1]); coppice.ErrorCode(err) != coppice.ENotFound {
			t.Errorf("the texts of %s: %v", c, err)
		}
	}
	if _, err := b.Client.HeldIssue(b.Ctx, "app", "gitea", "../1"); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("a name that is not one: %v", err)
	}
}
