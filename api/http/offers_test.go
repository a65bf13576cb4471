package http_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/http"
	"coppice/store"
)

// A schedule says what can be requested of it: a run unless one has not ended, also if
// the schedule is paused.
func TestScheduleSaysWhatItOffers(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	one := b.Task("app", coppice.NewTask{Title: "One run"})
	s := coppice.Schedule{ProjectID: one.ProjectID, Name: "nightly", PausedAt: b.Clock.Now()}
	s.Task.Title, s.Every = "Update", coppice.MinEvery
	b.Update(func(tx store.Tx) error { return tx.Schedules.Put(&s) })
	wants := func(open string, want ...string) {
		t.Helper()
		if d := read[api.ScheduleDetail](t, b, "/projects/app/schedules/nightly"); !slices.Equal(d.Can, want) || d.Open != open {
			t.Errorf("it offers %v, and the run %q is open; want %v and %q", d.Can, d.Open, want, open)
		}
	}
	wants("", "run", "resume", "remove")
	b.Change(one.Key, func(k *coppice.Task) { k.Schedule = s.ID })
	wants(one.Key, "resume", "remove")
	refuses(t, b, 409, "POST", "/api/v1/projects/app/schedules/nightly/run", "{}")
	b.Update(func(tx store.Tx) error {
		s.PausedAt = time.Time{}
		return tx.Schedules.Put(&s)
	})
	wants(one.Key, "pause", "remove")
}

// A project says what can be requested of it: nothing while it is being removed.
func TestProjectSaysWhatItOffers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*coppice.Project)
		want   []string
	}{
		{"usual", func(*coppice.Project) {}, []string{"reload", "pause", "rename", "remove"}},
		{"paused", func(p *coppice.Project) { p.PausedAt = p.CreatedAt.Add(1) }, []string{"reload", "resume", "rename", "remove"}},
		{"with a features file", func(p *coppice.Project) { p.Policy.Features = "features.json" }, []string{"reload", "pause", "rename", "remove", "add-feature"}},
		{"being removed", func(p *coppice.Project) { p.Removal = &coppice.Removal{At: p.CreatedAt} }, nil},
	} {
		b := setup(t)
		p := b.Project("/src/app")
		c.change(&p)
		b.Update(func(tx store.Tx) error { return tx.Projects.Put(&p) })
		if can := read[api.Project](t, b, "/projects/app").Can; !slices.Equal(can, c.want) {
			t.Errorf("%s: it offers %v, want %v", c.name, can, c.want)
		}
		if can := read[api.ProjectList](t, b, "/projects").Projects[0].Can; !slices.Equal(can, c.want) {
			t.Errorf("%s: in the list it offers %v, want %v", c.name, can, c.want)
		}
	}
}

// A project says what a new task has, and the fields that it cannot have: a request
// with such a field is refused, and one with any other field is not.
func TestProjectSaysWhatNewTasksHave(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.Project("/src/app")
	p.Policy.Budget.Task, p.Policy.Workspace.Branch = 5, "work/{key}"
	p.Policy.Agent.Model, p.Policy.Agent.Effort, p.Policy.Agent.Roles = "big", "high", map[coppice.Role]string{coppice.RoleAnswer: "reader"}
	p.Policy.Agent.Limits = map[coppice.Role]coppice.RunLimits{coppice.RoleAnswer: {Turns: 20}}
	b.Update(func(tx store.Tx) error { return tx.Projects.Put(&p) })
	d := read[api.Project](t, b, "/projects/app").Defaults
	if d.Budget != 5 || d.Retry != coppice.RetrySame || d.Branch != "work/{key}" || len(d.First) != 3 {
		t.Fatalf("the defaults are %+v", d)
	}
	if f := d.First[0]; f.Agent != p.Policy.Agent.Use || f.Model != "big" || f.Effort != "high" || f.Limits.Turns != coppice.MaxTurns {
		t.Errorf("the first session of a change: %+v", f)
	}
	if f := d.First[1]; f.Agent != "reader" || f.Model+f.Effort != "" || f.Limits.Turns != 20 {
		t.Errorf("the first session of an answer: %+v", f)
	}
	fields := map[string]string{
		"checks": `["true"]`, "steps": `["It works"]`, "feature": `"1"`, "branch": `"own"`, "interactive": `true`, "after": `["app-1"]`, "not_before": `"2030-01-01T00:00:00Z"`,
	}
	b.Task("app", coppice.NewTask{Title: "First"})
	for _, f := range d.First {
		for field, value := range fields {
			result := map[string]string{"change": "", "answer": `,"answer":true`, "checkout": `,"workspace":"none"`}[f.Result]
			_, text := call(t, b, "POST", "/api/v1/projects/app/tasks", `{"tasks":[{"title":"x"`+result+`,"`+field+`":`+value+`}]}`)
			if refused, want := strings.Contains(text, `"field":"`), slices.Contains(f.Without, field); refused != want {
				t.Errorf("%s with %s: refused %t, want %t: %s", f.Result, field, refused, want, text)
			}
		}
	}
}

