package engine

import (
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// The end of the last open task of a project is one event, whichever task it is. Tasks
// that end again, or change after their end, are not another one.
func TestAllComplete(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) {
		p.Policy.Reactions = coppice.Reactions{coppice.OnAllComplete: {{Do: coppice.ReactRun, Run: "./done.sh"}}}
	})
	b.create(coppice.NewTask{Title: "a"}, coppice.NewTask{Title: "b"})
	stop := func(key string) {
		t.Helper()
		b.clock = b.clock.Add(time.Minute)
		_, err := b.Ask(t.Context(), key, coppice.VerbStop, request(""))
		b.must(err)
		b.turn()
	}
	want := func(when string, events int) {
		t.Helper()
		var list []coppice.Reacted
		b.view(func(r store.Reader) (err error) {
			list, err = r.Reactions.List(store.ReactionFilter{ProjectID: 1, Most: 10})
			return err
		})
		for _, e := range list {
			if e.TaskID != 0 || e.Do != coppice.ReactRun {
				t.Errorf("%s: %+v", when, e)
			}
		}
		runs := 0
		for _, r := range b.hookRuns() {
			if r.Event == coppice.HookReaction {
				runs++
			}
		}
		if len(list) != events || runs != events {
			t.Errorf("%s: %d entries and %d runs, want %d", when, len(list), runs, events)
		}
	}
	stop("app-2")
	want("one task is open", 0)
	stop("app-1")
	want("all have ended", 1)
	b.update(func(tx store.Tx) error {
		x, err := tx.Tasks.ByKey("app-2")
		return firstErr(err, tx.Log.Append(&coppice.Event{At: b.clock, Kind: coppice.EventTaskChanged, ProjectID: 1, TaskID: x.ID, By: "person:ann"}))
	})
	b.turn()
	want("an earlier task changed", 1)
	b.create(coppice.NewTask{Title: "c"})
	stop("app-3")
	want("another task ended", 2)
}
