package http_test

import (
	"net/http"
	"slices"
	"testing"

	"coppice"
	"coppice/api/client"
	"coppice/store"
)

func TestGroups(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	made, err := b.Client.CreateTasks(b.Ctx, "app", []coppice.NewTask{{Title: "a", Labels: []string{"ui"}}, {Title: "b"}, {Title: "c"}, {Title: "d"}})
	b.Must(err)
	if made[0].Group != "batch-1" || made[3].GroupID != made[0].GroupID || !slices.Equal(made[0].Labels, []string{"ui"}) {
		t.Errorf("made %+v", made)
	}
	b.Change("app-1", failed(b.Clock.Now()))
	b.Change("app-2", func(t *coppice.Task) { t.Stage, t.Wait, t.Next = coppice.StageHeld, nil, nil })
	b.Session("app-3", coppice.SessionWorking, func(s *coppice.Session) { s.Usage.CostUSD = 2 })
	b.Change("app-3", func(t *coppice.Task) { t.Stage, t.Wait = coppice.StageSession, nil })
	b.Change("app-4", func(t *coppice.Task) { t.Stage, t.Wait = coppice.StageQueued, nil })
	page, err := b.Client.Groups(b.Ctx, "app", 0)
	b.Must(err)
	if len(page.Groups) != 1 || page.Next != 0 {
		t.Fatalf("groups %+v", page)
	}
	g := page.Groups[0]
	for status, n := range map[coppice.Status]int{"failed": 1, "needs you": 1, "working": 1, "ready": 1} {
		if g.Counts[status] != n {
			t.Errorf("%d %s, want %d", g.Counts[status], status, n)
		}
	}
	if g.Tasks != 4 || g.Usage.CostUSD != 2 || g.Kind != coppice.GroupBatch || g.Title != "a and 3 more" || g.Project != "app" {
		t.Errorf("group %+v", g)
	}
	same, err := b.Client.Group(b.Ctx, "app", "batch-1")
	b.Must(err)
	if same.ID != g.ID || same.Tasks != 4 || same.Archived != 0 {
		t.Errorf("by its name: %+v", same)
	}
	for _, q := range []struct {
		query client.TaskQuery
		want  int
	}{{client.TaskQuery{Project: "app", Group: "batch-1"}, 4}, {client.TaskQuery{Group: "1"}, 4}, {client.TaskQuery{Label: "ui"}, 1}, {client.TaskQuery{Label: "none"}, 0}, {client.TaskQuery{Flagged: true}, 0}} {
		page, err := b.Client.Tasks(b.Ctx, q.query)
		b.Must(err)
		if len(page.Tasks) != q.want {
			t.Errorf("%+v lists %d tasks, want %d", q.query, len(page.Tasks), q.want)
		}
	}
	b.Change("app-1", func(t *coppice.Task) { t.Archived = b.Clock.Now() })
	if same, err := b.Client.Group(b.Ctx, "app", "batch-1"); err != nil || same.Tasks != 4 || same.Archived != 1 {
		t.Errorf("with an archived task: %+v, %v", same, err)
	}
	if _, err := b.Client.Group(b.Ctx, "", "batch-1"); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("a name without a project: %v", err)
	}
	if _, err := b.Client.Group(b.Ctx, "app", "none"); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("an unknown group: %v", err)
	}
	refuses(t, b, http.StatusNotFound, "GET", "/api/v1/tasks?group=7", "")
}

func TestFlagsAndUnread(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	k := b.Task("app", coppice.NewTask{Title: "a"})
	b.Change("app-1", failed(b.Clock.Now()))
	b.Update(func(tx store.Tx) error {
		return tx.Log.Append(&coppice.Event{At: b.Clock.Now(), Kind: coppice.EventTaskEnded, ProjectID: k.ProjectID, TaskID: k.ID, Reason: "failed: it broke", By: "test"})
	})
	flag := true
	x, err := b.Client.ChangeTask(b.Ctx, "app-1", coppice.TaskChange{Flagged: &flag})
	b.Must(err)
	if !x.Flagged || !x.Unread {
		t.Errorf("flagged %+v", x)
	}
	x, err = b.Client.Seen(b.Ctx, "app-1", 0)
	b.Must(err)
	page, err := b.Client.Tasks(b.Ctx, client.TaskQuery{Flagged: true})
	b.Must(err)
	if x.Unread || len(page.Tasks) != 1 || page.Tasks[0].Unread {
		t.Errorf("seen %+v, listed %+v", x, page.Tasks)
	}
}
