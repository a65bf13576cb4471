package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// testFindForgotten searches after the output was removed, and after the task was
// removed.
func testFindForgotten(t *testing.T, s Searched) {
	p := project(t, s.Store, "app")
	k := over(t, s.Store, p, 1, start, func(k *coppice.Task) { k.Title = "sow" })
	other := over(t, s.Store, p, 2, start.Add(time.Hour), nil)
	for _, k := range []coppice.Task{k, other} {
		changed(t, s.Store, coppice.EventTaskCreated, k)
	}
	s.CatchUp(t)
	wantFound(t, s, "words", "app-2.1@0", "app-1.1@0")
	wantFound(t, s, "make", "app-2 check 2", "app-1 check 1")
	wantFound(t, s, "sow", "app-1")
	gone := func(keep store.Keep, moment time.Time) {
		t.Helper()
		keep.Notice = []byte(`{"kind":"notice","text":"weeded out"}`)
		update(t, s.Store, func(tx store.Tx) error {
			f, err := tx.History.Forget(keep, moment, 100)
			if err != nil {
				return err
			}
			data, err := json.Marshal(coppice.Forgotten{All: f.All, Checks: f.Checks})
			if err != nil {
				return err
			}
			return tx.Log.Append(&coppice.Event{At: moment, Kind: coppice.EventTaskForgotten, ProjectID: p.ID, TaskID: f.Task.ID, Data: data})
		})
		s.CatchUp(t)
	}
	gone(store.Keep{Output: time.Hour}, start.Add(time.Hour))
	wantFound(t, s, "words", "app-2.1@0")
	wantFound(t, s, "weeded", "app-1.1@600")
	wantFound(t, s, "make", "app-2 check 2")
	wantFound(t, s, "sow", "app-1")
	gone(store.Keep{Tasks: time.Hour}, start.Add(time.Hour))
	wantFound(t, s, "weeded")
	wantFound(t, s, "sow")
	wantFound(t, s, "words", "app-2.1@0")
}
