package http_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/apitest"
	"coppice/api/client"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
)

// stall makes a task's session silent.
func stall(b *apitest.Bundle, key string) {
	const warning = "stalled: no output for 10m"
	b.Session(key, coppice.SessionWorking, func(s *coppice.Session) { s.Warning = warning })
	b.Change(key, func(k *coppice.Task) { k.Stage, k.Wait, k.Warning, k.Sessions = coppice.StageSession, nil, warning, 1 })
}

// A task whose session is silent is in the column of what needs a person, and in
// the inbox.
func TestStalledTasksNeedYou(t *testing.T) {
	t.Parallel()
	b := seedBoard(t)
	b.Task("web", coppice.NewTask{Title: "Silent"})
	stall(b, "web-2")
	board := read[api.Board](t, b, "/board")
	needs, working := board.Columns[0], board.Columns[1]
	if needs.Count != 3 || needs.Tasks[2].Key != "web-2" || needs.Tasks[2].Need != coppice.InboxStalled || needs.Tasks[2].Status != coppice.StatusWorking {
		t.Errorf("needs you: %s", outline(board))
	}
	if working.Count != 1 || working.Tasks[0].Key != "app-1" {
		t.Errorf("working: %s", outline(board))
	}
	in, err := b.Client.Inbox(b.Ctx, client.InboxQuery{Project: "web"})
	b.Must(err)
	if len(in.Entries) != 1 || in.Entries[0].ID != "stalled/web-2" || in.Entries[0].Blocks != coppice.BlocksWork || !in.Entries[0].Snoozable {
		t.Errorf("inbox %+v", in.Entries)
	}
}

