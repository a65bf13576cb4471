package cli_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// asked returns the keys of the tasks with an open request.
func (s *shell) asked(v coppice.Verb) string {
	s.T.Helper()
	var keys []string
	s.Must(s.Store.View(s.Ctx, func(r store.Reader) error {
		open, err := r.Asks.AllOpen()
		for _, a := range open {
			if t, err := r.Tasks.Get(a.Subject.Num()); err == nil && a.Verb == v {
				keys = append(keys, t.Key)
			}
		}
		return err
	}))
	return strings.Join(keys, " ")
}

func TestManyKeys(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.three()
	s.ends("app-2", coppice.OutcomeDone)
	code, out, errs := s.run("", "stop", "app-1", "app-2", "app-99", "app-3")
	if code != 1 || out != "app-1  will be stopped  One\napp-3  will be stopped  Three\n" || strings.Count(errs, "coppice: ") != 2 || !strings.Contains(errs, "app-2 has ended already") {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
	if got := s.asked(coppice.VerbStop); got != "app-1 app-3" {
		t.Errorf("stopped %s", got)
	}
	code, out, errs = s.run("", "stop", "app-1", "app-2", "app-99", "--json")
	var r struct {
		Key   string
		Tasks []struct{ Key string }

		Failed []struct {
			Key   string
			Error struct{ Code, Message string }
		}
	}
	s.Must(json.Unmarshal([]byte(out), &r))
	if code != 1 || r.Key != "" || len(r.Tasks) != 1 || len(r.Failed) != 2 || r.Failed[0].Key != "app-2" || r.Failed[0].Error.Code != "conflict" || r.Failed[1].Error.Code != "not_found" {
		t.Errorf("%d %+v", code, r)
	}
	if !strings.Contains(errs, `"message": "2 of 3 tasks refused"`) {
		t.Errorf("stderr %s", errs)
	}
	// A program that reads the one task still finds it.
	if code, out, _ = s.run("", "stop", "app-1", "--json"); code != 0 {
		t.Fatal(out)
	}
	s.Must(json.Unmarshal([]byte(out), &r))
	if r.Key != "app-1" || len(r.Tasks) != 1 {
		t.Errorf("one key: %s", out)
	}
}

func TestAllTasksOfAProject(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.three()
	s.Project("/src/other")
	s.Task("other", coppice.NewTask{Title: "Not mine"})
	s.ends("app-2", coppice.OutcomeFailed)
	s.ends("app-3", coppice.OutcomeCancelled)
	for line, want := range map[string]string{
		"stop --all":                  "pass --yes",
		"stop --all app-1":            "--all and keys were both given",
		"stop --project app":          "add --all",
		"stop --all --json":           "pass --yes",
		"requeue --all":               "has no flag --all",
		"land --all --head abc -y":    "--head names the change of one task",
		"land app-1 app-2 --head abc": "--head names the change of one task",
	} {
		if code, out, errs := s.run("y\n", strings.Fields(line)...); code != 2 || !strings.Contains(errs, want) || out != "" {
			t.Errorf("%s: %d %s%s", line, code, out, errs)
		}
	}
	s.env.Asks = true
	if code, out, errs := s.run("n\n", "stop", "--all"); code != 1 || !strings.Contains(out, "stop 1 task of app? [y/N]") || !strings.Contains(errs, "nothing was changed") {
		t.Errorf("no: %d %s%s", code, out, errs)
	}
	if got := s.asked(coppice.VerbStop); got != "" {
		t.Errorf("stopped %s without a yes", got)
	}
	if code, out, errs := s.run("y\n", "stop", "--all", "--project", "other"); code != 0 || !strings.Contains(out, "other-1  will be stopped") {
		t.Errorf("yes: %d %s%s", code, out, errs)
	}
	if code, out, errs := s.run("", "retry", "--all", "--yes"); code != 0 || out != "app-2  will be retried  Two\n" {
		t.Errorf("retry: %d %s%s", code, out, errs)
	}
	if code, out, _ := s.run("", "land", "--all", "--yes"); code != 0 || out != "no task to land\n" {
		t.Errorf("land: %d %s", code, out)
	}
	if code, _, errs := s.run("", "stop", "--all", "--yes", "-p", "nope"); code != 1 || !strings.Contains(errs, "nope") {
		t.Errorf("an unknown project: %d %s", code, errs)
	}
}

func TestStatusGroupsRows(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.Project("/src/app")
	for i := range 12 {
		s.Task("app", coppice.NewTask{Title: fmt.Sprintf("Task %d", i+1)})
		s.Clock.Move(time.Second)
	}
	for n := 1; n <= 12; n++ {
		key := fmt.Sprintf("app-%d", n)
		switch {
		case n <= 5:
			s.becomes(key, func(t *coppice.Task) {
				t.Wait = &coppice.Wait{On: coppice.WaitBackoff, Text: "all 6 sessions of the project are taken"}
			})
		case n <= 7:
			s.becomes(key, func(t *coppice.Task) { t.Wait = &coppice.Wait{On: coppice.WaitDependency, Text: "waits for app-1"} })
		case n <= 9:
			s.ends(key, coppice.OutcomeFailed)
		case n == 10:
			s.ends(key, coppice.OutcomeFailed)
			s.becomes(key, func(t *coppice.Task) { t.EndedAt = s.Clock.Now().Add(-25 * time.Hour) })
		default:
			s.becomes(key, func(t *coppice.Task) { t.Stage, t.Wait, t.StageAt = coppice.StageLanding, nil, s.Clock.Now() })
		}
	}
	s.golden(t, "status-alike", "status")
	s.Session("app-1", coppice.SessionDone, func(x *coppice.Session) { x.EndedAt = s.Clock.Now() })
	s.ends("app-1", coppice.OutcomeCancelled)
	s.Write(1, coppice.OutputEvent, `{"kind":"text","text":"ok"}`)
	s.golden(t, "list-cancelled", "list", "--status", "cancelled")
}

func TestUnarchive(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.three()
	if code, _, errs := s.run("", "unarchive", "app-1"); code != 1 || !strings.Contains(errs, "app-1 is not archived") {
		t.Errorf("%d %s", code, errs)
	}
}

// An error names a field one time if its cause names it.
func TestAFieldIsNamedOnce(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.three()
	if code, _, errs := s.run("", "new", "x", "--priority", "99"); code != 1 || !strings.HasPrefix(errs, "coppice: the priority 99 is out of range\n") {
		t.Errorf("%d %s", code, errs)
	}
}
