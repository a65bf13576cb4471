package http_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	apihttp "coppice/api/http"
	"coppice/store"
	"coppice/verb"
)

func TestRoutesAndSpecAreEqual(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, text := call(t, b, "GET", "/api/openapi.json", "")
	var spec struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	b.Must(json.Unmarshal([]byte(text), &spec))
	var inSpec, routes []string
	for path, ops := range spec.Paths {
		for method := range ops {
			inSpec = append(inSpec, strings.ToUpper(method)+" "+path)
		}
	}
	for _, p := range b.Server.Routes() {
		if strings.Contains(p, " /api/v1/") {
			routes = append(routes, p)
		}
	}
	slices.Sort(inSpec)
	slices.Sort(routes)
	if !slices.Equal(inSpec, routes) || len(routes) < 20 {
		t.Errorf("spec and routes differ\nspec:   %v\nroutes: %v", inSpec, routes)
	}
}

func TestProjects(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p, err := b.Client.AddProject(b.Ctx, "/src/app")
	b.Must(err)
	if p.Prefix != "app" || p.Policy.Limits.Sessions != 5 {
		t.Errorf("added %+v", p)
	}
	if _, err := b.Client.AddProject(b.Ctx, "/norepo"); coppice.ErrorCode(err) != coppice.EInvalid || !strings.Contains(err.Error(), "git init") {
		t.Errorf("a directory without a repository: %v", err)
	}
	p, err = b.Client.Pause(b.Ctx, "app", "", true)
	b.Must(err)
	if p.PausedAt.IsZero() {
		t.Error("not paused")
	}
	p, err = b.Client.Pause(b.Ctx, "app", "", false)
	b.Must(err)
	if !p.PausedAt.IsZero() {
		t.Error("not resumed")
	}
	list, err := b.Client.Projects(b.Ctx)
	b.Must(err)
	if len(list) != 1 || list[0].Path != "/src/app" {
		t.Errorf("listed %+v", list)
	}
	if _, err := b.Client.Project(b.Ctx, "nope"); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("an unknown project: %v", err)
	}
}

func TestTasksAreCreatedAllOrNone(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	made, err := b.Client.CreateTasks(b.Ctx, "app", []coppice.NewTask{{Ref: "a", Title: "first"}, {Title: "second", After: []string{"a"}, Priority: 3}})
	b.Must(err)
	if len(made) != 2 || !slices.Equal(made[1].After, []string{"app-1"}) || made[1].Priority != 3 {
		t.Errorf("made %+v", made)
	}
	_, err = b.Client.CreateTasks(b.Ctx, "app", []coppice.NewTask{{Title: "good"}, {Title: "bad", After: []string{"app-99"}}})
	if coppice.ErrorCode(err) == "" || coppice.ErrorCode(err) == coppice.EInternal {
		t.Errorf("an unknown dependency: %v", err)
	}
	page, err := b.Client.Tasks(b.Ctx, client.TaskQuery{})
	b.Must(err)
	if len(page.Tasks) != 2 {
		t.Errorf("a refused request left %d tasks", len(page.Tasks))
	}
}

func TestListFiltersByDerivedStatusAndPages(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	for i := range 25 {
		key := b.Task("app", coppice.NewTask{Title: "task"}).Key
		if i%2 == 0 {
			b.Change(key, func(t *coppice.Task) {
				t.Wait = &coppice.Wait{On: coppice.WaitPerson, Text: "log in first", Fix: "run login"}
			})
		}
	}
	var keys []string
	q := client.TaskQuery{Project: "app", Status: []string{"needs you"}, Limit: 4}
	for pages := 0; ; pages++ {
		page, err := b.Client.Tasks(b.Ctx, q)
		b.Must(err)
		for _, x := range page.Tasks {
			if x.Status != coppice.StatusNeedsYou || x.Reason != "log in first" || x.Fix != "run login" {
				t.Errorf("wrong task %+v", x)
			}
			keys = append(keys, x.Key)
		}
		if page.Next == 0 {
			if pages != 3 {
				t.Errorf("%d pages before the last", pages)
			}
			break
		}
		q.Before = page.Next
	}
	if len(keys) != 13 || keys[0] != "app-25" || keys[12] != "app-1" {
		t.Errorf("listed %v", keys)
	}
	if _, err := b.Client.Tasks(b.Ctx, client.TaskQuery{Status: []string{"sleepy"}}); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("an unknown status: %v", err)
	}
}

