package http_test

import (
	"strings"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

func TestNotes(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	_, err := b.Client.CreateTasks(b.Ctx, "app", []coppice.NewTask{{Title: "a"}})
	b.Must(err)
	none, seven := int64(0), int64(7)
	n, err := b.Client.PutNote(b.Ctx, "app", "", "plan/a", api.NoteWrite{Value: "first", IfVersion: &none})
	if err != nil || n.Key != "plan/a" || n.Value != "first" || n.Version != 1 || n.Size != 5 || n.By != "person" || n.Scope != "project" || n.Project != "app" {
		t.Errorf("%+v, %v", n, err)
	}
	for _, expected := range []*int64{&none, &seven} {
		_, err := b.Client.PutNote(b.Ctx, "app", "", "plan/a", api.NoteWrite{Value: "x", IfVersion: expected})
		if coppice.ErrorCode(err) != coppice.EConflict || !strings.Contains(err.Error(), "version 1") {
			t.Errorf("%d: %v", *expected, err)
		}
	}
	_, err = b.Client.PutNote(b.Ctx, "app", "app-1", "plan/a", api.NoteWrite{Value: "of the task"})
	b.Must(err)
	if n, err = b.Client.Note(b.Ctx, "app", "app-1", "plan/a"); err != nil || n.Value != "of the task" || n.Task != "app-1" {
		t.Errorf("%+v, %v", n, err)
	}
	page, err := b.Client.Notes(b.Ctx, "app", client.NoteQuery{All: true, Prefix: "plan", Limit: 1})
	if err != nil || len(page.Notes) != 1 || page.Notes[0].Value != "" || page.Next != "project plan/a" || page.Total != 2 || page.Bytes != 28 {
		t.Errorf("%+v, %v", page, err)
	}
	if page, err = b.Client.Notes(b.Ctx, "app", client.NoteQuery{All: true, Prefix: "plan", After: page.Next}); err != nil || len(page.Notes) != 1 || page.Notes[0].Task != "app-1" || page.Next != "" {
		t.Errorf("%+v, %v", page, err)
	}
	if _, err := b.Client.DeleteNote(b.Ctx, "app", "", "plan/a", &seven); coppice.ErrorCode(err) != coppice.EConflict {
		t.Error(err)
	}
	_, err = b.Client.DeleteNote(b.Ctx, "app", "", "plan/a", &none)
	if coppice.ErrorCode(err) != coppice.EConflict {
		t.Error(err)
	}
	gone, err := b.Client.DeleteNote(b.Ctx, "app", "", "plan/a", nil)
	if err != nil || gone.Version != 1 {
		t.Errorf("%+v, %v", gone, err)
	}
	for what, err := range map[string]error{
		"a deleted note":         second(b.Client.Note(b.Ctx, "app", "", "plan/a")),
		"of no project":          second(b.Client.Note(b.Ctx, "none", "", "plan/a")),
		"of no task":             second(b.Client.Note(b.Ctx, "app", "app-9", "plan/a")),
		"of no project, written": second(b.Client.PutNote(b.Ctx, "none", "", "a", api.NoteWrite{})),
	} {
		if coppice.ErrorCode(err) != coppice.ENotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := b.Client.PutNote(b.Ctx, "app", "", "a b", api.NoteWrite{}); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Error(err)
	}
}
