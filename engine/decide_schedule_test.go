package engine

import (
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// The decider starts a run that is due, never beside another one, and plans the next
// one after the end.
func TestScheduleDecider(t *testing.T) {
	t.Parallel()
	open := coppice.Task{ID: 7, Key: "app-7", Stage: coppice.StageQueued}
	ended := func(o coppice.Outcome) *coppice.Task {
		return &coppice.Task{ID: 7, Key: "app-7", Stage: coppice.StageEnded, Outcome: o, Failure: &coppice.Failure{Text: "no tests"}}
	}
	hour := coppice.Duration(time.Hour)
	for _, tt := range []struct {
		name   string
		change func(*ScheduleView)
		want   coppice.EventKind // empty for no decision
		next   time.Time
		why    string
	}{
		{"not due", func(v *ScheduleView) { v.Schedule.NextAt = noon.Add(time.Second) }, "", time.Time{}, ""},
		{"due", func(v *ScheduleView) {}, coppice.EventScheduleRun, time.Time{}, ""},
		{"due, after missed times", func(v *ScheduleView) { v.Schedule.NextAt = noon.Add(-72 * time.Hour) }, coppice.EventScheduleRun, time.Time{}, ""},
		{"due, and a run is open", func(v *ScheduleView) { v.Open = &open }, coppice.EventScheduleChanged, time.Time{}, ""},
		{"waits for a run", func(v *ScheduleView) { v.Open, v.Schedule.NextAt = &open, time.Time{} }, "", time.Time{}, ""},
		{"the run is done", func(v *ScheduleView) { v.Last, v.Schedule.NextAt = ended(coppice.OutcomeDone), time.Time{} }, coppice.EventScheduleChanged, noon.Add(time.Hour), ""},
		{"the run was stopped", func(v *ScheduleView) { v.Last, v.Schedule.NextAt = ended(coppice.OutcomeCancelled), time.Time{} }, coppice.EventScheduleChanged, noon.Add(time.Hour), ""},
		{"the run was removed", func(v *ScheduleView) { v.Schedule.NextAt = time.Time{} }, coppice.EventScheduleChanged, noon.Add(time.Hour), ""},
		{"the run failed", func(v *ScheduleView) { v.Last, v.Schedule.NextAt = ended(coppice.OutcomeFailed), time.Time{} }, coppice.EventScheduleChanged, time.Time{}, "app-7 failed: no tests"},
		{"the run failed, always", func(v *ScheduleView) {
			v.Last, v.Schedule.NextAt, v.Schedule.Always = ended(coppice.OutcomeFailed), time.Time{}, true
		}, coppice.EventScheduleChanged, noon.Add(time.Hour), ""},
		{"cron after a run", func(v *ScheduleView) {
			v.Schedule.NextAt, v.Schedule.Every, v.Schedule.Cron = time.Time{}, 0, "30 * * * *"
		}, coppice.EventScheduleChanged, noon.Add(30 * time.Minute), ""},
		{"cron in a zone", func(v *ScheduleView) {
			v.Schedule.NextAt, v.Schedule.Every, v.Schedule.Cron, v.Zone = time.Time{}, 0, "0 15 * * *", time.FixedZone("east", 2*3600)
		}, coppice.EventScheduleChanged, noon.Add(time.Hour), ""},
		{"cron without a next time", func(v *ScheduleView) {
			v.Schedule.NextAt, v.Schedule.Every, v.Schedule.Cron = time.Time{}, 0, "0 0 30 2 *"
		}, coppice.EventScheduleChanged, time.Time{}, `the cron line "0 0 30 2 *" has no next time`},
		{"paused", func(v *ScheduleView) { v.Schedule.NextAt, v.Schedule.PausedAt = time.Time{}, noon }, "", time.Time{}, ""},
		{"paused, and a person runs it", func(v *ScheduleView) { v.Schedule.PausedAt = noon }, coppice.EventScheduleRun, time.Time{}, ""},
		{"the project is being removed", func(v *ScheduleView) { v.Project.Removal = &coppice.Removal{} }, "", time.Time{}, ""},
		{"the run cannot be created", func(v *ScheduleView) {
			v.Draft = func() (coppice.Task, error) { return coppice.Task{}, coppice.Errorf(coppice.EInvalid, "no such agent") }
		}, coppice.EventScheduleChanged, noon.Add(time.Hour), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := &ScheduleView{
				Common:   Common{Now: noon},
				Schedule: coppice.Schedule{Name: "deps", NextAt: noon, ScheduleDetails: coppice.ScheduleDetails{Every: hour}},
				Draft:    func() (coppice.Task, error) { return coppice.Task{Title: "update"}, nil },
			}
			tt.change(v)
			d := v.decide()
			if d == nil || tt.want == "" {
				if (d == nil) != (tt.want == "") {
					t.Fatalf("decision %+v, want %q", d, tt.want)
				}
				return
			}
			d.More[0].(row).show()
			if d.Kind != tt.want || (len(d.Create) == 1) != (tt.want == coppice.EventScheduleRun) || !v.Schedule.NextAt.Equal(tt.next) || v.Schedule.Why != tt.why {
				t.Errorf("%s, %d tasks, next %s, why %q; want %s, next %s, why %q", d.Kind, len(d.Create), v.Schedule.NextAt, v.Schedule.Why, tt.want, tt.next, tt.why)
			}
			if broken := strings.Contains(tt.name, "cannot"); broken != (v.Schedule.Problem == "no such agent") {
				t.Errorf("problem %q", v.Schedule.Problem)
			}
		})
	}
}