func TestTaskDetailHasEverything(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	task := b.Task("app", coppice.NewTask{Title: "first", Body: "all of it"})
	b.Task("app", coppice.NewTask{Title: "second", After: []string{"app-1"}})
	s := b.Session("app-1", coppice.SessionWaiting, func(s *coppice.Session) {
		s.Prompt, s.Usage = "secret plan", coppice.Usage{CostUSD: 0.5}
	})
	b.Change("app-1", func(t *coppice.Task) {
		t.Stage, t.Wait, t.Reverted = coppice.StageSession, nil, &coppice.Reverted{Commit: "abc", As: "0123456789abcdef"}
	})
	b.Update(func(tx store.Tx) error {
		return errors.Join(
			tx.Questions.Put(&coppice.Question{TaskID: task.ID, SessionID: s.ID, Ref: "q", Text: "which?", AskedAt: b.Clock.Now()}),
			tx.Workspaces.Put(&coppice.Workspace{ProjectID: task.ProjectID, TaskID: task.ID, Kind: "worktree", Branch: "coppice/app-1", CreatedAt: b.Clock.Now()}),
		)
	})
	_, err := b.Client.Send(b.Ctx, "app-1", "hello")
	b.Must(err)
	d, err := b.Client.Task(b.Ctx, "app-1")
	b.Must(err)
	if d.Status != coppice.StatusNeedsYou || d.Question == nil || d.Body != "all of it" || d.Usage.CostUSD != 0.5 || d.Session != "app-1.1" {
		t.Errorf("task %+v", d.Task)
	}
	if len(d.History) != 1 || d.History[0].Prompt != "" || len(d.Questions) != 1 || len(d.Messages) != 1 || d.Workspace == nil ||
		!slices.Equal(d.Dependants, []string{"app-2"}) {
		t.Errorf("detail %+v", d)
	}
	if d.RevertText != "reverted by 0123456789" {
		t.Errorf("its landing was taken off: %q", d.RevertText)
	}
	if m := d.Messages[0]; m.State != coppice.MessageWaiting || m.StateText != "not delivered yet" {
		t.Errorf("message %+v", m)
	}
	q, err := b.Client.Answer(b.Ctx, "app-1", 0, "the left one")
	b.Must(err)
	if q.Answer != "the left one" || q.Open {
		t.Errorf("answered %+v", q)
	}
	full, err := b.Client.Session(b.Ctx, "app-1.1")
	b.Must(err)
	if full.Prompt != "secret plan" {
		t.Errorf("session %+v", full)
	}
}

