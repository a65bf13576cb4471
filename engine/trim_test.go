package engine

import (
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// The limit of the log also limits settled work: work that is older than all
// events is removed, and unsettled work stays.
func TestTrimWork(t *testing.T) {
	t.Parallel()
	b := open(t, func(c *Config) { c.KeepEvents = 3 })
	p := b.project()
	b.turn()
	put := func(key string, state coppice.WorkState) {
		w := coppice.Work{Key: key, Kind: coppice.WorkPurge, Pool: "p", ProjectID: p.ID, Subject: coppice.ProjectSubject(p.ID), State: state, OfferedAt: b.clock, FinishedAt: b.clock}
		b.update(func(tx store.Tx) error { return tx.Work.Put(&w) })
	}
	put("old", coppice.WorkSettled)
	put("open", coppice.WorkOffered)
	b.clock = b.clock.Add(2 * time.Minute)
	for range 5 {
		b.update(func(tx store.Tx) error {
			return tx.Log.Append(&coppice.Event{At: b.clock, Kind: coppice.EventProjectChanged, ProjectID: p.ID})
		})
	}
	put("new", coppice.WorkSettled)
	b.turn() // it reads the events
	b.clock = b.clock.Add(2 * time.Minute)
	b.turn()
	for key, kept := range map[string]bool{"old": false, "open": true, "new": true} {
		if w := read(b, func(r store.Reader) (*coppice.Work, error) { return r.Work.ByKey(key) }); (w != nil) != kept {
			t.Errorf("the work %q is kept: %v", key, w != nil)
		}
	}
}