func (b *bundle) schedule(name string) coppice.Schedule {
	b.t.Helper()
	return read(b, func(r store.Reader) (coppice.Schedule, error) { return FindSchedule(r, "app", name) })
}

// A schedule runs, waits for its run, survives missed times, and pauses after a
// failure.
func TestScheduleRuns(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	s, err := b.AddSchedule(t.Context(), "app", coppice.NewSchedule{Name: "deps", Every: coppice.Duration(time.Hour), Task: coppice.NewTask{Title: "update", Labels: []string{"deps"}}})
	b.must(err)
	if !s.NextAt.Equal(noon.Add(time.Hour)) {
		t.Errorf("the first run is at %s", s.NextAt)
	}
	if due := b.turn().Due; !due.Equal(s.NextAt) {
		t.Errorf("the next turn is due at %s", due)
	}
	b.clock = noon.Add(5 * time.Hour) // as if the server had been stopped
	b.turn()
	run := b.task("app-1")
	if run.Schedule != s.ID || run.Title != "update" || run.CreatedBy == "" {
		t.Errorf("the run is %+v", run)
	}
	if now := b.schedule("deps"); now.LastKey != "app-1" || now.LastTask != run.ID || now.Runs != 1 || !now.NextAt.IsZero() {
		t.Errorf("the schedule is %+v", now)
	}
	if _, err := b.RunSchedule(t.Context(), "app", "deps"); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("a second run: %v", err)
	}
	b.clock = b.clock.Add(10 * time.Hour)
	b.turn()
	if p := b.projectNow(); p.LastTask != 1 {
		t.Fatalf("%d tasks while a run is open", p.LastTask)
	}
	end := func(key string, o coppice.Outcome) {
		b.update(func(tx store.Tx) error {
			task, err := tx.Tasks.ByKey(key)
			if err != nil {
				return err
			}
			task.Stage, task.Outcome, task.EndedAt, task.Wait, task.Next = coppice.StageEnded, o, b.clock, nil, nil
			if err := tx.Tasks.Put(&task); err != nil {
				return err
			}
			return tx.Log.Append(&coppice.Event{At: b.clock, Kind: coppice.EventScheduleChanged, ProjectID: task.ProjectID, About: coppice.ScheduleSubject(s.ID), By: "test"})
		})
		b.turn()
	}
	end("app-1", coppice.OutcomeDone)
	if now := b.schedule("deps"); !now.NextAt.Equal(b.clock.Add(time.Hour)) {
		t.Errorf("after the run, the next one is at %s", now.NextAt)
	}
	b.clock = b.clock.Add(time.Hour)
	b.turn()
	end("app-2", coppice.OutcomeFailed)
	if now := b.schedule("deps"); !now.Paused() || now.Why != "app-2 failed" {
		t.Errorf("after a failure: %+v", now)
	}
	entries := read(b, func(r store.Reader) ([]coppice.InboxEntry, error) {
		f, err := LoadInbox(r, b.clock, 0)
		return Inbox(f), err
	})
	if len(entries) == 0 || entries[0].ID != "schedule/app/deps" || entries[0].Actions[0].Route != "/projects/app/schedules/deps/resume" {
		t.Errorf("the inbox has %+v", entries)
	}
	s, err = b.PauseSchedule(t.Context(), "app", "deps", false)
	b.must(err)
	if s.Paused() || !s.NextAt.Equal(b.clock.Add(time.Hour)) {
		t.Errorf("resumed: %+v", s)
	}
	_, err = b.RemoveSchedule(t.Context(), "app", "deps")
	b.must(err)
	b.clock = b.clock.Add(24 * time.Hour)
	b.turn()
	if p := b.projectNow(); p.LastTask != 2 {
		t.Errorf("%d tasks after the schedule was removed", p.LastTask)
	}
}

