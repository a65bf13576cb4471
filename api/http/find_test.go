package http_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/apitest"
	"coppice/api/client"
	apihttp "coppice/api/http"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
	"coppice/verb"
)

// searched is a server whose store has a search index.
type searched struct {
	*apitest.Bundle
	index *sqlite.Index
}

func setupSearch(t *testing.T) searched {
	t.Helper()
	s := sqlitetest.Open(t, sqlite.Config{})
	x, err := sqlite.OpenIndex(t.Context(), sqlite.IndexConfig{Path: sqlite.Memory, Store: s, Gather: -1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- x.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		_ = x.Close()
	})
	return searched{apitest.Start(t, s, func(c *apihttp.Config) { c.Search = x }), x}
}

// search searches after the index has read everything.
func (b searched) search(q client.SearchQuery) api.SearchPage {
	b.T.Helper()
	b.Must(b.index.Wait(b.Ctx))
	page, err := b.Client.Search(b.Ctx, q)
	b.Must(err)
	return page
}

func TestSearch(t *testing.T) {
	t.Parallel()
	b := setupSearch(t)
	b.Project("/src/app")
	b.Project("/src/web")
	b.Task("app", coppice.NewTask{Title: "Feed the 🦭 walrus", Body: "It is <b>hungry</b>."})
	b.Task("web", coppice.NewTask{Title: "Draw a walrus"})
	x := b.Session("app-1", coppice.SessionWorking, nil)
	b.Write(x.ID, coppice.OutputEvent, `{"kind":"text","text":"first"}`, `{"kind":"tool_result","text":"the 🦭 walrus <script>alert(1)</script>\nis fed"}`)
	page := b.search(client.SearchQuery{Text: "walrus", Project: "app"})
	if len(page.Hits) != 2 || page.More {
		t.Fatalf("found %+v", page)
	}
	task, out := page.Hits[0], page.Hits[1]
	if task.Kind != api.HitTask || task.Task != "app-1" || task.Session != "" || task.Offset != nil || task.At.IsZero() {
		t.Errorf("hit %+v", task)
	}
	if out.Kind != api.HitOutput || out.Session != "app-1.1" || out.Offset == nil || *out.Offset == 0 || out.Title != "Feed the 🦭 walrus" ||
		!strings.Contains(out.Snippet, "<script>alert(1)</script> is fed") {
		t.Errorf("hit %+v", out)
	}
	// JavaScript counts the seal as two.
	if before := strings.Index(out.Snippet, "walrus"); len(out.Marks) != 1 || out.Marks[0][0] != before-2 || out.Marks[0][1] != 6 {
		t.Errorf("marks %v in %q", out.Marks, out.Snippet)
	}
	if out.Source != coppice.OutputEvent || out.Check != 0 || task.Source != "" {
		t.Errorf("sources of %+v and %+v", task, out)
	}
	b.Write(x.ID, coppice.OutputApp, "\x1b[1mGET /walrus\x1b[0m")
	b.Write(x.ID, coppice.OutputHost, `{"kind":"notice","text":"the host saw a walrus"}`)
	b.Write(x.ID, coppice.OutputImage, "\x89PNG walrus")
	c := coppice.Check{ProjectID: x.ProjectID, TaskID: x.TaskID, LandingID: 1, Command: "make test", Exit: 1, Log: "no walrus", EndedAt: b.Clock.Now()}
	b.Update(func(tx store.Tx) error {
		if err := tx.Checks.Put(&c); err != nil {
			return err
		}
		return tx.Log.Append(&coppice.Event{At: c.EndedAt, Kind: coppice.EventCheckEnded, TaskID: x.TaskID, Subject: "app-1", By: "engine"})
	})
	page = b.search(client.SearchQuery{Text: "walrus", Kinds: []string{"output", "check"}})
	var found []string
	for _, h := range page.Hits {
		found = append(found, fmt.Sprintf("%s %s %s%s: %s", h.Kind, h.Session, h.Source, h.Command, h.Snippet))
	}
	if want := []string{
		"output app-1.1 host: the host saw a walrus", "output app-1.1 app: GET /walrus", "output app-1.1 event: the 🦭 walrus <script>alert(1)</script> is fed", "check  make test: make test no walrus",
	}; !slices.Equal(found, want) || page.Hits[3].Check != c.ID || page.Hits[3].Task != "app-1" {
		t.Errorf("all output: %q in %+v", found, page.Hits[len(page.Hits)-1])
	}
	if page := b.search(client.SearchQuery{Text: "walrus", Kinds: []string{"task"}, Most: 1}); len(page.Hits) != 1 || !page.More || page.Hits[0].Task != "web-1" {
		t.Errorf("one task: %+v", page)
	}
	for query, status := range map[string]int{
		"q=%22%22": 422, "q=-walrus": 422, "q=": 422, "": 422, "q=x&kinds=nope": 422, "q=x&project=no!": 422, "q=x&project=none": 404, "q=x&most=0": 422, "q=" + strings.Repeat("x", 401): 422,
	} {
		refuses(t, b.Bundle, status, "GET", "/api/v1/search?"+query, "")
	}
	for _, q := range []string{`"`, `*`, `a AND OR NOT`, `NEAR(a b)`, `words:x`, "a\x00b", `^"a`, `{`, `-`} {
		if _, err := b.Client.Search(b.Ctx, client.SearchQuery{Text: q}); err != nil && coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%q: %v", q, err)
		}
	}
	plain := setup(t)
	refuses(t, plain, http.StatusServiceUnavailable, "GET", "/api/v1/search?q=x", "")
}

