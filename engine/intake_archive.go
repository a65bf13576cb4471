package engine

import (
	"context"
	"time"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// Archive archives an ended task, so that lists leave it out. If on is false, it
// unarchives the task. Nothing else about the task changes, and repeating it
// does nothing. A request that continues a task also unarchives it.
func (i *Intake) Archive(ctx context.Context, key string, on bool) (coppice.Task, error) {
	var t coppice.Task
	err := i.store.Update(ctx, func(tx store.Tx) error {
		var err error
		if t, err = knownTask(tx.Reader(), key); err != nil {
			return err
		}
		if on {
			if err := verb.Refuses(verb.Archive, verb.Facts{Task: t}); err != nil {
				return err
			}
		}
		if on == !t.Archived.IsZero() {
			return nil
		}
		kind := coppice.EventTaskUnarchived
		t.Archived = time.Time{}
		if on {
			kind, t.Archived = coppice.EventTaskArchived, i.now().UTC()
		}
		if err := tx.Tasks.Put(&t); err != nil {
			return err
		}
		return i.event(tx, kind, t, "")
	})
	return t, err
}
