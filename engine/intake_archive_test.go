package engine

import (
	"testing"

	"coppice"
	"coppice/store"
)

// Only ended tasks are archived, a task that continues is unarchived, and
// nothing else about the task changes.
func TestArchive(t *testing.T) {
	t.Parallel()
	b := open(t)
	p := b.project()
	made, err := b.CreateTasks(t.Context(), p.Prefix, []coppice.NewTask{{Title: "one"}})
	b.must(err)
	key := made[0].Key
	if _, err := b.Archive(t.Context(), key, true); coppice.ErrorCode(err) != coppice.EConflict || coppice.Public(err).Fix == "" {
		t.Errorf("one that has not ended: %v", err)
	}
	if _, err := b.Archive(t.Context(), "app-99", true); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("one that is not there: %v", err)
	}
	b.must(b.store.Update(t.Context(), func(tx store.Tx) error {
		k, err := tx.Tasks.ByKey(key)
		if err != nil {
			return err
		}
		k.Stage, k.Wait, k.Outcome = coppice.StageEnded, nil, coppice.OutcomeFailed
		return tx.Tasks.Put(&k)
	}))
	away, err := b.Archive(t.Context(), key, true)
	b.must(err)
	again, err := b.Archive(t.Context(), key, true)
	b.must(err)
	if away.Archived.IsZero() || !again.Archived.Equal(away.Archived) || away.Outcome != coppice.OutcomeFailed {
		t.Errorf("%+v", again)
	}
	out, err := b.Retry(t.Context(), key, "")
	b.must(err)
	if !out.Archived.IsZero() {
		t.Error("a task that continues is still archived")
	}
}