func TestUsage(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	b.Project("/src/web")
	for i := range 3 {
		key := b.Task("app", coppice.NewTask{Title: "task"}).Key
		b.Session(key, coppice.SessionDone, func(s *coppice.Session) {
			s.CreatedAt = b.Clock.Now().Add(-time.Duration(i) * 24 * time.Hour) // noon in UTC
			s.Model, s.Usage = "big", coppice.Usage{InputTokens: 10, CostUSD: 0.5, Turns: 1}
		})
	}
	u, err := b.Client.Usage(b.Ctx, client.UsageQuery{})
	b.Must(err)
	if len(u.Rows) != 3 || u.Rows[0].Day != "2026-03-04" || u.Rows[0].Project != "app" || u.Rows[0].Model != "big" || u.Total.CostUSD != 1.5 || u.Count != 3 ||
		u.To != "2026-03-04" || u.From != "2026-02-03" || len(u.Budgets) != 2 {
		t.Errorf("usage %+v", u)
	}
	u, err = b.Client.Usage(b.Ctx, client.UsageQuery{From: "2026-03-02", To: "2026-03-03", ByTask: true, Project: "app"})
	b.Must(err)
	if len(u.Rows) != 2 || u.Rows[0].Task != "app-2" || u.Rows[1].Day != "2026-03-02" || len(u.Budgets) != 1 {
		t.Errorf("by task %+v", u)
	}
	u, err = b.Client.Usage(b.Ctx, client.UsageQuery{Most: 1})
	b.Must(err)
	if len(u.Rows) != 1 || !u.More || u.Total.CostUSD != 1.5 {
		t.Errorf("one row %+v", u)
	}
	if got := u.Budgets[0]; got != (api.Budget{Project: "app", TaskUSD: 0, DayUSD: 0, Today: 0.5}) {
		t.Errorf("today %+v", got)
	}
	b.Update(func(tx store.Tx) error {
		p, err := tx.Projects.ByPrefix("app")
		p.Policy.Budget = coppice.BudgetPolicy{Task: 5, Day: 20}
		if err != nil {
			return err
		}
		return tx.Projects.Put(&p)
	})
	_, text := call(t, b, "GET", "/api/v1/usage", "")
	if !strings.Contains(text, `"budgets":[{"project":"app","task_usd":5,"day_usd":20,"today_usd":0.5}`) {
		t.Errorf("budgets: %s", text)
	}
	own := b.Task("app", coppice.NewTask{Title: "with its own budget", Budget: 0.5}).Key
	b.Session(own, coppice.SessionDone, func(s *coppice.Session) { s.Usage.CostUSD = 0.5 })
	u, err = b.Client.Usage(b.Ctx, client.UsageQuery{ByTask: true, Project: "app"})
	b.Must(err)
	for _, row := range u.Rows {
		want := api.UsageRow{BudgetUSD: 5}
		if row.Task == own {
			want = api.UsageRow{BudgetUSD: 0.5, Over: true}
		}
		if row.BudgetUSD != want.BudgetUSD || row.Over != want.Over {
			t.Errorf("the budget of %s: %v, over %t", row.Task, row.BudgetUSD, row.Over)
		}
	}
	_, text = call(t, b, "GET", "/api/v1/usage?tz=-780", "") // it is still yesterday there
	if !strings.Contains(text, `"to":"2026-03-03"`) || !strings.Contains(text, `"day":"2026-03-03"`) {
		t.Errorf("in another zone: %s", text)
	}
	for _, query := range []string{"from=yesterday", "to=2026-13-01", "from=2026-03-05&to=2026-03-04", "from=1900-01-01", "tz=x", "tz=9999", "group=day", "most=0", "from=2000-01-01&to=2026-01-01"} {
		refuses(t, b, http.StatusUnprocessableEntity, "GET", "/api/v1/usage?"+query, "")
	}
}