// Every list of tasks can be filtered by what people mark tasks with.
func TestListsFilterByMarks(t *testing.T) {
	t.Parallel()
	b := seedBoard(t)
	flag, labels, group := true, []string{"ui"}, "mine"
	for key, change := range map[string]coppice.TaskChange{
		"app-1": {Labels: &labels}, "app-3": {Labels: &labels, Flagged: &flag}, "app-5": {Group: &group}, "app-6": {Group: &group}, "web-1": {Flagged: &flag},
	} {
		_, err := b.Client.ChangeTask(b.Ctx, key, change)
		b.Must(err)
	}
	b.Change("app-3", func(k *coppice.Task) { k.After = []int64{1} })
	b.Update(func(tx store.Tx) error {
		k, err := tx.Tasks.ByKey("app-9")
		b.Must(err)
		return tx.Log.Append(&coppice.Event{At: b.Clock.Now(), Kind: coppice.EventTaskEnded, ProjectID: k.ProjectID, TaskID: k.ID, Reason: "failed", By: "test"})
	})
	wantBoards(t, b, map[string]string{
		"label=ui":              "Working 1: app-1\nWaiting 1: app-3",
		"flagged=true":          "Waiting 2: app-3 web-1",
		"label=ui&flagged=true": "Waiting 1: app-3",
		"group_id=1":            "Waiting 1: app-5\nDone 1: app-6",
		"unread=true":           "Failed 1: app-9",
		"label=none":            "",
	})
	board := read[api.Board](t, b, "/board")
	if len(board.Groups) != 1 || board.Groups[0] != (api.GroupName{ID: 1, Project: "app", Name: "mine"}) || len(board.Labels) != 1 || board.Labels[0] != "ui" {
		t.Errorf("choices: %+v %v", board.Groups, board.Labels)
	}
	for query, n := range map[string]int{"": 1, "label=ui": 1, "flagged=true": 0, "group_id=1": 0, "unread=true": 0} {
		if rows := read[api.Timeline](t, b, "/timeline?"+query).Rows; len(rows) != n {
			t.Errorf("timeline?%s has %d rows, want %d", query, len(rows), n)
		}
	}
	for query, n := range map[string]int{"": 2, "label=ui": 2, "flagged=true": 2, "group_id=1": 0, "unread=true": 0} {
		if tasks := read[api.Graph](t, b, "/graph?"+query).Tasks; len(tasks) != n {
			t.Errorf("graph?%s has %d tasks, want %d", query, len(tasks), n)
		}
	}
	for query, want := range map[string]string{"": "app-2 / app-7 app-6", "group_id=1": " / app-6", "label=ui": " / ", "project=web": " / "} {
		var queue, landed []string
		list := read[api.LandingList](t, b, "/landings?"+query)
		for _, q := range list.Queue {
			queue = append(queue, q.Task.Key)
		}
		for _, x := range list.Landed {
			landed = append(landed, x.Key)
		}
		if got := strings.Join(queue, " ") + " / " + strings.Join(landed, " "); got != want {
			t.Errorf("landings?%s: %q, want %q", query, got, want)
		}
	}
	_, err := b.Client.ChangeTask(b.Ctx, "app-9", coppice.TaskChange{Labels: &[]string{"late"}})
	b.Must(err)
	for query, want := range map[string]string{"label=late": "failed/app-9", "label=late&project=web": "", "label=none": "", "unread=true": "failed/app-9"} {
		var ids []string
		for _, e := range read[api.Inbox](t, b, "/inbox?"+query).Entries {
			ids = append(ids, e.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("inbox?%s: %q, want %q", query, got, want)
		}
	}
	if page := read[api.TaskPage](t, b, "/tasks?unread=true"); len(page.Tasks) != 1 || page.Tasks[0].Key != "app-9" {
		t.Errorf("unread tasks: %+v", page.Tasks)
	}
}

func TestOpenGroups(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	for _, group := range []string{"old", "new"} {
		_, err := b.Client.CreateTasks(b.Ctx, "app", []coppice.NewTask{{Title: group, Group: group}})
		b.Must(err)
	}
	b.Change("app-1", failed(b.Clock.Now()))
	page, err := b.Client.OpenGroups(b.Ctx, "")
	b.Must(err)
	if len(page.Groups) != 1 || page.Groups[0].Name != "new" {
		t.Errorf("open groups %+v", page.Groups)
	}
}

// The board has the entries of the inbox that are about projects, unless its
// filter chooses tasks.
func TestBoardHasEntriesOfProjects(t *testing.T) {
	t.Parallel()
	b := seedBoard(t)
	b.Update(func(tx store.Tx) error {
		p, err := tx.Projects.ByPrefix("web")
		b.Must(err)
		p.Needs = coppice.Needs{{Kind: coppice.NeedPolicy, Text: "checks changed", Diff: "-a\n+b\n", Since: b.Clock.Now()}}
		return tx.Projects.Put(&p)
	})
	for query, n := range map[string]int{"": 1, "project=web": 1, "project=app": 0, "status=needs+you": 1, "status=done": 0, "track=main": 0, "label=x": 0, "archived=true": 0} {
		if list := read[api.Board](t, b, "/board?"+query).Entries; len(list) != n || n == 1 && (list[0].ID != "change/web/policy" || list[0].Actions[0].Label != "Confirm") {
			t.Errorf("board?%s has %+v, want %d entries", query, list, n)
		}
	}
	_, err := b.Client.Snooze(b.Ctx, "change/web/policy", coppice.NewSnooze{For: coppice.Duration(time.Hour)})
	b.Must(err)
	if list := read[api.Board](t, b, "/board").Entries; len(list) != 0 {
		t.Errorf("a snoozed entry is listed: %+v", list)
	}
}

func TestBriefStatus(t *testing.T) {
	t.Parallel()
	b := seedBoard(t)
	whole, brief := read[api.Status](t, b, "/status"), read[api.Status](t, b, "/status?brief=true")
	if len(brief.NeedsYou)+len(brief.Active)+len(brief.Waiting) != 0 || len(whole.NeedsYou) != 2 || len(whole.Active) != 1 || len(whole.Waiting) != 3 {
		t.Errorf("lists: %+v, brief: %+v", whole, brief)
	}
	if brief.Inbox != 3 || whole.Inbox != 3 || !brief.Wakes.IsZero() {
		t.Errorf("inbox of %d, brief %d, wakes at %v", whole.Inbox, brief.Inbox, brief.Wakes)
	}
	for status, n := range whole.Counts {
		if brief.Counts[status] != n {
			t.Errorf("%d %s, brief %d", n, status, brief.Counts[status])
		}
	}
	_, err := b.Client.Snooze(b.Ctx, "failed/app-9", coppice.NewSnooze{For: coppice.Duration(time.Hour)})
	b.Must(err)
	if brief = read[api.Status](t, b, "/status?brief=true"); brief.Inbox != 2 || !brief.Wakes.Equal(b.Clock.Now().Add(time.Hour)) {
		t.Errorf("after a snooze: %d entries, wakes at %v", brief.Inbox, brief.Wakes)
	}
}

// The status says what was spent today, and the budget if every project has one.
func TestStatusShowsWhatWasSpentToday(t *testing.T) {
	t.Parallel()
	b := setup(t)
	budget := func(prefix string, usd coppice.USD) {
		b.Update(func(tx store.Tx) error {
			p, err := tx.Projects.ByPrefix(prefix)
			b.Must(err)
			p.Policy.Budget.Day = usd
			return tx.Projects.Put(&p)
		})
	}
	app := b.Project("/src/app")
	b.Project("/src/web")
	b.Update(func(tx store.Tx) error {
		return tx.Spend.Add(store.Spending{ProjectID: app.ID, Agent: "robot", At: b.Clock.Now(), Usage: coppice.Usage{CostUSD: 2.5}})
	})
	budget("app", 20)
	st := read[api.Status](t, b, "/status?brief=true")
	if st.Today != 2.5 || st.DayUSD != 0 || st.Projects[0].Today != 2.5 || st.Projects[0].DayUSD != 20 || st.Projects[1].Today != 0 {
		t.Errorf("spent %+v", st)
	}
	budget("web", 5)
	if st = read[api.Status](t, b, "/status"); st.DayUSD != 25 || st.NearDay {
		t.Errorf("the budgets are %v, nearly spent: %v", st.DayUSD, st.NearDay)
	}
	if len(st.Projects[0].Warnings) != 0 || len(st.Accounts) != 0 {
		t.Errorf("warnings %q, accounts %+v; want none", st.Projects[0].Warnings, st.Accounts)
	}
	budget("app", 3)
	b.Update(func(tx store.Tx) error {
		return tx.Spend.SetBudgets(map[string]coppice.USD{"robot": 3, "robot:big": 4})
	})
	st = read[api.Status](t, b, "/status?brief=true")
	const warning = "80% of the budget for the day is spent: "
	if got := strings.Join(st.Projects[0].Warnings, "; "); got != warning+"the project has spent 2.50 of 3 USD today" {
		t.Errorf("the project warns %q", got)
	}
	want := []api.AccountBudget{{Account: "robot", DayUSD: 3, Today: 2.5, Warning: warning + "robot has spent 2.50 of 3 USD today"}, {Account: "robot:big", DayUSD: 4}}
	if !slices.Equal(st.Accounts, want) {
		t.Errorf("the accounts are %+v, want %+v", st.Accounts, want)
	}
	if u := read[api.UsageReport](t, b, "/usage"); !slices.Equal(u.Accounts, want) {
		t.Errorf("the usage has the accounts %+v, want %+v", u.Accounts, want)
	}
}

// A status reads the sessions, landings and questions of its tasks one time,
// although the inbox needs them too.
func TestStatusReadsSessionsOnce(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	counts := map[string]int{}
	s := sqlitetest.Open(t, sqlite.Config{Trace: func(query string) {
		mu.Lock()
		defer mu.Unlock()
		if rest, named := strings.CutPrefix(query, "-- name: "); named {
			counts[strings.Fields(rest)[0]]++
		}
	}})
	b := apitest.Start(t, s, withEngine(t, s))
	p := b.Project("/src/app")
	b.Update(func(tx store.Tx) error { return putBusy(tx, p, 40) })
	for _, path := range []string{"/status", "/status?brief=true"} {
		mu.Lock()
		clear(counts)
		mu.Unlock()
		if st := read[api.Status](t, b, path); st.Inbox == 0 {
			t.Errorf("%s: the inbox is empty", path)
		}
		mu.Lock()
		for _, name := range []string{"SessionsOfEach", "AllOpenAsks"} {
			if counts[name] != 1 {
				t.Errorf("%s runs %s %d times", path, name, counts[name])
			}
		}
		t.Log(counts)
		mu.Unlock()
	}
}

// Search and usage can be filtered by what people mark tasks with.
func TestFoundByMarks(t *testing.T) {
	t.Parallel()
	b := setupSearch(t)
	b.Project("/src/app")
	flag, labels, group := true, []string{"ui"}, "mine"
	for i, change := range []coppice.TaskChange{{Labels: &labels}, {Group: &group, Flagged: &flag}, {Flagged: &flag}} {
		key := b.Task("app", coppice.NewTask{Title: fmt.Sprintf("Walrus %d", i)}).Key
		_, err := b.Client.ChangeTask(b.Ctx, key, change)
		b.Must(err)
		b.Session(key, coppice.SessionDone, func(s *coppice.Session) { s.Usage = coppice.Usage{CostUSD: 0.5} })
	}
	for marks, want := range map[client.Marks]string{
		{}: "app-3 app-2 app-1", {Label: "ui"}: "app-1", {Flagged: true}: "app-3 app-2", {GroupID: 1}: "app-2", {GroupID: 1, Label: "ui"}: "", {Label: "none"}: "",
	} {
		var hits, rows []string
		for _, h := range b.search(client.SearchQuery{Text: "walrus", Marks: marks}).Hits {
			hits = append(hits, h.Task)
		}
		u, err := b.Client.Usage(b.Ctx, client.UsageQuery{ByTask: true, Marks: marks})
		b.Must(err)
		for _, r := range u.Rows {
			rows = append(rows, r.Task)
		}
		all, err := b.Client.Usage(b.Ctx, client.UsageQuery{Marks: marks})
		b.Must(err)
		if got := strings.Join(hits, " "); got != want {
			t.Errorf("search with %+v: %q, want %q", marks, got, want)
		}
		if got := strings.Join(rows, " "); got != want || u.Total != all.Total || int(u.Total.CostUSD*2) != len(rows) {
			t.Errorf("usage with %+v: %q and %v, want %q", marks, got, all.Total, want)
		}
	}
}