func TestActions(t *testing.T) {
	t.Parallel()
	b := setupApp(t, "first")
	title := "better"
	x, err := b.Client.ChangeTask(b.Ctx, "app-1", coppice.TaskChange{Title: &title})
	b.Must(err)
	if x.Title != "better" {
		t.Errorf("changed %+v", x)
	}
	if _, err := b.Client.Ask(b.Ctx, "app-1", coppice.VerbStop, verb.Request{}); err != nil {
		t.Error(err)
	}
	if _, err := b.Client.Ask(b.Ctx, "app-7", coppice.VerbStop, verb.Request{}); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("stopping nothing: %v", err)
	}
	if _, err := b.Client.Ask(b.Ctx, "app-1.1", coppice.VerbStop, verb.Request{}); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("stopping a session: %v", err)
	}
	y, err := b.Client.Ask(b.Ctx, "app-1", coppice.VerbRequeue, verb.Request{Text: "again", Staff: coppice.Staff{Model: "small"}})
	b.Must(err)
	if y.Model != "small" || y.Stage == coppice.StageEnded || !slices.Contains(y.Can, coppice.VerbStop) || slices.Contains(y.Can, coppice.VerbRetry) {
		t.Errorf("requeued %+v", y)
	}
	if _, err := b.Client.Ask(b.Ctx, "app-1", coppice.VerbRequeue, verb.Request{}); err != nil {
		t.Errorf("requeuing again: %v", err)
	}
	if _, err := b.Client.Ask(b.Ctx, "app-7", coppice.VerbRequeue, verb.Request{}); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("requeuing nothing: %v", err)
	}
	if _, err := b.Client.Ask(b.Ctx, "app-1", coppice.VerbRequeue, verb.Request{Staff: coppice.Staff{Agent: "a b"}}); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("requeuing with no agent: %v", err)
	}
	if _, err := b.Client.Undo(b.Ctx, "", ""); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("undoing without a task and a project: %v", err)
	}
	if _, err := b.Client.Undo(b.Ctx, "", "app"); coppice.ErrorCode(err) != coppice.ENotFound && coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("undoing nothing: %v", err)
	}
	diff, err := b.Client.Diff(b.Ctx, "app-1", false)
	b.Must(err)
	if !strings.Contains(diff, "+better\n") {
		t.Errorf("diff %q", diff)
	}
	path, err := b.Client.Backup(b.Ctx)
	b.Must(err)
	if path != "/state/backups/1.db" {
		t.Errorf("backup at %q", path)
	}
	v, err := b.Client.Version(b.Ctx)
	b.Must(err)
	if v.Version != "test" || v.API != "v1" {
		t.Errorf("version %+v", v)
	}
}

// TestStatusListsRecentFailures lists what failed within a day, the newest first.
func TestStatusListsRecentFailures(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	now := b.Clock.Now()
	for i, age := range []time.Duration{time.Hour, time.Minute, 25 * time.Hour, 2 * time.Minute, 0} {
		key := b.Task("app", coppice.NewTask{Title: "t"}).Key
		b.Change(key, func(t *coppice.Task) {
			t.Stage, t.Wait, t.Outcome, t.EndedAt = coppice.StageEnded, nil, coppice.OutcomeFailed, now.Add(-age)
			t.Failure = coppice.Failf(coppice.ClassTestOnly, "its checks failed", "fix it")
			if i == 3 {
				t.Archived = now
			}
			if i == 4 {
				t.Outcome = coppice.OutcomeDone
			}
		})
	}
	keys := func(failed []api.Task) (out string) {
		for _, t := range failed {
			out += t.Key + ": " + t.Reason + "; "
		}
		return out
	}
	st, err := b.Client.Status(b.Ctx, "")
	b.Must(err)
	if got := keys(st.Failed); got != "app-2: its checks failed; app-1: its checks failed; " {
		t.Errorf("failed: %s", got)
	}
	b.Clock.Move(23*time.Hour + time.Minute)
	st, err = b.Client.Status(b.Ctx, "app")
	b.Must(err)
	if got := keys(st.Failed); got != "app-2: its checks failed; " {
		t.Errorf("a day later: %s", got)
	}
}

