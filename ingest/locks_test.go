package ingest_test

import (
	"context"
	"testing"

	"coppice"
	"coppice/store"
)

// Locks returns a table when it is newer than the caller's, with the mode of the
// project.
func TestLocks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	one, two := coppice.Session{N: 1, Key: "app-1.1", State: coppice.SessionWorking}, coppice.Session{N: 2, Key: "app-1.2", State: coppice.SessionWorking}
	b.put(&one)
	b.put(&two)
	get := func(after int64) coppice.LockTable {
		t.Helper()
		got, err := b.Locks(t.Context(), one.ID, after)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := get(-1); got.Seq != 0 || got.Mode != coppice.LocksAdvisory || len(got.Held) != 0 {
		t.Errorf("the first table is %+v", got)
	}
	b.update(func(tx store.Tx) error {
		p, err := tx.Projects.Get(b.task.ProjectID)
		if err != nil {
			return err
		}
		p.Policy.Locks = coppice.LocksRequired
		return tx.Projects.Put(&p)
	})
	came := make(chan coppice.LockTable, 1)
	go func() {
		got, err := b.Locks(t.Context(), one.ID, 0)
		if err != nil {
			t.Error(err)
		}
		came <- got
	}()
	b.update(func(tx store.Tx) error {
		return tx.Locks.Put(coppice.Lock{ProjectID: b.task.ProjectID, SessionID: two.ID, Name: "a.go", Reason: "moves it", ExpiresAt: noon})
	})
	got := <-came
	if got.Seq != 1 || got.Mode != coppice.LocksRequired || len(got.Held) != 1 || got.Held[0] != (coppice.HeldLock{Name: "a.go", Session: "app-1.2", Task: "app-1", Reason: "moves it", Expires: noon}) {
		t.Errorf("the next table is %+v", got)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := b.Locks(over, one.ID, 1); err == nil {
		t.Errorf("a table that is not newer was returned: %+v", got)
	}
	if _, err := b.Locks(t.Context(), 99, -1); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("an unknown session: %v", err)
	}
}