func TestArchive(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	for range 3 {
		b.Task("app", coppice.NewTask{Title: "task"})
	}
	for _, key := range []string{"app-1", "app-2"} {
		b.Change(key, func(t *coppice.Task) { t.Stage, t.Wait, t.Outcome = coppice.StageEnded, nil, coppice.OutcomeDone })
	}
	if _, err := b.Client.Archive(b.Ctx, "app-3", true); coppice.ErrorCode(err) != coppice.EConflict || !strings.Contains(err.Error(), "coppice stop app-3") {
		t.Errorf("one that has not ended: %v", err)
	}
	for range 2 { // the second time does nothing more
		if x, err := b.Client.Archive(b.Ctx, "app-1", true); err != nil || x.Archived.IsZero() {
			t.Errorf("archive: %+v, %v; want a time of archiving", x, err)
		}
	}
	list := func(archived string) (keys []string) {
		page, err := b.Client.Tasks(b.Ctx, client.TaskQuery{Archived: archived})
		b.Must(err)
		for _, x := range page.Tasks {
			keys = append(keys, x.Key)
		}
		return keys
	}
	for archived, want := range map[string][]string{"": {"app-3", "app-2"}, "true": {"app-3", "app-2", "app-1"}, "only": {"app-1"}} {
		if got := list(archived); !slices.Equal(got, want) {
			t.Errorf("archived=%s: %v", archived, got)
		}
	}
	st, err := b.Client.Status(b.Ctx, "")
	b.Must(err)
	if st.Counts[coppice.StatusDone] != 1 {
		t.Errorf("counts %v", st.Counts)
	}
	if x, err := b.Client.Archive(b.Ctx, "app-1", false); err != nil || !x.Archived.IsZero() {
		t.Errorf("unarchive: %+v, %v; want no time of archiving", x, err)
	}
	page, err := b.Client.Events(b.Ctx, client.EventQuery{Task: "app-1", Limit: 100})
	b.Must(err)
	var kinds []coppice.EventKind
	for _, e := range page.Events {
		kinds = append(kinds, e.Kind)
	}
	if !slices.Equal(kinds, []coppice.EventKind{coppice.EventTaskCreated, coppice.EventTaskArchived, coppice.EventTaskUnarchived}) {
		t.Errorf("events %v", kinds)
	}
	// A task that continues is not archived.
	_, err = b.Client.Archive(b.Ctx, "app-2", true)
	b.Must(err)
	b.Change("app-2", func(t *coppice.Task) { t.Outcome = coppice.OutcomeFailed })
	if x, err := b.Client.Ask(b.Ctx, "app-2", coppice.VerbRetry, verb.Request{}); err != nil || !x.Archived.IsZero() {
		t.Errorf("retried: %+v %v", x.Archived, err)
	}
}

