package cli_test

import (
	"testing"

	"coppice"
)

func TestGroupCommands(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.golden(t, "group-empty", "group", "list")
	s.fill()
	_, err := s.Client.CreateTasks(s.Ctx, "app", []coppice.NewTask{{Title: "First of two"}, {Title: "Second"}})
	s.Must(err)
	s.golden(t, "group-list", "group", "list")
	s.golden(t, "group-show", "group", "show", "batch-6")
	s.golden(t, "status-groups", "status")
	s.golden(t, "group-show-missing", "group", "show", "none")
	s.golden(t, "set-labels", "set", "app-5", "--label", "later,ui", "--group", "mine", "--flag")
	s.golden(t, "set-label-signs", "set", "app-5", "--label", "+api,-ui")
	s.golden(t, "set-label-mixed", "set", "app-5", "--label", "+api,ui")
	s.golden(t, "list-label", "list", "--label", "api")
	s.golden(t, "list-label-gone", "list", "--label", "ui")
	s.golden(t, "show-marked", "show", "app-5")
	s.golden(t, "list-group", "list", "--group", "mine", "--flagged")
	s.golden(t, "inbox-label", "inbox", "--label", "api", "--group", "mine", "--flagged")
	s.golden(t, "inbox-label-gone", "inbox", "--label", "ui")
	s.golden(t, "inbox-group-missing", "inbox", "--group", "none")
	s.golden(t, "usage-label", "usage", "--label", "api")
	s.Session("app-5", coppice.SessionDone, func(x *coppice.Session) { x.Usage = coppice.Usage{OutputTokens: 5, CostUSD: 0.5} })
	s.golden(t, "usage-group", "usage", "--tasks", "--group", "mine")
}
