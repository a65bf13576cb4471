package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/store"
)

// The server cuts long logs in a task's detail; show prints them whole anyway.
func TestShowHasWholeLogs(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := s.Project("/src/app")
	task := s.Task("app", coppice.NewTask{Title: "t"})
	log := strings.Repeat("a line\n", 30_000) + "the end"
	s.Update(func(tx store.Tx) error {
		l := coppice.Landing{ProjectID: p.ID, TaskID: task.ID, Outcome: coppice.LandingRefused, EndedAt: s.Clock.Now(), Evidence: log}
		if err := tx.Landings.Put(&l); err != nil {
			return err
		}
		return tx.Checks.Put(&coppice.Check{ProjectID: p.ID, TaskID: task.ID, LandingID: l.ID, Command: "make", Exit: 1, Log: log})
	})
	_, out, errs := s.run("", "show", "app-1")
	if !strings.Contains(out, "… 29991 earlier lines; --json has all") || !strings.Contains(out, "    the end\n") {
		t.Errorf("%s%s", out, errs)
	}
	_, out, errs = s.run("", "show", "app-1", "--json")
	var d api.TaskDetail
	if err := json.Unmarshal([]byte(out), &d); err != nil || d.CheckRuns[0].Log != log || d.Landings[0].Evidence != log {
		t.Errorf("%v: %.200q %s", err, out, errs)
	}
}