func TestOutputIsReadBackwards(t *testing.T) {
	t.Parallel()
	b := setupApp(t, "task")
	x := b.Session("app-1", coppice.SessionWorking, nil)
	for i := range 10 {
		b.Write(x.ID, coppice.OutputEvent, fmt.Sprintf(`{"kind":"text","text":"n%d"}`, i))
		b.Write(x.ID, coppice.OutputStdout, "raw")
	}
	whole, err := b.Client.Output(b.Ctx, "app-1.1", -1, coppice.OutputEvent)
	b.Must(err)
	var got []api.Output
	page, err := b.Client.OutputBefore(b.Ctx, "app-1.1", -1, 4, coppice.OutputEvent)
	b.Must(err)
	if page.Next != whole.Output[9].Offset || page.More || page.Ended {
		t.Errorf("the last page %+v", page)
	}
	for {
		got = append(slices.Clone(page.Output), got...)
		if page.Prev == 0 {
			break
		}
		page, err = b.Client.OutputBefore(b.Ctx, "app-1.1", page.Prev, 4, coppice.OutputEvent)
		b.Must(err)
		if !page.More {
			t.Errorf("an earlier page says that nothing follows")
		}
	}
	if len(got) != 10 {
		t.Fatalf("%d pieces", len(got))
	}
	for i, o := range got {
		if o.Offset != whole.Output[i].Offset || string(o.Event) != string(whole.Output[i].Event) {
			t.Errorf("piece %d: %+v", i, o)
		}
	}
	for query, status := range map[string]int{"tail=true&before=3": 422, "tail=true&after=3": 422, "before=x": 422, "before=-9": 422, "tail=perhaps": 422} {
		refuses(t, b, status, "GET", "/api/v1/sessions/app-1.1/output?"+query, "")
	}
}

func TestDiffSinceSession(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *apihttp.Config) {
		c.Diff = func(_ context.Context, t coppice.Task, since string) (string, error) {
			return t.Key + " since " + since, nil
		}
	})
	b.Project("/src/app")
	b.Task("app", coppice.NewTask{Title: "task"})
	for session, want := range map[bool]string{false: "app-1 since base", true: "app-1 since session"} {
		if text, err := b.Client.Diff(b.Ctx, "app-1", session); err != nil || text != want {
			t.Errorf("diff since the session's start %v: %q, %v; want %q", session, text, err, want)
		}
	}
	refuses(t, b, http.StatusUnprocessableEntity, "GET", "/api/v1/tasks/app-1/diff?since=ever", "")
}

// fakeSettings keep one key.
type fakeSettings struct{ value string }

func (f *fakeSettings) Config(_ context.Context, p coppice.Project) (api.ProjectConfig, error) {
	return api.ProjectConfig{Path: p.Path, Keys: []api.ConfigKey{{Key: "base", Text: f.value}}, Server: []api.ServerSetting{}}, nil
}

func (f *fakeSettings) SetConfig(ctx context.Context, p coppice.Project, c api.ConfigChange) (api.ProjectConfig, error) {
	f.value = c.Key + "=" + string(c.Value)
	return f.Config(ctx, p)
}

func (f *fakeSettings) Prompts(context.Context, coppice.Project) (api.Prompts, error) {
	return api.Prompts{Prompts: []api.Prompt{{Role: "fix", Text: f.value}}, Fields: []api.PromptField{{Name: "Title", Doc: "its title"}}, Functions: []string{"and"}}, nil
}

func (f *fakeSettings) SetPrompt(_ context.Context, _ coppice.Project, role string, c api.PromptChange) (api.Prompt, error) {
	f.value = fmt.Sprintf("%s=%s %v", role, c.Text, c.Unset)
	return api.Prompt{Role: role, Text: f.value}, nil
}

func (f *fakeSettings) Notify(context.Context) (api.NotifySettings, error) {
	return api.NotifySettings{}, nil
}

func (f *fakeSettings) SetNotify(context.Context, api.ConfigChange) (api.NotifySettings, error) {
	return api.NotifySettings{}, nil
}

