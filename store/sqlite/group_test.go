package sqlite

import (
	"fmt"
	"testing"

	"coppice"
	"coppice/store"
)

// TestMarksGoWithTheirTask checks that nothing about groups, labels, snoozes and
// seen tasks is left when a project is removed.
func TestMarksGoWithTheirTask(t *testing.T) {
	t.Parallel()
	s := openTest(t, Memory)
	p := coppice.Project{Prefix: "app", Path: "/src/app", Policy: coppice.DefaultPolicy()}
	update := func(f func(store.Tx) error) {
		t.Helper()
		if err := s.Update(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	count := func() (text string) {
		for _, table := range []string{"task_groups", "task_labels", "noted", "seen", "snoozes"} {
			var n int
			err := s.view(t.Context(), func(x *tx) error { return x.QueryRowContext(x.ctx, "SELECT count(*) FROM "+table).Scan(&n) })
			if err != nil {
				t.Fatal(err)
			}
			text += fmt.Sprint(n, " ")
		}
		return text
	}
	update(func(x store.Tx) error {
		if err := x.Projects.Put(&p); err != nil {
			return err
		}
		g := coppice.Group{ProjectID: p.ID, Name: "a"}
		if err := x.Groups.Put(&g); err != nil {
			return err
		}
		k := coppice.Task{ProjectID: p.ID, Num: 1, Key: "app-1", Stage: coppice.StageEnded, TaskDetails: coppice.TaskDetails{Group: g.ID, Labels: []string{"a", "b"}}}
		if err := x.Tasks.Put(&k); err != nil {
			return err
		}
		if err := x.Log.Append(&coppice.Event{Kind: coppice.EventTaskEnded, TaskID: k.ID}); err != nil {
			return err
		}
		if err := x.Snoozes.Put(coppice.Snooze{Entry: "failed/app-1", ProjectID: p.ID}); err != nil {
			return err
		}
		return x.Seen.Put(coppice.Actor{Kind: coppice.ActorPerson}, k.ID, 1)
	})
	if got, want := count(), "1 2 1 1 1 "; got != want {
		t.Fatalf("rows %s, want %s", got, want)
	}
	for more := true; more; {
		update(func(x store.Tx) (err error) { more, err = x.Projects.Forget(p.ID, 10); return err })
	}
	if got, want := count(), "0 0 0 0 0 "; got != want {
		t.Errorf("rows %s after the project was removed, want %s", got, want)
	}
}
