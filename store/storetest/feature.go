package storetest

import (
	"encoding/json"
	"testing"

	"coppice"
	"coppice/store"
)

func testFeatures(t *testing.T, open Open) {
	s := open(t)
	gone, kept := project(t, s, "gone"), project(t, s, "kept")
	of := func(id int64) map[string]json.RawMessage {
		t.Helper()
		return get(t, s, func(r store.Reader) (map[string]json.RawMessage, error) { return r.Features.Of(id) })
	}
	put := func(id int64, seen map[string]json.RawMessage) {
		t.Helper()
		update(t, s, func(tx store.Tx) error { return tx.Features.Put(id, seen) })
	}
	one, two := json.RawMessage(`{"status":"open"}`), json.RawMessage(`{"status":"passed"}`)
	same(t, "nothing", nil, of(gone.ID))
	put(gone.ID, map[string]json.RawMessage{"1": one, "a b": one, "": one})
	put(kept.ID, map[string]json.RawMessage{"1": two})
	same(t, "what was kept", map[string]json.RawMessage{"1": one, "a b": one, "": one}, of(gone.ID))
	put(gone.ID, map[string]json.RawMessage{"1": two, "": nil, "never": nil})
	same(t, "after a change", map[string]json.RawMessage{"1": two, "a b": one}, of(gone.ID))
	update(t, s, func(tx store.Tx) error {
		for num, feature := range []string{"", "1", "2", "1"} {
			task := coppice.Task{ProjectID: kept.ID, Num: num + 1, Key: coppice.TaskKey(kept.Prefix, num+1), Feature: feature, Stage: coppice.StageWaiting}
			if err := tx.Tasks.Put(&task); err != nil {
				return err
			}
		}
		all, err := tx.Features.Tasks(kept.ID)
		found := map[string]int{}
		for _, task := range all {
			found[task.Feature] = task.Num
		}
		same(t, "the newest task of each feature", map[string]int{"1": 4, "2": 3}, found)
		return err
	})
	forget(t, s, gone.ID)
	same(t, "of a forgotten project", nil, of(gone.ID))
	same(t, "of another project", map[string]json.RawMessage{"1": two}, of(kept.ID))
}