func TestPromptRoutes(t *testing.T) {
	t.Parallel()
	f := &fakeSettings{}
	b := setup(t, func(c *apihttp.Config) { c.Settings = f })
	b.Project("/src/app")
	for _, c := range []struct {
		change api.PromptChange
		want   string
	}{{api.PromptChange{Text: "Fix it."}, "fix=Fix it. false"}, {api.PromptChange{Unset: true}, "fix= true"}} {
		got, err := b.Client.SetPrompt(b.Ctx, "app", "fix", c.change)
		b.Must(err)
		list, err := b.Client.Prompts(b.Ctx, "app")
		b.Must(err)
		if got.Text != c.want || list.Prompts[0].Text != c.want || list.Fields[0].Name != "Title" || list.Functions[0] != "and" {
			t.Errorf("%+v, %+v, want %q", got, list, c.want)
		}
	}
	for _, body := range []string{`{}`, `{"text":""}`, `{"text":"x","unset":true}`, `{"text":1}`, `{"text":"x","more":1}`} {
		refuses(t, b, http.StatusUnprocessableEntity, "PATCH", "/api/v1/projects/app/prompts/fix", body)
	}
	if _, err := b.Client.Prompts(b.Ctx, "none"); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("another project: %v", err)
	}
}

func TestConfigRoutes(t *testing.T) {
	t.Parallel()
	f := &fakeSettings{}
	b := setup(t, func(c *apihttp.Config) { c.Settings = f })
	b.Project("/src/app")
	got, err := b.Client.SetConfig(b.Ctx, "app", api.ConfigChange{Key: "base", Value: []byte(`"main"`)})
	b.Must(err)
	if got.Keys[0].Text != `base="main"` {
		t.Errorf("settings %+v, want base=\"main\"", got)
	}
	got, err = b.Client.SetConfig(b.Ctx, "app", api.ConfigChange{Key: "base", Unset: true})
	b.Must(err)
	if got.Keys[0].Text != `base=` {
		t.Errorf("settings %+v, want an empty base", got)
	}
	if _, err := b.Client.Config(b.Ctx, "none"); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("another project: %v", err)
	}
	for _, body := range []string{`{}`, `{"key":"base"}`, `{"key":"base","value":1,"unset":true}`, `{"key":"","value":1}`, `{"key":"base","value":1,"more":1}`} {
		refuses(t, b, http.StatusUnprocessableEntity, "PATCH", "/api/v1/projects/app/config", body)
	}
	plain := setup(t)
	plain.Project("/src/app")
	if _, err := plain.Client.Config(plain.Ctx, "app"); coppice.ErrorCode(err) != coppice.EUnavailable {
		t.Errorf("without settings: %v", err)
	}
	if _, err := plain.Client.Agents(plain.Ctx, "", false); coppice.ErrorCode(err) != coppice.EUnavailable {
		t.Errorf("without agents: %v", err)
	}
}

