package storetest

import (
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

func allSnoozes(r store.Reader) ([]coppice.Snooze, error) { return r.Snoozes.All() }

func testSnoozes(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	by := coppice.Actor{Kind: coppice.ActorPerson, Name: "ann"}
	a := coppice.Snooze{Entry: "failed/app-1", Mark: "m", ProjectID: p.ID, Until: start.Add(time.Hour), By: by, At: start}
	b := coppice.Snooze{Entry: "limit/ann", Mark: "n", Event: "landed", TaskID: 7, After: 12, By: by, At: start}
	update(t, s, func(tx store.Tx) error { return firstOf(tx.Snoozes.Put(b), tx.Snoozes.Put(a)) })
	same(t, "snoozes", []coppice.Snooze{a, b}, get(t, s, allSnoozes))
	a.Mark, a.Until, a.Event, a.TaskID = "o", time.Time{}, "any", 3
	update(t, s, func(tx store.Tx) error { return tx.Snoozes.Put(a) })
	same(t, "snoozes after a change", []coppice.Snooze{a, b}, get(t, s, allSnoozes))
	forget(t, s, p.ID)
	same(t, "snoozes without the project", []coppice.Snooze{b}, get(t, s, allSnoozes))
	for _, had := range []bool{true, false} {
		update(t, s, func(tx store.Tx) error {
			got, err := tx.Snoozes.Drop(b.Entry)
			if got != had {
				t.Errorf("dropped: %t, want %t", got, had)
			}
			return err
		})
	}
	same(t, "snoozes", nil, get(t, s, allSnoozes))
}
