package sqlite

import (
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// recorded returns the statements that f runs.
func recorded(t *testing.T, s *Store, f func(store.Tx) error) []string {
	t.Helper()
	c := s.writer
	c.forget()
	if err := f((&tx{conn: c}).parts()); err != nil {
		t.Fatal(err)
	}
	var queries []string
	for q := range c.stmts {
		queries = append(queries, q)
	}
	return queries
}

func openTest(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestPlans checks that frequent queries find their rows by an index, in the order
// of the result.
func TestPlans(t *testing.T) {
	t.Parallel()
	s := openTest(t, Memory)
	kinds, some := []coppice.WorkKind{coppice.WorkRun, coppice.WorkCheck}, []int64{1, 2}
	for name, f := range map[string]func(store.Tx) error{
		"Lanes.Next":    func(t store.Tx) error { _, _, err := t.Lanes.Next(coppice.Lane{ProjectID: 1}); return err },
		"Lanes.Heads":   func(t store.Tx) error { _, err := t.Lanes.Heads(coppice.Lane{ProjectID: 1}, 2); return err },
		"Lanes.Running": func(t store.Tx) error { _, err := t.Lanes.Running(); return err },
		"Sessions.Live": func(t store.Tx) error { _, err := t.Sessions.Live(); return err },
		"Sessions.Of":   func(t store.Tx) error { _, err := t.Sessions.Of(1); return err },
		"Spend.Of":      func(t store.Tx) error { _, err := t.Spend.Of(coppice.TaskSubject(1), ""); return err },
		"Spend.ByScope": func(t store.Tx) error { _, err := t.Spend.ByScope("2026-03-04"); return err },
		"Spend.Usage": func(t store.Tx) error {
			_, err := t.Spend.Usage(store.UsageQuery{From: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)})
			return err
		},
		"Images.Get": func(t store.Tx) error {
			if _, err := t.Images.Get("a"); coppice.ErrorCode(err) != coppice.ENotFound {
				return err
			}
			return nil
		},
		"Notes.List": func(t store.Tx) error {
			_, err := t.Notes.List(store.NoteFilter{ProjectID: 1, Scope: coppice.NotesOfProject, Prefix: "a/", After: "a/b", Most: 2})
			return err
		},
		"Notes.List of all": func(t store.Tx) error {
			_, err := t.Notes.List(store.NoteFilter{ProjectID: 1, AfterScope: coppice.NotesOfProject, After: "a/b", Most: 2})
			return err
		},
		"Images.Of":          func(t store.Tx) error { _, err := t.Images.Of(1); return err },
		"Features.Tasks":     func(t store.Tx) error { _, err := t.Features.Tasks(1); return err },
		"Sessions.Last":      func(t store.Tx) error { _, err := t.Sessions.Last(1); return err },
		"Timers.Due":         func(t store.Tx) error { _, err := t.Timers.Due(at(rowID(1)), 2); return err },
		"Notices.Due":        func(t store.Tx) error { _, err := t.Notices.Due(at(rowID(1)), 2); return err },
		"Notices.NextDue":    func(t store.Tx) error { _, err := t.Notices.NextDue(); return err },
		"Notices.KeptSince":  func(t store.Tx) error { _, err := t.Notices.KeptSince(); return err },
		"Notices.Trim":       func(t store.Tx) error { return t.Notices.Trim() },
		"Notifications.Open": func(t store.Tx) error { _, err := t.Notifications.Open(); return err },
		"Notifications.List": func(t store.Tx) error {
			_, err := t.Notifications.List(store.NotificationFilter{Notifier: "ntfy", Most: 4})
			return err
		},
		"Notifications.List of all": func(t store.Tx) error {
			_, err := t.Notifications.List(store.NotificationFilter{BeforeID: 9, Most: 4})
			return err
		},
		"Timers.Next":          func(t store.Tx) error { _, err := t.Timers.Next(); return err },
		"Work.Takeable":        func(t store.Tx) error { _, err := t.Work.Takeable([]string{"a", "b"}, kinds, 2); return err },
		"Work.Unsettled":       func(t store.Tx) error { _, err := t.Work.Unsettled(coppice.TaskSubject(1)); return err },
		"Work.HeldBy":          func(t store.Tx) error { _, err := t.Work.HeldBy("w"); return err },
		"Work.Renew":           func(t store.Tx) error { _, err := t.Work.Renew([]coppice.Lease{{}}, at(rowID(1))); return err },
		"Timers.Postpone":      func(t store.Tx) error { return t.Timers.Postpone("work", []string{"1"}, at(rowID(1))) },
		"Work.Count":           func(t store.Tx) error { _, err := t.Work.Count(); return err },
		"Work.ByKey":           func(t store.Tx) error { _, err := t.Work.ByKey("k"); return err },
		"Work.Trim":            func(t store.Tx) error { _, err := t.Work.Trim(at(rowID(1))); return err },
		"Log.Events":           func(t store.Tx) error { _, err := t.Log.Events(1, 2, store.EventFilter{}); return err },
		"Log.Events of a task": func(t store.Tx) error { _, err := t.Log.Events(1, 2, store.EventFilter{TaskID: 1}); return err },
		"Log.Events of kinds": func(t store.Tx) error {
			_, err := t.Log.Events(1, 2, store.EventFilter{Kinds: []coppice.EventKind{"a", "b"}})
			return err
		},
		"Workspaces.InCheckout":  func(t store.Tx) error { _, err := t.Workspaces.InCheckout(1, 2); return err },
		"Workspaces.OfBranch":    func(t store.Tx) error { _, err := t.Workspaces.OfBranch(1, "a/b"); return err },
		"Tasks.Dependants":       func(t store.Tx) error { _, err := t.Tasks.Dependants(1); return err },
		"Families.Children":      func(t store.Tx) error { _, err := t.Families.Children(1); return err },
		"Families.OpenChildren":  func(t store.Tx) error { _, err := t.Families.OpenChildren(1); return err },
		"Tasks.List of a parent": func(t store.Tx) error { _, err := t.Tasks.List(store.TaskFilter{Parent: 1, Most: 5}); return err },
		"Landings.Queued":        func(t store.Tx) error { _, err := t.Landings.Queued(1, 1); return err },
		"Landings.QueuedIDs":     func(t store.Tx) error { _, err := t.Landings.QueuedIDs(1, 9); return err },
		"Landings.FirstRed":      func(t store.Tx) error { _, _, err := t.Landings.FirstRed(1, "t"); return err },
		"Landings.Blocked":       func(t store.Tx) error { _, err := t.Landings.Blocked(1, 2); return err },
		"Queues.In":              func(t store.Tx) error { _, err := t.Queues.In(1); return err },
		"Landings.Candidates":    func(t store.Tx) error { _, err := t.Landings.Candidates(1); return err },
		"Landings.Last":          func(t store.Tx) error { _, err := t.Landings.Last(1); return err },
		"Workspaces.OfEach":      func(t store.Tx) error { _, err := t.Workspaces.OfEach(some); return err },
		"Workspaces.Of":          func(t store.Tx) error { _, err := t.Workspaces.Of(1); return err },
		"Questions.Open":         func(t store.Tx) error { _, err := t.Questions.Open(1); return err },
		"Comments.Of":            func(t store.Tx) error { _, err := t.Comments.Of(1); return err },
		"Viewed.Of":              func(t store.Tx) error { _, err := t.Viewed.Of(1); return err },
		"Messages.Of":            func(t store.Tx) error { _, err := t.Messages.Of(1); return err },
		"Trash.In":               func(t store.Tx) error { _, err := t.Trash.In(1); return err },
		"Outputs.After":          func(t store.Tx) error { _, err := t.Outputs.After(1, 2, 3, coppice.OutputEvent); return err },
		"Outputs.Before":         func(t store.Tx) error { _, err := t.Outputs.Before(1, 2, 3, coppice.OutputEvent); return err },
		"Projects.Busy":          func(t store.Tx) error { _, err := t.Projects.Busy(1); return err },
		"Lanes.Count":            func(t store.Tx) error { _, err := t.Lanes.Count(1); return err },
		"Tasks.Waits":            func(t store.Tx) error { _, err := t.Tasks.Waits(1); return err },
		"Tasks.Pending": func(t store.Tx) error {
			_, err := t.Tasks.Pending(store.TaskFilter{ProjectID: 1, Most: 5}, true)
			return err
		},
		"Tasks.Pending of all": func(t store.Tx) error { _, err := t.Tasks.Pending(store.TaskFilter{Most: 5}, false); return err },
		"Tasks.CountPending": func(t store.Tx) error {
			_, err := t.Tasks.CountPending(store.TaskFilter{ProjectID: 1}, false)
			return err
		},
		"Questions.OfEach": func(t store.Tx) error { _, err := t.Questions.OfEach(some); return err },
		"Groups.Some":      func(t store.Tx) error { _, err := t.Groups.Some(some); return err },
		"Groups.Spent":     func(t store.Tx) error { _, err := t.Groups.Spent(some); return err },
		"Groups.List": func(t store.Tx) error {
			_, err := t.Groups.List(store.GroupFilter{BeforeID: 7, Open: true, Most: 5})
			return err
		},
		"Locks.Held":     func(t store.Tx) error { _, err := t.Locks.Held(1); return err },
		"Locks.Requests": func(t store.Tx) error { _, err := t.Locks.Requests(1); return err },
		"Locks.Outcome":  func(t store.Tx) error { _, _, err := t.Locks.Outcome(1, "a/1"); return err },
		"Locks.Uses":     func(t store.Tx) error { _, err := t.Locks.Uses(1); return err },
		"Groups.Labels":  func(t store.Tx) error { _, err := t.Groups.Labels(5); return err },
		"Seen.Unread":    func(t store.Tx) error { _, err := t.Seen.Unread(coppice.Actor{}, some); return err },
		"Tasks.List of a group": func(t store.Tx) error {
			_, err := t.Tasks.List(store.TaskFilter{ProjectID: 1, Group: 3, Most: 5})
			return err
		},
		"Tasks.List of forks":   func(t store.Tx) error { _, err := t.Tasks.List(store.TaskFilter{ForkOf: "app-1", Most: 5}); return err },
		"Tasks.List of a label": func(t store.Tx) error { _, err := t.Tasks.List(store.TaskFilter{Label: "a", Most: 5}); return err },
		"Tasks.List of flagged": func(t store.Tx) error { _, err := t.Tasks.List(store.TaskFilter{Flagged: true, Most: 5}); return err },
		"Projects.Some":         func(t store.Tx) error { _, err := t.Projects.Some(some); return err },
		"Tasks.Some":            func(t store.Tx) error { _, err := t.Tasks.Some(some); return err },
		"Tasks.Keys":            func(t store.Tx) error { _, err := t.Tasks.Keys(some); return err },
		"Sessions.OfEach":       func(t store.Tx) error { _, err := t.Sessions.OfEach(some); return err },
		"Outputs.LastOfEach":    func(t store.Tx) error { _, err := t.Outputs.LastOfEach(some, 3, coppice.OutputEvent); return err },
		"Documents.Newest":      func(t store.Tx) error { _, err := t.Documents.Newest(1); return err },
		"Documents.Versions":    func(t store.Tx) error { _, err := t.Documents.Versions(1, "plan"); return err },
		"Documents.Get": func(t store.Tx) error {
			if _, err := t.Documents.Get(1, "plan", 2); coppice.ErrorCode(err) != coppice.ENotFound {
				return err
			}
			return nil
		},
		"Tasks.List of flows": func(t store.Tx) error {
			_, err := t.Tasks.List(store.TaskFilter{Flows: coppice.FlowKinds, Most: 5})
			return err
		},
		"Tasks.List of flows in a project": func(t store.Tx) error {
			_, err := t.Tasks.List(store.TaskFilter{ProjectID: 1, Flows: coppice.FlowKinds, BeforeID: 9, Most: 5})
			return err
		},
		"Tasks.List of a schedule": func(t store.Tx) error { _, err := t.Tasks.List(store.TaskFilter{Schedule: 1, Most: 5}); return err },
		"Families.Steps":           func(t store.Tx) error { _, err := t.Families.Steps(1); return err },
		"Schedules.In":             func(t store.Tx) error { _, err := t.Schedules.In(1); return err },
		"Pulls.Of":                 func(t store.Tx) error { _, err := t.Pulls.Of(1); return err },
		"Pulls.Followed":           func(t store.Tx) error { _, err := t.Pulls.Followed(1); return err },
		"Pulls.OfTasks":            func(t store.Tx) error { _, err := t.Pulls.OfTasks(some); return err },
		"Pulls.ByNumber":           func(t store.Tx) error { _, _ = t.Pulls.ByNumber(1, 2); return nil }, // there is none
		"Reactions.Of":             func(t store.Tx) error { _, err := t.Reactions.Of(1, 2); return err },
		"Trackers.In":              func(t store.Tx) error { _, err := t.Trackers.In(1); return err },
		"Issues.Of":                func(t store.Tx) error { _, err := t.Issues.Of(1); return err },
		"Issues.Named":             func(t store.Tx) error { _, err := t.Issues.Named(1, "2"); return err },
		"Issues.Due":               func(t store.Tx) error { _, err := t.Issues.Due(1, time.Unix(100, 0), 8); return err },
		"Issues.Next":              func(t store.Tx) error { _, err := t.Issues.Next(1); return err },
		"Issues.Count":             func(t store.Tx) error { _, err := t.Issues.Count(1); return err },
		"Issues.Waiting":           func(t store.Tx) error { _, err := t.Issues.Waiting(1); return err },
		"Issues.Known":             func(t store.Tx) error { _, err := t.Issues.Known(1, 9); return err },
		"Issues.Some":              func(t store.Tx) error { _, err := t.Issues.Some(1, []string{"1", "2"}); return err },
		"Issues.List":              func(t store.Tx) error { _, err := t.Issues.List(store.IssueFilter{ProjectID: 1, Most: 9}); return err },
		"Hooks.Offered":            func(t store.Tx) error { _, err := t.Hooks.Offered(1); return err },
		"Hooks.Next":               func(t store.Tx) error { _, err := t.Hooks.Next(1, 4); return err },
		"Hooks.Lane":               func(t store.Tx) error { _, err := t.Hooks.Lane("x"); return err },
		"Hooks.Before":             func(t store.Tx) error { _, err := t.Hooks.Before(1, "x"); return err },
		"Previews.Last":            func(t store.Tx) error { _, err := t.Previews.Last(1); return err },
		"Previews.Live":            func(t store.Tx) error { _, err := t.Previews.Live(); return err },
		"Landings.LastOfEach":      func(t store.Tx) error { _, err := t.Landings.LastOfEach(some); return err },
		"Questions.OpenOfEach":     func(t store.Tx) error { _, err := t.Questions.OpenOfEach(some); return err },
		"Messages.OfEach":          func(t store.Tx) error { _, err := t.Messages.OfEach(some); return err },
		"Tasks.List of ended": func(t store.Tx) error {
			_, err := t.Tasks.List(store.TaskFilter{ProjectID: 1, Stages: []coppice.Stage{coppice.StageEnded}, Outcomes: []coppice.Outcome{"failed"}, Archived: store.ArchivedNot, Most: 5})
			return err
		},
		"Tasks.List of ended, of all": func(t store.Tx) error {
			_, err := t.Tasks.List(store.TaskFilter{Stages: []coppice.Stage{coppice.StageEnded}, Outcomes: []coppice.Outcome{"failed"}, Archived: store.ArchivedNot, Most: 5})
			return err
		},
		"History.Due": func(t store.Tx) error {
			_, err := t.History.Due(store.Keep{Output: 1, Tasks: 1}, time.Unix(100, 0))
			return err
		},
		"Sessions to pack": func(t store.Tx) error {
			_, err := t.Outputs.(outputs).q.Unpacked(t.Outputs.(outputs).ctx)
			if errors.Is(err, sql.ErrNoRows) {
				return nil
			}
			return err
		},
		"Tasks.List": func(t store.Tx) error { _, err := t.Tasks.List(store.TaskFilter{ProjectID: 1, Most: 5}); return err },
	} {
		for _, query := range recorded(t, s, f) {
			if strings.Contains(query, "sqlite_sequence") || strings.Contains(query, "FROM ended_tasks") || strings.Contains(query, "FROM output_size") {
				continue // one row, or one for each project and outcome
			}
			for _, step := range plan(t, s, query) {
				scans := strings.HasPrefix(step, "SCAN") && !strings.Contains(step, "INDEX") && step != "SCAN CONSTANT ROW" && step != "SCAN l" // the labels that were found
				if scans || strings.Contains(step, "TEMP B-TREE") {
					t.Errorf("%s: %s\n%s", name, step, query)
				}
			}
		}
	}
}

// TestInboxPlans checks that the inbox reads an index that has only the tasks
// that it lists, however many others there are.
func TestInboxPlans(t *testing.T) {
	t.Parallel()
	s := openTest(t, Memory)
	for _, project := range []int64{0, 1} {
		failed := "tasks_unarchived"
		if project != 0 {
			failed = "tasks_ended" // with the project, the outcome, and whether it is archived
		}
		for index, f := range map[string]func(store.Tx) error{
			"tasks_for_person": func(t store.Tx) error {
				_, err := t.Tasks.Pending(store.TaskFilter{ProjectID: project, Most: 5}, true)
				return err
			},
			"tasks_by_end": func(t store.Tx) error {
				_, err := t.Tasks.List(store.TaskFilter{
					ProjectID: project, Stages: []coppice.Stage{coppice.StageEnded}, Outcomes: []coppice.Outcome{coppice.OutcomeDone}, Archived: store.ArchivedNot, ByEnd: true, Most: 5,
				})
				return err
			},
			"tasks_by_archive": func(t store.Tx) error {
				_, err := t.Tasks.List(store.TaskFilter{ProjectID: project, Stages: []coppice.Stage{coppice.StageEnded}, Archived: store.ArchivedOnly, ByArchive: true, Most: 5})
				return err
			},
			failed: func(t store.Tx) error {
				_, err := t.Tasks.List(store.TaskFilter{
					ProjectID: project, Stages: []coppice.Stage{coppice.StageEnded}, Outcomes: []coppice.Outcome{coppice.OutcomeFailed}, Archived: store.ArchivedNot, Most: 5,
				})
				return err
			},
		} {
			for _, query := range recorded(t, s, f) {
				if steps := strings.Join(plan(t, s, query), "\n"); !strings.Contains(steps, "INDEX "+index) {
					t.Errorf("project %d: not by %s:\n%s\n%s", project, index, steps, query)
				}
			}
		}
	}
}

// TestFlowPlans checks that lists of flows and of runs of a schedule, and the
// statistics of templates, read an index that has only such tasks.
func TestFlowPlans(t *testing.T) {
	t.Parallel()
	s := openTest(t, Memory)
	listed := func(f store.TaskFilter) func(store.Tx) error {
		return func(t store.Tx) error { _, err := t.Tasks.List(f); return err }
	}
	stats := func(project int64) func(store.Tx) error {
		return func(t store.Tx) error { _, err := t.Templates.Stats(project); return err }
	}
	for _, c := range []struct {
		name, want string
		f          func(store.Tx) error
	}{
		{"flows", "USING INDEX tasks_flows", listed(store.TaskFilter{Flows: coppice.FlowKinds, Most: 5})},
		{"the next page of flows", "USING INDEX tasks_flows (", listed(store.TaskFilter{Flows: coppice.FlowKinds, BeforeID: 9, Most: 5})},
		{"flows of a project", "USING INDEX tasks_flows_in (project_id=?)", listed(store.TaskFilter{ProjectID: 1, Flows: coppice.FlowKinds[:1], Most: 5})},
		{"tasks with a pull request", "USING INDEX tasks_pulls", listed(store.TaskFilter{Pull: store.PullAny, Most: 5})},
		{"tasks of a project with a pull request", "USING INDEX tasks_pulls_in (project_id=?)", listed(store.TaskFilter{ProjectID: 1, Pull: store.PullAny, Most: 5})},
		{"tasks with an open pull request", "USING INTEGER PRIMARY KEY", listed(store.TaskFilter{Pull: store.PullOpen, Most: 5})},
		{"runs of a schedule", "USING INDEX tasks_by_schedule (schedule=?)", listed(store.TaskFilter{Schedule: 1, Most: 5})},
		{"templates", "USING INDEX tasks_by_template", stats(0)},
		{"templates of a project", "USING INDEX tasks_by_template (project_id=?", stats(1)},
	} {
		for _, query := range recorded(t, s, c.f) {
			steps := strings.Join(plan(t, s, query), "\n")
			if !strings.Contains(steps, c.want) || strings.Contains(steps, "SCAN s") || strings.Contains(steps, "SCAN c") {
				t.Errorf("%s: not by %s:\n%s\n%s", c.name, c.want, steps, query)
			}
		}
	}
}

func plan(t *testing.T, s *Store, query string) []string {
	t.Helper()
	args := make([]any, 0, 8)
	st, err := s.writer.raw.PrepareContext(t.Context(), "EXPLAIN QUERY PLAN "+query)
	if err != nil {
		t.Fatalf("%v\n%s", err, query)
	}
	defer st.Close()
	rows, err := st.QueryContext(t.Context(), args...)
	for err != nil && len(args) < 40 { // add arguments until SQLite has enough
		args = append(args, 1)
		rows, err = st.QueryContext(t.Context(), args...)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, query)
	}
	defer rows.Close()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	return steps
}
