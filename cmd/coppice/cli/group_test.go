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
}