// A task names the sessions that people look for: the one that sums up the work, those
// that judge it, and those that only waited. It says in words what limits its sessions.
func TestTaskNamesItsSessions(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	key := b.Task("app", coppice.NewTask{Title: "x", Time: coppice.Duration(time.Minute)}).Key
	for _, s := range []coppice.Session{
		{Role: coppice.RoleImplement, StopWhy: coppice.StopParked}, {Role: coppice.RoleFix, Summary: "Fixed."}, {Role: coppice.RoleVerify, Summary: "Judged.", Verdict: &coppice.Verdict{}},
		{Role: coppice.RoleVerify}, {Role: coppice.RoleAnalyze, Summary: "It failed."}, {Role: coppice.RoleFix},
	} {
		b.Session(key, coppice.SessionDone, func(made *coppice.Session) {
			made.Role, made.StopWhy, made.Summary, made.Verdict = s.Role, s.StopWhy, s.Summary, s.Verdict
		})
	}
	d := read[api.TaskDetail](t, b, "/tasks/"+key)
	if d.SummaryBy != "app-1.2" || !slices.Equal(d.Verifiers, []string{"app-1.3", "app-1.4"}) || d.VerdictBy != "app-1.3" || !slices.Equal(d.Rested, []string{"app-1.1"}) {
		t.Errorf("summed up by %s, judged by %v and last by %s, rested %v", d.SummaryBy, d.Verifiers, d.VerdictBy, d.Rested)
	}
	if d.PassedBy != nil || d.Live != nil {
		t.Errorf("passed by %v, live %v", d.PassedBy, d.Live)
	}
	b.Session(key, coppice.SessionWorking, func(s *coppice.Session) { s.Role = coppice.RoleFix })
	b.Session(key, coppice.SessionDone, func(s *coppice.Session) {
		s.Role, s.Verdict = coppice.RoleVerify, &coppice.Verdict{Steps: []coppice.StepVerdict{{N: 1, Pass: true}}}
	})
	if d := read[api.TaskDetail](t, b, "/tasks/"+key); !slices.Equal(d.PassedBy, []string{"app-1.8"}) || !slices.Equal(d.Live, []string{"app-1.7"}) {
		t.Errorf("passed by %v, live %v", d.PassedBy, d.Live)
	}
	if d.LimitsText != "1m per session" {
		t.Errorf("its limits are %q", d.LimitsText)
	}
	b.Change(key, func(t *coppice.Task) { t.Time, t.UntilDone = 0, true })
	if d := read[api.TaskDetail](t, b, "/tasks/"+key); d.LimitsText != "until done" {
		t.Errorf("its limits are %q", d.LimitsText)
	}
}

// The line of a task is what matters most: its question, then its pull request, then the
// reason of its status, then what its agent reports.
func TestLineOfATask(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	key := b.Task("app", coppice.NewTask{Title: "x"}).Key
	wants := func(want string) {
		t.Helper()
		if v := read[api.TaskDetail](t, b, "/tasks/"+key); v.Line != want {
			t.Errorf("its line is %q, want %q; it is %s: %s", v.Line, want, v.Status, v.Reason)
		}
	}
	x := b.Session(key, coppice.SessionWorking, func(s *coppice.Session) { s.Report = "writes tests" })
	k := b.Change(key, func(k *coppice.Task) { k.Stage, k.Wait, k.Pull = coppice.StageSession, nil, true })
	wants("writes tests")
	b.Change(key, func(k *coppice.Task) { k.Warning = "long-running" })
	wants("long-running")
	p := coppice.Pull{ProjectID: k.ProjectID, TaskID: k.ID, Number: 3, PullDetails: coppice.PullDetails{Base: "main", MergeHead: "a", Blocked: "no review\nat all", Report: coppice.PullRead{Conflicts: true}}}
	b.Update(func(tx store.Tx) error { return tx.Pulls.Put(&p) })
	wants("merging; conflicts with main; no review")
	b.Update(func(tx store.Tx) error {
		return tx.Questions.Put(&coppice.Question{TaskID: k.ID, SessionID: x.ID, Text: "Which one?", AskedAt: b.Clock.Now()})
	})
	wants("Which one?")
	p.Report.State = coppice.PullMerged
	if line := p.Mark().Line(); line != "" {
		t.Errorf("a request that was merged: %q", line)
	}
}

// list is a features file that does not change.
type list []api.Feature

func (l list) List(context.Context, coppice.Project) (api.FeatureList, error) {
	return api.FeatureList{File: "features.json", Features: append([]api.Feature{}, l...)}, nil
}

func (list) Change(context.Context, coppice.Project, string, api.FeatureChange, string) (string, error) {
	return "", nil
}

// A feature that failed says that it can be opened again, unless its task can be
// retried.
func TestFeatureSaysWhetherItCanBeReopened(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *http.Config) {
		c.Features = list{{ID: "1", Status: api.FeatureFailed}, {ID: "2", Status: api.FeatureFailed}, {ID: "3", Status: "open"}}
	})
	b.Project("/src/app")
	b.Task("app", coppice.NewTask{Title: "Two", Feature: "2"})
	for _, f := range read[api.FeatureList](t, b, "/projects/app/features").Features {
		if want := f.ID == "1"; f.CanReopen != want {
			t.Errorf("feature %s: %t, want %t", f.ID, f.CanReopen, want)
		}
	}
}