func TestStatusSumsUp(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	b.Project("/src/lib")
	for range 3 {
		b.Task("app", coppice.NewTask{Title: "t"})
	}
	b.Task("lib", coppice.NewTask{Title: "t"})
	b.Change("app-1", func(t *coppice.Task) { t.Stage, t.Wait = coppice.StageHeld, nil })
	b.Change("app-2", func(t *coppice.Task) { t.Stage, t.Wait, t.Outcome = coppice.StageEnded, nil, coppice.OutcomeDone })
	b.Session("lib-1", coppice.SessionWorking, nil)
	b.Change("lib-1", func(t *coppice.Task) { t.Stage, t.Wait = coppice.StageSession, nil })
	st, err := b.Client.Status(b.Ctx, "")
	b.Must(err)
	want := map[coppice.Status]int{"needs you": 1, "working": 1, "waiting": 1, "done": 1}
	for s, n := range want {
		if st.Counts[s] != n {
			t.Errorf("%d %s, want %d", st.Counts[s], s, n)
		}
	}
	if len(st.NeedsYou) != 1 || len(st.Active) != 1 || len(st.Waiting) != 1 || len(st.Projects) != 2 || st.Projects[1].Running != 1 || st.Seq == 0 {
		t.Errorf("status %+v", st)
	}
	b.Session("lib-1", coppice.SessionWaiting, func(s *coppice.Session) { s.ParkedAt, s.ReadyAt = b.Clock.Now(), b.Clock.Now() })
	st, err = b.Client.Status(b.Ctx, "lib")
	b.Must(err)
	if len(st.Active) != 0 || len(st.Waiting) != 1 || st.Waiting[0].Reason != coppice.ReasonAnswered || st.Counts["waiting"] != 1 || st.Projects[0].Running != 1 || st.Projects[0].Parked != 1 {
		t.Errorf("status with a parked session %+v", st)
	}
	page, err := b.Client.Tasks(b.Ctx, client.TaskQuery{Project: "lib", Status: []string{"waiting"}, Limit: 9})
	b.Must(err)
	if len(page.Tasks) != 1 {
		t.Errorf("%d tasks of lib wait", len(page.Tasks))
	}
	if _, text := call(t, b, "GET", "/metrics", ""); !strings.Contains(text, "coppice_sessions_live 1\n") || !strings.Contains(text, "coppice_sessions_parked 1\n") {
		t.Errorf("metrics:\n%s", text)
	}
	st, err = b.Client.Status(b.Ctx, "app")
	b.Must(err)
	if len(st.Active) != 0 || len(st.Projects) != 1 {
		t.Errorf("status of app %+v", st)
	}
}

func TestMetricsAndHealth(t *testing.T) {
	t.Parallel()
	b := setupApp(t, "t")
	_, text := call(t, b, "GET", "/metrics", "")
	for _, want := range []string{"coppice_tasks{stage=\"waiting\"} 1\n", "coppice_work{state=\"offered\"} 0\n", "coppice_events_last_seq 2\n", "# TYPE coppice_http_requests_total counter\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("metrics lack %q:\n%s", want, text)
		}
	}
	_, again := call(t, b, "GET", "/metrics", "")
	if !strings.Contains(again, "coppice_http_requests_total{method=\"GET\",status=\"200\"} 1\n") {
		t.Errorf("requests are not counted:\n%s", again)
	}
	b.Must(b.Store.Close())
	resp, text := call(t, b, "GET", "/readyz", "")
	if resp.StatusCode != http.StatusServiceUnavailable || text != "not ready\n" {
		t.Errorf("ready without a store: %d %q", resp.StatusCode, text)
	}
	resp, text = call(t, b, "GET", "/healthz", "")
	if resp.StatusCode != http.StatusOK || text != "ok\n" {
		t.Errorf("health: %d %q", resp.StatusCode, text)
	}
}

func TestUnknownAddressesAndMethods(t *testing.T) {
	t.Parallel()
	b := setup(t)
	refuses(t, b, http.StatusNotFound, "GET", "/api/v1/nothing", "")
	resp, text := call(t, b, "DELETE", "/api/v1/tasks/app-1", "{}")
	if p := refused(t, resp, text, http.StatusMethodNotAllowed); resp.Header.Get("Allow") == "" || !strings.Contains(p.Fix, "PATCH") {
		t.Errorf("problem %+v", p)
	}
}

func TestPortInUse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := b.Config
	c.Listen = strings.TrimPrefix(b.Server.URL(), "http://")
	second, err := apihttp.New(c)
	b.Must(err)
	err = second.Start(b.Ctx)
	var e *coppice.Error
	if !errors.As(err, &e) || e.Code != coppice.EUnavailable || !strings.Contains(e.Cause, c.Listen) || !strings.Contains(e.Fix, "--listen") {
		t.Errorf("a port in use: %v", err)
	}
	second.Stop()
}