func TestAgentsTellLimits(t *testing.T) {
	t.Parallel()
	var asked []string
	b := setup(t, func(c *apihttp.Config) {
		c.Agents = func(_ context.Context, p *coppice.Project, refresh bool) (api.AgentList, error) {
			name := "all"
			if p != nil {
				name = p.Prefix
			}
			asked = append(asked, fmt.Sprint(name, refresh))
			return api.AgentList{Agents: []api.Agent{{Name: "absent"}, {Name: "other"}, {Name: "robot", Version: "1"}, {Name: "zed", Path: "/bin/zed", Models: map[string]string{"complex": "big", "simple": "auto"}}}}, nil
		}
	})
	b.Project("/src/app")
	b.Task("app", coppice.NewTask{Title: "One", Agent: "robot"})
	limited(b, "robot")
	limited(b, "other:small")
	list, err := b.Client.Agents(b.Ctx, "app", true)
	b.Must(err)
	if l := list.Agents[0].Limit; l == nil || l.Text != "too much" || list.Agents[1].Limit != nil || list.Agents[0].Warnings == nil {
		t.Errorf("agents %+v", list.Agents)
	}
	if l := list.Agents[1].ModelLimits; len(l) != 1 || l[0].Agent != "other:small" || l[0].Model != "small" || len(list.Agents[0].ModelLimits) != 0 {
		t.Errorf("models %+v", l)
	}
	for _, a := range list.Agents {
		if a.Installed != (a.Name == "zed") || a.Name == "zed" && !slices.Equal(a.Choices, []string{"auto", "big"}) || !slices.Equal(list.Choices, []string{"auto"}) {
			t.Errorf("%s is installed: %t, with the choices %v", a.Name, a.Installed, a.Choices)
		}
	}
	var order []string
	for _, a := range list.Agents {
		order = append(order, fmt.Sprint(a.Name, a.Shown))
	}
	if want := []string{"robottrue", "othertrue", "zedtrue", "absentfalse"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	_, err = b.Client.Agents(b.Ctx, "", false)
	b.Must(err)
	if !slices.Equal(asked, []string{"apptrue", "allfalse"}) {
		t.Errorf("asked %v", asked)
	}
}

// TestStatusCounts compares the counts with the statuses of all tasks.
func TestStatusCounts(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	b.Project("/src/web")
	stages := []func(*coppice.Task){
		func(t *coppice.Task) { t.Wait = &coppice.Wait{On: coppice.WaitPerson, Text: "log in"} },
		func(t *coppice.Task) { t.Wait = &coppice.Wait{On: coppice.WaitSchedule, Text: "later"} },
		func(t *coppice.Task) {
			t.Stage, t.Wait, t.Next = coppice.StageQueued, nil, &coppice.Next{Agent: t.Agent, Role: coppice.RoleImplement}
		},
		func(t *coppice.Task) { t.Stage, t.Wait = coppice.StageSession, nil },
		func(t *coppice.Task) { t.Stage, t.Wait = coppice.StageChecking, nil },
		func(t *coppice.Task) { t.Stage, t.Wait = coppice.StageHeld, nil },
		func(t *coppice.Task) { t.Stage, t.Wait = coppice.StageReview, nil },
		func(t *coppice.Task) { t.Stage, t.Wait = coppice.StageLanding, nil },
		func(t *coppice.Task) { t.Stage, t.Wait, t.Outcome = coppice.StageEnded, nil, coppice.OutcomeDone },
	}
	for i := range 500 {
		project := "app"
		if i%2 == 0 {
			project = "web"
		}
		k := b.Task(project, coppice.NewTask{Title: "task", Priority: i % 5})
		stage := stages[i%len(stages)]
		if i >= 200 {
			stage = stages[5] // more than are listed
		}
		b.Change(k.Key, stage)
	}
	for _, project := range []string{"", "app", "web"} {
		st, err := b.Client.Status(b.Ctx, project)
		b.Must(err)
		want := map[coppice.Status]int{coppice.StatusFailed: 0, coppice.StatusCancelled: 0}
		q := client.TaskQuery{Project: project, Limit: 500}
		page, err := b.Client.Tasks(b.Ctx, q)
		b.Must(err)
		for _, x := range page.Tasks {
			want[x.Status]++
		}
		for status, n := range want {
			if st.Counts[status] != n {
				t.Errorf("%q: %d %s, want %d", project, st.Counts[status], status, n)
			}
		}
		if !slices.IsSortedFunc(st.Waiting, func(a, b api.Task) int { return b.Priority - a.Priority }) || len(st.Waiting) == 0 {
			t.Errorf("%q: waiting is not in order", project)
		}
		if len(st.NeedsYou) > 425 || len(st.NeedsYou) < 100 {
			t.Errorf("%q: %d need you", project, len(st.NeedsYou))
		}
	}
}

func limited(b *apitest.Bundle, agent string) {
	b.Update(func(tx store.Tx) error {
		return tx.Limits.Put(coppice.AgentLimit{Agent: agent, Class: coppice.ClassRateLimit, Text: "too much", Until: b.Clock.Now().Add(time.Hour)})
	})
}
