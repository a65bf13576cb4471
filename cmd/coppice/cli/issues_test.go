package cli_test

import (
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// TestIssueCommands runs the commands for issues.
func TestIssueCommands(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.fill()
	s.golden(t, "issues-no-tracker", "issues", "-p", "app")
	s.golden(t, "issues-import-no-tracker", "issues", "import", "12", "-p", "app")
	s.Update(func(tx store.Tx) error {
		p, err := tx.Projects.ByPrefix("app")
		s.Must(err)
		p.Policy.Trackers = coppice.Trackers{{Kind: "gitea", Import: coppice.TrackerImport{Labels: []string{"agent"}}, Active: 1}, {Kind: "linear", Team: "ENG"}}
		s.Must(tx.Projects.Put(&p))
		source := coppice.Tracker{ProjectID: p.ID, Name: "gitea"}
		source.Place, source.ReadAt, source.Matching = p.Policy.Trackers[0].Place(), s.Clock.Now(), 3
		source.Failure = coppice.Failf(coppice.ClassAuth, "the secret GITEA_TOKEN is not set", "run: coppice secret set GITEA_TOKEN")
		s.Must(tx.Trackers.Put(&source))
		put := func(id, title string, task int64, status coppice.IssueStatus, change func(*coppice.Issue)) {
			i := coppice.Issue{ProjectID: p.ID, TrackerID: source.ID, Issue: id, TaskID: task, Status: status}
			i.Read = coppice.IssueRead{ID: id, Title: title, URL: "https://gitea/app/issues/" + id, Author: "ada"}
			if change != nil {
				change(&i)
			}
			s.Must(tx.Issues.Put(&i))
		}
		k, err := tx.Tasks.ByKey("app-1")
		s.Must(err)
		put("7", nasty, k.ID, coppice.IssueWorking, func(i *coppice.Issue) { i.Held = true })
		put("8", "It waits", 0, "", nil)
		put("9", "It is blocked", 0, "", func(i *coppice.Issue) { i.Read.BlockedBy = []string{"8"} })
		put("10", "It was reopened", 0, coppice.IssueDone, func(i *coppice.Issue) { i.EndedAt, i.Reopened = s.Clock.Now(), true })
		return nil
	})
	s.Reported = []coppice.IssueRead{
		{ID: "12", URL: "https://gitea/app/issues/12", Title: "Fix the crash", Text: "It crashes.", Author: "ada", Writes: true, UpdatedAt: time.Unix(0, 0)},
		{ID: "13", URL: "https://gitea/app/issues/13", Title: "Closed", Closed: true},
	}
	s.golden(t, "issues", "issues", "-p", "app")
	s.golden(t, "issues-json", "issues", "list", "-p", "app", "--ended", "--json", "--limit", "2")
	s.golden(t, "issues-import", "issues", "import", "#12", "-p", "app")
	s.golden(t, "issues-import-again", "issues", "import", "https://gitea/app/issues/12", "-p", "app")
	s.golden(t, "issues-import-closed", "issues", "import", "13", "-p", "app")
	s.golden(t, "issues-import-other", "issues", "import", "https://gitea/other/issues/12", "-p", "app")
	s.golden(t, "issues-accept", "issues", "accept", "7", "-p", "app")
	s.golden(t, "issues-accept-none", "issues", "accept", "8", "-p", "app")
	s.golden(t, "issues-read", "issues", "read", "-p", "app")
	s.golden(t, "issues-new", "new", "--issue", "12", "-p", "app", "--no-serve")
	s.golden(t, "issues-new-title", "new", "A title", "--issue", "12")
	s.golden(t, "issues-new-tracker", "new", "--issue", "ENG-1", "--tracker", "gitlab", "-p", "app", "--no-serve")
}