// The end of a run wakes its schedule in the same turn.
func TestRunWakesSchedule(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	_, err := b.AddSchedule(t.Context(), "app", coppice.NewSchedule{Name: "deps", Cron: "0 * * * *", Task: coppice.NewTask{Title: "update"}})
	b.must(err)
	_, err = b.RunSchedule(t.Context(), "app", "deps")
	b.must(err)
	b.turn()
	b.ask("app-1", coppice.VerbStop, "")
	b.turn()
	if now := b.schedule("deps"); b.task("app-1").Outcome != coppice.OutcomeCancelled || !now.NextAt.Equal(noon.Add(time.Hour)) {
		t.Errorf("the run is %s, the next one at %s", b.task("app-1").Stage, now.NextAt)
	}
}

func TestScheduleRefusals(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	good := coppice.NewSchedule{Name: "deps", Every: coppice.Duration(time.Hour), Task: coppice.NewTask{Title: "update"}}
	_, err := b.AddSchedule(t.Context(), "app", good)
	b.must(err)
	for _, tt := range []struct {
		name   string
		change func(*coppice.NewSchedule)
		code   coppice.Code
		field  string
	}{
		{"its name is used", func(*coppice.NewSchedule) {}, coppice.EConflict, "name"},
		{"its name is not valid", func(n *coppice.NewSchedule) { n.Name = "a b" }, coppice.EInvalid, "name"},
		{"no time", func(n *coppice.NewSchedule) { n.Every = 0 }, coppice.EInvalid, "every"},
		{"two times", func(n *coppice.NewSchedule) { n.Cron = "@daily" }, coppice.EInvalid, "every"},
		{"too often", func(n *coppice.NewSchedule) { n.Every = coppice.Duration(time.Second) }, coppice.EInvalid, "every"},
		{"a broken cron line", func(n *coppice.NewSchedule) { n.Every, n.Cron = 0, "7 * *" }, coppice.EInvalid, "cron"},
		{"a cron line with only a zone", func(n *coppice.NewSchedule) { n.Every, n.Cron = 0, "CRON_TZ=UTC" }, coppice.EInvalid, "cron"},
		{"a cron line with an interval", func(n *coppice.NewSchedule) { n.Every, n.Cron = 0, "@every 1s" }, coppice.EInvalid, "cron"},
		{"a cron line that never comes", func(n *coppice.NewSchedule) { n.Every, n.Cron = 0, "0 0 30 2 *" }, coppice.EInvalid, "cron"},
		{"a task without a title", func(n *coppice.NewSchedule) { n.Task.Title = "" }, coppice.EInvalid, "task.title"},
		{"a task with a branch", func(n *coppice.NewSchedule) { n.Task.Branch = "x" }, coppice.EInvalid, "task.branch"},
		{"a task in an unknown track", func(n *coppice.NewSchedule) { n.Task.Track = "none" }, coppice.EInvalid, "task.track"},
		{"an unknown kind of flow", func(n *coppice.NewSchedule) { n.Task.Flow = &coppice.NewFlow{Kind: "none"} }, coppice.EInvalid, "task.flow.kind"},
		{"variables without a template", func(n *coppice.NewSchedule) { n.Task.Variables = map[string]string{"a": "b"} }, coppice.EInvalid, "task.variables"},
	} {
		n := good
		if n.Name = "other"; tt.code == coppice.EConflict {
			n.Name = "deps"
		}
		tt.change(&n)
		_, err := b.AddSchedule(t.Context(), "app", n)
		if e := coppice.Public(err); coppice.ErrorCode(err) != tt.code || e.Field != tt.field || e.Fix == "" && tt.field != "task.title" {
			t.Errorf("%s: %v (field %q), want code %s of %s with a fix", tt.name, err, e.Field, tt.code, tt.field)
		}
	}
	if all := read(b, func(r store.Reader) ([]coppice.Schedule, error) { return r.Schedules.In(0) }); len(all) != 1 {
		t.Errorf("%d schedules, want 1", len(all))
	}
}
