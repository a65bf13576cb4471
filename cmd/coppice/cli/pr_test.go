package cli_test

import (
	"strings"
	"testing"

	"coppice"
	"coppice/store"
)

// TestPullCommands runs the commands for pull requests.
func TestPullCommands(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.fill()
	s.golden(t, "pr-empty", "pr")
	s.Pull = coppice.PullRead{Number: 12, URL: "https://forge/12", Title: nasty, State: coppice.PullOpen, Branch: "feature", Head: strings.Repeat("1", 40), Base: "main"}
	s.golden(t, "pr-adopt", "pr", "adopt", "12")
	s.golden(t, "pr-adopt-again", "pr", "adopt", "#12", "and more")
	s.golden(t, "pr-adopt-unknown", "pr", "adopt", "13")
	s.golden(t, "pr-adopt-key", "pr", "adopt", "app-4")
	s.golden(t, "pr-merge-early", "pr", "merge", "12", "app-5")
	s.golden(t, "pr-open", "pr", "open", "app-5", "app-6", "app-1")
	s.Update(func(tx store.Tx) error {
		k, err := tx.Tasks.ByKey("app-6")
		s.Must(err)
		k.Stage = coppice.StagePull
		s.Must(tx.Tasks.Put(&k))
		s.Must(tx.Landings.Put(&coppice.Landing{ProjectID: k.ProjectID, TaskID: k.ID, Head: strings.Repeat("1", 40), CreatedAt: s.Clock.Now()}))
		p, err := tx.Pulls.Of(k.ID)
		s.Must(err)
		p.Report.CI, p.Report.Review, p.Report.Conflicts, p.Blocked = coppice.CIFailed, coppice.ReviewChanges, true, "not enough approvals"
		p.Report.Comments = []coppice.PullComment{{ID: "1", Author: "ann", Writes: true, Text: "rename it"}}
		e := coppice.Reacted{ProjectID: k.ProjectID, TaskID: k.ID, Key: "ci-failed/1", At: s.Clock.Now()}
		e.Event, e.Do, e.Text, e.Result = coppice.OnCIFailed, coppice.ReactSend, "CI failed: build", "pushed 1111111"
		s.Must(tx.Reactions.Put(&e))
		return tx.Pulls.Put(p)
	})
	s.golden(t, "pr-list", "pr", "list")
	s.golden(t, "pr-list-json", "pr", "list", "--json")
	s.golden(t, "pr-comments", "pr", "resolve-comments", "12", "--note", "be quick")
	s.golden(t, "pr-merge", "pr", "merge", "12")
	s.golden(t, "pr-merge-unknown", "pr", "merge", "13")
	s.golden(t, "reactions", "reactions")
	s.golden(t, "reactions-rules", "reactions", "rules")
}
